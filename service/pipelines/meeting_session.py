"""How does a meeting become a session while it goes on? What its fold tells is compared with what is written, and the
difference is written: so nothing is in twice, and a worker that was killed anywhere leaves nothing out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from service.errors import VoicegraphError
from service.graph.accounts import resolve_accounts
from service.graph.close_sessions import Lost
from service.graph.driver import Graph, Tx
from service.graph.meetings import MeetingFeed, MeetingTaken, hold_meeting
from service.graph.receipts import SessionErased, refuse_erased
from service.graph.spaces import get_space
from service.graph.write_meetings import (
    Changes,
    TurnThere,
    arrange_session,
    begin_session,
    list_turns_there,
    reopen_session,
    save_changes,
)
from service.graph.write_sessions import NewSession, SessionBusy, find_session_of, open_session
from service.identity.merging import MergeConfig
from service.identity.router import RouterConfig
from service.memory.left_brain.weights import WeightConfig
from service.memory.meeting import About, Described, Given, Gone, Known, Outcome, Participant, Revised, Turn
from service.memory.names import NameConfig
from service.pipelines.afterwards import Afterwards
from service.pipelines.attribute import attribute, note_logins, platform_attendance
from service.pipelines.background import in_background
from service.pipelines.blame import is_its_own
from service.pipelines.closing import CallerKnows, close
from service.pipelines.deliveries import Incident
from service.pipelines.folding import Checkpoint, Folding, Then
from service.pipelines.gallery import GalleryReader
from service.pipelines.ingest import router_of
from service.pipelines.live import let_read
from service.pipelines.meeting_turns import Plan, in_order, message_id, messages_of, plan, reason, signed_in
from service.pipelines.meeting_voices import Listens, MeetingSound
from service.pipelines.merging import merge_session
from service.pipelines.naming import name_session
from service.types.accounts import SignedIn
from service.types.audio import EmbeddingSpace, TextEmbedder
from service.types.ids import derived
from service.types.memory import Attendance, SessionStatus
from service.types.people import Scores, Unresolved


class TooLate(VoicegraphError):
    code = "meeting_too_late"
    says = (
        "The meeting {meeting} is over for so long that what was delivered of it is kept no more. Its session stays as it is."
    )
    http_status = 409


@dataclass(frozen=True, slots=True)
class MeetingSessionConfig:
    batch: int = 64  # turns a write: as IngestConfig.batch
    read_every: float = 5.0  # seconds until what was said is read by who is there: for that all turns are looked at
    names: NameConfig = field(default_factory=NameConfig)
    merging: MergeConfig = field(default_factory=MergeConfig)
    weights: WeightConfig = field(default_factory=WeightConfig)


@dataclass(frozen=True, slots=True)
class WritesWith:
    """What sessions of meetings are written with; one a process."""

    graph: Graph
    gallery: GalleryReader
    router: RouterConfig
    encoder: EmbeddingSpace
    embedder: TextEmbedder | None
    afterwards: Callable[[], Awaitable[Afterwards]]
    """Asked for when the first meeting ends: nobody waits for what reads facts while people speak."""
    listens: Listens | None = None  # None: to no sound
    config: MeetingSessionConfig = field(default_factory=MeetingSessionConfig)


class MeetingSession:
    """The session of one meeting, for the worker that has the meeting's lease. Any of its calls may raise MeetingTaken and
    SessionBusy, where another worker got on: then it is of no use any more."""

    def __init__(
        self, using: WritesWith, feed: MeetingFeed, worker: str, incident: Incident, occurrence: str | None = None
    ) -> None:
        """`occurrence`: which of the meetings that are held in one room, each after the other."""
        self._using, self._graph, self._feed, self._worker, self._incident = using, using.graph, feed, worker, incident
        self._external_id = f"{feed.source}:{feed.external_id}" + (f"@{occurrence}" if occurrence else "")
        self.id, self.space = derived("session", feed.space, "live", self._external_id), feed.space
        self._status: SessionStatus | None = None
        self._folding: Folding | None = None
        self._about = About()
        self._participants: dict[str, Participant] = {}
        self._told: dict[str, Turn | None] = {}
        self._there: dict[str, TurnThere] = {}
        self._labels: dict[str, str] = {}
        self._beside: list[str] = []
        """Ids of messages that are written and belong to no turn."""
        self._next_index, self._until = 0, 0.0
        self._left_out: dict[str, Turn] = {}
        """By key, what could not be written as it was told last."""
        self._was_complete = False
        """It was closed before, and other engines have what was in it then."""
        self._waits_since: float | None = None
        """Since when who is there could read more than they may, by the monotonic clock."""

    # ---- what is told, and what is there

    def note(self, outcomes: Iterable[Outcome]) -> None:
        """Keep what the fold tells for the next `write`."""
        for outcome in outcomes:
            match outcome:
                case Given(turn) | Revised(turn):
                    self._told[turn.key] = turn
                case Gone(key):
                    self._told[key] = None
                case Known(participant):
                    self._participants[participant.track] = participant
                    self._waits_since = self._waits_since or time.monotonic()
                case Described(about):
                    self._about = about
                case _:
                    pass

    async def load(self) -> None:
        """What is written, if anything is. Raises TooLate where it was erased."""
        if self._feed.session_id != self.id:
            return
        try:
            opened = await self._graph.write(open_session, self._new_session())
        except SessionErased as error:
            raise TooLate(meeting=self._feed.id) from error
        await self._look(opened.status, opened.checkpoint)

    async def check_new(self) -> None:
        """Raises TooLate where the session was written before the meeting's node, as it is now, was there, or was erased."""
        known = await self._graph.read(find_session_of, self.space, self._external_id)
        if known is not None and self._feed.session_id != self.id:
            raise TooLate(meeting=self._feed.id)
        try:
            await self._graph.read(refuse_erased, self.space, self.id)
        except SessionErased as error:
            raise TooLate(meeting=self._feed.id) from error

    def withdraw_others(self, keys: Iterable[str]) -> None:
        """What is written beside the turns with these keys is gone: for who has folded all of the meeting's deliveries, and was
        told all that they tell."""
        kept = {message_id(self.id, key) for key in keys}
        self._beside = [id for id in self._there if id not in kept]

    @property
    def status(self) -> SessionStatus | None:
        """None: nothing is written."""
        return self._status

    @property
    def reads_in(self) -> float | None:
        """Seconds until `let_read` is due; None: nobody waits for it."""
        if self._waits_since is None or self._status is not SessionStatus.OPEN:
            return None
        return max(0.0, self._waits_since + self._using.config.read_every - time.monotonic())

    # ---- writing

    async def write(self, then: Then | None = None, *, one_by_one: bool = False) -> None:
        """Write what is told and is otherwise than written; `then` goes into the last transaction of it. `one_by_one`: what is
        itself to blame that it cannot be written is left out, logged and counted, so that it keeps nothing else from being
        written. Raises TooLate, and as database and models do."""
        if not self._plan():
            self._take_told()
            if then is not None:
                await self._graph.write(_alone, then)
            return
        folding = await self._begun()
        wanted = self._plan()  # by what is there now: of a complete session, something was put right by somebody meanwhile
        told = self._take_told()
        size = 1 if one_by_one else self._using.config.batch
        parts = [wanted.turns[first : first + size] for first in range(0, len(wanted.turns), size)]
        *first, last = [*parts, ()] if one_by_one or not parts else parts
        for turns in first:
            try:
                await self._write(folding, turns, wanted, None, rest=False)
            except (MeetingTaken, SessionBusy):
                raise
            except Exception as error:
                if not one_by_one or not is_its_own(error):
                    raise
                self._incident(error)
                left = (told[turn.message_id] for turn in turns)
                self._left_out.update((key, turn) for key, turn in left if turn is not None)
        await self._write(folding, last, wanted, then, rest=True)
        self._waits_since = self._waits_since or time.monotonic()

    async def _write(
        self, folding: Folding, turns: Sequence[TurnThere], wanted: Plan, then: Then | None, *, rest: bool
    ) -> None:
        """Some of the turns; with them, at the end, what changes beside turns (`rest`)."""
        messages = await in_background(messages_of, turns, self._source, self._using.embedder)
        ids = {turn.message_id for turn in turns}
        changes = wanted.changes.of(ids, rest=rest)
        undecided = wanted.undecided & ids
        router = self._using.router
        nothing = Scores(None, None, None, router.policy, self._using.encoder.name)
        decisions = [Unresolved(t.message_id, t.local_speaker, nothing, reason(t)) for t in turns if t.message_id in undecided]
        new = [turn.index for turn in turns if turn.index >= self._next_index]
        following = max(new, default=self._next_index - 1) + 1

        async def beside(tx: Tx) -> None:
            half_life = self._using.config.weights.half_life_days
            await save_changes(tx, self.space, self.id, changes, half_life_days=half_life)
            if then is not None:
                await then(tx)

        await folding.note(messages, decisions, next_index=following, then=beside)
        self._next_index = following
        self._wrote(turns, changes)
        if changes.withdrawn and self._was_complete and (mirror := (await self._using.afterwards()).mirror) is not None:
            await mirror.forget(self.space, changes.withdrawn)

    def _wrote(self, turns: Sequence[TurnThere], changes: Changes) -> None:
        for turn in turns:
            self._there[turn.message_id] = turn
            self._labels.setdefault(turn.local_speaker, turn.label)
            self._until = max(self._until, turn.end)
        for id in changes.withdrawn:
            self._there.pop(id, None)
        self._labels.update(changes.labels)

    def _take_told(self) -> Mapping[str, tuple[str, Turn | None]]:
        """By message, key and turn of what was told; it is told no more."""
        told = {message_id(self.id, key): (key, turn) for key, turn in self._told.items()}
        for key in self._told:
            self._left_out.pop(key, None)
        self._told.clear()
        return told

    def _plan(self) -> Plan:
        return plan(
            self._told,
            self._there,
            self._participants,
            self._labels,
            self._beside,
            session_id=self.id,
            started_at=self._started_at,
            next_index=self._next_index,
        )

    async def _begun(self) -> Folding:
        """The session, opened where it is not, and again where it was complete. Raises TooLate."""
        if self._status is None:
            try:
                opened = await self._graph.write(begin_session, self._new_session(), self._feed.id, self._worker)
            except SessionErased as error:
                raise TooLate(meeting=self._feed.id) from error
            if opened.status is SessionStatus.COMPLETE:
                raise TooLate(meeting=self._feed.id)
            await self._look(opened.status, opened.checkpoint)
        elif self._status is SessionStatus.COMPLETE:
            self._was_complete = True
            checkpoint = Checkpoint(self._next_index).dumps()
            await self._graph.write(reopen_session, self.space, self.id, checkpoint, self._feed.id, self._worker)
            await self._look(SessionStatus.OPEN, checkpoint)
        assert self._folding is not None
        return self._folding

    async def _look(self, status: SessionStatus, checkpoint: str | None) -> None:
        turns = await self._graph.read(list_turns_there, self.space, self.id)
        self._there = {turn.message_id: turn for turn in turns}
        self._labels = {turn.local_speaker: turn.label for turn in turns}
        self._next_index = max((turn.index for turn in turns), default=-1) + 1
        self._until = max((turn.end for turn in turns), default=0.0)
        self._status = status
        using = self._using
        self._folding = Folding(
            self._graph,
            using.gallery,
            using.router,
            space=self.space,
            session_id=self.id,
            encoder=using.encoder,
            embedder=using.embedder.embedding_space.name if using.embedder else None,
            checkpoint=checkpoint,
            held=self._held,
        )

    async def _held(self, tx: Tx) -> None:
        """Of every transaction that writes the session, once it has locked the space. Raises MeetingTaken."""
        await hold_meeting(tx, self._feed.id, self._worker)

    # ---- who reads it meanwhile

    async def let_read(self) -> None:
        """Whose turns these are by their logins, who is there by them, and what they may read by now."""
        self._waits_since = None
        if self._folding is None or self._status is not SessionStatus.OPEN:
            return
        there = await self._log_in()
        if there is not None:
            await let_read(self._graph, self._folding, self._until, there)

    async def _log_in(self) -> Sequence[Attendance] | None:
        """None where nobody came with a login."""
        logins = signed_in(self._participants, self.id, self._until)
        if not logins:
            return None
        return await self._graph.write(self._save_logins, logins)

    async def _save_logins(self, tx: Tx, logins: Sequence[SignedIn]) -> Sequence[Attendance]:
        await note_logins(tx, self.space, self.id, logins)
        await self._held(tx)
        await attribute(tx, self.space, self.id, None, {})
        return await platform_attendance(tx, self.space, self.id)

    # ---- the end

    async def follow_up(self) -> None:
        """Facts and what else follows from the complete session, as far as it is not there. Raises as they do."""
        if self._status is SessionStatus.COMPLETE:
            await (await self._using.afterwards())(self.space, self.id)

    async def close(self, sound: MeetingSound | None = None) -> None:
        """It is over: what only the whole tells, and who is heard. Without a word of anybody there is no session. What was left
        out is tried once more before."""
        folding, using = self._folding, self._using
        if folding is None or self._status is SessionStatus.COMPLETE:
            return
        if self._left_out:
            self._told.update(self._left_out)
            await self.write(one_by_one=True)
        settings = await self._graph.read(get_space, self.space)
        await self._arrange(folding)
        router = router_of(using.router, settings, await self._roster())
        if not folding.checkpoint.settled:
            if sound is not None:
                await sound(folding, router, settings, self._started_at, self._participants)
            await folding.settle()
        there = await self._log_in()
        await merge_session(self._graph, using.gallery, folding, settings, router, using.config.merging)
        await name_session(self._graph, self.space, self.id, using.config.names)
        await close(
            self._graph,
            self.space,
            self.id,
            checkpoint=folding.stored,
            caller=CallerKnows(attendance=tuple(there or ()), roster=await self._roster()),
            embedder=using.embedder,
            held=self._held,
            lost=Lost(sum(len((turn.text or "").split()) for turn in self._left_out.values()), 0),
        )
        self._status, self._waits_since = SessionStatus.COMPLETE, None

    async def _arrange(self, folding: Folding) -> None:
        """All turns in spoken order, and what is known by now of the meeting."""
        ordered = in_order(self._there)
        order = {turn.message_id: index for index, turn in enumerate(ordered) if turn.index != index}
        session = replace(self._new_session(), roster=await self._roster())
        await self._graph.write(self._save_order, session, folding.stored, order)
        self._there = {turn.message_id: replace(turn, index=index) for index, turn in enumerate(ordered)}
        self._next_index = len(ordered)

    async def _save_order(self, tx: Tx, session: NewSession, checkpoint: str | None, order: Mapping[str, int]) -> None:
        await arrange_session(tx, session, checkpoint, order)
        await self._held(tx)

    async def _roster(self) -> tuple[str, ...]:
        """Person ids of who was invited, as far as they are known by their logins: a prior, and no access."""
        keys = {key for speaker in self._about.invited for key in (speaker.account, speaker.email) if key is not None}
        return tuple(sorted(set((await self._graph.read(resolve_accounts, self.space, keys)).values())))

    # ---- what it is

    @property
    def _started_at(self) -> datetime:
        return (self._about.started_at or self._feed.last_at).astimezone(UTC)

    @property
    def _source(self) -> str:
        """Also the provenance of its turns."""
        return f"live:{self._feed.provider}"

    def _new_session(self) -> NewSession:
        using = self._using
        return NewSession(
            id=self.id,
            space=self.space,
            title=self._about.title or f"{self._feed.source}, {self._started_at:%Y-%m-%d %H:%M}",
            started_at=self._started_at,
            zone=self._about.zone,
            source=self._source,
            external_id=self._external_id,
            content_hash=hashlib.sha256(self._external_id.encode()).hexdigest(),
            roster=(),
            duration=self._until,
            encoder=using.encoder.name,
            embedder=using.embedder.embedding_space.name if using.embedder else None,
        )


async def _alone(tx: Tx, then: Then) -> None:
    await then(tx)
