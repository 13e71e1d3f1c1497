"""Whom does a text call out? Names that stand alone between commas, open or close it, or follow a greeting."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from service.types.names import folded

_PIECE = re.compile(r"([^,;:!?.，、。；：！？…—–\n]+)([,;:!?.，、。；：！？…—–\n]*)")
_GREETS = r"(?:hey|hi|hello|thanks|thank you|sorry|please|dear|good (?:morning|afternoon|evening|night)|bye|goodbye)"
_GREETING = re.compile(rf"^(?:(?:ok|okay|so|well|and|but|oh|ah|yes|no|right|um|uh)\s+)*{_GREETS}\s+(?P<rest>.+)$")
_OPENER = re.compile(r"^(?:(?:ok|okay|so|well|and|but|oh|ah|yes|no|right|um|uh)\s+)+(?P<rest>.+)$")
_NOUN_BEFORE = re.compile(r"\b(?:my|our|your|his|her|their|named|called)(?:\s+\w+){0,2}$")
_AND = re.compile(r"^(?:and|or|und|et|y)\s+")
_BEFORE_AND = re.compile(r"^(?P<name>\w+(?: \w+)?) (?:and|or|und|et|y) ")
_COMMAS = (",", "，", "、")


def normal_name(name: str) -> str:
    """How names of people are compared: folded, blanks single."""
    return " ".join(folded(name).split())


def unique_names(names: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Normal name → the one person it can mean; the first word of a name counts as one. Names of two people are left out."""
    owners: dict[str, set[str]] = {}
    for person, own in names.items():
        for name in own:
            normal = normal_name(name)
            for form in {normal, normal.partition(" ")[0]} - {""}:
                owners.setdefault(form, set()).add(person)
    return {name: next(iter(people)) for name, people in owners.items() if len(people) == 1}


def vocatives(text: str | None, known: Collection[str]) -> list[tuple[str, bool]]:
    """Names of `known` (normal forms) that `text` calls out, with whether it opens or closes the text with them.

    A name is called out when it stands alone between punctuation of which one side is a comma, when it is the whole
    "Mara?" or "Mara!", or after a greeting ("thanks Mara"). Enumerations ("Tom, Mara and Ben went"), appositions ("my
    sister, Mara, said") and one-word answers ("Who? Mara.") are not calls."""
    pieces = [(normal_name(words), marks.replace(" ", "")) for words, marks in _PIECE.findall(text or "") if words.strip()]
    found = []
    for position, (words, after) in enumerate(pieces):
        before = pieces[position - 1][1] if position else ""
        first, last = position == 0, position == len(pieces) - 1
        if (name := _greeted(words, known)) is not None:
            found.append((name, True))
        elif (name := _alone(words, known, may_open=bool(after))) is not None:
            apposed = bool(before) and before[-1] in _COMMAS and bool(_NOUN_BEFORE.search(pieces[position - 1][0]))
            comma = (bool(after) and after[0] in _COMMAS) or (bool(before) and before[-1] in _COMMAS)
            hailed = first and last and after[:1] in ("?", "!", "？", "！")
            if (comma or hailed) and not apposed and not _enumerated(position, pieces, known):
                opens = first or (bool(before) and before[-1] not in _COMMAS)
                found.append((name, opens or last))
    return found


def _enumerated(position: int, pieces: Sequence[tuple[str, str]], known: Collection[str]) -> bool:
    """The piece begins a list that ends in "and …": the next piece is "mara and ben went", "and ben" or one more name of it."""
    if position + 1 == len(pieces) or pieces[position][1][:1] not in _COMMAS:
        return False
    following = pieces[position + 1][0]
    last = _AND.sub("", following) if _AND.match(following) else _BEFORE_AND.match(following)
    ends = last if isinstance(last, str) else last["name"] if last else ""
    return any((ends + " ").startswith(name + " ") for name in known) or (
        following in known and _enumerated(position + 1, pieces, known)
    )


def _alone(words: str, known: Collection[str], *, may_open: bool) -> str | None:
    """The name that a piece of text consists of, an "okay so" before it allowed."""
    if words in known:
        return words
    opened = _OPENER.match(words) if may_open else None
    return opened["rest"] if opened and opened["rest"] in known else None


def _greeted(words: str, known: Iterable[str]) -> str | None:
    """The name right after a greeting: "hey mara can you …"."""
    greeting = _GREETING.match(words)
    if greeting is None:
        return None
    rest = greeting["rest"] + " "
    return max((name for name in known if rest.startswith(name + " ")), key=len, default=None)
