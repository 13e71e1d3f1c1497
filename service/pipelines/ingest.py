"""How does a recording become people and messages? Decode, diarise, recognise, embed; then batch by batch one read of the
voices, one step of the fold, one write; at the end settle and close. Broken off anywhere, it goes on at its checkpoint."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graph_schema.schema import VIEWS
from service.audio import decode
from service.audio.diarise import DiarisedBlock, Diariser, DiariserConfig, GivenSegment, given_turns
from service.audio.segmentation import Segmenter
from service.connectors.files import fits, read_transcript
from service.errors import InvalidInput, VoicegraphError
from service.graph.close_sessions import count_decisions
from service.graph.driver import Graph
from service.graph.spaces import ensure_space
from service.graph.write_sessions import NewMessage, NewSession, OpenedSession, fail_session, open_session
from service.identity.router import NO_TRACK, RouterConfig
from service.pipelines.closing import CallerKnows, close
from service.pipelines.expire import expire_voices
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryReader
from service.pipelines.stopwatch import Stopwatch, TimedEncoder
from service.pipelines.wording import AlignedWording, GivenWording, Wording, words_of_transcript
from service.types.audio import (
    AudioInfo,
    Progress,
    Recogniser,
    SpeakerEmbedding,
    SpeakerEncoder,
    SpeakerTurn,
    TextEmbedder,
    Transcript,
)
from service.types.ids import derived
from service.types.memory import Attendance, SessionStatus
from service.types.people import AnonymousVoices, SpaceSettings, TurnEvidence


@dataclass(frozen=True, slots=True)
class IngestConfig:
    block_seconds: float = 30.0  # decoded and recognised at a time: Whisper's window; 2 MB
    max_batch: int = 64  # turns a write: about 0.1 s under the space's lock
    heard_share: float = 0.95  # of the progress bar, for all until the last turn is written


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """A recording and what its owner knows of it."""

    path: Path
    space: str
    session_id: str | None = None
    """None: it follows from the recording."""
    title: str | None = None
    """None: the file's name."""
    started_at: datetime | None = None
    """With a time zone. None: when the file was last written."""
    zone: str | None = None
    """Where it was recorded, e.g. Europe/Vienna; None: the zone of `started_at`."""
    transcript: Path | None = None
    """VTT, SRT, RTTM or JSON segments; with speakers in it, its boundaries are taken instead of the diariser's."""
    addressed_to: tuple[str, ...] = ()
    attendance: tuple[Attendance, ...] = ()
    roster: tuple[str, ...] = ()
    """As in CallerKnows: person ids."""
    sha256: str | None = None
    """What the file's bytes should hash to."""
    source: str = "file"

    @property
    def caller_knows(self) -> CallerKnows:
        return CallerKnows(self.addressed_to, self.attendance, self.roster)


@dataclass(frozen=True, slots=True)
class IngestReport:
    session_id: str
    already_complete: bool
    """The same recording was ingested before; nothing was written."""
    duration: float
    num_messages: int
    people_created: int
    people_linked: int
    """Known before this session."""
    decisions: Mapping[str, int]
    """Messages by link | create | assigned | unresolved."""
    seconds: float
    """Wall time of this run."""
    cpu: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds by stage: probe, decode, diarise, voice, recognise, text, graph."""


class WrongContent(VoicegraphError):
    code = "wrong_content"
    says = "{path} has the hash {given}; expected: {needed}. It was changed or cut off on the way; send it again."
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
        diariser: DiariserConfig | None = None,
        config: IngestConfig | None = None,
    ) -> None:
        """`router`: its policy and what it may keep are the space's, whatever is given. `gallery`: to share one."""
        self._graph, self._segmenter, self._encoder = graph, segmenter, encoder
        self._recogniser, self._text_embedder, self._router = recogniser, text_embedder, router
        self._gallery = gallery or GalleryReader(graph, encoder.embedding_space)
        self._diariser, self._config = diariser or DiariserConfig(), config or IngestConfig()

    async def __call__(self, request: IngestRequest, progress: Progress = lambda share, stage: None) -> IngestReport:
        """Write one recording. Raises the decoder's and the transcript's errors, WrongContent, SessionConflict, SessionBusy,
        and the graph's: then the session stays open, and the same request goes on where it stopped."""
        began, watch = time.perf_counter(), Stopwatch()
        progress(0.0, "decode")
        with watch.stage("probe"):
            info = await asyncio.to_thread(decode.probe, request.path)
        _check(request, info)
        session = await asyncio.to_thread(self._session, request, info)
        settings = await self._graph.write(ensure_space, SpaceSettings(request.space))
        await expire_voices(self._graph, settings)
        opened = await self._graph.write(open_session, session)
        if opened.status is not SessionStatus.COMPLETE:
            session = replace(session, started_at=opened.started_at)
            try:
                await self._write(request, session, settings, opened, watch, progress)
            except VoicegraphError as error:
                if error.http_status < 500 and error.http_status != CONFLICT:
                    await self._graph.write(fail_session, session.space, session.id, error.code)
                raise
        progress(1.0, "complete")
        return await self._report(session, opened.status is SessionStatus.COMPLETE, time.perf_counter() - began, watch)

    async def _write(
        self,
        request: IngestRequest,
        session: NewSession,
        settings: SpaceSettings,
        opened: OpenedSession,
        watch: Stopwatch,
        progress: Progress,
    ) -> None:
        folding = Folding(
            self._graph,
            self._gallery,
            _router(self._router, settings),
            space=session.space,
            session_id=session.id,
            encoder=self._encoder.embedding_space,
            embedder=session.embedder,
            checkpoint=opened.checkpoint,
        )
        if not folding.checkpoint.settled:
            transcript = await asyncio.to_thread(_transcript, request.transcript, session.duration)
            blocks = watch.each("diarise", self._heard(request.path, transcript, watch))
            wording = self._wording(transcript)
            while (block := await asyncio.to_thread(next, blocks, None)) is not None:
                await self._take(block, wording, session, folding, watch)
                share = min(1.0, block.waveform.segment.end / session.duration)
                progress(self._config.heard_share * share, "hear")
            progress(self._config.heard_share, "settle")
            with watch.stage("graph"):
                await folding.settle()
        with watch.stage("graph"):
            await close(
                self._graph,
                session.space,
                session.id,
                checkpoint=folding.stored,
                caller=request.caller_knows,
                embedder=self._text_embedder,
            )

    def _heard(self, path: Path, transcript: Transcript | None, watch: Stopwatch) -> Iterator[DiarisedBlock]:
        """Who speaks when, in blocks: as the transcript says where it names speakers, else as the diariser hears."""
        encoder = TimedEncoder(self._encoder, watch)
        blocks = watch.each("decode", decode.blocks(path, seconds=self._config.block_seconds))
        if transcript is not None and _names_speakers(transcript):
            return given_turns(blocks, [GivenSegment(part.segment, part.label) for part in transcript.segments], encoder)
        return Diariser(self._segmenter, encoder, self._diariser)(blocks)

    def _wording(self, transcript: Transcript | None) -> Wording:
        if transcript is not None and any(part.text for part in transcript.segments):
            if _names_speakers(transcript):
                return GivenWording(transcript)
            return AlignedWording(words_of_transcript(transcript), f"transcript:{transcript.format}")
        if self._recogniser is not None:
            return AlignedWording(self._recogniser, f"recognised:{self._recogniser.name}")
        return GivenWording()

    async def _take(
        self, block: DiarisedBlock, wording: Wording, session: NewSession, folding: Folding, watch: Stopwatch
    ) -> None:
        """Write the turns that ended in `block`, unless a run before this one did."""
        if block.turns and block.turns[-1].index < folding.checkpoint.next_index:
            wording.passed(block.waveform, block.turns)
            return
        with watch.stage("recognise"):
            turns = await asyncio.to_thread(wording, block.waveform, block.turns)
        heard = [(t, e) for t, e in zip(turns, block.embeddings, strict=True) if t.index >= folding.checkpoint.next_index]
        for first in range(0, len(heard), self._config.max_batch):
            batch = heard[first : first + self._config.max_batch]
            with watch.stage("text"):
                messages = await asyncio.to_thread(self._messages, session, [turn for turn, _ in batch], wording.provenance)
            evidence = [_evidence(message, embedding) for message, (_, embedding) in zip(messages, batch, strict=True)]
            with watch.stage("graph"):
                await folding.take(messages, evidence)

    def _messages(self, session: NewSession, turns: Sequence[SpeakerTurn], provenance: str) -> list[NewMessage]:
        """With text embeddings. Until the session is closed only the speaker reads a turn, so its context view is the turn
        alone; closing settles it."""
        texts = [turn.text for turn in turns if turn.text]
        vectors = dict(zip(texts, self._text_embedder.passages(texts), strict=True)) if self._text_embedder and texts else {}
        return [
            NewMessage(
                id=derived("message", session.id, str(turn.index)),
                local_speaker=derived("local_speaker", session.id, turn.track),
                turn=turn,
                said_at=session.started_at + timedelta(seconds=turn.segment.start),
                provenance=provenance if turn.text else "none",
                vectors=dict.fromkeys(VIEWS, vectors[turn.text]) if turn.text in vectors else {},
            )
            for turn in turns
        ]

    def _session(self, request: IngestRequest, info: AudioInfo) -> NewSession:
        embedder = self._text_embedder.embedding_space if self._text_embedder else None
        voice = self._encoder.embedding_space
        started_at = request.started_at or datetime.fromtimestamp(request.path.stat().st_mtime, UTC)
        given = {
            "sound": info.sha256,
            "transcript": decode.sha256(request.transcript) if request.transcript else None,
            "started_at": request.started_at and request.started_at.astimezone(UTC).isoformat(),
            "zone": request.zone,
            "addressed_to": sorted(request.addressed_to),
            "attendance": [[a.person_id, a.source, [[i.start, i.end] for i in a.intervals]] for a in request.attendance],
            "roster": sorted(request.roster),
            "models": [
                voice.name,
                voice.version,
                embedder and [embedder.name, embedder.version],
                self._recogniser and self._recogniser.name,
            ],
        }
        return NewSession(
            id=request.session_id or derived("session", request.space, info.sha256),
            space=request.space,
            title=request.title or request.path.stem,
            started_at=started_at.astimezone(UTC),
            zone=request.zone or (str(request.started_at.tzinfo) if request.started_at else None),
            source=request.source,
            external_id=info.sha256,
            content_hash=hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest(),
            roster=request.roster,
            duration=info.duration,
            encoder=voice.name,
            embedder=embedder.name if embedder else None,
        )

    async def _report(self, session: NewSession, already_complete: bool, seconds: float, watch: Stopwatch) -> IngestReport:
        decided = await self._graph.read(count_decisions, session.space, session.id)
        outcomes: Counter[str] = Counter()
        for row in decided:
            outcomes[row.decision] += row.num_messages
        created = {row.person_id for row in decided if row.decision == "create"}
        people = {row.person_id for row in decided if row.person_id}
        return IngestReport(
            session.id,
            already_complete,
            session.duration,
            outcomes.total(),
            len(created),
            len(people - created),
            dict(outcomes),
            seconds,
            dict(watch.seconds),
        )


CONFLICT = 409
"""http_status of errors about what is there already: the session in question is not this request's to mark failed."""


def _check(request: IngestRequest, info: AudioInfo) -> None:
    """Raises WrongContent, InvalidInput."""
    if request.sha256 is not None and request.sha256 != info.sha256:
        raise WrongContent(path=request.path.name, given=info.sha256, needed=request.sha256)
    if request.started_at is not None and request.started_at.utcoffset() is None:
        raise InvalidInput(what="started_at", given=request.started_at.isoformat(), needed="a time with its zone, e.g. …+01:00")


def _router(config: RouterConfig, settings: SpaceSettings) -> RouterConfig:
    keeps = settings.anonymous_voices is not AnonymousVoices.EPHEMERAL
    return replace(config, policy=settings.routing, keep_voices=keeps)


def _transcript(path: Path | None, duration: float) -> Transcript | None:
    return None if path is None else fits(read_transcript(path), duration)


def _names_speakers(transcript: Transcript) -> bool:
    return any(part.label for part in transcript.segments)


def _evidence(message: NewMessage, embedding: SpeakerEmbedding | None) -> TurnEvidence:
    turn = message.turn
    return TurnEvidence(
        message_id=message.id,
        track=message.local_speaker if turn.track else NO_TRACK,
        start=turn.segment.start,
        end=turn.segment.end,
        net_speech=turn.net_speech,
        overlapped=turn.overlapped,
        snr_db=turn.quality.snr_db,
        channel=turn.channel,
        embedding=embedding,
    )
