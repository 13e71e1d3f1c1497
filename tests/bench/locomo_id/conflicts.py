"""What would the same two names have said in another life? A parallel copy of a conversation with its facts changed by rule.

As in LoCoMo-ID's test with four speakers: two stories with the same names, told by different voices, contradict each other,
so that only who speaks tells which is meant. Facts change within their type, the same way everywhere in a copy: dates move
by eight weeks (weekdays stay, so that "last Friday" stays right), places are exchanged for others of the same kind that the
conversation names, counts for their neighbours. Counts of seconds to decades stay, since dates are reckoned from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tests.bench.locomo_id.corpus import Asked, Conversation, Said

MOVED = timedelta(weeks=8)
MONTHS_MOVED = 2
"""What MOVED is for a month without a day."""
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
PLACES: Mapping[str, tuple[str, ...]] = {
    "city": (
        "London", "Paris", "Rome", "Barcelona", "Galway", "Edinburgh", "Chicago", "Seattle", "New York", "Toronto",
        "Vancouver", "Nuuk", "Phuket", "Bali", "Detroit", "Talkeetna", "Rio de Janeiro", "Banff", "Jasper", "Tokyo",
        "Boston", "Miami", "San Francisco", "Tampa", "Woodhaven", "Fort Wayne", "Shibuya", "Shinjuku",
    ),
    "country": (
        "Sweden", "Spain", "France", "England", "Italy", "Ireland", "Scotland", "UK", "Turkey", "Japan", "Mexico",
        "Canada", "Greenland", "Thailand", "Brazil", "Colombia",
    ),
    "state": ("California", "Florida", "Oregon", "Michigan", "Indiana", "Minnesota", "North Carolina", "Connecticut", "Alaska"),
}  # fmt: skip
"""Those that LoCoMo names."""
ALIASES: Mapping[str, str] = {"New York City": "New York", "NYC": "New York"}
STAND_INS: Mapping[str, str] = {"city": "Lisbon", "country": "Portugal", "state": "Vermont"}
"""For the only place of its kind in a conversation."""
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
"""Each is exchanged with its neighbour: 2 with 3, 4 with 5 … "One" is left: it mostly counts nothing."""

_MONTH = f"(?:{'|'.join(MONTHS)})"
_PLACE = "|".join(map(re.escape, sorted([*(p for kind in PLACES.values() for p in kind), *ALIASES], key=len, reverse=True)))
_UNIT = r"(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?"
_FACT = re.compile(
    rf"""
    (?P<day>\d{{1,2}}) (?P<gap>(?:st|nd|rd|th)?(?:\sof)?[\s,]*) (?P<month>{_MONTH})\b (?P<year>[\s,.]*\d{{4}}\b)?
    | \b(?P<month_first>{_MONTH}) (?P<blank>\s+) (?P<then_day>\d{{1,2}}) (?P<ending>st|nd|rd|th)?(?!\d)
      (?P<then_year>,?\s*\d{{4}}\b)?
    | \b(?P<month_of>{_MONTH}) (?P<of_year>[\s,.]+\d{{4}}\b)
    | (?P<word>\b(?:in|of|last|next|this|since|by|early|late|until|during)\s) (?P<month_alone>{_MONTH})\b
    | (?<![\w'’]) (?P<place>{_PLACE}) (?!\w)
    | (?<![\w$.,:/-]) (?P<number>[2-9]|1[01]|{"|".join(NUMBERS)}) (?![-\s]+{_UNIT}\b) (?![\w%:/-]|[.,]\d)
    """,
    re.VERBOSE,
)
"""A date of some shape, a place, or a count."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """The copy, and by position which of its questions have another answer than the original's."""

    copy: Conversation
    changed: frozenset[int]


def conflicting(original: Conversation) -> Conflict:
    """The same talk with other dates, places and numbers; ids of turns and positions of questions stay."""
    places = exchanged_places(original)
    turns = original.turns

    def said(turn: Said) -> Said:
        return replace(turn, text=changed_text(turn.text, places))

    sessions = tuple(replace(t, at=t.at + MOVED, turns=tuple(map(said, t.turns))) for t in original.sessions)
    questions = tuple(
        _question(asked, places, "\n".join(turns[e].text for e in asked.evidence)) for asked in original.questions
    )
    changed = frozenset(
        i for i, (old, new) in enumerate(zip(original.questions, questions, strict=True)) if old.answer != new.answer
    )
    return Conflict(replace(original, sessions=sessions, questions=questions), changed)


def exchanged_places(conversation: Conversation) -> dict[str, str]:
    """Place → the next of its kind that the conversation names, the last → the first; aliases follow what they stand for."""
    texts = [t.text for t in conversation.turns.values()] + [f"{q.question} {q.answer}" for q in conversation.questions]
    named = {ALIASES.get(m["place"], m["place"]) for text in texts for m in _FACT.finditer(text) if m["place"]}
    exchanged: dict[str, str] = {}
    for kind, places in PLACES.items():
        here = [p for p in places if p in named]
        exchanged |= dict(zip(here, [*here[1:], here[0]] if len(here) > 1 else [STAND_INS[kind]], strict=False))
    return exchanged | {alias: exchanged[place] for alias, place in ALIASES.items() if place in exchanged}


def changed_text(text: str, places: Mapping[str, str], keep: Callable[[str], bool] = lambda fact: False) -> str:
    """`text` with its dates moved, and its places and counts exchanged but for those to `keep`."""

    def change(found: re.Match[str]) -> str:
        if found["place"]:
            return found[0] if keep(found[0]) else places.get(found["place"], found[0])
        if found["number"]:
            titled = re.search(r"\b[A-Z]\w+ $", text[: found.start()]) and found[0].isdigit()  # "Witcher 3" counts nothing
            return found[0] if titled or keep(found[0]) else _neighbour(found["number"])
        return _moved(found)

    return _FACT.sub(change, text)


def _question(asked: Asked, places: Mapping[str, str], evidence: str) -> Asked:
    """An answer's place or count changes only where a turn of its evidence names it: others were inferred, and stay."""

    def inferred(fact: str) -> bool:
        return not any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", evidence, re.IGNORECASE) for form in _forms(fact))

    answer = changed_text(asked.answer, places, inferred)
    return replace(asked, question=changed_text(asked.question, places), answer=answer)


def _forms(fact: str) -> tuple[str, ...]:
    if fact.isdigit():
        return fact, NUMBERS[int(fact) - 2]
    return (fact, str(NUMBERS.index(fact) + 2)) if fact in NUMBERS else (fact,)


def _neighbour(number: str) -> str:
    if number.isdigit():
        return str(int(number) ^ 1)
    return NUMBERS[((NUMBERS.index(number) + 2) ^ 1) - 2]


def _moved(found: re.Match[str]) -> str:
    if found["day"]:
        day, month, year = _later(found["day"], found["month"], found["year"])
        return f"{day}{_ordinal(found['gap'], day)}{month}{year}"
    if found["then_day"]:
        day, month, year = _later(found["then_day"], found["month_first"], found["then_year"])
        return f"{month}{found['blank']}{day}{_ordinal(found['ending'] or '', day)}{year}"
    if found["month_of"]:
        position = MONTHS.index(found["month_of"]) + MONTHS_MOVED
        return f"{MONTHS[position % 12]}{_with_year(found['of_year'], position // 12)}"
    return f"{found['word']}{MONTHS[(MONTHS.index(found['month_alone']) + MONTHS_MOVED) % 12]}"


def _later(day: str, month: str, year: str | None) -> tuple[int, str, str]:
    """Day, month and year eight weeks on; without a year as in 2023, which is no leap year. An impossible date stays."""
    number = int(year[-4:]) if year else 2023
    try:
        before = date(number, MONTHS.index(month) + 1, int(day))
    except ValueError:
        return int(day), month, year or ""
    after = before + MOVED
    return after.day, MONTHS[after.month - 1], _with_year(year or "", after.year - before.year)


def _with_year(year: str, more: int) -> str:
    return f"{year[:-4]}{int(year[-4:]) + more}" if year else ""


def _ordinal(gap: str, day: int) -> str:
    """The gap after a day's number, with the ending that the day needs."""
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return re.sub(r"^(?:st|nd|rd|th)", ending, gap)
