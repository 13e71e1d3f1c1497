"""How does an engine come to have what the graph has? Some messages at a time: given to the engine, then marked in the graph.

The mark names the audience under which the engine has a message. What has none, or moved since, is listed and given again;
so it is the same after any interruption, and two runs at once only do the same twice. An item stands
under its old audience until then, and the gate of the graph hides it from who may not read it any more. What was erased since
it was read is taken out again; what a run that ended had given and not marked, the erasing itself takes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.engines.mem_search import Item, MemSearch
from service.errors import VoicegraphError
from service.graph.mirrors import count_unmirrored, forget_marks, list_unmirrored, save_mirrored
from service.types.audio import Progress

if TYPE_CHECKING:
    from service.graph.driver import Graph


class NoMirror(VoicegraphError):
    code = "no_mirror"
    says = "The setting `engine` is neo4j: messages are searched where they are. Set it to graphiti or mem0 for a mirror."
    http_status = 409


@dataclass(frozen=True, slots=True)
class MirrorConfig:
    batch: int = 256  # messages read, given and marked together: half a megabyte of vectors
    marks: int = 1_000  # messages whose marks go in one transaction


@dataclass(frozen=True, slots=True)
class Mirrored:
    engine: str
    messages: int
    """Given to the engine in this run."""
    behind: int
    """Messages of the space that it still lacks."""


class Mirror:
    """One a process, for one engine and one embedding space of texts."""

    def __init__(self, graph: Graph, name: str, engine: MemSearch, text_space: str, config: MirrorConfig | None = None) -> None:
        self._graph, self.name, self._engine, self._text_space = graph, name, engine, text_space
        self._config = config or MirrorConfig()

    async def __call__(
        self, space: str, session_id: str | None = None, progress: Progress = lambda share, stage: None
    ) -> Mirrored:
        """Give the engine what it lacks of one session, or of the space. Raises the engine's errors: the same call goes on."""
        done = 0
        while some := await self._graph.read(
            list_unmirrored, space, self.name, self._text_space, session_id, self._config.batch
        ):
            items = [Item(m.id, m.audience, m.text, m.vector, m.said_at, m.session_id, m.local_speaker) for m in some if m.text]
            await self._engine.index(space, items)
            given = {m.id: m.audience for m in some}
            if erased := await self._graph.write(save_mirrored, space, self.name, self._text_space, given):
                await self._engine.forget(space, erased)
            done += len(some)
            progress(0.0, f"{done} messages")
        return Mirrored(self.name, done, await self._graph.read(count_unmirrored, space, self.name, self._text_space))

    async def forget(self, space: str, ids: Sequence[str]) -> None:
        """Messages that are no more are none there either. Safe to repeat."""
        await self._engine.forget(space, ids)


async def forget_all_marks(graph: Graph, space: str, config: MirrorConfig = MirrorConfig()) -> None:
    """Note that no engine has anything of the space any more; the messages stay where they are."""
    while await graph.write(forget_marks, space, config.marks):
        pass
