"""Where does the name of somebody who is erased stand, and which of their names are theirs alone? Pure.

People are called Will, May and Rose, and anybody may call themselves anything: what is looked for everywhere is only what names
nobody and nothing else. Everything else is theirs where they were, and there only where it stands as a name."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from service.memory.facts.english import FUNCTION_WORDS
from service.memory.name_words import ALSO_WORDS, AMBIGUOUS, GENERIC_LABELS, NOT_NAMES, NOT_NAMES_ZH
from service.types.names import folded, normal

REDACTED = "[erased]"
"""Stands in a text for a name."""
SHORTEST = 2
"""Letters of a name: one letter is in everything."""
LONGEST = 5
"""Words of a name that is kept from coming back, or letters where no blanks stand between words; of longer ones the first."""
LOWER_AT_MOST = 0.05
"""Share of the places where others write it that have a name in lower case: slips of a recogniser; above it is a word."""

ORDINARY = ALSO_WORDS | FUNCTION_WORDS | AMBIGUOUS | GENERIC_LABELS | NOT_NAMES | NOT_NAMES_ZH

_UNCASED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Letters of scripts that put no blanks between words, or endings behind names: there a name ends anywhere."""
_WITHOUT_BLANKS = re.compile(f"[{_UNCASED}]")
_JOINS = re.compile(r"[\u1160-\u11ff\uff9e\uff9f]")
"""What makes one letter with the one before it, besides what Unicode says is combining."""
_BEFORE_A_SENTENCE = re.compile(r"(?:^|[.!?:;…\n。！？])[\s\"'“”„»«(\[*-]*$")


@dataclass(frozen=True, slots=True)
class Names:
    """All folded and sorted."""

    alone: tuple[str, ...] = ()
    """Of nobody and nothing else: looked for everywhere."""
    words: tuple[str, ...] = ()
    """Of nobody else, and words, too, or only typed into a meeting platform by somebody: looked for where they were."""
    shared: tuple[str, ...] = ()
    """Of somebody who stays, too."""


def parts_of(given: Iterable[str | None]) -> frozenset[str]:
    """Names whole, and of several words the first one."""
    whole = {name for one in given if one and len(name := normal(one)) >= SHORTEST and name not in REDACTED}
    return frozenset(whole | {first for name in whole if " " in name and len(first := name.split()[0]) > SHORTEST})


def names_of(
    given: Iterable[str | None],
    others: Iterable[str],
    typed: Iterable[str | None] = (),
    words: Collection[str] = (),
) -> Names:
    """`given`: what somebody is called, by a human's word or by what was said. `others`: names of who stays. `typed`: what
    platforms show of their logins, which anybody may type. `words`: those of `parts_of(given)` that are words where others
    write (`is_word`), or name something that is no person."""
    taken = {part for other in others for part in (normal(other), *normal(other).split())}
    mine = parts_of(given)
    weak = {name for name in mine if name in words or is_ordinary(name)} | (parts_of(typed) - mine)
    everything = mine | weak
    return Names(
        tuple(sorted(mine - weak - taken)), tuple(sorted((everything & weak) - taken)), tuple(sorted(everything & taken))
    )


def is_ordinary(name: str) -> bool:
    """Whether every word of it is one of a language, or too short to tell."""
    return all(word in ORDINARY or (word.isascii() and len(word) <= SHORTEST) for word in name.split())


def is_word(name: str, texts: Iterable[str]) -> bool:
    """Whether `texts` of others, of those that know capitals, write it as no name is written."""
    told = [text[start:end].islower() for text in texts if not text.islower() for start, end in spans(text, [name])]
    return sum(told) > LOWER_AT_MOST * len(told)


def holds(text: str, names: Collection[str]) -> bool:
    """Whether one of `names` stands in `text`, word for word; in lower case only where all of it is, or an
    address: what may be is nobody."""
    return next(_called(text, names), None) is not None


def named(text: str, names: Collection[str], people: Collection[str] = ()) -> bool:
    """Whether one of `names`, which are words, stands in `text` as a name: it is all of it, it has a capital where none had to
    be, or it is one of `people`, which somebody who read the text says are in it. German writes every noun with one: there
    Rose is a name."""
    return next(_meant(text, names, people), None) is not None


def without_names(text: str, names: Collection[str], words: Collection[str] = ()) -> str:
    """With a mark where one of `names` stood, or one of `words` as a name."""
    found = sorted({*_called(text, names), *_meant(text, words)})
    mended, end = [], 0
    for start, stop in found:
        if stop > end:
            mended += [text[end:start] if start >= end else "", REDACTED if start >= end else ""]
            end = stop
    mended.append(text[end:])
    return "".join(mended)


# ---- what keeps a name from coming back


def note(session_id: str, name: str, is_word: bool) -> str:
    """What a session keeps of a name that others call in it, whose person is erased: no key makes it dark, since it is written
    where the name itself stands in what they said, and there alone."""
    told = hashlib.sha256(f"{session_id}\n{name}".encode()).hexdigest()[:24]
    return f"word:{told}" if is_word else told


def notes(session_id: str, texts: Iterable[str], names: Names) -> frozenset[str]:
    """Of the names that stand in `texts`, which stay."""
    found = set()
    for text in texts:
        found |= {note(session_id, name, False) for name in names.alone if holds(text, [name])}
        found |= {note(session_id, name, True) for name in names.words if named(text, [name], names.words)}
    return frozenset(found)


def is_noted(session_id: str, noted: Collection[str], text: str) -> bool:
    """Whether `text`, made of what was said in the session, has one of the names that are `noted` there."""
    if not noted:
        return False
    told = _runs(text)
    alone = [name for name in told if note(session_id, name, False) in noted]
    words = [name for name in told if note(session_id, name, True) in noted]
    return holds(text, alone) or named(text, words)


def _runs(text: str) -> frozenset[str]:
    """Whatever in it may be a name: some words on end, and of scripts without blanks some letters."""
    letters = " ".join(folded(text).split())
    words = [found.span() for found in re.finditer(rf"[{_UNCASED}]|[^\W_{_UNCASED}]+", letters)]
    return frozenset(
        letters[start : words[last][1]]
        for first, (start, _) in enumerate(words)
        for last in range(first, min(first + LONGEST, len(words)))
    )


# ---- where it stands


def _called(text: str, names: Collection[str]) -> Iterator[tuple[int, int]]:
    cased = text != text.lower()
    for start, end in spans(text, names):
        if not cased or not text[start:end].islower() or "@" in text[start:end]:
            yield start, end


def _meant(text: str, names: Collection[str], people: Collection[str] = ()) -> Iterator[tuple[int, int]]:
    if not names:
        return
    capitals = any(word[0].islower() for word in re.findall(r"[^\W\d_]+", text))
    for start, end in spans(text, names):
        stands = text[start:end]
        said_so = normal(stands) in people and (text == text.lower() or not stands[0].islower())
        known = said_so or normal(text) == normal(stands)
        large = capitals and not any(word[0].islower() for word in stands.split())
        if known or (large and (" " in normal(stands) or not _BEFORE_A_SENTENCE.search(text[:start]))):
            yield start, end


def spans(text: str, names: Collection[str]) -> Iterator[tuple[int, int]]:
    """Where `names` stand in `text`, in whatever letters it is written: full-width, with accents apart, ß for ss."""
    if not names or not text:
        return
    letters, places = _folded(text)
    for found in _names(names).finditer(letters):
        end = found.end()
        while end < len(places) - 1 and places[end] == places[end - 1]:  # in the middle of a letter that folds to several
            end += 1
        yield places[found.start()], places[end]


def _folded(text: str) -> tuple[str, list[int] | range]:
    """Its folded letters, and where in `text` each begins; one place more: where it ends."""
    if text.isascii():
        return text.lower(), range(len(text) + 1)
    letters, places, start = [], [], 0
    for end in range(1, len(text) + 1):
        if end < len(text) and (unicodedata.combining(text[end]) or _JOINS.match(text[end])):
            continue
        one = folded(text[start:end])
        letters.append(one)
        places += [start] * len(one)
        start = end
    return "".join(letters), [*places, len(text)]


def _names(names: Collection[str]) -> re.Pattern[str]:
    parts = "|".join(map(_bounded, sorted(names, key=len, reverse=True)))
    return re.compile(parts)


def _bounded(name: str) -> str:
    begins = "" if _WITHOUT_BLANKS.match(name[0]) else rf"(?<![^\W_{_UNCASED}])"
    ends = "" if _WITHOUT_BLANKS.match(name[-1]) else rf"(?![^\W_{_UNCASED}])"
    return begins + r"\s+".join(map(re.escape, name.split())) + ends
