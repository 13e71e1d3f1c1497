"""Whose voices are these, in a meeting whose backend sent its sound, too? Once it is over each of its turns is heard where its
participant is heard: in their own stream, else in what all are mixed into. The fold decides as for a recording with its
transcript; what the platform calls somebody stays evidence of which turns are one voice, and of nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from service.audio.given import GivenSegment, given_turns
from service.audio.live_sound import join, mix, side_by_side
from service.audio.segmentation import Segmenter
from service.graph.accounts import canonical
from service.graph.driver import Graph, Tx
from service.graph.opt_outs import list_marked, list_refusals
from service.graph.spaces import lock_space
from service.graph.write_meetings import Changes, TurnThere, list_heard, list_turns_there, save_changes
from service.graph.write_reassignments import forget_identities, list_tracks_held
from service.graph.write_sessions import NewMessage
from service.identity.opt_outs import Marker
from service.identity.router import NO_TRACK, RouterConfig
from service.memory.left_brain.weights import WeightConfig
from service.memory.meeting import Doubt, Kind, Participant, Turn
from service.memory.meeting.people import track_of
from service.pipelines.expire import expire_voices
from service.pipelines.folding import Folding
from service.pipelines.hearing import HeardTurn, HearingConfig, heard_turns
from service.pipelines.ingest import Ingest, IngestRequest, evidence_of
from service.pipelines.meeting_tapes import Stream, Tape, Tapes
from service.pipelines.meeting_turns import message_id, signed_in
from service.pipelines.stopwatch import Stopwatch
from service.pipelines.twins import Twinned, twins
from service.types.audio import SpeakerEmbedding, SpeakerEncoder, SpeakerTurn
from service.types.people import SpaceSettings


@dataclass(frozen=True, slots=True)
class VoicesConfig:
    batch: int = 64  # turns a write: as IngestConfig.batch
    hearing: HearingConfig = field(default_factory=HearingConfig)
    weights: WeightConfig = field(default_factory=WeightConfig)


@dataclass(frozen=True, slots=True)
class Ears:
    """What voices are heard with."""

    segmenter: Segmenter
    encoder: SpeakerEncoder


@dataclass(frozen=True, slots=True)
class Listens:
    """One a process."""

    tapes: Tapes
    ears: Callable[[], Awaitable[Ears]]
    """Asked for when the first meeting with sound ends."""
    ingest: Callable[[], Awaitable[Ingest]]
    """For meetings of which nothing but sound came."""
    config: VoicesConfig = field(default_factory=VoicesConfig)
    marker: Callable[[], Marker | None] = lambda: None
    """As for Accounts: whose logins are of who opted out."""
    one: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, 1))
    """One meeting is heard after the other: the next ones' words are waited for, not their voices."""


@dataclass(frozen=True, slots=True)
class MeetingSound:
    """What there is to hear of one meeting."""

    graph: Graph
    listens: Listens
    space: str
    meeting_id: str
    turns: Sequence[Turn]
    """As its fold has them at its end."""
    provenance: str

    async def __call__(
        self,
        folding: Folding,
        router: RouterConfig,
        settings: SpaceSettings,
        zero: datetime,
        participants: Mapping[str, Participant],
    ) -> None:
        """Decide whose each turn is that is heard and was not before. `zero`: the moment of second 0; `participants` by track.
        Broken off anywhere, the same call goes on. Nobody is listened to whose login says that they refused to be known."""
        space, session_id = folding.space, folding.session_id
        folding.config = router
        there = await self.graph.read(list_turns_there, space, session_id)
        done = await self.graph.read(list_heard, space, session_id)
        tapes = await asyncio.to_thread(self._tapes)
        if not tapes:
            return
        await expire_voices(self.graph, settings)
        ears = await self.listens.ears()
        told = {message_id(session_id, turn.key): turn for turn in self.turns}
        refused, _ = await self.graph.read(list_refusals, space)
        marked = await self._marked(session_id, participants)
        may_be_heard = [turn for turn in there if turn.speaker_id not in refused and turn.local_speaker not in marked]
        found = await asyncio.to_thread(self._listen, ears, tapes, told, may_be_heard, zero, participants)
        new = [t for t in there if t.message_id in found and t.message_id not in done and not t.is_corrected]
        free = _free(told, participants)
        config = self.listens.config
        for first in range(0, len(new), config.batch):
            batch = new[first : first + config.batch]
            await self.graph.write(_leave_to_voices, space, session_id, batch, config.weights)
            messages = [self._message(turn, found[turn.message_id].turn) for turn in batch]
            evidence = [
                replace(one, track=NO_TRACK) if message.id in free else one
                for message in messages
                for one in (evidence_of(message, found[message.id].embedding, found[message.id].narrow, ()),)
            ]
            await folding.take(messages, evidence)

    async def _marked(self, session_id: str, participants: Mapping[str, Participant]) -> frozenset[str]:
        """Local speakers who came with the login of somebody who opted out and was erased: it is nobody's, and a mark alone."""
        marker = await asyncio.to_thread(self.listens.marker)
        if marker is None:
            return frozenset()
        came = [
            (marker.account(self.space, one.issuer, one.subject), signed.local_speaker)
            for signed in signed_in(participants, session_id, 0.0)
            if signed.local_speaker is not None
            for one in map(canonical, signed.accounts)
        ]
        marks = await self.graph.read(list_marked, self.space, [mark for mark, _ in came])
        return frozenset(speaker for mark, speaker in came if mark in marks)

    async def alone(self, zero: datetime | None, title: str | None, zone: str | None) -> None:
        """Of a meeting of which no words came: its sound is ingested as a recording, each stream a channel where there are not
        too many. `zero`: when it began; None: nothing said. Raises as an ingest does."""
        tapes = await asyncio.to_thread(self._tapes)
        began = min((tape.began for tape in tapes), default=None)
        if began is None:
            return
        zero = zero or datetime.fromtimestamp(began, UTC)
        path = await asyncio.to_thread(_Sounds(by_track(tapes, {}), self._folder, zero).recording)
        if path is not None:
            request = IngestRequest(path, self.space, title=title, started_at=zero, zone=zone, source=self.provenance)
            await (await self.listens.ingest())(request)

    async def is_there(self) -> bool:
        """Whether there is any."""
        return bool(await asyncio.to_thread(self._tapes))

    async def forget(self) -> None:
        await asyncio.to_thread(self.listens.tapes.forget, self.space, self.meeting_id)

    def _tapes(self) -> list[Tape]:
        return self.listens.tapes.of(self.space, self.meeting_id)

    @property
    def _folder(self) -> Path:
        return self.listens.tapes.folder(self.space, self.meeting_id)

    def _message(self, there: TurnThere, heard: SpeakerTurn) -> NewMessage:
        """As it is written, with what was heard of it."""
        segment = replace(heard.segment, start=there.start, end=there.end)
        turn = replace(heard, index=there.index, segment=segment, track=there.label, text=there.text, language=there.language)
        return NewMessage(
            there.message_id, there.local_speaker, turn, there.said_at, self.provenance, vectors={}, doubts=there.doubts
        )

    # ---- listening

    def _listen(
        self,
        ears: Ears,
        tapes: Sequence[Tape],
        told: Mapping[str, Turn],
        there: Sequence[TurnThere],
        zero: datetime,
        participants: Mapping[str, Participant],
    ) -> dict[str, _Heard]:
        """By message, what was heard of the turns that may be somebody's. Heavy."""
        streams = by_track(tapes, participants)
        given: dict[str, list[GivenSegment]] = {}
        for written in there:
            said = told.get(written.message_id)
            if said is not None and said.kind is Kind.SPEECH:
                track = _stream_of(said.track, streams, participants)
                given.setdefault(track, []).append(GivenSegment(said.segment, written.message_id))
        twinned = Twinned(self.listens.config.hearing.twins)
        sounds = _Sounds(streams, self._folder, zero)
        found: dict[str, _Heard] = {}
        for track, segments in sorted(given.items()):
            path = sounds.of(track)
            if path is None:
                continue
            for heard in self._turns(ears, path, segments):
                id, turn = heard.turn.track, heard.turn
                if told[id].by_bot or not turn.speech:
                    continue
                is_twinned = twinned(replace(turn, track=told[id].track))
                narrow = twins(ears.encoder, [(turn, heard.stretch.waveform)], twinned.config) if is_twinned else {}
                found[id] = _Heard(turn, heard.embedding, narrow.get(turn.index))
        return found

    def _turns(self, ears: Ears, path: Path, segments: Sequence[GivenSegment]) -> Iterable[HeardTurn]:
        """Each one's `track` is the id of its message."""
        return heard_turns(
            path,
            (None,),
            lambda blocks, _: given_turns(blocks, segments, ears.encoder, segmenter=ears.segmenter),
            Stopwatch(),
            self.listens.config.hearing,
        )


@dataclass(frozen=True, slots=True)
class _Heard:
    turn: SpeakerTurn
    embedding: SpeakerEmbedding | None
    narrow: SpeakerEmbedding | None


MOST_CHANNELS = 8
"""Of one recording (FFmpeg's layouts go up to 7.1): of more streams it is the sum."""
MIXED = ""
"""Stands for all participants together, where a track is asked for."""


def by_track(tapes: Iterable[Tape], participants: Mapping[str, Participant]) -> dict[str, list[Tape]]:
    """Whose stream each tape is; MIXED is everybody's. What cannot be put down to a participant is under a track of its own."""
    found: dict[str, list[Tape]] = {}
    for tape in tapes:
        found.setdefault(_track(tape.stream, participants), []).append(tape)
    return found


def _track(stream: Stream, participants: Mapping[str, Participant]) -> str:
    """By handle; else by the name that one participant alone has."""
    if stream.speaker is None:
        return MIXED
    track = track_of(stream.speaker)
    if track in participants:
        return str(track)
    alike = [p.track for p in participants.values() if stream.name is not None and p.name == stream.name]
    return alike[0] if len(alike) == 1 else track or f"?/{stream.connection}"


def _stream_of(track: str, streams: Mapping[str, Sequence[Tape]], participants: Mapping[str, Participant]) -> str:
    """Where a turn of this track is heard: in its own stream, in its tile's, or among all."""
    if track in streams:
        return track
    tile = participants[track].tile if track in participants else None
    return tile if tile is not None and tile in streams else MIXED


class _Sounds:
    """The WAVs of the streams, each written when it is first asked for."""

    def __init__(self, streams: Mapping[str, Sequence[Tape]], folder: Path, zero: datetime) -> None:
        self._streams, self._folder, self._zero = streams, folder, zero
        self._written: dict[str, Path | None] = {}

    def of(self, track: str) -> Path | None:
        """Where nobody sent what all are mixed into, that is the sum of all streams. None: there is no sound in it."""
        if track not in self._written:
            self._written[track] = self._joined(track) if track in self._streams else self._mixed()
        return self._written[track]

    def recording(self) -> Path | None:
        """Everything in one file."""
        path = self._folder / "recording.wav"
        there = [path for path in map(self.of, self._streams) if path is not None]
        if MIXED in self._streams or len(there) > MOST_CHANNELS:
            return self.of(MIXED)
        side_by_side(there, path)
        return path if there else None

    def _joined(self, track: str) -> Path | None:
        path = self._folder / f"{list(self._streams).index(track)}.wav"
        pieces = (tape.pieces(self._zero) for tape in self._streams[track])
        return path if join(pieces, path).duration else None

    def _mixed(self) -> Path | None:
        there = [path for path in map(self.of, self._streams) if path is not None]
        path = self._folder / "mixed.wav"
        mix(there, path)
        return path if there else None


def _free(told: Mapping[str, Turn], participants: Mapping[str, Participant]) -> set[str]:
    """Messages whose track says nothing about who speaks: of a device that several share, of nobody told, or where the platform
    itself marked another as speaking."""
    return {
        id
        for id, turn in told.items()
        if (one := participants.get(turn.track)) is None or one.several or Doubt.MARKED in turn.doubts
    }


async def _leave_to_voices(tx: Tx, space: str, session_id: str, turns: Sequence[TurnThere], weights: WeightConfig) -> None:
    """What followed from a login alone, while the meeting went on, follows again from it where no voice decides."""
    await lock_space(tx, space)
    by_login = [turn for turn in turns if turn.speaker_id is not None]
    ids = [turn.message_id for turn in by_login]
    await save_changes(tx, space, session_id, Changes(undecided=ids), half_life_days=weights.half_life_days)
    tracks = await list_tracks_held(tx, space, sorted({turn.local_speaker for turn in by_login}))
    await forget_identities(tx, space, [track.id for track in tracks if (track.properties or {}).get("by") == "account"])
