"""What does one look into the graph find? Three legs at once, and their hits ranked together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.graph import search as legs
from service.graph.messages import count_messages, find_said_by_or_to
from service.graph.people import list_same_people
from service.retrieval.fusion import FusionConfig, favour, fuse
from service.retrieval.lucene import lucene_query
from service.retrieval.plan import Plan
from service.retrieval.ranking import Candidate, Pool
from service.types.audio import Samples, TextEmbedder
from service.types.search import Filters, Ranking, Tool

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph, Tx

_VIEWS = {Tool.DENSE: "turn", Tool.DENSE_CONTEXT: "context"}


@dataclass(frozen=True, slots=True)
class OneRoundConfig:
    leg: int = 60  # hits of each leg that are fused; more changes Recall@15 by less than a point (retrieval.md §10)
    legs: legs.SearchConfig = field(default_factory=legs.SearchConfig)
    fusion: FusionConfig = field(default_factory=FusionConfig)


class OneRound:
    """One per process; every call reads with the scope it is given and nothing else."""

    def __init__(self, graph: Graph, embedder: TextEmbedder, config: OneRoundConfig | None = None) -> None:
        self._graph = graph
        self._embedder = embedder
        self.config = config or OneRoundConfig()

    async def __call__(self, scope: ReadScope, planned: Plan, filters: Filters, before: Sequence[str] = ()) -> Pool:
        """Candidates in the scope, best first. `before`: ids of what a round before found, whose words extend the query."""
        lexical, (visible, candidates), vector = await asyncio.gather(
            self._graph.read(legs.full_text, scope, lucene_query(planned.words, planned.names), filters, self.config.leg),
            self._graph.read(_sizes, scope, filters),
            asyncio.to_thread(self._embedder.queries, [planned.meaning]),
        )
        dense = await asyncio.gather(*(self._nearest(scope, v, vector[0], filters, candidates) for v in _VIEWS.values()))
        ran = {Tool.BM25: lexical, **dict(zip(_VIEWS, dense, strict=True))}
        ranked = await self._graph.read(self._ranked, scope, planned, {tool: leg.ranking for tool, leg in ran.items()})
        return Pool(ranked, visible, tuple(f"{tool.value}:{leg.how}" for tool, leg in ran.items()))

    async def _nearest(self, scope: ReadScope, view: str, vector: Samples, filters: Filters, candidates: int) -> legs.Leg:
        return await self._graph.read(
            legs.nearest_messages, scope, self._embedder.embedding_space.name, view, vector, filters, self.config.leg,
            self.config.legs, candidates=candidates,
        )  # fmt: skip

    async def _ranked(self, tx: Tx, scope: ReadScope, planned: Plan, rankings: dict[Tool, Ranking]) -> tuple[Candidate, ...]:
        fused = fuse(rankings, self.config.fusion)
        if planned.people and fused:
            people = await list_same_people(tx, scope, planned.people)
            meant = await find_said_by_or_to(tx, scope, [hit.id for hit in fused], people)
            fused = favour(fused, meant, sum(map(bool, rankings.values())), self.config.fusion)
        return tuple(Candidate(hit.id, min(1.0, hit.score), hit.found) for hit in fused)


async def _sizes(tx: Tx, scope: ReadScope, filters: Filters) -> tuple[int, int]:
    """How many messages the scope holds, and how many of them the filters let through."""
    visible = await count_messages(tx, scope)
    return visible, visible if filters.empty else await legs.count_candidates(tx, scope, filters)
