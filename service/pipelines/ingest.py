"""How does a recording become people and messages? Decode, diarise, recognise, embed; then batch by batch one read of the
voices, one step of the fold, one write; at the end settle, close and read the facts. Broken off anywhere, it goes on there.

Processed again, it is written beside what is there of it, as a new revision that nobody reads yet, by who spoke when in that
(service/pipelines/former.py). Then that one is erased, as whatever is erased: its words leave every store, and its id is not
taken again; what follows from it has a receipt. The new one is closed as soon as it is hidden, and swept away after that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from service.audio import decode
from service.audio.diarise import Diariser, DiariserConfig
from service.audio.segmentation import Segmenter
from service.connectors.files import fits, read_transcript
from service.errors import InvalidInput, VoicegraphError
from service.graph.close_sessions import Lost
from service.graph.driver import Graph
from service.graph.spaces import ensure_space
from service.graph.succession import Successor
from service.graph.write_sessions import NewMessage, NewSession, OpenedSession, fail_session, open_session
from service.identity.merging import MergeConfig
from service.identity.router import NO_TRACK, RouterConfig
from service.memory.names import NameConfig
from service.pipelines.afterwards import Afterwards
from service.pipelines.closing import close
from service.pipelines.entities import RememberEntities
from service.pipelines.expire import expire_sounds, expire_voices
from service.pipelines.facts import RememberFacts
from service.pipelines.folding import Folding
from service.pipelines.former import Former, VoicesWithout
from service.pipelines.gallery import GalleryReader, Voices
from service.pipelines.hearing import (
    Diarise,
    HeardTurn,
    HearingConfig,
    by_diariser,
    by_transcript,
    channels_of,
    heard_turns,
    unlabelled,
)
from service.pipelines.ingest_report import IngestReport, report_of
from service.pipelines.live import Growing, diariser_config, heard_next, hearing_config, let_read
from service.pipelines.merging import merge_session
from service.pipelines.mirror import Mirror
from service.pipelines.naming import name_session
from service.pipelines.personas import RememberPersonas
from service.pipelines.recording import IngestRequest, Models, new_session
from service.pipelines.revise_facts import revise_facts
from service.pipelines.sounds import RememberSounds
from service.pipelines.stopwatch import Stopwatch, TimedEncoder
from service.pipelines.twins import twins
from service.pipelines.wording import Wording, from_transcript, has_text, names_speakers, recognised, with_images, without_text
from service.pipelines.written import Written, find_written, note
from service.types.audio import (
    SAMPLE_RATE,
    AudioInfo,
    Progress,
    Recogniser,
    SpeakerEmbedding,
    SpeakerEncoder,
    SpeakerTurn,
    TextEmbedder,
    Transcript,
)
from service.types.erasure import Subject, SubjectKind
from service.types.ids import derived
from service.types.memory import SessionStatus
from service.types.people import AnonymousVoices, SpaceSettings, TurnEvidence
from service.types.told import with_captions

if TYPE_CHECKING:
    from service.pipelines.erase import Erase

__all__ = ["Ingest", "IngestConfig", "IngestReport", "IngestRequest"]


@dataclass(frozen=True, slots=True)
class IngestConfig:
    """Numbers of the pipeline itself; its parts have their own."""

    batch: int = 64  # turns a write: some minutes of talk; about 0.1 s under the space's lock
    given_up: timedelta = timedelta(minutes=10)  # without a turn, for what is begun otherwise; who still writes it loses work
    heard_share: float = 0.95  # of the progress, for all until the last turn is written
    hearing: HearingConfig = field(default_factory=HearingConfig)
    diariser: DiariserConfig = field(default_factory=DiariserConfig)
    merging: MergeConfig = field(default_factory=MergeConfig)
    names: NameConfig = field(default_factory=NameConfig)


class NothingHeard(VoicegraphError):
    code = "nothing_heard"
    says = (
        "Nobody is heard in this recording now, and session {session_id} has {turns} turns of it: nothing takes their place, "
        "and it stays as it is. Look whether the transcript is that of the recording."
    )
    http_status = 422


class Ingest:
    """One a process; models are shared, sessions may be ingested side by side."""

    def __init__(
        self,
        graph: Graph,
        segmenter: Segmenter,
        encoder: SpeakerEncoder,
        *,
        router: RouterConfig,
        recogniser: Recogniser | None = None,
        text_embedder: TextEmbedder | None = None,
        gallery: GalleryReader | None = None,
        facts: RememberFacts | None = None,
        entities: RememberEntities | None = None,
        personas: RememberPersonas | None = None,
        sounds: RememberSounds | None = None,
        mirror: Mirror | None = None,
        erase: Erase | None = None,
        config: IngestConfig | None = None,
    ) -> None:
        """`router`: its policy and what it may keep are the space's, whatever is given. `gallery`: to share one. `facts`: None
        leaves them to be read later (`voicegraph facts`). `entities`: as `facts` (`voicegraph entities`).
        `personas`: too (`voicegraph persona read`), but then without how things were said. `sounds`: None listens for none, for
        who agreed to it neither. `mirror`: None where no other
        engine is to have the messages. `erase`: takes away what a new revision replaces; None makes none."""
        self._graph, self._segmenter, self._encoder = graph, segmenter, encoder
        self._recogniser, self._text_embedder, self._router = recogniser, text_embedder, router
        self._gallery = gallery or GalleryReader(graph, encoder.embedding_space)
        self._afterwards = Afterwards(graph, facts, entities, personas, sounds, mirror)
        self._erase, self._config = erase, config or IngestConfig()
        self._models = Models(
            encoder.embedding_space,
            text_embedder.embedding_space if text_embedder else None,
            recogniser.name if recogniser else None,
        )

    async def __call__(self, request: IngestRequest, progress: Progress = lambda share, stage: None) -> IngestReport:
        """Write one recording, or one transcript. Raises the decoder's and the transcript's errors, WrongContent,
        SessionConflict, SessionErased, PartlyErased, NothingHeard, SessionBusy, and the graph's: then the session stays open,
        and the same request goes on where it stopped. Facts that could not be read raise, too, with the session complete: the
        same request then reads them."""
        if request.again and self._erase is None:
            raise _cannot_erase()
        began, watch = time.perf_counter(), Stopwatch()
        progress(0.0, "decode")
        with watch.stage("probe"):
            written = await asyncio.to_thread(find_written, request)
            request = written.request if written else request
            info = written.info if written else await asyncio.to_thread(decode.probe, request.path)
        session = await asyncio.to_thread(new_session, request, info, self._models)
        session = replace(session, silent_since=datetime.now(UTC) - self._config.given_up)
        settings = await self._graph.write(ensure_space, SpaceSettings(request.space))
        await expire_voices(self._graph, settings)
        await expire_sounds(self._graph, [settings.id])
        opened = await self._graph.write(open_session, session)
        session = replace(session, id=opened.id, revision=opened.revision, replaces=opened.replaces)
        if opened.status is not SessionStatus.COMPLETE:
            if opened.replaces is not None and self._erase is None:
                raise _cannot_erase()
            session = replace(session, started_at=opened.started_at)
            try:
                if opened.unswept is not None and self._erase is not None:
                    await self._erase.finish(session.space, Subject(SubjectKind.SESSION, opened.unswept))
                await self._write(request, session, info, written, settings, opened, watch, progress)
            except VoicegraphError as error:
                if error.http_status < 500 and error.http_status != CONFLICT:
                    await self._graph.write(fail_session, session.space, session.id, error.code)
                raise
        if session.replaces is not None and self._erase is not None:
            progress(self._config.heard_share, "erase")
            with watch.stage("erase"):
                await self._erase.finish(session.space, Subject(SubjectKind.SESSION, session.replaces))
        dropped = await self._afterwards(
            session.space,
            session.id,
            sound=None if written else request.path,
            by_channel=info.channels > 1 and request.transcript is None,
            given=request.transcript is not None,
            watch=watch,
            progress=progress,
        )
        progress(1.0, "complete")
        known, seconds = opened.status is SessionStatus.COMPLETE, time.perf_counter() - began
        return replace(await report_of(self._graph, session, known, seconds, watch), facts_dropped=dropped)

    async def _write(
        self,
        request: IngestRequest,
        session: NewSession,
        info: AudioInfo,
        written: Written | None,
        settings: SpaceSettings,
        opened: OpenedSession,
        watch: Stopwatch,
        progress: Progress,
    ) -> None:
        router = router_of(self._router, settings, request.roster)
        former = None
        if session.replaces is not None:
            former = await Former.read(self._graph, session.space, session.replaces, by=session.id)
        voices = VoicesWithout(self._gallery, self._graph, former, settings.routing) if former else self._gallery
        folding = self._folding(session, router, opened, voices)
        if not folding.checkpoint.settled:
            transcript = written.transcript if written else await asyncio.to_thread(_transcript, request, info.duration)
            left_out = 0
            if written:
                make = partial(self._messages, session)
                await note(written, folding, router, make, watch, progress, size=self._config.batch)
            else:
                wording = self._wording(transcript)
                await self._hear(request, session, info, transcript, wording, folding, watch, progress, former=former)
                left_out = wording.written
            if former and former.num_turns and not folding.checkpoint.next_index:
                raise NothingHeard(session_id=session.replaces, turns=former.num_turns)
            progress(self._config.heard_share, "settle")
            with watch.stage("graph"):
                await folding.settle(left_out=left_out, mended=transcript.recovered if transcript else 0)
        with watch.stage("graph"):
            merged = await merge_session(self._graph, voices, folding, settings, router, self._config.merging)
            if merged is not None and merged.corrections:
                await revise_facts(self._graph, session.space)
            if session.replaces is not None and self._erase is not None:
                by = Successor(session.id, session.external_id, session.transcript)
                await self._erase.supersede(session.space, session.replaces, by)
            await name_session(self._graph, session.space, session.id, self._config.names)
            await close(
                self._graph,
                session.space,
                session.id,
                checkpoint=folding.stored,
                lost=Lost(folding.checkpoint.left_out, folding.checkpoint.mended),
                caller=request.caller_knows,
                embedder=self._text_embedder,
            )

    async def follow(self, request: IngestRequest, sound: Growing) -> None:
        """Write the turns of a stream while it lasts, each once it is heard, and let those read them who are there. What only
        the whole tells is left to `__call__`, which goes on where this stopped. Raises as it does, and StreamStopped."""
        info = AudioInfo(str(request.path), "", 0.0, channels=1, sample_rate=SAMPLE_RATE, codec="stream")
        session = new_session(request, info, self._models)
        settings = await self._graph.write(ensure_space, SpaceSettings(request.space))
        router = router_of(self._router, settings, request.roster)
        folding = self._folding(session, router, await self._graph.write(open_session, session), self._gallery)
        wording, watch = self._wording(None), Stopwatch()
        await self._hear(request, session, info, None, wording, folding, watch, lambda share, stage: None, sound)
        await folding.settle(left_out=wording.written)

    def _folding(self, session: NewSession, router: RouterConfig, opened: OpenedSession, voices: Voices) -> Folding:
        return Folding(
            self._graph,
            voices,
            router,
            space=session.space,
            session_id=session.id,
            encoder=self._encoder.embedding_space,
            embedder=session.embedder,
            checkpoint=opened.checkpoint,
            hidden=opened.replaces is not None,
        )

    async def _hear(
        self,
        request: IngestRequest,
        session: NewSession,
        info: AudioInfo,
        transcript: Transcript | None,
        wording: Wording,
        folding: Folding,
        watch: Stopwatch,
        progress: Progress,
        sound: Growing | None = None,
        former: Former | None = None,
    ) -> None:
        """Write all turns that no run before this one wrote, batch by batch. `sound`: of a stream that still goes on."""
        with watch.stage("probe"):
            channels = await asyncio.to_thread(channels_of, request.path, info.channels, transcript)
        hearing = hearing_config(self._config.hearing) if request.stream else self._config.hearing
        diarise = self._diarise(transcript, watch, stream=request.stream is not None)
        turns = heard_turns(request.path, channels, diarise, watch, hearing, sound.blocks if sound else None)
        new = (heard for heard in turns if heard.turn.index >= folding.checkpoint.next_index)
        next_batch = partial(heard_next, new, self._config.batch, as_they_come=sound is not None)
        thread = sound.thread if sound is not None else None
        while batch := await asyncio.get_running_loop().run_in_executor(thread, next_batch):
            with watch.stage("recognise"):
                worded = await asyncio.to_thread(_worded, batch, wording)
            with watch.stage("text"):
                messages = await asyncio.to_thread(self._messages, session, worded, wording.provenance)
            free = unlabelled(transcript, (turn.track for turn in worded))
            with watch.stage("voice"):
                narrowed = await asyncio.to_thread(self._narrowed, batch)
            evidence = [
                evidence_of(m, heard.embedding, narrowed.get(heard.turn.index), free, former)
                for m, heard in zip(messages, batch, strict=True)
            ]
            with watch.stage("graph"):
                await folding.take(messages, evidence, left_out=_left_out(batch, worded))
            if sound is not None:
                await let_read(self._graph, folding, sound.seconds)
            else:
                progress(self._config.heard_share * min(1.0, worded[-1].segment.start / info.duration), "hear")
        if request.stream is not None:  # how long it was is known now
            await let_read(self._graph, folding, sound.seconds if sound else info.duration)

    def _narrowed(self, batch: Sequence[HeardTurn]) -> dict[int, SpeakerEmbedding]:
        """Of some turns the voice as a telephone would carry it, by index."""
        return twins(self._encoder, [(h.turn, h.stretch.waveform) for h in batch if h.twinned], self._config.hearing.twins)

    def _diarise(self, transcript: Transcript | None, watch: Stopwatch, *, stream: bool) -> Diarise:
        """Where the transcript names speakers its boundaries hold, else what the diariser hears."""
        encoder = TimedEncoder(self._encoder, watch)
        if transcript is not None and names_speakers(transcript):
            return by_transcript(transcript, encoder, self._segmenter)
        config = diariser_config(self._config.diariser) if stream else self._config.diariser
        return by_diariser(Diariser(self._segmenter, encoder, config))

    def _wording(self, transcript: Transcript | None) -> Wording:
        if transcript is not None and has_text(transcript):
            return from_transcript(transcript)
        heard = recognised(self._recogniser) if self._recogniser is not None else without_text()
        return heard if transcript is None else with_images(transcript, heard)

    def _messages(self, session: NewSession, turns: Sequence[SpeakerTurn], provenance: str) -> list[NewMessage]:
        """With the embedding of each text. What stood before a turn is embedded with it when the session is closed, for only
        then is it known who may read both."""
        views = [with_captions(turn.text, turn.told.captions) for turn in turns]
        texts = [view for view in views if view]
        texts += [image.caption for turn in turns for image in turn.told.images if image.caption]
        vectors = dict(zip(texts, self._text_embedder.passages(texts), strict=True)) if self._text_embedder and texts else {}
        return [
            NewMessage(
                id=derived("message", session.id, str(turn.index)),
                local_speaker=derived("local_speaker", session.id, turn.track),
                turn=turn,
                said_at=session.started_at + timedelta(seconds=turn.segment.start),
                provenance=provenance if turn.text else "none",
                vectors={"turn": vectors[view]} if view in vectors else {},
                caption_vectors=tuple(vectors.get(image.caption or "") for image in turn.told.images),
            )
            for turn, view in zip(turns, views, strict=True)
        ]


def _cannot_erase() -> InvalidInput:
    return InvalidInput(what="again", given="true", needed="an ingest that can erase what is replaced")


CONFLICT = 409
"""http_status of errors about what is there already: the session in question is not this request's to mark failed."""


def _worded(batch: Sequence[HeardTurn], wording: Wording) -> list[SpeakerTurn]:
    return [heard.worded(wording) for heard in batch]


def _left_out(batch: Sequence[HeardTurn], worded: Sequence[SpeakerTurn]) -> int:
    """Words recognised less words given to a turn. What was heard in a stretch is counted with its first turn: a run that
    goes on within a stretch recognises it again and counts it once."""
    heard = sum(turn.stretch.heard for turn in batch if turn.begins_stretch)
    return heard - sum(len(turn.words) for turn in worded)


def router_of(config: RouterConfig, settings: SpaceSettings, roster: Collection[str]) -> RouterConfig:
    """`roster`: ids of the people expected, a prior for whose the voices are."""
    keeps = settings.anonymous_voices is not AnonymousVoices.EPHEMERAL
    return replace(config, policy=settings.routing, keep_voices=keeps, roster=frozenset(roster))


def _transcript(request: IngestRequest, duration: float) -> Transcript | None:
    if request.transcript is None:
        return None
    return fits(read_transcript(request.transcript, format=request.format), duration)


def evidence_of(
    message: NewMessage,
    embedding: SpeakerEmbedding | None,
    narrow: SpeakerEmbedding | None,
    free: Collection[str],
    former: Former | None = None,
) -> TurnEvidence:
    """`free`: tracks that say nothing about who speaks."""
    turn, quality = message.turn, message.turn.quality
    assert quality is not None, "it was heard"
    return TurnEvidence(
        message_id=message.id,
        track=NO_TRACK if turn.track in free else message.local_speaker,
        start=turn.segment.start,
        end=turn.segment.end,
        net_speech=turn.net_speech,
        overlapped=turn.overlapped,
        snr_db=quality.snr_db,
        channel=turn.channel,
        embedding=embedding,
        narrow=narrow,
        clipped=quality.clipped,
        before=former.speaker(turn.segment) if former else None,
    )
