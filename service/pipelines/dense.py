"""Which visible messages are nearest in meaning, whichever engine looks for them?

Neo4j's own search has filters inside its index. Another engine knows neither people nor times: it is given the pool that
the filters let through, and what it finds passes the gate of the graph, which also tells where it stands and how near it
is: a mirror that lags behind may miss a message, and cannot show one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.engines.mem_search import MemSearch, Wanted
from service.graph import search as legs
from service.graph.mirrors import find_places, list_candidates
from service.types.audio import Samples
from service.types.search import Filters

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph


class Dense:
    """The turn view's nearest. `engine`: None for Neo4j's own index."""

    def __init__(self, graph: Graph, text_space: str, engine: MemSearch | None = None, name: str = "neo4j") -> None:
        self._graph, self._text_space, self._engine, self._name = graph, text_space, engine, name

    async def __call__(
        self,
        scope: ReadScope,
        text: str,
        vector: Samples,
        filters: Filters,
        k: int,
        config: legs.SearchConfig = legs.DEFAULTS,
        *,
        candidates: int,
    ) -> legs.Leg:
        """As `nearest_messages` of the turn view; `text` is what `vector` was made of."""
        if self._engine is None:
            return await self._graph.read(
                legs.nearest_messages, scope, self._text_space, "turn", vector, filters, k, config, candidates=candidates
            )
        pool = None if filters.empty else await self._graph.read(list_candidates, scope, filters)
        ranking = await self._engine.nearest(scope, Wanted(text, vector, k, pool))
        ids = [ranked.id for ranked in ranking]
        found = await self._graph.read(find_places, scope, self._text_space, ids, vector)
        return legs.Leg(found, f"{self._name}{'+pool' if pool is not None else ''}")
