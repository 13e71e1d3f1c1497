"""How are the expressions of time of a language written down, so that one reader reads them all?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from service.timewords.calendar import Moment, Stretch

Value = TypeVar("Value")
Groups = Mapping[str, str | None]
"""The named groups of a match; lower case."""
Resolve = Callable[[Groups, Moment], Stretch | None]
"""None: what matched is no time after all (the 31st of June)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern`: the group `said` is the expression where only a part of the match is (after "in"); else all of it."""

    pattern: re.Pattern[str]
    resolve: Resolve


@dataclass(frozen=True, slots=True)
class Clock:
    hour: int
    """0–24 as said: 7 may still be in the evening."""
    minute: int
    sure: bool
    """Whether the half of the day was said, or can only be one."""


@dataclass(frozen=True, slots=True)
class ClockRule:
    pattern: re.Pattern[str]
    read: Callable[[Groups], Clock | None]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Words before an expression that open a window to one side: since May, before last week."""

    since: re.Pattern[str]
    after: re.Pattern[str]
    before: re.Pattern[str]
    until: re.Pattern[str]
    between: re.Pattern[str]
    """Matches what stands before the first of two."""
    to: re.Pattern[str]
    """Matches, whole, what stands between the two."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Days, parts of days and clock times of one language; next to each other (`joins` between them) they are one time."""

    days: tuple[Rule, ...]
    """From days to years; of two that begin alike the longer counts."""
    parts: re.Pattern[str]
    """The group that is not None names the part: morning, afternoon, evening, night."""
    clocks: tuple[ClockRule, ...]
    joins: re.Pattern[str]
    bounds: Bounds


def rule(pattern: str, resolve: Resolve) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE | re.VERBOSE), resolve)


def clock_rule(pattern: str, read: Callable[[Groups], Clock | None]) -> ClockRule:
    return ClockRule(re.compile(pattern, re.IGNORECASE | re.VERBOSE), read)


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


def one_of(words: Mapping[str, object]) -> str:
    """The words as alternatives, longer ones first; blanks as any white space. For verbose patterns."""
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))


def looked_up(words: Mapping[str, Value], said: str | None) -> Value | None:
    """What `said` means in `words`, whatever its blanks and its case are."""
    return None if said is None else words.get(" ".join(said.lower().split()))
