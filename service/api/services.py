"""What does the API need of the rest of the service? `service.wiring.Services` fits this Protocol."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from service.types.people import PersonVoice

if TYPE_CHECKING:
    from service.graph.driver import Graph
    from service.pipelines.answer import Answerer
    from service.pipelines.ingest import Ingest
    from service.pipelines.search import Search
    from service.pipelines.viewer import HeardVoice
    from service.settings import Settings


class Services(Protocol):
    """One per process. Models load when first asked for, once, in a thread (hence async), and are shared."""

    @property
    def settings(self) -> Settings:
        """`space`, `encoder`, `tokens_file`, `uploads_dir`, `development` and `max_upload_mb` are read here."""
        ...

    @property
    def graph(self) -> Graph: ...

    async def ingest(self) -> Ingest:
        """`await ingest(request, progress)` writes one recording."""
        ...

    async def search(self) -> Search: ...

    async def answer(self) -> Answerer: ...

    async def voices(self, space: str) -> Mapping[str, PersonVoice]:
        """The gallery of `space` for asking by voice: `resolve_viewer`'s second argument."""
        ...

    async def heard(self, clip: Path) -> HeardVoice:
        """The voice in a clip of at most two minutes, for asking by voice; raises the decoder's errors and AudioTooShort."""
        ...

    async def enrol(self, *, space: str, name: str, clip: Path, text_version: str, channel: str) -> str:
        """Id of the new person, with consent to `remember_voice` recorded and the clip's exemplars kept."""
        ...
