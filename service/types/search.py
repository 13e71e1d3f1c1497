"""Questions, rankings and hits as they cross packages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.types.memory import Message


class Tool(StrEnum):
    BM25 = "bm25"
    DENSE = "dense"
    DENSE_CONTEXT = "dense_context"
    FACT_BM25 = "fact_bm25"
    FACT_DENSE = "fact_dense"
    FACT_KIND = "fact_kind"
    """Has a fact of the kind that is asked for: a promise."""
    REPLIES = "replies"
    """Next to a hit along REPLIES_TO."""
    ENTITIES = "entities"
    """Shares a rare name or term with a hit."""
    FOUND_BEFORE = "found_before"
    """Was found when its asker asked much the same before."""
    PEOPLE = "people"
    """By edges alone: who said it, to whom, who was there."""
    IMAGE = "image"
    """Was shown with what looks like it."""
    SOUND = "sound"
    """Sounds as the question says: somebody laughs in it."""


FACT_TOOLS = frozenset({Tool.FACT_BM25, Tool.FACT_DENSE, Tool.FACT_KIND})
"""Find a message by a fact that was taken from it."""


class Layer(StrEnum):
    INTERACTIONS = "interactions"
    FACTS = "facts"
    PROFILES = "profiles"
    """Of the facts, those that tell an attribute of their speaker."""
    IMAGES = "images"


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
    layers: tuple[Layer, ...] = ()
    """Only what these layers found. Narrows what is shown and, to what profiles tell, which facts are read."""

    @property
    def telling(self) -> bool:
        """Of the facts, only those that a profile tells: with an attribute of their speaker."""
        return Layer.PROFILES in self.layers and Layer.FACTS not in self.layers

    @property
    def empty(self) -> bool:
        return not (
            self.speakers or self.addressees or self.by_or_to or self.sessions or self.since or self.until or self.telling
        )


@dataclass(frozen=True, slots=True)
class Found:
    """Which tool found a hit, at which rank (from 1) and with which score."""

    tool: Tool
    rank: int
    score: float


def layers_of(found: tuple[Found, ...]) -> tuple[Layer, ...]:
    """By which layers something was found; what a profile tells are facts, and found as such."""
    return tuple(
        dict.fromkeys(
            Layer.FACTS if f.tool in FACT_TOOLS else Layer.IMAGES if f.tool is Tool.IMAGE else Layer.INTERACTIONS for f in found
        )
    )


@dataclass(frozen=True, slots=True)
class Hit:
    message: Message
    score: float
    """Fused, normalised to [0, 1] against the best a hit can get."""
    found: tuple[Found, ...]
    visible_because: str
    """said_it | addressed | attended | shared | public | reads_all"""
    round: int = 1
    """The first round that found it."""
    because: tuple[tuple[str, float], ...] = ()
    """What the ranker's features gave it, the weightiest first; for `explain`."""

    @property
    def layers(self) -> tuple[Layer, ...]:
        return layers_of(self.found)


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
    ended: str | None = None
    """Why no further round was made; only of the last."""


class Wants(StrEnum):
    """Whom a question of the type WHO asks for."""

    SPEAKER = "speaker"
    ADDRESSEE = "addressee"


@dataclass(frozen=True, slots=True)
class Meant:
    """Ids of those whom a question means, and what of it says what was said."""

    subject: str
    people: tuple[str, ...] = ()
    """All of them; the asker where it says I or my."""
    speakers: tuple[str, ...] = ()
    addressees: tuple[str, ...] = ()
    wants: Wants | None = None
    verbs: frozenset[str] = frozenset()
    """Its words for saying."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    hits: tuple[Hit, ...]
    visible: int
    """How many messages the scope holds at all."""
    legs: tuple[str, ...]
    """Which search ran and how, for `explain`: e.g. `dense:exact`, `dense:index+widen(2)`, `bm25:skipped(empty)`."""
    rounds: tuple[Round, ...] = ()
    asked: Asked | None = None
    """What was understood of the question; None where nothing was looked for."""
    meant: Meant | None = None
    """Of whom it speaks, by id."""


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
    rounds: tuple[Round, ...] = ()
    by: str = "extractive"
    """Who put it into words: `extractive`, or the name of an AnswerWriter."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what rules understood of it. People are given by the names that the asker may know them by."""

    question: str
    type: QuestionType
    asked_at: datetime
    """UTC; what "yesterday" counts from."""
    asker: str | None = None
    """Name of who asks; None: nobody in particular, or somebody without a name."""
    speakers: tuple[str, ...] = ()
    """Whose words are asked for: Ana in "what did Ana tell Bo?"."""
    addressees: tuple[str, ...] = ()
    """Said to whom: Bo in "what did Ana tell Bo?"."""
    others: tuple[str, ...] = ()
    """Named otherwise: said by them, to them or of them."""
    absent: bool = False
    """What was said while the asker was not there."""
    directed: bool = False
    """The edges say more than the words: who said it to whom, or while who was away."""
    contentless: bool = False
    """It has no words of what was said: "what did Ana tell Bo?"."""
    windows: tuple[tuple[datetime | None, datetime | None], ...] = ()
    """[since, until), UTC, of when it was said or when it happened, where the question says so; None: open to that side."""
    parts: tuple[str, ...] = ()
    """Questions that it is made of, where it is made of several."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message as a policy or a writer of answers reads it: one that everybody who hears the answer may read, with names
    as they may know them. The text is what somebody said: data, never an instruction."""

    id: str
    by: str | None
    """None: a voice not recognised, or without a name."""
    to: tuple[str, ...]
    said_at: datetime
    """UTC."""
    text: str
    score: float
    """[0, 1], as on Hit."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the next round looks for."""

    query: str
    why: str
    extend: tuple[str, ...] = ()
    """Ids of evidence whose words go with the query: what is near to both gains in the same ranking."""
    expand: tuple[Tool, ...] = ()
    """REPLIES, ENTITIES: what is next to the best evidence by edges or by rare terms joins the candidates."""
    narrow: bool = False
    """What the question's speakers said to its addressees goes first, by the edges; with `absent`, while the asker was away."""


@dataclass(frozen=True, slots=True)
class Enough:
    """No further round."""

    why: str


@dataclass(frozen=True, slots=True)
class Done:
    """A round that was made, and the best evidence after it, best first."""

    step: Step
    evidence: tuple[Evidence, ...]


class RetrievalPolicy(Protocol):
    """What is looked for next, and when is it enough (VoxPolyMem)? At most three rounds are made of it."""

    @property
    def name(self) -> str:
        """`rules`, or `model:NAME`."""
        ...

    async def __call__(self, asked: Asked, done: tuple[Done, ...]) -> Step | Enough:
        """Before the first round `done` is empty, and Enough then means that nothing is looked for. A step may extend only
        evidence of `done`; other ids are refused."""
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """An answer in a writer's words; empty text: the evidence does not answer the question."""

    text: str
    citations: tuple[str, ...]
    """Ids of the evidence that it rests on. One that was not given makes the whole answer refused."""


class AnswerWriter(Protocol):
    @property
    def name(self) -> str:
        """`model:NAME`."""
        ...

    async def __call__(self, asked: Asked, evidence: tuple[Evidence, ...]) -> Written:
        """Nothing but the evidence may be told. Raises a VoicegraphError where no answer could be had; never makes one up."""
        ...
