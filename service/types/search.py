"""Questions, rankings and hits as they cross packages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.types.memory import Message


class Tool(StrEnum):
    BM25 = "bm25"
    DENSE = "dense"
    DENSE_CONTEXT = "dense_context"


@dataclass(frozen=True, slots=True)
class Ranked:
    id: str
    score: float
    """In the tool's own scale: Lucene score, or raw cosine."""


Ranking = tuple[Ranked, ...]
"""Best first, no id twice."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Narrowing asked for by the asker; never what makes a read allowed."""

    speakers: tuple[str, ...] = ()
    addressees: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def empty(self) -> bool:
        return not (self.speakers or self.addressees or self.sessions or self.since or self.until)


@dataclass(frozen=True, slots=True)
class Found:
    """Which tool found a hit, at which rank (from 1) and with which score."""

    tool: Tool
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    message: Message
    score: float
    """Fused, normalised to [0, 1] against the best a hit can get."""
    found: tuple[Found, ...]
    visible_because: str
    """said_it | addressed | attended | shared | public | reads_all"""


@dataclass(frozen=True, slots=True)
class SearchResult:
    hits: tuple[Hit, ...]
    visible: int
    """How many messages the scope holds at all."""
    legs: tuple[str, ...]
    """Which search ran and how, for `explain`: e.g. `dense:exact`, `dense:index+widen(2)`, `bm25:skipped(empty)`."""


class AnswerStatus(StrEnum):
    ANSWERED = "answered"
    NOTHING_FOUND = "nothing_found"
    NOT_ALLOWED = "not_allowed"


@dataclass(frozen=True, slots=True)
class Answer:
    """Extractive without a language model: `text` is made of the cited messages' own words."""

    status: AnswerStatus
    text: str
    reason: str
    citations: tuple[Hit, ...]
