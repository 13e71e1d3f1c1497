"""Which visible messages answer a question best? Plan, three legs at once, fusion, the best shown with why."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.errors import InvalidInput
from service.graph import search as legs
from service.graph.messages import count_messages, find_messages, find_reasons, find_said_by_or_to
from service.graph.people import list_named_people, list_same_people
from service.retrieval.fusion import Fused, FusionConfig, favour, fuse
from service.retrieval.lucene import escaped, lucene_query
from service.retrieval.plan import Plan, plan
from service.retrieval.presentation import PresentationConfig, present
from service.types.audio import Samples, TextEmbedder
from service.types.memory import Message
from service.types.search import Filters, Hit, SearchResult, Tool

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
        planned = await self._plan(scope, question)
        visible, ran = await asyncio.gather(
            self._graph.read(count_messages, scope), self._legs(scope, planned, filters or Filters())
        )
        fused = await self._fused(scope, planned, {tool: leg for tool, leg in ran.items()})
        hits = await self._graph.read(self._shown, scope, fused, first)
        return SearchResult(hits, visible, tuple(f"{tool.value}:{leg.how}" for tool, leg in ran.items()))

    async def _plan(self, scope: ReadScope, question: str) -> Plan:
        names = escaped(question)
        people = await self._graph.read(list_named_people, scope, names) if names else {}
        return plan(question, people, scope.asker)

    async def _legs(self, scope: ReadScope, planned: Plan, filters: Filters) -> dict[Tool, legs.Leg]:
        """The full text runs while the question is embedded; then both dense views at once."""
        lexical = asyncio.create_task(
            self._graph.read(legs.full_text, scope, lucene_query(planned.words, planned.names), filters, self.config.pool)
        )
        vector = (await asyncio.to_thread(self._embedder.queries, [planned.meaning]))[0]
        found = await asyncio.gather(lexical, *(self._nearest(scope, view, vector, filters) for view in _VIEWS.values()))
        return dict(zip((Tool.BM25, *_VIEWS), found, strict=True))

    async def _nearest(self, scope: ReadScope, view: str, vector: Samples, filters: Filters) -> legs.Leg:
        return await self._graph.read(
            legs.nearest_messages, scope, self.text_space, view, vector, filters, self.config.pool, self.config.legs
        )

    async def _fused(self, scope: ReadScope, planned: Plan, ran: dict[Tool, legs.Leg]) -> tuple[Fused, ...]:
        rankings = {tool: leg.ranking for tool, leg in ran.items()}
        fused = fuse(rankings, self.config.fusion)
        if not planned.people or not fused:
            return fused
        meant = await self._graph.read(_said_by_or_to, scope, [hit.id for hit in fused], planned.people)
        return favour(fused, meant, sum(map(bool, rankings.values())), self.config.fusion)

    async def _shown(self, tx: Tx, scope: ReadScope, fused: tuple[Fused, ...], first: int | None) -> tuple[Hit, ...]:
        wanted = [hit.id for hit in fused[: self.config.presentation.max_hits]]
        messages: dict[str, Message] = await find_messages(tx, scope, wanted)
        return present(fused, messages, await find_reasons(tx, scope, wanted), first, self.config.presentation)


async def _said_by_or_to(tx: Tx, scope: ReadScope, ids: list[str], people: tuple[str, ...]) -> frozenset[str]:
    return await find_said_by_or_to(tx, scope, ids, await list_same_people(tx, scope, people))


def checked(question: str, max_question: int) -> str:
    """The question without blanks around it; raises InvalidInput when nothing is left, or too much."""
    question = question.strip()
    if not question:
        raise InvalidInput(what="the question", given="empty", needed="some words")
    if len(question) > max_question:
        raise InvalidInput(what="the question", given=f"{len(question)} characters", needed=f"at most {max_question}")
    return question
