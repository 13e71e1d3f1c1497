"""What becomes of one meeting's deliveries? Read, folded one after the other, written, and closed when no more is expected.

All that is remembered here follows from the deliveries that were taken in: whoever takes the meeting up folds them again. A
delivery that cannot be taken in is put off, and after some tries dead; none waits for it. What comes after the end puts right
what is written for as long as the deliveries are kept, and is dead as too late after that."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from service.connectors.live import Delivery, EventUnreadable, Fetch, Read, connector
from service.connectors.live.fetching import FetchRefused
from service.connectors.live.joint import told_by
from service.connectors.live.sources import NoSuchSource, Sources, SourcesUnreadable
from service.connectors.live.vouched import vouched
from service.errors import VoicegraphError
from service.graph.deliveries import NewDelivery, StoredDelivery, save_deliveries
from service.graph.driver import Neo4jUnreachable, Tx
from service.graph.meetings import (
    MeetingFeed,
    MeetingStatus,
    MeetingTaken,
    await_sound,
    begin_next,
    close_meeting,
    find_meetings,
    hold_meeting,
    note_sound_lost,
    reopen_meeting,
)
from service.graph.taking_in import NOTHING_SEEN, deliveries_of, mark_done, mark_failed, mark_unfolded, next_waiting
from service.graph.write_sessions import SessionBusy
from service.memory.meeting import MeetingState, Outcome, advance, configured, due_at, step
from service.memory.meeting.bots import Bots
from service.memory.meeting.rooms import Room
from service.pipelines.blame import is_its_own
from service.pipelines.delivered import as_delivery, new_delivery
from service.pipelines.deliveries import Incident
from service.pipelines.meeting_session import MeetingSession, TooLate, WritesWith
from service.pipelines.meeting_voices import MeetingSound
from service.types.meeting import Began
from service.types.memory import SessionStatus

log = logging.getLogger(__name__)


class Fetched(Protocol):
    def __call__(self, fetch: Fetch, *, api_key: str | None) -> Awaitable[Delivery]:
        """What a delivery points to, got with the source's key. Raises FetchRefused, FetchFailed."""
        ...


class OfMeetingBefore(VoicegraphError):
    code = "of_meeting_before"
    says = "It happened before the meeting that goes on in this room, and came when that was closed. Nothing is added by it."
    http_status = 409


class SoundElsewhere(VoicegraphError):
    code = "sound_elsewhere"
    says = "Sound of the meeting {id} lies in another data folder than this service's: whoever has it is to close it."
    http_status = 409


@dataclass(frozen=True, slots=True)
class MeetingWorkConfig:
    batch: int = 200  # deliveries folded and written together: a few seconds of embedding where a meeting is replayed
    rebuilt: int = 1_000  # deliveries read at once when a meeting is taken up
    margin: float = 1.0  # seconds that what came may be seen late: the time of a transaction, and of clocks that differ
    one_by_one: int = 2  # errors after which deliveries are written one by one, so that a bad one is known
    rests_for: float = 10.0  # seconds at least until something is due, where it is let go of: it is folded anew after them
    attempts: int = 10  # until a delivery is dead: with the delays below after an hour and a half
    first_delay: float = 5.0  # seconds until it is tried again, each time twice as long
    longest_delay: float = 3_600.0
    kept: timedelta = timedelta(hours=72)  # after the end: Vexa repeats for up to 24 h, and 48 h are asked for (CASES 1)
    dead: timedelta = timedelta(days=30)  # as ReceptionConfig.dead_days
    for_sound: timedelta = timedelta(hours=1)  # that one is left open for who has its sound: a machine is replaced in less


@dataclass(frozen=True, slots=True)
class _Failure:
    id: str
    attempts: int
    error: VoicegraphError | None
    """None: a fault of ours, under an incident."""
    is_final: bool
    incident: str = ""
    gone: str | None = None
    """SHA-256 of its body, which goes: it can never be taken in, and may say what was erased."""

    @property
    def told(self) -> str:
        return f"{self.error.code}: {self.error.message}" if self.error else f"unexpected: incident {self.incident}"


@dataclass(frozen=True, slots=True)
class Looked:
    """What there was to be taken in."""

    deliveries: Sequence[StoredDelivery]
    feed: MeetingFeed | None
    is_all: bool
    """Nothing else had come."""
    at: datetime


class Meeting:
    """One that this worker has the lease of. After an error of `go` it is of no use any more."""

    def __init__(
        self,
        using: WritesWith,
        feed: MeetingFeed,
        worker: str,
        sources: Sources,
        fetched: Fetched,
        incident: Incident,
        config: MeetingWorkConfig,
        came: Callable[[], None],
        aside: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
        give_way: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`came`: called when something that was fetched is there. `aside`: others are worked at while in it. `give_way`:
        waits for who goes first, before each transaction."""
        self._aside, self._first = aside, give_way
        self._using, self._graph, self._feed, self._worker = using, using.graph, feed, worker
        self._sources, self._fetched, self._incident, self._config, self._came = sources, fetched, incident, config, came
        self._state = self._unfolded()
        self._room, self._bots = _room_of(feed), Bots()
        self._session: MeetingSession | None = None
        self._fetching: dict[str, asyncio.Task[list[NewDelivery]]] = {}
        self._seen = NOTHING_SEEN
        """Up to which place what came is known."""
        self._taken_up = self._rebuilt = self._one_by_one = self._passed = False
        self._is_kept = True
        """All that was taken in. Else it is not known any more what it said, and nothing is added to it."""
        self._closed = feed.status is MeetingStatus.CLOSED

    @property
    def is_over(self) -> bool:
        """It is closed, and nothing of it waits for this worker."""
        return self._closed and not self._fetching

    @property
    def space(self) -> str:
        return self._feed.space

    @property
    def may_rest(self) -> bool:
        """Nothing of it is under way, and nothing due soon: it may be let go of and taken up again."""
        soon = self._config.rests_for
        return self._taken_up and not self._fetching and (self.due_in is None or self.due_in > soon)

    @property
    def due_in(self) -> float | None:
        """Seconds until something is to be done even if nothing comes; None: never."""
        moments = [self._session.reads_in] if self._session is not None else []
        if not self._closed and (due := due_at(self._state)) is not None:
            moments.append((due - datetime.now(UTC)).total_seconds() + self._config.margin)
        return min((max(0.0, moment) for moment in moments if moment is not None), default=None)

    async def stop(self) -> None:
        for task in self._fetching.values():
            task.cancel()
        await asyncio.gather(*self._fetching.values(), return_exceptions=True)

    # ---- one round

    async def go(self, *, tries: int = 0) -> None:
        """Take in all that waits, and do what is due. `tries`: errors of this meeting since it last went well.

        Raises MeetingTaken, SessionBusy, and the graph's errors: then it is taken up again later, by whoever comes first."""
        is_last = tries >= self._config.attempts
        if not (self._taken_up or is_last) and await self._only_waits():
            raise SoundElsewhere(id=self._feed.id)
        if not self._taken_up:
            await self._take_up()
        self._one_by_one = tries >= self._config.one_by_one
        limit = 1 if self._one_by_one else self._config.batch
        more = True
        while more:
            looked = await self._look(limit)
            if not (looked.deliveries or looked.is_all):  # more had come by then that could not be seen yet
                looked = await self._look(limit, settled=True)
            more = bool(looked.deliveries) and await self._took(looked)
        await self._pass_time(looked, is_last=is_last)

    async def _look(self, limit: int, *, settled: bool = False) -> Looked:
        await self._give_way()
        now, busy = datetime.now(UTC), {id for id, task in self._fetching.items() if not task.done()}
        found = await self._graph.write(
            next_waiting, self._feed.id, now=now, seen=self._seen, settled=settled, limit=limit, but=busy
        )
        self._seen = found.seen
        return Looked(found.deliveries, found.feed, found.is_all, now)

    async def _took(self, looked: Looked) -> bool:
        """Take it in; whether there may be more."""
        some = looked.deliveries
        try:
            if not self._is_kept:
                raise TooLate(meeting=self._feed.id)
            return await self._take(looked)
        except TooLate as error:
            await self._refuse(some, error)
        except (MeetingTaken, SessionBusy, Neo4jUnreachable, SoundElsewhere):
            raise
        except Exception as error:
            if len(some) == 1 and is_its_own(error):  # known by itself, it is put off, and the others are not
                await self._put_off([self._failure(some[0], error)])
            raise
        return True

    async def _give_way(self) -> None:
        if self._first is not None:
            await self._first()

    async def _take(self, looked: Looked) -> bool:
        """Whether there may be more to take in."""
        some, later = looked.deliveries, False
        done: list[str] = []
        more: list[NewDelivery] = []
        failed: list[_Failure] = []
        plain: list[tuple[StoredDelivery, Read]] = []

        async def fold_plain() -> None:
            errors = await asyncio.to_thread(self._fold_all, plain) if plain else ()
            for (delivery, _), error in zip(plain, errors, strict=True):
                if error is None:
                    done.append(delivery.id)
                else:
                    failed.append(self._failure(delivery, error))
            plain.clear()

        for delivery, read in zip(some, await asyncio.to_thread(self._read_all, some), strict=True):
            if isinstance(read, Exception):
                failed.append(self._failure(delivery, read))
                continue
            if self._session is not None and not (read.fetches or read.in_room):
                plain.append((delivery, read))
                continue
            await fold_plain()
            try:
                got = await self._got(delivery, read)
            except Exception as error:  # noqa: BLE001 - logged; what one delivery is must not keep others from being taken in
                failed.append(self._failure(delivery, error))
                continue
            if got is None:
                continue
            if self._is_of_before(read):
                failed.append(self._failure(delivery, OfMeetingBefore()))
                continue
            if await asyncio.to_thread(self._is_next, delivery, read):
                await self._write(done, more)
                done, more, later = [], [], later or bool(more)
                await self._begin_next(delivery)
            await self._ensure_session(delivery, read)
            plain.append((delivery, read))
            await fold_plain()
            more += got if done and done[-1] == delivery.id else ()
        await fold_plain()
        later = later or bool(more) or not looked.is_all
        if not later and not self._closed and looked.feed is not None:  # else what is late is to be written as such first
            await self._advance(looked.feed, looked.at)
        await self._write(done, more)
        await self._put_off(failed)
        return later

    def _fold_all(self, some: Sequence[tuple[StoredDelivery, Read]]) -> list[Exception | None]:
        """What is wrong with each: what one delivery is must not keep others from being taken in."""
        errors: list[Exception | None] = []
        for delivery, read in some:
            try:
                self._fold(delivery, read)
                errors.append(None)
            except Exception as error:  # noqa: BLE001 - given back, and logged
                errors.append(error)
        return errors

    def _fold(self, delivery: StoredDelivery, read: Read) -> None:
        declared, configured = connector(delivery.provider).declared, self._sources.find(delivery.source)
        events = vouched(read.events, declared, delivery.source, configured)
        if read.in_room:
            events = self._room.of_this(events)
        bots, bot = self._bots, self._bot_of(read)
        if bot is not None:
            bots, events = bots.hearing(bot, told_by(events, bot), delivery.received_at.timestamp())
        state, outcomes = step(self._state, events, delivery.received_at)
        self._room = self._room.having(events, delivery.received_at.timestamp())
        self._note(outcomes)
        self._state, self._bots = state, bots

    async def _ensure_session(self, delivery: StoredDelivery, read: Read) -> None:
        """Raises TooLate."""
        if self._session is None:
            session = self._session_of(delivery, read)
            await session.check_new()
            self._session = session

    def _session_of(self, delivery: StoredDelivery, read: Read) -> MeetingSession:
        """By the first delivery of it. In a room each meeting is known by when it began."""
        occurrence = delivery.received_at.astimezone(UTC).isoformat() if read.in_room else None
        return MeetingSession(self._using, self._feed, self._worker, self._incident, occurrence)

    async def _write(self, done: Sequence[str], more: Sequence[NewDelivery]) -> None:
        """What was folded, and that it was."""
        if not done:
            return
        assert self._session is not None
        is_late = self._closed and not self._state.finished  # what it changes is told after a while
        await self._give_way()

        async def then(tx: Tx) -> None:
            await save_deliveries(tx, more)
            await mark_done(tx, self._feed.id, done, worker=self._worker)
            if is_late:
                await reopen_meeting(tx, self._feed.id)

        await self._session.write(then, one_by_one=self._one_by_one)
        self._closed = self._closed and not is_late
        self._closed = self._closed and self._session.status is not SessionStatus.OPEN

    # ---- taking up, time, the end

    async def _take_up(self) -> None:
        """Fold again what was taken in before."""
        feed = (await self._graph.read(find_meetings, [self._feed.id])).get(self._feed.id)
        if feed is not None:  # what it waited for may have been another worker
            self._feed, self._room, self._closed = feed, _room_of(feed), feed.status is MeetingStatus.CLOSED
        place, last = self._feed.first_folded, self._feed.num_folded
        unfolded: dict[str, str] = {}
        while some := await self._graph.read(deliveries_of, self._feed.id, first=place, limit=self._config.rebuilt):
            unfolded |= await asyncio.to_thread(self._fold_again, some)
            place += len(some)
        self._is_kept = place == last
        self._rebuilt = self._feed.first_folded < last and not unfolded  # what these told stays as it is written
        if unfolded:
            await self._graph.write(mark_unfolded, self._feed.id, unfolded, worker=self._worker)
        if self._session is not None:
            try:
                await self._session.load()
            except TooLate:  # what was erased is not written again
                self._session, self._is_kept = None, False
        self._taken_up = True

    def _fold_again(self, some: Sequence[StoredDelivery]) -> dict[str, str]:
        """By id, what is wrong with those that a program before this one understood: they are passed over, and logged. Raises
        what is none of their own faults: all are folded again later then."""
        unfolded = {}
        for delivery in some:
            try:
                read = self._read(delivery)
                self._session = self._session or self._session_there(delivery) or self._session_of(delivery, read)
                self._fold(delivery, read)
            except Exception as error:  # logged, and marked; it must not keep what comes from being taken in
                if not is_its_own(error):
                    raise
                failure = self._failure(delivery, error)
                if failure.error is not None:  # of others it did
                    self._incident(error)
                unfolded[delivery.id] = failure.told
                self._session = self._session or self._session_there(delivery)
        return unfolded

    def _session_there(self, delivery: StoredDelivery) -> MeetingSession | None:
        """The session that is written, of which this was the first delivery, whether it is held in a room or not."""
        both = [self._session_of(delivery, Read(None, (), in_room=in_room)) for in_room in (False, True)]
        return next((session for session in both if session.id == self._feed.session_id), None)

    async def _pass_time(self, looked: Looked, *, is_last: bool) -> None:
        """Nothing waits: tell what time alone tells."""
        if looked.feed is None:  # its space was forgotten
            self._closed = True
            return
        await self._advance(looked.feed, looked.at)
        session = self._session
        if session is not None:
            if self._rebuilt and self._is_kept and self._is_told:
                session.withdraw_others(turn.key for _, turns in self._state.given.items() for turn in turns)
                self._rebuilt = False
            self._passed = True
            await session.write(one_by_one=self._one_by_one)
            if session.reads_in == 0.0:
                await self._give_way()
                await session.let_read()
            self._closed = self._closed and session.status is not SessionStatus.OPEN
        if self._state.finished and not self._closed:
            await self._close(is_last=is_last)

    async def _advance(self, feed: MeetingFeed, at: datetime) -> None:
        """`at`: when it was looked."""
        now = at - timedelta(seconds=self._config.margin)
        if self._state.last is None or feed.last_at.timestamp() > self._state.last:
            self._state, outcomes = await asyncio.to_thread(step, self._state, (), min(feed.last_at, now))
            self._note(outcomes)
        self._state, outcomes = await asyncio.to_thread(advance, self._state, now)
        self._note(outcomes)

    @property
    def _is_told(self) -> bool:
        """Whether the fold has told all that it knows of. Of what it has not yet, who had the meeting before may have written
        some: their clock was ahead, or they saw time pass between deliveries that are folded at once now."""
        pending = bool(self._state.waiting) or any(True for _ in self._state.open.items())
        return not pending and (self._passed or self._state.finished)

    def _note(self, outcomes: Sequence[Outcome]) -> None:
        if self._session is not None:
            self._session.note(outcomes)

    async def _close(self, *, is_last: bool = False) -> None:
        """`is_last`: what follows from the session was tried often enough, and is left to be read by hand, and so is who is
        heard. Where there is much to hear, others are taken in meanwhile."""
        sound, elsewhere = await self._sound(), await self._elsewhere()
        if elsewhere and sound is None and not is_last:
            since = await self._graph.write(_await_sound, self._feed.id, self._worker, datetime.now(UTC))
            if datetime.now(UTC) - since < self._config.for_sound:
                raise SoundElsewhere(id=self._feed.id)
        if sound is None or is_last:
            await self._close_with(sound, elsewhere, is_last=is_last)
            return
        async with self._aside(), sound.listens.one:
            await self._close_with(sound, elsewhere, is_last=is_last)

    async def _close_with(self, sound: MeetingSound | None, elsewhere: Sequence[str], *, is_last: bool) -> None:
        if self._session is not None:
            await self._session.close(None if is_last else sound)
        if sound is not None:
            if not is_last and (self._session is None or self._session.status is None):
                about = self._state.about
                await sound.alone(about.started_at, about.title, about.zone)
            await sound.forget()
        if self._session is not None:
            try:
                await self._session.follow_up()
            except (MeetingTaken, SessionBusy, Neo4jUnreachable):
                raise
            except Exception as error:
                if not is_last:
                    raise
                self._incident(error)
        until = datetime.now(UTC) + self._config.kept
        await self._graph.write(_close, self._feed.id, self._worker, until, sound_lost=bool(elsewhere))
        self._closed = True
        if elsewhere:
            folders = ", ".join(elsewhere)
            log.warning("meeting %s: closed without the sound of it that lies in data folder %s", self._feed.id, folders)

    async def _sound(self) -> MeetingSound | None:
        """None where there is none, or this source's is not listened to (any more): then it goes when its time is over."""
        feed, listens = self._feed, self._using.listens
        if listens is None or not self._listened_to:
            return None
        turns = [turn for _, turns in self._state.given.items() for turn in turns]
        sound = MeetingSound(self._graph, listens, feed.space, feed.id, turns, f"live:{feed.provider}")
        return sound if await sound.is_there() else None

    async def _elsewhere(self) -> Sequence[str]:
        """Ids of other data folders than this service's that have sound of it, as long as its source is listened to."""
        if self._using.listens is None or not self._listened_to:
            return ()
        feed = (await self._graph.read(find_meetings, [self._feed.id])).get(self._feed.id)
        here = await asyncio.to_thread(lambda tapes: tapes.place, self._using.listens.tapes)
        return tuple(sorted(set(feed.sound_in if feed is not None else ()) - {here}))

    async def _only_waits(self) -> bool:
        """It is over and left to whoever has its sound, which is not here, and nothing came since: to fold it would be in
        vain."""
        feed, now = self._feed, datetime.now(UTC)
        if feed.sound_awaited is None or now - feed.sound_awaited >= self._config.for_sound:
            return False
        if self._using.listens is None or not self._listened_to:
            return False
        here = await asyncio.to_thread(lambda tapes: tapes.place, self._using.listens.tapes)
        if not feed.sound_in or here in feed.sound_in:
            return False
        return not (await self._graph.write(next_waiting, feed.id, now=now, settled=True, limit=1)).deliveries

    @property
    def _listened_to(self) -> bool:
        try:
            return self._sources.get(self._feed.source).listen
        except (NoSuchSource, SourcesUnreadable):
            return False

    # ---- rooms

    def _is_next(self, delivery: StoredDelivery, read: Read) -> bool:
        """Whether it is of the next meeting in its room: the one before was over when it came."""
        if not read.in_room or not read.events or self._is_of_this(read):
            return False
        state = advance(self._state, delivery.received_at)[0]
        if state.finished or not state.ends or state.last is None:
            return state.finished
        begins = any(isinstance(event, Began) for event in read.events)  # after an end that was none for longer
        return begins and delivery.received_at.timestamp() >= state.last + state.config.linger

    def _is_of_this(self, read: Read) -> bool:
        """Whether it is of the one that goes on, or was the last one, whenever it came. No bot is in two meetings; of one that
        has not told anything yet it is what happened while the others were there."""
        bot = self._bot_of(read)
        if bot is None:
            return self._room.is_of_this(read.events)
        return self._bots.has(bot) or any(self._room.is_of_this([event]) for event in read.events)

    def _is_of_before(self, read: Read) -> bool:
        return read.in_room and (self._bot_of(read) in self._feed.bots_before or self._room.is_of_before(read.events))

    def _bot_of(self, read: Read) -> str | None:
        """Which of the bots that are in one call; None: it tells of the meeting by the id that this one has."""
        return read.meeting if read.in_room and read.meeting != self._feed.external_id else None

    async def _begin_next(self, delivery: StoredDelivery) -> None:
        self._state, outcomes = await asyncio.to_thread(advance, self._state, delivery.received_at)
        self._note(outcomes)
        if self._session is not None:
            await self._session.write(one_by_one=self._one_by_one)
        await self._close()
        self._room = self._room.next()
        await self._graph.write(_begin_next, self._feed.id, self._worker, self._room, self._bots)
        self._feed = (await self._graph.read(find_meetings, [self._feed.id]))[self._feed.id]
        self._session, self._state, self._bots, self._closed = None, self._unfolded(), Bots(), False

    # ---- what is pointed to

    def _fetch(self, delivery: StoredDelivery, read: Read) -> None:
        """In a task of its own: what comes meanwhile is taken in."""
        task = asyncio.create_task(self._fetch_all(delivery, read.fetches))
        task.add_done_callback(lambda _: self._came())
        self._fetching[delivery.id] = task

    async def _fetch_all(self, delivery: StoredDelivery, fetches: Sequence[Fetch]) -> list[NewDelivery]:
        """Raises FetchRefused, FetchFailed, EventUnreadable, and what the source is wrong with."""
        source = self._sources.get(delivery.source)
        if source.space != self._feed.space:  # the name is another space's by now
            raise NoSuchSource(name=source.name)
        key = self._sources.api_key(source)
        found = []
        for fetch in fetches:
            got = await self._fetched(fetch, api_key=key)
            read = await asyncio.to_thread(connector(delivery.provider).read, got)
            of_call = replace(read, meeting=self._feed.external_id) if read.meeting == fetch.meeting else read
            found.append(new_delivery(source, got, of_call))
        return found

    # ---- what cannot be taken in

    async def _got(self, delivery: StoredDelivery, read: Read) -> Sequence[NewDelivery] | None:
        """What it points to, none where it points to nothing; None: it is being fetched."""
        if not read.fetches:
            return ()
        if (task := self._fetching.pop(delivery.id, None)) is not None:
            return await task
        self._fetch(delivery, read)
        return None

    def _failure(self, delivery: StoredDelivery, error: Exception) -> _Failure:
        known = error if isinstance(error, VoicegraphError) else None
        final = isinstance(error, EventUnreadable | FetchRefused | OfMeetingBefore | TooLate)
        gone = None
        if isinstance(error, OfMeetingBefore | TooLate) and delivery.body is not None:
            gone = hashlib.sha256(delivery.body).hexdigest()
        return _Failure(delivery.id, delivery.attempts + 1, known, final, "" if known else self._incident(error), gone)

    async def _put_off(self, failed: Sequence[_Failure]) -> None:
        if failed:
            await self._graph.write(_mark_failed, self._feed.id, failed, self._worker, self._config, datetime.now(UTC))

    async def _refuse(self, some: Sequence[StoredDelivery], error: TooLate) -> None:
        """All of them are dead, and so is the meeting, which was over long ago. A session that is open nevertheless is closed;
        where it is not the one that they are of, the meeting stays open: raises SessionGoesOn."""
        await self._put_off([self._failure(delivery, error) for delivery in some])
        if self._session is None or self._session.status is not SessionStatus.OPEN:
            self._session = None
        await self._close(is_last=True)

    # ---- small things

    def _read(self, delivery: StoredDelivery) -> Read:
        """A call of several bots is like a room: what names it may name the next one, too. Raises EventUnreadable."""
        of = connector(delivery.provider)
        read = of.read(as_delivery(delivery))
        is_bots = of.declared.metadata is not None and read.meeting not in (None, self._feed.external_id)
        return replace(read, in_room=True) if is_bots else read

    def _read_all(self, some: Sequence[StoredDelivery]) -> list[Read | Exception]:
        found: list[Read | Exception] = []
        for delivery in some:
            try:
                found.append(self._read(delivery))
            except Exception as error:  # noqa: BLE001 - given back, and logged
                found.append(error)
        return found

    def _unfolded(self) -> MeetingState:
        """Of a source that is gone, with the fold's own idea of when a silent meeting is over."""
        holds = connector(self._feed.provider).declared.finals_hold
        try:
            idle = 60.0 * self._sources.get(self._feed.source).idle_minutes
        except (NoSuchSource, SourcesUnreadable):
            idle = None
        return configured(MeetingState(), finals_hold=holds, idle=idle)


async def _close(tx: Tx, meeting: str, worker: str, expires_at: datetime, *, sound_lost: bool) -> None:
    await hold_meeting(tx, meeting, worker)
    await close_meeting(tx, meeting, expires_at=expires_at)
    if sound_lost:
        await note_sound_lost(tx, meeting, at=datetime.now(UTC))


async def _await_sound(tx: Tx, meeting: str, worker: str, at: datetime) -> datetime:
    await hold_meeting(tx, meeting, worker)
    return await await_sound(tx, meeting, at=at)


async def _begin_next(tx: Tx, meeting: str, worker: str, room: Room, bots: Bots) -> None:
    await hold_meeting(tx, meeting, worker)
    after = None if room.after is None else datetime.fromtimestamp(room.after, UTC)
    await begin_next(tx, meeting, after=after, bots=list(bots.ends))


def _room_of(feed: MeetingFeed) -> Room:
    return Room(None if feed.after is None else feed.after.timestamp())


async def _mark_failed(
    tx: Tx, meeting: str, failed: Sequence[_Failure], worker: str, config: MeetingWorkConfig, now: datetime
) -> None:
    for one in failed:
        delay = min(config.longest_delay, config.first_delay * 2.0 ** (one.attempts - 1))
        is_dead = one.is_final or one.attempts >= config.attempts
        await mark_failed(
            tx,
            meeting,
            one.id,
            one.told,
            worker=worker,
            next_at=None if is_dead else now + timedelta(seconds=delay),
            expires_at=now + config.dead if is_dead else None,
            gone=one.gone,
        )
