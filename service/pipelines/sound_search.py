"""When was somebody laughing about the trip? Sounds in messages that a viewer may read, the nearest to that first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from service.errors import InvalidInput
from service.graph.messages import find_messages, find_reasons
from service.graph.sounds import find_piece, list_sounds, nearest_sounds
from service.retrieval.sounds import NearConfig, near
from service.types.search import Filters
from service.types.sounds import KeptSound, SoundHit, SoundsAsked

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph, Tx
    from service.pipelines.search import Search


@dataclass(frozen=True, slots=True)
class SoundSearchConfig:
    max_found: int = 50  # shown at once
    sounds: int = 2_000  # the newest that are looked at where something is asked about
    best: int = 60  # messages found about it that sounds may be near to
    near: NearConfig = field(default_factory=NearConfig)


class SoundSearch:
    """One a process; every call reads with the scope it is given and nothing else."""

    def __init__(
        self,
        graph: Graph,
        search: Callable[[], Awaitable[Search]],
        config: SoundSearchConfig | None = None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`search`: made when something is asked about, and not before."""
        self._graph, self._search, self._clock = graph, search, clock
        self.config = config or SoundSearchConfig()

    async def __call__(
        self,
        scope: ReadScope,
        asked: SoundsAsked,
        filters: Filters | None = None,
        *,
        first: int = 10,
        asked_at: datetime | None = None,
        zone: str | None = None,
    ) -> tuple[SoundHit, ...]:
        """At most `first`: the newest first, or those nearest to what is asked about or to the sound they are to be like.
        `filters.speakers` is who sounds so; what is spoken of may be said by anybody. Raises InvalidInput as Search does, and
        for another `first`."""
        if not 0 < first <= self.config.max_found:
            raise InvalidInput(what="`first`", given=first, needed=f"1 to {self.config.max_found}")
        filters, now = filters or Filters(), self._clock()
        if asked.like is not None:
            alike = await self._graph.read(nearest_sounds, scope, asked.like, asked.labels, filters, first, now=now)
            return await self._graph.read(_shown, scope, [sound for sound, _ in alike], [cosine for _, cosine in alike])
        most = first if asked.about is None else self.config.sounds
        sounds = await self._graph.read(list_sounds, scope, asked.labels, filters, most, now=now)
        if asked.about is None:
            return await self._graph.read(_shown, scope, sounds, [1.0] * len(sounds))
        about = replace(filters, speakers=(), addressees=(), by_or_to=())
        found = await (await self._search()).gather(scope, asked.about, about, asked_at=asked_at, zone=zone)
        best = found.gathered.candidates[: self.config.best]
        messages = await self._graph.read(find_messages, scope, [one.id for one in best])
        scores = {(m.session_id, m.index): one.score for one in best if (m := messages.get(one.id)) is not None}
        nearness = near([sound.place for sound in sounds], scores, self.config.near)
        kept = sorted((s for s in sounds if s.place in nearness), key=lambda s: (-nearness[s.place], -s.score, s.id))[:first]
        return await self._graph.read(_shown, scope, kept, [nearness[sound.place] for sound in kept])

    async def piece(self, scope: ReadScope, sound_id: str) -> bytes | None:
        """The sound itself, Ogg Opus; for whoever spoke, alone. None where there is none to be had."""
        return await self._graph.read(find_piece, scope, sound_id, now=self._clock())


async def _shown(tx: Tx, scope: ReadScope, sounds: Sequence[KeptSound], scores: Sequence[float]) -> tuple[SoundHit, ...]:
    ids = list(dict.fromkeys(sound.message_id for sound in sounds))
    messages, reasons = await find_messages(tx, scope, ids), await find_reasons(tx, scope, ids)
    return tuple(
        SoundHit(sound, messages[sound.message_id], reasons[sound.message_id], round(score, 4))
        for sound, score in zip(sounds, scores, strict=True)
        if sound.message_id in messages and sound.message_id in reasons
    )
