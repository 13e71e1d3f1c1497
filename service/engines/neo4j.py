"""How is the graph itself an engine? The messages carry their vectors, so there is nothing to mirror and nothing to forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from service.engines.mem_search import EngineConfig, Item, Wanted
from service.graph.mirrors import nearest_of_pool
from service.types.search import Ranked, Ranking

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph


class Neo4jSearch:
    """The default. The product's own rounds ask `service/graph/search.py` at once, with filters inside the index; this is the
    same search as a MemSearch, exact within a pool."""

    def __init__(self, graph: Graph, text_space: str) -> None:
        self._graph, self._text_space = graph, text_space

    @classmethod
    async def open(cls, config: EngineConfig) -> Neo4jSearch:
        return cls(config.graph, config.text_space.name)

    async def index(self, space: str, items: Sequence[Item]) -> None:
        """They are where they are searched."""

    async def nearest(self, scope: ReadScope, wanted: Wanted) -> Ranking:
        """Scores are raw cosines."""
        found = await self._graph.read(nearest_of_pool, scope, self._text_space, wanted.vector, wanted.k, wanted.pool)
        return tuple(Ranked(id, cosine) for id, cosine in found)

    async def forget(self, space: str, ids: Sequence[str] | None = None) -> None:
        """They go with the messages."""

    async def close(self) -> None:
        """The graph is closed by who opened it."""
