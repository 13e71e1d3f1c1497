"""What does the API need of the rest of the service? `service.wiring.Services` fits this Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from service.graph.driver import Graph
    from service.pipelines.answer import Answerer
    from service.pipelines.ingest import Ingest
    from service.pipelines.search import Search
    from service.settings import Settings
    from service.types.audio import SpeakerEmbedding, Waveform


class Services(Protocol):
    """One per process. Models load when first asked for (in a thread: the methods are async), once, and are shared."""

    @property
    def settings(self) -> Settings:
        """`space`, `tokens_file`, `uploads_dir`, `development` and `max_upload_mb` are read here."""
        ...

    @property
    def graph(self) -> Graph: ...

    async def ingest(self) -> Ingest:
        """`await ingest(request, progress)` writes one recording."""
        ...

    async def search(self) -> Search: ...

    async def answer(self) -> Answerer: ...

    async def waveform(self, path: Path) -> Waveform:
        """A whole short clip, decoded; raises the decoder's errors. Limit: two minutes."""
        ...

    async def voice(self, path: Path) -> SpeakerEmbedding:
        """The voice of the speech in a clip, for asking by voice; raises AudioTooShort and the decoder's errors."""
        ...

    async def enrol(self, *, space: str, name: str, clip: Path, text_version: str, channel: str) -> str:
        """Id of the new person, with consent to `remember_voice` recorded and the clip's exemplars kept."""
        ...

    async def resolve_viewer(self, **asked: Any) -> Any:
        """`service.pipelines.viewer.resolve_viewer` with this process's graph and gallery."""
        ...
