"""Which stretch of time does a question ask about?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.timewords.find import TimeWord
from service.timewords.grammar import Bounds
from service.types.facts import Precision


@dataclass(frozen=True, slots=True)
class Window:
    """What happened or was said in [`since`, `until`), UTC; None is open to that side."""

    begin: int
    """Where its words stand in the question, prepositions with them: [`begin`, `end`)."""
    end: int
    since: datetime | None
    until: datetime | None
    precision: Precision
    """Of the rougher of its ends."""


AsOf = Callable[[datetime], Sequence[TimeWord]]
"""The times of the same text as somebody at another moment would mean them."""
_A_YEAR = re.compile(r"\b(?:19|20)\d\d\b|年")


def windows_of(text: str, times: Sequence[TimeWord], bounds: Sequence[Bounds], as_of: AsOf) -> tuple[Window, ...]:
    """`times` as found in `text`, in order."""
    found, rest = [], list(times)
    while rest:
        time = rest.pop(0)
        if rest and (between := _between(text, time, rest[0], bounds, as_of)) is not None:
            found.append(between)
            rest.pop(0)
        else:
            found.append(_window(text[: time.begin], time, bounds))
    return tuple(found)


def _between(text: str, first: TimeWord, second: TimeWord, bounds: Sequence[Bounds], as_of: AsOf) -> Window | None:
    for words in bounds:
        opens = words.between.search(text[: first.begin])
        if opens and words.to.fullmatch(text[first.end : second.begin]):
            since = _led_up_to(first, second, as_of).span.start
            if since < second.span.end:
                return Window(opens.start(), second.end, since, second.span.end, _rougher(first, second))
    return None


def _led_up_to(first: TimeWord, second: TimeWord, as_of: AsOf) -> TimeWord:
    """ "Between March and June 2022" and "from Monday to Friday" begin before they end, whenever they are asked."""
    unsaid = _A_YEAR.search(second.span.words) and not _A_YEAR.search(first.span.words)
    if not unsaid and first.span.start < second.span.start:
        return first
    return next((word for word in as_of(second.span.start) if word.begin == first.begin), first)


def _window(before: str, time: TimeWord, bounds: Sequence[Bounds]) -> Window:
    span = time.span
    for words in bounds:
        for way, since, until in (
            (words.since, span.start, None),
            (words.after, span.end, None),
            (words.before, None, span.start),
            (words.until, None, span.end),
        ):
            if (opens := way.search(before)) is not None:
                return Window(opens.start(), time.end, since, until, span.precision)
    return Window(time.begin, time.end, span.start, span.end, span.precision)


_ROUGH = tuple(Precision)


def _rougher(first: TimeWord, second: TimeWord) -> Precision:
    return min(first.span.precision, second.span.precision, key=_ROUGH.index)
