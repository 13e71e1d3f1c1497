"""Whom may a voice be compared with right now? Everybody, kept by revision; in a large space those near, and those changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from service.graph.channels import list_channels
from service.graph.driver import Graph, Tx
from service.graph.opt_outs import list_refusals, list_voice_marks
from service.graph.voices import (
    NEVER,
    changed_voices,
    count_voices,
    get_forgotten,
    get_revision,
    list_voiced,
    nearest_voices,
    settled_revision,
)
from service.identity.opt_outs import Marker, OptedOut, Refusals
from service.types.audio import EmbeddingSpace, Samples
from service.types.people import ChannelMean, Former, PersonVoice


@dataclass(frozen=True, slots=True)
class GalleryConfig:
    max_exact: int = 20_000
    """People. Up to here all voices are held in memory: 12 exemplars each are 180 MB, a scan of centroids 0.4 ms (DESIGN
    §8: 10,000 take 0.17 ms). Above, the index names 100 candidates a turn; with made voices that differ in all 192 directions
    the best was among them in 98.8 % of 400 turns at 10,000 people (tests/bench/gallery.py)."""
    page: int = 1_000
    """people read at once when nothing is held yet: 2 s of CPU with three exemplars each; all at once, 10,000 took longer than
    GraphConfig.query_timeout on a busy machine"""
    recent: int = 50
    """Revisions. Whoever changed within them is always a candidate: the index need not be abreast of the last writes. And so
    many a question reads anew, 0.1 s, before it waits for the lock of the space to keep them."""


@dataclass(frozen=True, slots=True)
class Candidates:
    revision: int
    """identity_revision of the space when they were read."""
    voices: dict[str, PersonVoice]
    population: int
    """People with a voice in the space, when `voices` are only some of them; else 0. Thresholds follow it."""
    channels: Mapping[str, ChannelMean] = field(default_factory=dict)
    """Means of the space's channels, by tag."""
    refusals: Refusals = field(default_factory=Refusals)
    """Who may not be known by voice, at the same revision: what rests on it is only written where that has not moved."""
    former: Mapping[str, Former] = field(default_factory=dict)
    """As of FoldState."""


class Voices(Protocol):
    """Whom a fold compares with."""

    async def __call__(self, space: str, vectors: Sequence[Samples], *, near: Iterable[str] = ()) -> Candidates: ...

    def learnt(self, space: str, before: int, after: int, voices: Iterable[PersonVoice], gone: Iterable[str] = ()) -> None: ...


@dataclass(frozen=True, slots=True)
class _Known:
    """All of a space as it was at `revision`."""

    revision: int
    voices: Mapping[str, PersonVoice]
    channels: Mapping[str, ChannelMean]
    refusals: Refusals


class GalleryReader:
    """One a process and embedding space; keeps what it read of each space and asks only for what changed since."""

    def __init__(
        self,
        graph: Graph,
        encoder: EmbeddingSpace,
        config: GalleryConfig = GalleryConfig(),
        marker: Callable[[], Marker | None] = lambda: None,
    ) -> None:
        """`marker`: with the key of the marks of those who opted out; None while there is none here."""
        self._graph, self._encoder, self._config, self._marker = graph, encoder, config, marker
        self._known: dict[str, _Known] = {}

    async def __call__(self, space: str, vectors: Sequence[Samples], *, near: Iterable[str] = ()) -> Candidates:
        """Whom `vectors` may be; people in `near` (those already met in the session) always among them."""
        known = self._known.get(space)
        if known is None:
            if await self._graph.read(count_voices, space, self._encoder) > self._config.max_exact:
                settled = await self._graph.write(settled_revision, space)
                return await self._graph.read(self._nearest, space, settled, vectors, tuple(near))
            known = await self._all(space)
        if await self._graph.read(get_revision, space) != known.revision:
            now = await self._graph.write(self._settled, space, known)
            if now is None:
                self._known.pop(space, None)
                return await self(space, vectors, near=near)
            known = now
        if len(known.voices) > self._config.max_exact:
            self._known.pop(space, None)
        else:
            self._known[space] = known
        return _all_of(known)

    async def asked(self, space: str, vectors: Sequence[Samples]) -> Candidates:
        """Whom `vectors` may be, for a question: waits for nobody who writes, and may miss who was written in this moment.
        Nothing is to be written that rests on it."""
        known = self._known.get(space)
        if known is None and await self._graph.read(count_voices, space, self._encoder) <= self._config.max_exact:
            return await self(space, vectors)
        revision = await self._graph.read(get_revision, space)
        if known is None:
            return await self._graph.read(self._nearest, space, revision, vectors, ())
        if not 0 <= revision - known.revision <= self._config.recent:
            return await self(space, vectors)
        now = known if revision == known.revision else await self._graph.read(self._since, space, known, revision)
        return await self(space, vectors) if now is None else _all_of(now)

    def learnt(self, space: str, before: int, after: int, voices: Iterable[PersonVoice], gone: Iterable[str] = ()) -> None:
        """What this process just wrote at revision `before`, making `after` of it: it need not be read back."""
        known = self._known.get(space)
        if known is not None and known.revision == before:
            changed = {v.person_id: replace(v, exemplars=tuple(sorted(v.exemplars, key=lambda e: e.id))) for v in voices}
            left = set(gone)
            now = {p: v for p, v in {**known.voices, **changed}.items() if p not in left}
            self._known[space] = replace(known, revision=after, voices=now)

    async def _all(self, space: str) -> _Known:
        """Everybody, page by page, and the revision before the first: what changes meanwhile is read again after it."""
        revision = await self._graph.write(settled_revision, space)
        people = await self._graph.read(list_voiced, space, self._encoder)
        voices: dict[str, PersonVoice] = {}
        for start in range(0, len(people), self._config.page):
            page = people[start : start + self._config.page]
            found = await self._graph.read(changed_voices, space, self._encoder, since=NEVER, ids=page)
            voices |= {person: voice for person, voice in found.items() if voice is not None}
        channels = await self._graph.read(list_channels, space, self._encoder)
        return _Known(revision, voices, channels, await self._graph.read(self._refusals, space))

    async def _settled(self, tx: Tx, space: str, known: _Known) -> _Known | None:
        """As _since, read while nobody writes."""
        return await self._since(tx, space, known, await settled_revision(tx, space))

    async def _since(self, tx: Tx, space: str, known: _Known, revision: int) -> _Known | None:
        """With what changed until `revision`; None where nothing known holds: the space was made anew, or somebody of it
        deleted. Channel means are a handful, and move the revision: read whole."""
        if revision < known.revision or await get_forgotten(tx, space) > known.revision:
            return None
        changed = await changed_voices(tx, space, self._encoder, since=known.revision)
        voices = {person: voice for person, voice in {**known.voices, **changed}.items() if voice is not None}
        channels = await list_channels(tx, space, self._encoder)
        return _Known(revision, voices, channels, await self._refusals(tx, space))

    async def _nearest(self, tx: Tx, space: str, revision: int, vectors: Sequence[Samples], near: Iterable[str]) -> Candidates:
        """`revision` was read before the index is asked: what changes in between moves it, and a write is refused."""
        ids = await nearest_voices(tx, space, self._encoder, vectors) | set(near)
        found = await changed_voices(tx, space, self._encoder, since=revision - self._config.recent, ids=ids)
        population = await count_voices(tx, space, self._encoder)
        voices = {person: voice for person, voice in found.items() if voice is not None}
        channels = await list_channels(tx, space, self._encoder)
        return Candidates(revision, voices, population, channels, await self._refusals(tx, space))

    async def _refusals(self, tx: Tx, space: str) -> Refusals:
        """Of the revision that was settled before."""
        voices, attribution = await list_refusals(tx, space)
        marks = await list_voice_marks(tx, space, self._encoder)
        marker = await asyncio.to_thread(self._marker) if marks else None
        opted_out = OptedOut(marker, marks)
        if opted_out.size < len(marks):
            logging.getLogger(__name__).warning(
                "%d voices of space %s opted out under a key that is not here: they are not known again (opt-outs.key)",
                len(marks) - opted_out.size, space,
            )  # fmt: skip
        return Refusals(voices, attribution, opted_out)


def _all_of(known: _Known) -> Candidates:
    return Candidates(known.revision, dict(known.voices), 0, known.channels, known.refusals)
