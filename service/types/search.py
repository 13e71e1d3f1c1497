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
    FACT_BM25 = "fact_bm25"
    FACT_DENSE = "fact_dense"
    REPLIES = "replies"
    """Next to a hit along REPLIES_TO."""
    ENTITIES = "entities"
    """Shares a rare name or term with a hit."""
    PEOPLE = "people"
    """By edges alone: who said it, to whom, who was there."""
    IMAGE = "image"


class Layer(StrEnum):
    INTERACTIONS = "interactions"
    FACTS = "facts"
    PROFILES = "profiles"


class QuestionType(StrEnum):
    LOOKUP = "lookup"
    TEMPORAL = "temporal"
    LIST = "list"
    """Several things at once: which books, what have we in common."""
    WHO = "who"
    """Who said it: "who told Bo about the trip?"."""
    DIRECTED = "directed"
    """What one said to another: "what did Ana tell Bo?", "what was said to me?"."""
    COMMITMENT = "commitment"
    OPEN = "open"
    """Asks for an inference: would, might, likely."""


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
    by_or_to: tuple[str, ...] = ()
    """Said by one of them or to one of them."""

    @property
    def empty(self) -> bool:
        return not (self.speakers or self.addressees or self.by_or_to or self.sessions or self.since or self.until)


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
class Round:
    """One round of retrieval, for `explain`."""

    number: int
    """From 1."""
    query: str
    """What was looked for in it."""
    why: str
    """Why this round was made."""
    legs: tuple[str, ...]
    """Which search ran and how: e.g. `dense:exact`, `dense:index+widen(2)`, `bm25:skipped(empty)`."""
    new: int
    """Hits shown that no round before had found."""
    sufficient: bool
    """Whether what is there was enough after it."""


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
