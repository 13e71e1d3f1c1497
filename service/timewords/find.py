"""Where does a text say a time, and when is it?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from service.timewords.calendar import NIGHT, Leaning, Moment, Stretch, at, day, nearest_clock, part_of
from service.timewords.grammar import Clock, Grammar
from service.timewords.zones import zone_of
from service.types.facts import TimeSpan


@dataclass(frozen=True, slots=True)
class TimeWord:
    """An expression of time at [`begin`, `end`) of a text, without the preposition before it."""

    begin: int
    end: int
    span: TimeSpan


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of an expression: one of its three is given, of a whole one several."""

    begin: int
    end: int
    stretch: Stretch | None = None
    part: str | None = None
    clock: Clock | None = None
    made_of: tuple[_Piece, ...] = ()
    """The pieces of one that was joined."""


def find_times(
    text: str, said_at: datetime, grammars: Iterable[Grammar], *, zone: str | None, leaning: Leaning
) -> tuple[TimeWord, ...]:
    """In the order of the text, none overlapping. Raises ZoneUnknown."""
    clock = zone_of(zone)
    moment = Moment(said_at.astimezone(clock).replace(tzinfo=None), leaning)
    found: list[TimeWord] = []
    for grammar in grammars:
        for piece in _joined(text, _apart(_pieces(text, moment, grammar)), grammar):
            stretch = _resolved(piece, moment)
            if stretch is None or any(piece.begin < other.end and other.begin < piece.end for other in found):
                continue
            start, end = (t.replace(tzinfo=clock).astimezone(UTC) for t in (stretch.start, stretch.end))
            if start < end:
                words = text[piece.begin : piece.end]
                found.append(TimeWord(piece.begin, piece.end, TimeSpan(start, end, stretch.precision, words)))
    return tuple(sorted(found, key=lambda word: word.begin))


def _pieces(text: str, moment: Moment, grammar: Grammar) -> list[_Piece]:
    found = []
    for rule in grammar.days:
        for match in rule.pattern.finditer(text):
            try:
                stretch = rule.resolve(_groups(match), moment)
            except (OverflowError, ValueError):  # nine thousand years ago: outside of what a date can be
                continue
            if stretch is not None:
                found.append(_Piece(*_where(match), stretch=stretch))
    found.extend(_Piece(*match.span(), part=match.lastgroup) for match in grammar.parts.finditer(text))
    for clock_rule in grammar.clocks:
        read = ((_where(match), clock_rule.read(_groups(match))) for match in clock_rule.pattern.finditer(text))
        found.extend(_Piece(*where, clock=clock) for where, clock in read if clock is not None)
    return found


def _groups(match: re.Match[str]) -> dict[str, str | None]:
    return {name: said and said.lower() for name, said in match.groupdict().items()}


def _where(match: re.Match[str]) -> tuple[int, int]:
    return match.span("said" if "said" in match.re.groupindex else 0)


def _apart(pieces: list[_Piece]) -> list[_Piece]:
    """Of overlapping ones the longest, then the earliest; in the order of the text."""
    kept: list[_Piece] = []
    for piece in sorted(pieces, key=lambda p: (p.begin - p.end, p.begin)):
        if all(piece.end <= other.begin or other.end <= piece.begin for other in kept):
            kept.append(piece)
    return sorted(kept, key=lambda p: p.begin)


def _joined(text: str, pieces: list[_Piece], grammar: Grammar) -> list[_Piece]:
    """ "Tomorrow" and "at 7" side by side are one time."""
    joined: list[_Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and _disjoint(last, piece) and grammar.joins.fullmatch(text[last.end : piece.begin]):
            joined[-1] = _Piece(
                last.begin,
                piece.end,
                last.stretch or piece.stretch,
                last.part or piece.part,
                last.clock or piece.clock,
                (*(last.made_of or (last,)), piece),
            )
        else:
            joined.append(piece)
    return [sure for piece in joined for sure in _sure(piece)]


def _sure(piece: _Piece) -> tuple[_Piece, ...]:
    """At 7, morning or evening unsaid, is no time: what was said of the day beside it stands alone."""
    if piece.clock is None or piece.clock.sure or piece.part is not None:
        return (piece,)
    return tuple(part for part in piece.made_of if part.stretch is not None)


def _disjoint(one: _Piece, other: _Piece) -> bool:
    return not ((one.stretch and other.stretch) or (one.part and other.part) or (one.clock and other.clock))


def _resolved(piece: _Piece, moment: Moment) -> Stretch | None:
    """None for a part of a day alone: "in the morning" is said of any day."""
    clock, part = piece.clock, piece.part
    if clock is None:
        if piece.stretch is None:
            return None
        return part_of(piece.stretch, part) if part else piece.stretch
    hour = _hour(clock, part)
    if piece.stretch is not None:
        return at(piece.stretch, hour, clock.minute)
    return at(day(moment.today), hour, clock.minute) if part == NIGHT else nearest_clock(moment, hour, clock.minute)


def _hour(clock: Clock, part: str | None) -> int:
    if clock.sure:
        return clock.hour
    hour = clock.hour % 12
    match part:
        case "morning":
            return hour
        case "afternoon" | "evening":
            return hour + 12
        case "night":
            return hour + (24 if hour < 6 else 12)
    return hour
