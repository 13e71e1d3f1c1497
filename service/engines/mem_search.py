"""What must a memory engine do to stand under our index? Hold items apart by audience, find the nearest, forget.

The upper layer is decoupled from the engine (VoiceMem: "MemSearch"): an engine sees texts, vectors and audiences, no person,
session or edge. Who may see what is decided above it: it is told the audiences that a viewer may read, and what it finds passes
the gate of the graph once more, since a mirror may lag behind. Beside the Neo4j that holds the messages (`neo4j`), an engine is
a mirror of them, kept by `service/pipelines/mirror.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from service.errors import VoicegraphError
from service.registry import load
from service.types.audio import EmbeddingSpace, Samples
from service.types.ids import derived
from service.types.search import Ranking

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph

ENGINES: Mapping[str, str] = {
    "neo4j": "service.engines.neo4j:Neo4jSearch",
    "graphiti": "service.engines.graphiti:GraphitiSearch",
    "mem0": "service.engines.mem0:Mem0Search",
}


class EngineMissing(VoicegraphError):
    code = "engine_missing"
    says = "The engine {engine} is not usable here: {reason}. {remedy}"
    http_status = 503


class EngineAskedModel(VoicegraphError):
    code = "engine_asked_model"
    says = (
        "The engine asked for {what}, which it is never given. Its package works otherwise than the version this is made for."
    )
    http_status = 500


@dataclass(frozen=True, slots=True)
class Item:
    """A message as an engine keeps it."""

    id: str
    """Of the message; the same id indexed again replaces what was there."""
    audience: str
    """Id of the Audience that may read it."""
    text: str
    vector: Samples = field(repr=False)
    """L2-normalised, of the engine's embedding space, turn view."""
    said_at: datetime
    """UTC."""
    session_id: str
    voice: str
    """Id of the LocalSpeaker: whose voice that is, corrections change; so a mirror names no person."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for."""

    text: str
    vector: Samples = field(repr=False)
    k: int
    pool: Sequence[str] | None = None
    """Only among these ids; None: everywhere. Empty: nowhere."""

    @property
    def words(self) -> str:
        """`text`, or something in its place: engines refuse an empty one, even where the vector alone is asked for."""
        return self.text.strip() or "?"


class MemSearch(Protocol):
    async def index(self, space: str, items: Sequence[Item]) -> None:
        """Keep `items`, each findable under its audience and no other from now on. Safe to repeat."""
        ...

    async def nearest(self, scope: ReadScope, wanted: Wanted) -> Ranking:
        """At most `k` items of the scope's space and audiences, best first, scores in the engine's own scale. Fewer only where
        the scope and the pool hold fewer: a short list is never filtered afterwards."""
        ...

    async def forget(self, space: str, ids: Sequence[str] | None = None) -> None:
        """Nothing of these items (None: of the space) stays in the engine. Safe to repeat, and for ids never indexed."""
        ...

    async def close(self) -> None:
        """End what it holds open; what it keeps stays."""
        ...


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What an engine may need; each takes its part."""

    graph: Graph
    text_space: EmbeddingSpace
    data: Path
    """Folder for files of its own."""
    python: Path | None = None
    """Interpreter of an environment of its own, where its packages do not fit into ours."""


async def open_engine(name: str, config: EngineConfig) -> MemSearch:
    """Raises UnknownPlugIn, EngineMissing."""
    engine: MemSearch = await load(ENGINES, name, kind="engine").open(config)
    return engine


def mirror_space(space: str) -> str:
    """What an engine outside of our labels calls a space: a name of one form, whatever characters the tenant's own has."""
    return derived("mirror", space).replace("-", "")
