"""How does a statement say a resolved time, so that it can be read in any year?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from service.memory.facts.persons import Edits
from service.memory.facts.phrases import Tree
from service.timewords import TimeWord
from service.types.facts import Precision, TimeSpan

_KEPT = frozenset("by since until till from to before after between for of during around through about past and or".split())  # noqa: SIM905
"""Prepositions that say more than that it was then."""
_OWN = frozenset("on in at over this".split())  # noqa: SIM905
_DECIDES = re.compile(r"\b(?:last|this|next|past|coming|previous|the|of|in)\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE)
_FEAST = re.compile(r"christmas|easter|new\s+year|thanksgiving|halloween|valentine|good\s+friday", re.IGNORECASE)
_SEASON = re.compile(r"spring|summer|autumn|fall|winter", re.IGNORECASE)
_PART = re.compile(r"morning|afternoon|evening|night", re.IGNORECASE)
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def place_dates(tree: Tree, words: Sequence[TimeWord], zone: tzinfo, edits: Edits) -> list[TimeWord]:
    """Puts the dates of `words` (offsets of the tree's text) into `edits`; those that fall together with tokens."""
    placed = []
    for word in words:
        inside = [i for i, t in enumerate(tree.tokens) if t.begin < word.end and word.begin < t.end]
        if not inside or tree[inside[0]].begin != word.begin or tree[inside[-1]].end != word.end:
            continue
        preposition, noun = said(word.span, zone)
        before = inside[0] - 1
        owner = inside[-1] + 1 < len(tree.tokens) and tree[inside[-1] + 1].tag == "POS"
        if before >= 0 and tree[before].lower in _OWN and tree[before].end < word.begin:
            edits[before] = preposition.capitalize() if tree[before].text[:1].isupper() else preposition
        elif not (owner or _noun_alone(tree, inside) or (before >= 0 and tree[before].lower in _KEPT)):
            noun = f"{preposition} {noun}"
            if word.begin == tree[0].begin:
                noun = noun[:1].upper() + noun[1:]
        edits[inside[0]] = noun
        edits.update(dict.fromkeys(inside[1:], ""))
        placed.append(word)
    return placed


_TIMED = frozenset("love like hate prefer spend remember enjoy celebrate skip miss mean suit".split())  # noqa: SIM905
"""Verbs that a time is an object of: I love Christmas."""


def _noun_alone(tree: Tree, inside: Sequence[int]) -> bool:
    """Whether the time is no adverbial: it is the subject, stands before a noun as its part, or is what somebody likes."""
    top = next((i for i in inside if tree[i].head not in inside or tree[i].head == i), inside[-1])
    head, dep = tree[top].head, tree[top].dep
    if dep in ("nsubj", "nsubjpass", "compound", "amod", "nmod", "poss"):
        return top < head
    return dep == "dobj" and tree[head].lemma in _TIMED


def said(span: TimeSpan, zone: tzinfo) -> tuple[str, str]:
    """Preposition and noun: ("on", "Friday, 12 May 2023"), ("in", "May 2023")."""
    start, end, words = span.start.astimezone(zone), span.end.astimezone(zone), span.words
    last = end - timedelta(microseconds=1)
    match span.precision:
        case Precision.MINUTE:
            return "at", f"{start:%H:%M} on {_day(start, words)}"
        case Precision.HOUR if (part := _PART.search(words)) is not None:
            return "on", f"the {part[0].lower()} of {_day(start, words)}"
        case Precision.HOUR:
            return "around", f"{start:%H:%M} on {_day(start, words)}"
        case Precision.DAY if _FEAST.search(words):
            bare = " ".join(re.sub(r"\b(?:19|20)\d\d\b", "", _DECIDES.sub("", words)).split()).strip(" ,")
            return "at", f"{bare} {start.year}"
        case Precision.DAY if last.date() == start.date():
            return "on", _day(start, words)
        case Precision.DAY if "weekend" in words.lower():
            return "on", f"the weekend of {_day(start, '')}"
        case Precision.WEEK if _whole(start, end, 7):
            return "in", f"the week of {_day(start, '')}"
        case Precision.SEASON if _SEASON.search(words):
            return "in", f"{_season(words)} {start.year}"
        case Precision.MONTH if start.day == 1 and (start.year, start.month) == (last.year, last.month):
            return "in", f"{_MONTHS[start.month - 1]} {start.year}"
        case Precision.YEAR if start.year == last.year:
            return "in", str(start.year)
        case Precision.YEAR if last.year - start.year == 9 and start.year % 10 == 0:
            return "in", f"the {start.year}s"
    return "in", f"the time from {_day(start, '')} to {_day(last, '')}"


def _day(of: datetime, words: str) -> str:
    weekday = f"{_DAYS[of.weekday()]}, " if _WEEKDAY.search(words) else ""
    return f"{weekday}{of.day} {_MONTHS[of.month - 1]} {of.year}"


def _whole(start: datetime, end: datetime, days: int) -> bool:
    return (start.hour, start.minute) == (0, 0) and (end.date() - start.date()).days == days


def _season(words: str) -> str:
    found = _SEASON.search(words)
    return found[0].lower() if found else "season"
