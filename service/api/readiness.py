"""Can the service be asked anything? Looked at for whoever wants to know, and for all who do meanwhile and a moment later."""

from __future__ import annotations

import asyncio
import time

from service.errors import VoicegraphError
from service.graph.driver import Graph
from service.graph.migrate import status


class Readiness:
    """`within`: seconds for the database to answer; `again`: seconds that its answer holds."""

    def __init__(self, graph: Graph, *, within: float, again: float) -> None:
        self._graph, self._within, self._again = graph, within, again
        self._looking = asyncio.Lock()
        self._looked = float("-inf")
        self._problem: str | None = None

    async def problem(self) -> str | None:
        """What is missing, without addresses."""
        async with self._looking:
            if time.monotonic() - self._looked > self._again:
                self._problem = await self._look()
                self._looked = time.monotonic()
            return self._problem

    async def _look(self) -> str | None:
        try:
            async with asyncio.timeout(self._within):
                found = await status(self._graph)
        except TimeoutError:
            return "neo4j_unreachable"
        except VoicegraphError as error:
            return error.code
        return "not_migrated" if found.pending else "indexes_not_online" if found.populating else None
