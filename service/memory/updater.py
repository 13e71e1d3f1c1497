"""What does a newer fact do to what the same person said before? It updates it, takes it back, says it again, or stands beside
it.

A function of the two alone: in whatever order they come to be compared, the graph ends the same. Nothing is ever deleted, and
facts of two people never change each other (VoiceMem's updater, and its two extra rules)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from service.memory.facts.english import FUNCTION_WORDS, words
from service.memory.statements import without_people
from service.types.facts import FactKind
from service.types.revisions import Change, Compared

REVISER = "words-1"
"""Name and version of this comparison; a fact that another made is compared anew."""


@dataclass(frozen=True, slots=True)
class UpdaterConfig:
    same_matter: float = 0.6  # of the content words of the shorter, for "cancelled" and "moved" to be about the older
    contradicts: float = 0.75  # of all content words of both, for a negation to contradict
    shared: int = 2  # content words at least: one in common is a coincidence


DEFAULT = UpdaterConfig()
_TIMES = words(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december today tomorrow yesterday morning afternoon evening night week month year o'clock half past
    quarter"""
)
_MOVED = words("moved move postponed postpone rescheduled reschedule instead changed shifted delayed brought forward")
_OFF = re.compile(
    r"\b(?:cancell?(?:ed|s)|called off|fell through|falls through|no longer|any ?more|off the table|given up|gave up|"
    r"changed (?:his|her|their|my) mind)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|never|no|cannot)\b|n't\b", re.IGNORECASE)
_OFF_WORDS = words("cancelled canceled cancels called fell falls through longer anymore given gave mind table off up")


@dataclass(frozen=True, slots=True)
class _Words:
    plain: str
    content: frozenset[str]
    """Stems of what it tells, without times, and without what tells of change."""
    negated: bool
    off: bool
    moved: bool


@lru_cache(maxsize=8192)  # of one person's facts each is compared with every other
def _words(statement: str) -> _Words:
    plain = " ".join(without_people(statement).casefold().replace("’", "'").split()).strip(" .!")
    found = re.findall(r"[^\W_]+(?:'[^\W_]+)?", plain)
    left_out = FUNCTION_WORDS | _TIMES | _MOVED | _OFF_WORDS
    content = frozenset(_stem(w) for w in found if w not in left_out and not w[0].isdigit() and not w.endswith("n't"))
    return _Words(
        plain, content, _NEGATED.search(plain) is not None, _OFF.search(plain) is not None, not _MOVED.isdisjoint(plain.split())
    )


def change(one: Compared, other: Compared, config: UpdaterConfig = DEFAULT) -> Change | None:
    """What the newer of two facts of one person does to the older; None: nothing, it is added beside it."""
    older, newer = sorted((one, other), key=lambda fact: fact.place)
    if FactKind.QUESTION in (older.kind, newer.kind):
        return None
    new, old = _words(newer.statement), _words(older.statement)
    if new.plain == old.plain:
        return Change.KEEP
    if newer.attribute is not None and newer.attribute == older.attribute:
        return Change.KEEP if _value(newer) == _value(older) else Change.UPDATE
    shared, fewer = len(new.content & old.content), min(len(new.content), len(old.content))
    if shared < config.shared:
        return None
    if shared >= config.same_matter * fewer:
        if new.off and not old.off:
            return Change.DELETE
        if new.moved and not old.moved:
            return Change.UPDATE
    if new.negated != old.negated and shared >= config.contradicts * len(new.content | old.content):
        return Change.UPDATE
    return None


def _value(fact: Compared) -> str:
    return " ".join((fact.value if fact.value is not None else fact.statement).casefold().split())


def _stem(word: str) -> str:
    """Crude, and the same on both sides: plays and playing, moves and move."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)]
    return word
