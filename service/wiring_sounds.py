"""What listens for sounds, and what looks for them? Made from the settings, for `service/wiring.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.graph.driver import Graph
    from service.pipelines.search import Search
    from service.pipelines.sound_search import SoundSearch
    from service.pipelines.sounds import RememberSounds
    from service.settings import Settings
    from service.types.sounds import SoundTagger


class Sounds:
    """One a process; the tagger is loaded when somebody's turns are first to be listened to."""

    def __init__(self, settings: Settings, graph: Graph, search: Callable[[], Awaitable[Search]]) -> None:
        self._settings, self._graph, self._search = settings, graph, search
        self._tagger: SoundTagger | None = None
        self._lock = asyncio.Lock()

    def remember(self) -> RememberSounds:
        """`await remember(space, session_id, sound=path)` listens to the turns of those who agreed. Raises UnknownPlugIn."""
        from service.audio.sounds import tagger_name
        from service.pipelines.sounds import RememberSounds

        return RememberSounds(self._graph, self.tagger, tagger_name(self._settings.sound_tagger))

    def find(self) -> SoundSearch:
        from service.pipelines.sound_search import SoundSearch

        return SoundSearch(self._graph, self._search)

    async def tagger(self) -> SoundTagger:
        """Raises ModelMissing, WeightsNotKnown."""
        from service.audio.sounds import load_tagger

        async with self._lock:
            if self._tagger is None:
                s = self._settings
                self._tagger = await asyncio.to_thread(
                    lambda: load_tagger(s.sound_tagger, cache=s.cache_dir, threads=s.threads)
                )
            return self._tagger
