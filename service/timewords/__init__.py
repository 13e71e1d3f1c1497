"""When is "last Friday"? Expressions of time found in text and resolved. Pure; used by memory and retrieval.

`times(text, …)` finds them in what somebody said; `windows(question, …)` says which stretches of time a question asks about.
"""

from __future__ import annotations

import re
from datetime import datetime

from service.timewords import chinese, english, find, german, spanish
from service.timewords.calendar import Leaning
from service.timewords.find import TimeWord
from service.timewords.grammar import Grammar
from service.timewords.windows import Window, windows_of
from service.timewords.zones import ZoneUnknown, zone_of

GRAMMARS: dict[str, Grammar] = {
    "en": english.GRAMMAR,
    "de": german.GRAMMAR,
    "es": spanish.GRAMMAR,
    "zh": chinese.GRAMMAR,
}
"""By primary language subtag (BCP 47)."""
_IDEOGRAPHS = re.compile(r"[\u4e00-\u9fff]")


def times(
    text: str,
    said_at: datetime,
    *,
    zone: str | None = None,
    language: str | None = None,
    leaning: Leaning = Leaning.FUTURE,
) -> tuple[TimeWord, ...]:
    """Expressions of time in `text`, in its order, none overlapping, as they were meant at `said_at` (aware) in `zone`.

    `leaning`: where "on Friday" or "in May" points when no word says it. A language without rules has none; without one
    given, Chinese characters mean Chinese and everything else English. Raises ZoneUnknown."""
    return find.find_times(text, said_at, _grammars(text, language), zone=zone, leaning=leaning)


def windows(
    question: str,
    asked_at: datetime,
    *,
    zone: str | None = None,
    language: str | None = None,
    leaning: Leaning = Leaning.PAST,
) -> tuple[Window, ...]:
    """The stretches of time that `question` asks about, in its order: last week, since May, between March and June 2023.

    Each is what a thing happened *or* was said in: a question does not tell which. Raises ZoneUnknown."""
    grammars = _grammars(question, language)

    def as_of(moment: datetime) -> tuple[TimeWord, ...]:
        return find.find_times(question, moment, grammars, zone=zone, leaning=leaning)

    return windows_of(question, as_of(asked_at), [grammar.bounds for grammar in grammars], as_of)


def _grammars(text: str, language: str | None) -> tuple[Grammar, ...]:
    if language is None:
        language = "zh" if _IDEOGRAPHS.search(text) else "en"
    grammar = GRAMMARS.get(re.split(r"[-_]", language.lower())[0])
    return () if grammar is None else (grammar,)


__all__ = ["GRAMMARS", "Leaning", "TimeWord", "Window", "ZoneUnknown", "times", "windows", "zone_of"]
