"""What does a question ask for? Words for the lexical leg, meaning for the dense ones, people as constraints. Rules only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ASKER_WORDS = frozenset({"i", "me", "my", "mine", "myself", "i'm", "i've", "i'd", "i'll"})
STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """a an the and or but if so as of at by for from in into on onto to with about over up out off than then that this
        these those there here it its it's he she they them their his her him hers theirs we us our ours you your yours is
        are was were be been being am do does did done has have had having can could will would shall should may might must
        not no nor who whom whose what what's which when where why how didn't don't doesn't isn't aren't wasn't any some
        i me my mine myself tell said say says""",
    )
)
"""Words that say nothing about what is asked (the index keeps them, since other languages need theirs)."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ENDING = re.compile(r"(?<=\w\w\w)(?:'s|ing|ed|es|s|e)$")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Plan:
    """What the legs are asked, made from one question."""

    words: str
    """For the full text: the question without names and words that say nothing; all of it when nothing else is left."""
    names: str
    """For the full text too, and to count for little: what is said by or to somebody seldom names them."""
    meaning: str
    """For the embedding: the question without the names of people, which pull the vector to turns that address them."""
    people: tuple[str, ...]
    """Ids of the visible people named in it, and of the asker where it says I or my; theirs are preferred, never required."""


def plan(question: str, people: Mapping[str, Sequence[str]], asker: Sequence[str] = ()) -> Plan:
    """`people`: names (and aliases) of visible people by id; `asker`: the asker's ids, empty when nobody in particular asks.

    A name counts as a whole word or run of words, with or without 's; of two people with one name both are meant."""
    mentioned: list[str] = []
    named: list[str] = []
    meaning = question
    for name, ids in _by_name(people):
        pattern = _name_pattern(name)
        if pattern.search(meaning):
            mentioned.extend(ids)
            named.append(name)
            meaning = pattern.sub(" ", meaning)
    said = [word.replace("’", "'") for word in _WORD.findall(question.lower())]
    if ASKER_WORDS.intersection(said):
        mentioned.extend(asker)
    meaning = _BLANKS.sub(" ", meaning).strip()
    words = " ".join(word for word in _WORD.findall(meaning) if word.lower().replace("’", "'") not in STOP_WORDS)
    return Plan(
        words or ("" if named else question),
        " ".join(named),
        meaning if _WORD.search(meaning) else question,
        tuple(dict.fromkeys(mentioned)),
    )


def content_words(text: str) -> frozenset[str]:
    """The words of `text` that say something, folded for comparison: without case, and without common English endings."""
    return frozenset(_ENDING.sub("", word) for word in _WORD.findall(_folded(text)) if word not in STOP_WORDS)


def _by_name(people: Mapping[str, Sequence[str]]) -> list[tuple[str, list[str]]]:
    """Each name with the ids of all who have it; longer names first, so that no part of one is taken for another."""
    found: dict[str, tuple[str, list[str]]] = {}
    for id, names in people.items():
        for name in names:
            if _WORD.search(name):
                found.setdefault(_folded(name), (name.strip(), []))[1].append(id)
    return sorted(found.values(), key=lambda entry: (-len(entry[0]), entry[0]))


def _name_pattern(name: str) -> re.Pattern[str]:
    """A name that is an everyday word too (Will, May) counts only as written, and not as the first word."""
    inner = r"\s+".join(re.escape(part) for part in name.split())
    if _folded(name) in STOP_WORDS:
        return re.compile(rf"(?<=\S\s){inner}(?:['’]s)?(?!\w)")
    return re.compile(rf"(?<!\w){inner}(?:['’]s)?(?!\w)", re.IGNORECASE)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
