"""Who may know what of a made space? Reckoned from its plain data by the rules of DESIGN §5, and by nothing of the service.

Rules, as they are written there: under `own` whoever said it; under `addressed` also to whom it was said, where the caller said
so, or where they are the only other and there; under `attended` and `shared` also whoever was there for at least half of it. A
bot reads nothing as itself. With several hearers, what all of them may read. A merge widens once somebody confirmed it. What is
derived is read by whoever may read all that it is made from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tests.api.tenancy_plain import BOT, GUESSED, PEOPLE, SAME, Line, Meeting, Plain

Place = tuple[str, int]
"""A meeting's name, and the number of a line in it."""
EVERYBODY = frozenset({"*"})


@dataclass(frozen=True, slots=True)
class Eyes:
    """Who asks, and who hears the answer; of names of people."""

    hearers: tuple[str, ...] = ()
    """Everybody who hears it, the asker first; nobody: only what is public is told."""
    stranger: bool = False
    """Somebody unknown hears it, too."""
    reads_all: bool = False
    oneself: str | None = None
    """Who asks as themselves, with nobody's leave but their own."""
    holder: str | None = None
    """Of whom there is something without a visible message: the asker, or whose token it is."""
    operator: bool = False
    """Administers the space."""
    reads: bool = True
    """May read at all."""


def one(person: str) -> frozenset[str]:
    """Everybody who is the same by merges that somebody confirmed."""
    root = SAME.get(person, person)
    return frozenset({root, *(other for other, into in SAME.items() if into == root)})


def shown(person: str) -> str:
    """As whom a person is shown, by any merge."""
    return {**SAME, **GUESSED}.get(person, person)


def readers(plain: Plain, meeting: Meeting, index: int) -> frozenset[str]:
    if meeting.public:
        return EVERYBODY
    line = meeting.lines[index]
    there = {who for who, when in present(meeting).items() if _half(when, meeting.span(index))}
    may = {line.by} if line.by else set()
    if plain.access != "own":
        may |= set(line.to) | set(meeting.to_all)
        may |= _only_other(meeting, line) & there
    if plain.access in ("attended", "shared"):
        may |= there
    return frozenset(may - {BOT})


def present(meeting: Meeting) -> dict[str, tuple[float, float]]:
    """As the caller says, else from somebody's first to last word."""
    heard: dict[str, tuple[float, float]] = {}
    for index, line in enumerate(meeting.lines):
        if line.by is not None:
            start, end = meeting.span(index)
            first, last = heard.get(line.by, (start, end))
            heard[line.by] = (min(first, start), max(last, end))
    return {**heard, **meeting.there}


def _only_other(meeting: Meeting, line: Line) -> set[str]:
    """Where two are there in all, and no voice is unknown, what the one says is said to the other; unless the caller says to
    whom."""
    if line.by is None or line.to or meeting.to_all or any(other.by is None for other in meeting.lines):
        return set()
    others = set(present(meeting)) - {line.by}
    return others if len(others) == 1 else set()


def _half(when: tuple[float, float], span: tuple[float, float]) -> bool:
    return min(when[1], span[1]) - max(when[0], span[0]) >= (span[1] - span[0]) / 2


@dataclass(frozen=True)
class Oracle:
    """What one pair of eyes may see of one space."""

    plain: Plain
    eyes: Eyes

    @cached_property
    def readable(self) -> frozenset[Place]:
        return frozenset(
            (meeting.name, index)
            for meeting, index, _ in self.plain.lines()
            if self._reads(readers(self.plain, meeting, index))
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """Of everything that may show: lines, what was shown with them, titles of meetings."""
        said = [f"{line.text} {line.shows or ''}" for m, i, line in self.plain.lines() if (m.name, i) in self.readable]
        titles = [meeting.title for meeting in self.plain.meetings if meeting.name in self.meetings]
        return frozenset(words_of(" ".join((*said, *titles))))

    @cached_property
    def meetings(self) -> frozenset[str]:
        """With a line that may be read, and where everybody who hears it was."""
        if not self.eyes.reads:
            return frozenset()
        attended = {m.name for m in self.plain.meetings if self._all_attended(m)}
        every = {m.name for m in self.plain.meetings} if self._all else set()
        return frozenset({name for name, _ in self.readable} | attended | every)

    @cached_property
    def people(self) -> frozenset[str]:
        """As they are shown: who speaks or is spoken to in what may be read, and whoever asks."""
        if self._all:
            return frozenset(map(shown, PEOPLE))
        known: set[str | None] = {self.eyes.holder} if self.eyes.reads else set()
        for meeting, index, line in self.plain.lines():
            if (meeting.name, index) in self.readable:
                known |= {line.by} | self._spoken_to(meeting, line)
        return frozenset(shown(who) for who in known if who)

    def all_of(self, places: Iterable[Place]) -> bool:
        """Whether what is made from these may be known."""
        return self._all or set(places) <= self.readable

    def any_of(self, places: Iterable[Place]) -> bool:
        return self._all or bool(set(places) & self.readable)

    @property
    def _all(self) -> bool:
        return self.eyes.reads and self.eyes.reads_all and not self.eyes.hearers and not self.eyes.stranger

    def _reads(self, who: frozenset[str]) -> bool:
        if not self.eyes.reads:
            return False
        if self._all or who == EVERYBODY:
            return True
        if self.eyes.stranger or not self.eyes.hearers:
            return False
        return all(one(hearer) & who for hearer in self.eyes.hearers)

    def _all_attended(self, meeting: Meeting) -> bool:
        there = set(present(meeting)) - {BOT}
        return bool(self.eyes.hearers) and all(one(hearer) & there for hearer in self.eyes.hearers)

    def _spoken_to(self, meeting: Meeting, line: Line) -> set[str]:
        """Everybody whom it may be said to: to a room, it is said to all who are there."""
        return {*line.to, *meeting.to_all, *present(meeting)} - {line.by}


_WORD = re.compile(r"\b(?:[bdfgklmnprtvz][aeiou]){5}\b")


def words_of(text: str) -> set[str]:
    """The made words in it, and any that look like one."""
    return set(_WORD.findall(text.lower()))
