"""Facts: what a session's turns are read as, what an extractor gives, and the protocol between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.types.memory import Addressee

SPEAKER, ADDRESSEE = "{speaker}", "{addressee}"
"""Stand in a statement for whom its source turn is by and to. Who that is, and what they are called, is read from the graph
when the statement is shown: a rename, a correction or an erasure changes no fact. No other brace stands in a statement."""


class FactKind(StrEnum):
    STATEMENT = "statement"
    PLAN = "plan"
    PREFERENCE = "preference"
    COMMITMENT = "commitment"
    QUESTION = "question"


class Precision(StrEnum):
    """How exactly a time was said."""

    YEAR = "year"
    SEASON = "season"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    HOUR = "hour"
    MINUTE = "minute"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The time that an expression means: [`start`, `end`), both UTC, made in the zone of who said it."""

    start: datetime
    end: datetime
    precision: Precision
    words: str
    """The expression as said: last Friday."""


@dataclass(frozen=True, slots=True)
class FactTurn:
    """One turn as an extractor reads it. Who the voices are is not told: facts must not change when that is corrected."""

    message_id: str
    voice: str
    """Tells the voices of the session apart."""
    text: str
    said_at: datetime
    """UTC."""
    zone: str | None = None
    """IANA name or offset, as the session was given; what "tomorrow" means depends on it."""
    language: str | None = None
    may_use: int = 3
    """How many of the turns right before may be read with it, [0, 3]: those that everybody who may read it may read, too."""
    audience: str | None = None
    """Tells sets of readers apart: turns that have the same one may be read together. None: not told, and then it is read with
    none but the `may_use` before it."""
    space: str | None = None
    """The tenant: what an extractor keeps of its work, it keeps under it. None: it keeps nothing."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A self-contained statement (VoxPolyMem, facts). `source` first among its evidence."""

    statement: str
    """With {speaker} and {addressee}; every other content word is from the evidence, a resolved date or a known name."""
    kind: FactKind
    source: str
    """Id of the message it was said in."""
    context: tuple[str, ...] = ()
    """Ids of the other messages that it was made from, at most three."""
    about: TimeSpan | None = None
    attribute: str | None = None
    """What a newer fact of the same speaker supersedes, without the value: "favourite food". None: supersedes nothing."""
    value: str | None = None
    confidence: float = 1.0

    @property
    def evidence(self) -> tuple[str, ...]:
        return (self.source, *self.context)


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact as a viewer may read it."""

    id: str
    session_id: str
    statement: str
    """With {speaker} and {addressee}."""
    kind: FactKind
    said_at: datetime
    """UTC, of its source."""
    about: TimeSpan | None
    attribute: str | None
    value: str | None
    confidence: float
    extractor: str
    evidence: tuple[str, ...]
    """Ids of messages, its source first."""
    speaker_id: str | None
    """Who said it, as merges say; None while the voice is unresolved."""
    addressees: tuple[Addressee, ...]
    """Of its source, the surest first."""


class FactExtractor(Protocol):
    @property
    def name(self) -> str:
        """Name and version, kept with each fact: `rules-2`, `model:NAME`."""
        ...

    async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        """Facts of one session's turns, in spoken order; the same turns give the same facts. `dropped` is added to: why what
        might have been a fact is none, and how often."""
        ...
