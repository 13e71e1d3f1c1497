"""Which visible messages answer a question best? Plan, three legs at once, fusion, the best shown with why."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.errors import InvalidInput
from service.graph import search as legs
from service.graph.messages import count_messages, find_messages, find_reasons, find_said_by_or_to
from service.graph.people import list_named_people, list_same_people
from service.retrieval.fusion import FusionConfig, favour, fuse
from service.retrieval.lucene import escaped, lucene_query
from service.retrieval.plan import Plan, plan
from service.retrieval.presentation import PresentationConfig, present
from service.types.audio import Samples, TextEmbedder
from service.types.search import Filters, Hit, Ranking, SearchResult, Tool

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph, Tx

_VIEWS = {Tool.DENSE: "turn", Tool.DENSE_CONTEXT: "context"}


@dataclass(frozen=True, slots=True)
class SearchPipelineConfig:
    pool: int = 60  # hits of each leg that are fused; more changes Recall@15 by less than a point (retrieval.md §10)
    max_question: int = 2_000  # characters; a question, not a document
    legs: legs.SearchConfig = field(default_factory=legs.SearchConfig)
    fusion: FusionConfig = field(default_factory=FusionConfig)
    presentation: PresentationConfig = field(default_factory=PresentationConfig)


class Search:
    """One per process; every call reads with the scope it is given and nothing else."""

    def __init__(self, graph: Graph, embedder: TextEmbedder, config: SearchPipelineConfig | None = None) -> None:
        self._graph = graph
        self._embedder = embedder
        self.config = config or SearchPipelineConfig()

    @property
    def text_space(self) -> str:
        """Name of the embedding space asked."""
        return self._embedder.embedding_space.name

    async def __call__(
        self, scope: ReadScope, question: str, filters: Filters | None = None, first: int | None = None
    ) -> SearchResult:
        """At most `first` (and max_hits) visible messages, best first. Raises InvalidInput for an empty question, one
        that is too long, and a negative `first`; anything may stand in the question."""
        question = checked(question, self.config.max_question)
        if first is not None and first < 0:
            raise InvalidInput(what="`first`", given=first, needed="0 or more")
        filters = filters or Filters()
        planned = await self._graph.read(_plan, scope, question)
        lexical, (visible, candidates), vector = await asyncio.gather(
            self._graph.read(legs.full_text, scope, lucene_query(planned.words, planned.names), filters, self.config.pool),
            self._graph.read(_sizes, scope, filters),
            asyncio.to_thread(self._embedder.queries, [planned.meaning]),
        )
        dense = await asyncio.gather(*(self._nearest(scope, v, vector[0], filters, candidates) for v in _VIEWS.values()))
        ran = {Tool.BM25: lexical, **dict(zip(_VIEWS, dense, strict=True))}
        hits = await self._graph.read(self._shown, scope, planned, {tool: leg.ranking for tool, leg in ran.items()}, first)
        return SearchResult(hits, visible, tuple(f"{tool.value}:{leg.how}" for tool, leg in ran.items()))

    async def _nearest(self, scope: ReadScope, view: str, vector: Samples, filters: Filters, candidates: int) -> legs.Leg:
        return await self._graph.read(
            legs.nearest_messages, scope, self.text_space, view, vector, filters, self.config.pool, self.config.legs,
            candidates=candidates,
        )  # fmt: skip

    async def _shown(
        self, tx: Tx, scope: ReadScope, planned: Plan, rankings: dict[Tool, Ranking], first: int | None
    ) -> tuple[Hit, ...]:
        fused = fuse(rankings, self.config.fusion)
        if planned.people and fused:
            people = await list_same_people(tx, scope, planned.people)
            meant = await find_said_by_or_to(tx, scope, [hit.id for hit in fused], people)
            fused = favour(fused, meant, sum(map(bool, rankings.values())), self.config.fusion)
        wanted = [hit.id for hit in fused[: self.config.presentation.max_hits]]
        messages, reasons = await find_messages(tx, scope, wanted), await find_reasons(tx, scope, wanted)
        return present(fused, messages, reasons, first, self.config.presentation)


async def _plan(tx: Tx, scope: ReadScope, question: str) -> Plan:
    names = escaped(question)
    return plan(question, await list_named_people(tx, scope, names) if names else {}, scope.asker)


async def _sizes(tx: Tx, scope: ReadScope, filters: Filters) -> tuple[int, int]:
    """How many messages the scope holds, and how many of them the filters let through."""
    visible = await count_messages(tx, scope)
    return visible, visible if filters.empty else await legs.count_candidates(tx, scope, filters)


def checked(question: str, max_question: int) -> str:
    """The question without blanks around it, half a surrogate pair replaced: JSON can hold one, a tokeniser and Neo4j cannot.

    Raises InvalidInput when nothing is left, or too much."""
    question = question.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    if not question:
        raise InvalidInput(what="the question", given="empty", needed="some words")
    if len(question) > max_question:
        raise InvalidInput(what="the question", given=f"{len(question)} characters", needed=f"at most {max_question}")
    return question
