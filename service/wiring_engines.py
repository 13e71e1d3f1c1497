"""Which engine finds the nearest messages, and what keeps it in step? Made from the settings, for `service/wiring.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.engines.mem_search import EngineConfig, MemSearch
    from service.graph.driver import Graph
    from service.pipelines.dense import Dense
    from service.pipelines.mirror import Mirror
    from service.settings import Settings
    from service.types.audio import TextEmbedder

IN_THE_GRAPH = "neo4j"
"""Value of the setting `engine` with which messages are searched where they are."""
FORGET_AT_ONCE = 1_000
"""Messages that an engine is told of together: one transaction of Graphiti's, some MB of its vectors."""


class Engines:
    """One a process; the engine is opened when first asked for, since Mem0 can be opened once only."""

    def __init__(self, settings: Settings, graph: Graph, embedder: Callable[[], Awaitable[TextEmbedder]]) -> None:
        self._settings, self._graph, self._embedder = settings, graph, embedder
        self._engine: MemSearch | None = None
        self._lock = asyncio.Lock()

    async def dense(self) -> Dense:
        """What the search asks for the nearest. Raises EngineMissing."""
        from service.pipelines.dense import Dense

        name = self._settings.engine
        text, engine = await self._embedder(), None if name == IN_THE_GRAPH else await self._opened()
        return Dense(self._graph, text.embedding_space.name, engine, name)

    async def mirror(self) -> Mirror:
        """`await mirror(space)` gives the engine what it lacks. Raises NoMirror where the graph itself is searched."""
        from service.pipelines.mirror import Mirror, NoMirror

        name = self._settings.engine
        if name == IN_THE_GRAPH:
            raise NoMirror()
        text, engine = await self._embedder(), await self._opened()
        return Mirror(self._graph, name, engine, text.embedding_space.name)

    async def mirror_if_any(self) -> Mirror | None:
        return None if self._settings.engine == IN_THE_GRAPH else await self.mirror()

    async def forget(self, space: str) -> None:
        """What engines mirror of a space, also those that are set no more, with the marks that they do. Raises EngineMissing
        where Mem0 was used and cannot be opened now."""
        from service.engines.mem0 import Mem0Search
        from service.engines.mem_search import mirror_space
        from service.graph.graphiti_mirror import forget_graphiti_groups
        from service.pipelines.mirror import forget_all_marks

        await forget_graphiti_groups(self._graph, f"{mirror_space(space)}_")
        if self._settings.engine == "mem0" or Mem0Search.was_used(self._settings.data_dir):
            await self._forget_mem0(space)
        await forget_all_marks(self._graph, space)

    async def forget_messages(self, space: str, ids: Sequence[str]) -> None:
        """Messages that are erased are in no engine's mirror either, also of those that are set no more. Raises EngineMissing
        where Mem0 was used and cannot be opened now."""
        from service.engines.graphiti import uuid_of
        from service.engines.mem0 import Mem0Search
        from service.engines.mem_search import mirror_space
        from service.graph.graphiti_mirror import forget_graphiti_items

        prefix = f"{mirror_space(space)}_"
        for start in range(0, len(ids), FORGET_AT_ONCE):
            some = ids[start : start + FORGET_AT_ONCE]
            await self._graph.write(forget_graphiti_items, prefix, [uuid_of(id) for id in some])
            if self._settings.engine == "mem0" or Mem0Search.was_used(self._settings.data_dir):
                await self._forget_mem0(space, some)

    async def _forget_mem0(self, space: str, ids: Sequence[str] | None = None) -> None:
        from service.engines.mem0 import Mem0Search

        if self._settings.engine == "mem0":
            await (await self._opened()).forget(space, ids)
            return
        engine = await Mem0Search.open(await self._config())
        try:
            await engine.forget(space, ids)
        finally:
            await engine.close()

    async def close(self) -> None:
        if self._engine is not None:
            await self._engine.close()
            self._engine = None

    async def _opened(self) -> MemSearch:
        from service.engines.mem_search import open_engine

        async with self._lock:
            if self._engine is None:
                self._engine = await open_engine(self._settings.engine, await self._config())
            return self._engine

    async def _config(self) -> EngineConfig:
        from service.engines.mem_search import EngineConfig

        settings, text = self._settings, await self._embedder()
        return EngineConfig(self._graph, text.embedding_space, settings.data_dir, settings.mem0_python)
