"""When does a fact happen, by the expression that a model copied from the turn? Rules resolve it, where a language has them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from service.timewords import Leaning, ZoneUnknown, times, zone_of
from service.types.facts import FactTurn, Precision, TimeSpan

FARTHEST = timedelta(days=366 * 150)
"""From the turn; a date farther off is a mistake of the model's."""
LENGTHS = {
    Precision.WEEK: timedelta(days=7),
    Precision.DAY: timedelta(days=1),
    Precision.HOUR: timedelta(hours=1),
    Precision.MINUTE: timedelta(minutes=1),
}
MONTHS = {Precision.YEAR: 12, Precision.SEASON: 3, Precision.MONTH: 1}


def clock_of(turn: FactTurn) -> tzinfo | None:
    """None for a zone that nobody knows: then no time can be resolved."""
    try:
        return zone_of(turn.zone)
    except ZoneUnknown:
        return None


def span_of(
    words: str, starts: str | None, precision: Precision | None, evidence: Sequence[FactTurn], *, past: bool
) -> TimeSpan | None:
    """The time that `words` mean in the first turn of `evidence` that has them; None where nobody can tell. `past`: "on Friday"
    is the last one. `starts` and `precision`, the model's own, hold only where the rules know nothing."""
    for turn in evidence:
        clock = clock_of(turn)
        if clock is None or words.casefold() not in turn.text.casefold():
            continue
        by_rules = _by_rules(words, turn, Leaning.PAST if past else Leaning.FUTURE)
        return by_rules or _theirs(words, starts, precision, turn.said_at, clock)
    return None


def _by_rules(words: str, turn: FactTurn, leaning: Leaning) -> TimeSpan | None:
    """That of the expressions in the turn that shares most with `words`."""
    said = words.casefold()
    found = times(turn.text, turn.said_at, zone=turn.zone, language=turn.language, leaning=leaning)
    near = [word.span for word in found if word.span.words.casefold() in said or said in word.span.words.casefold()]
    return max(near, key=lambda span: len(span.words), default=None)


def _theirs(words: str, starts: str | None, precision: Precision | None, said_at: datetime, clock: tzinfo) -> TimeSpan | None:
    if starts is None or precision is None:
        return None
    try:
        start = datetime.fromisoformat(starts).replace(tzinfo=clock)
        end = start + LENGTHS[precision] if precision in LENGTHS else _months_later(start, MONTHS[precision])
        span = TimeSpan(start.astimezone(UTC), end.astimezone(UTC), precision, words)
    except (ValueError, OverflowError):
        return None
    return span if abs(span.start - said_at) < FARTHEST else None


def _months_later(start: datetime, months: int) -> datetime:
    years, month = divmod(start.month - 1 + months, 12)
    return start.replace(year=start.year + years, month=month + 1, day=1)
