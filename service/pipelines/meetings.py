"""Who takes in what meetings' backends delivered? One worker a process: it leases meetings, each to itself, and works at some
of them side by side. One that is killed is followed by whoever comes first once its leases have run out; what it began under a
lease that another had since is not written.

Spaces take turns: those of one that has thousands of meetings do not keep another's waiting. Where more meetings go on than are
held, those of the space that has most of them rest, the one first in which nothing has happened for longest; it is read again
when something comes or is due."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from service.connectors.live.sources import Sources
from service.graph.driver import Graph, Neo4jUnreachable, Tx
from service.graph.meetings import (
    MeetingFeed,
    MeetingTaken,
    lease_meetings,
    list_left,
    list_to_take_in,
    release_meetings,
    renew_leases,
)
from service.graph.write_sessions import SessionBusy
from service.pipelines.blame import ModelFailed, is_its_own
from service.pipelines.deliveries import Incident
from service.pipelines.meeting import Fetched, Meeting, MeetingWorkConfig, SoundElsewhere
from service.pipelines.meeting_session import WritesWith
from service.pipelines.pressure import Pressure
from service.types.ids import fresh


@dataclass(frozen=True, slots=True)
class MeetingsConfig:
    at_once: int = 4  # meetings worked at side by side: more wait for two cores and for the lock of their space
    most: int = 1_000  # meetings leased: each holds its fold in memory, of eight hours some 80 MB; 0: deliveries only wait here
    ahead: int = 16  # meetings begun before one is done: few, so that a space that comes later waits for few of another's
    left: int = 100  # meetings that nobody has, looked at in one round
    poll: float = 1.0  # seconds until the inbox is looked into where nobody said that something came: another may have it …
    idle_poll: float = 5.0  # … and where there has been nothing to do for
    idle_after: float = 60.0  # so many seconds
    pace: float = 0.2  # seconds between two looks at least: who delivers is answered meanwhile, and a turn waits for two anyway
    busy_pace: float = 2.0  # seconds between two looks at one meeting while much comes: so long a final waits anyway
    busy_share: float = 0.5  # of one's time at meetings while much comes: at 200 a second who delivers needs a core of two
    lease: float = 15.0  # seconds after which another worker may go on with a meeting
    beat: float = 4.0  # seconds after which leases are made longer
    again: float = 1.0  # seconds until a meeting is tried again after an error, each time twice as long …
    longest: float = 60.0  # … up to this
    elsewhere: float = 30.0  # seconds that a meeting is left to whoever has its sound: they look each `idle_poll` at least
    work: MeetingWorkConfig = field(default_factory=MeetingWorkConfig)


@dataclass(slots=True)
class _Trouble:
    count: int = 0
    """Errors that are the meeting's own: not of the database, of a model, or of this machine."""
    pauses: int = 0
    until: float = 0.0
    """By the monotonic clock."""


class Meetings:
    """`start` and `stop` frame its life."""

    def __init__(
        self,
        graph: Graph,
        using: Callable[[], Awaitable[WritesWith]],
        sources: Sources,
        fetched: Fetched,
        incident: Incident,
        *,
        pressure: Pressure | None = None,
        config: MeetingsConfig | None = None,
    ) -> None:
        """`using`: asked for with the first meeting: models are loaded then. `pressure`: what comes in this process."""
        self._graph, self._using, self._sources, self._fetched, self._incident = graph, using, sources, fetched, incident
        self._config = config or MeetingsConfig()
        self._pressure = pressure or Pressure()
        self._arrived = self._pressure.arrived
        self._known: dict[str, str] = {}
        """Id → space of meetings in which something is to be taken in, as far as is known."""
        self._looks_at = self._idle_since = time.monotonic()
        """When the inbox is looked into again."""
        self._others: dict[str, float] = {}
        """Meeting of which something came here → when it turned out to be another worker's."""
        self._began: dict[str, float] = {}
        """Meeting → when it was last begun with; while much comes."""
        self._rests_until = 0.0
        self.id = fresh()
        self._meetings: dict[str, Meeting] = {}
        """By id, the one last that was worked at last."""
        self._leases: dict[str, str] = {}
        """By meeting: under what name it is leased, another each time."""
        self._working: dict[str, asyncio.Task[None]] = {}
        self._aside_now = 0
        self._trouble: dict[str, _Trouble] = {}
        self._places = asyncio.Semaphore(self._config.at_once)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._keep())]

    async def stop(self) -> None:
        """What is being done is left where it is; others may go on with it at once."""
        tasks, self._tasks = [*self._tasks, *self._working.values()], []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        held, self._meetings = self._meetings, {}
        leases, self._leases = self._leases, {}
        for meeting in held.values():
            await meeting.stop()
        with suppress(Neo4jUnreachable):
            await self._graph.write(release_meetings, leases)

    async def settle(self, seconds: float) -> None:
        """Wait, at most so long, until nothing is left to do but what comes later; for tests and tools."""
        async with asyncio.timeout(seconds):
            while await self._look(anyway=True) or any(map(self._is_put_off, self._trouble)):
                await asyncio.wait(
                    [*self._working.values(), asyncio.create_task(asyncio.sleep(0.1))], return_when=asyncio.FIRST_COMPLETED
                )

    # ---- rounds

    async def _run(self) -> None:
        while True:
            self._arrived.clear()
            try:
                await self._look()
                pause = self._pause()
            except Exception as error:  # noqa: BLE001 - logged; a graph that is away comes back
                self._incident(error)
                pause = self._config.again
            await asyncio.sleep(min(self._config.pace, pause))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), pause)

    async def _look(self, *, anyway: bool = False) -> bool:
        """Begin with what is to be done; whether anything was. `anyway`: the inbox is asked whenever it was asked last."""
        now = time.monotonic()
        gone = [id for id, one in self._trouble.items() if id not in self._leases and now > one.until + self._config.longest]
        for id in gone:
            del self._trouble[id]
        self._began = {id: at for id, at in self._began.items() if now - at < self._config.busy_pace}
        due = {id: meeting.space for id, meeting in self._meetings.items() if meeting.due_in == 0.0}
        config = self._config
        await self._look_into(now, anyway=anyway)
        busy = {id: meeting.space for id, meeting in self._meetings.items() if id in self._working}
        wanted = {id: space for id, space in {**due, **self._known}.items() if self._may_begin(id, now)}
        ahead = max(0, self._ahead(now) - len(self._working) + self._aside_now)
        chosen = in_turn(wanted, busy.values())[:ahead]
        new = [id for id in chosen if id not in self._leases]
        room = config.most - len(self._leases)
        if len(new) > room:
            room += await self._let_rest(len(new) - room, but=chosen)
        leased = {feed.id: feed for feed in await self._lease(new[: max(0, room)])}
        for id in chosen:
            self._known.pop(id, None)
            if id in leased or id in self._meetings:
                self._began[id] = now
                self._working[id] = asyncio.create_task(self._work(id, leased.get(id)))
        return bool(self._working)

    async def _look_into(self, now: float, *, anyway: bool = False) -> None:
        """What is to be taken in. Of meetings that are this worker's it is known what came here; for others, and from time to
        time, the inbox is asked: there may be more of another process."""
        config, came = self._config, self._pressure.take_came()
        self._known |= {id: space for id, space in came.items() if id in self._leases}
        self._others = {id: at for id, at in self._others.items() if now - at < config.lease}
        new = came.keys() - self._leases.keys() - self._others.keys()
        asked = self._pressure.take_look()
        if not (new or asked or anyway or now >= self._looks_at):
            return
        own = [(source.space, name) for name, source in self._sources.all().items()]
        found = await self._graph.read(_list_waiting, self.id, own, datetime.now(UTC), config.most, config.left)
        self._known |= {id: space for id, space in found.items() if id not in self._working}  # they look for themselves
        self._others |= dict.fromkeys(new - found.keys(), now)
        if found or self._leases:
            self._idle_since = now
        is_idle = now - self._idle_since >= config.idle_after
        self._looks_at = now + (config.idle_poll if is_idle else config.poll)

    def _may_begin(self, id: str, now: float) -> bool:
        if id in self._working or self._is_put_off(id):
            return False
        return not self._pressure.is_busy or now - self._began.get(id, float("-inf")) >= self._config.busy_pace

    def _ahead(self, now: float) -> int:
        """Meetings begun before one is done; while much comes one at a time, and between them who delivers."""
        if not self._pressure.is_busy:
            return self._config.ahead
        return 1 if now >= self._rests_until else 0

    async def _let_rest(self, number: int, *, but: Collection[str]) -> int:
        """So many meetings in which nothing is to be done, or as many as there are."""
        having = Counter(meeting.space for meeting in self._meetings.values())
        idle: dict[str, deque[str]] = {}
        for id, meeting in self._meetings.items():
            if id not in self._working and id not in but and meeting.may_rest:
                idle.setdefault(meeting.space, deque()).append(id)
        resting: dict[str, datetime] = {}
        while len(resting) < number and idle:
            space = max(idle, key=lambda space: (having[space], space))
            id = idle[space].popleft()
            having[space] -= 1
            if not idle[space]:
                del idle[space]
            resting[id] = datetime.now(UTC) + timedelta(seconds=self._meetings[id].due_in or 0.0)
        leases = {id: self._leases.pop(id) for id in resting}
        for id in resting:
            await self._meetings.pop(id).stop()
        await self._graph.write(release_meetings, leases, due=resting)
        return len(resting)

    def _pause(self) -> float:
        now = time.monotonic()
        moments = [max(0.0, self._looks_at - now)]
        if self._known:  # something is not begun with yet
            moments.append(self._config.pace)
        due = [meeting.due_in for id, meeting in self._meetings.items() if id not in self._working]
        least = self._config.pace / 2 if self._pressure.is_busy else 0.02  # what is due may have to wait for others then
        return max(least, min([*moments, *(moment for moment in due if moment is not None)]))

    def _is_put_off(self, id: str) -> bool:
        trouble = self._trouble.get(id)
        return trouble is not None and time.monotonic() < trouble.until

    async def _work(self, id: str, feed: MeetingFeed | None) -> None:
        try:
            async with self._places:
                began = time.monotonic()
                await self._go(id, feed)
                took = time.monotonic() - began
                rest = min(
                    self._config.busy_pace, took * (1.0 / self._config.busy_share - 1.0)
                )  # one may have listened for long
                self._rests_until = time.monotonic() + rest
        finally:
            del self._working[id]
            self._arrived.set()

    @asynccontextmanager
    async def _aside(self) -> AsyncIterator[None]:
        """Of a meeting that is worked at: another one may be meanwhile."""
        self._places.release()
        self._aside_now += 1
        try:
            yield
        finally:
            self._aside_now -= 1
            await self._places.acquire()

    async def _go(self, id: str, feed: MeetingFeed | None) -> None:
        trouble = self._trouble.get(id)
        try:
            if feed is not None:
                using = await self._models()
                work = self._config.work
                self._meetings[id] = Meeting(
                    using,
                    feed,
                    self._leases[id],
                    self._sources,
                    self._fetched,
                    self._incident,
                    work,
                    partial(self._again, id, feed.space),
                    self._aside,
                    self._pressure.give_way,
                )
            meeting = self._meetings[id] = self._meetings.pop(id)
            await meeting.go(tries=trouble.count if trouble is not None else 0)
        except (MeetingTaken, SessionBusy):  # another worker got on; where that has ended, it is taken up again
            await self._drop(id)
            self._put_off(id, None)
        except SoundElsewhere:
            await self._drop(id)
            self._put_off(id, None, pause=self._config.elsewhere)
        except Exception as error:  # noqa: BLE001 - logged; one meeting must not keep others from being taken in
            self._incident(error)
            await self._drop(id)
            self._put_off(id, error)
        else:
            self._trouble.pop(id, None)
            if meeting.is_over:
                await self._drop(id)

    def _again(self, id: str, space: str) -> None:
        """There is more to do at a meeting."""
        self._known[id] = space
        self._arrived.set()

    async def _models(self) -> WritesWith:
        """Raises ModelFailed."""
        try:
            return await self._using()
        except Exception as error:
            raise ModelFailed(reason=repr(error)) from error

    def _put_off(self, id: str, error: Exception | None, *, pause: float | None = None) -> None:
        trouble = self._trouble.setdefault(id, _Trouble())
        if error is not None and not isinstance(error, Neo4jUnreachable):
            trouble.count += is_its_own(error)
            trouble.pauses += 1
        usual = min(self._config.longest, self._config.again * 2.0 ** min(16, trouble.pauses))
        trouble.until = time.monotonic() + (usual if pause is None else pause)

    async def _drop(self, id: str) -> None:
        meeting, lease = self._meetings.pop(id, None), self._leases.pop(id, None)
        if meeting is not None:
            await meeting.stop()
        if lease is not None:
            with suppress(Neo4jUnreachable):
                await self._graph.write(release_meetings, {id: lease})

    # ---- leases

    async def _lease(self, ids: Sequence[str]) -> list[MeetingFeed]:
        if not ids:
            return []
        now, by = datetime.now(UTC), f"{self.id}:{fresh()}"
        until = now + timedelta(seconds=self._config.lease)
        feeds = await self._graph.write(lease_meetings, list(ids), worker=by, now=now, until=until)
        self._leases.update((feed.id, by) for feed in feeds)
        return feeds

    async def renew(self) -> None:
        """Make the leases longer of what is worked at, waits for its place, or is held; let go of what another has by now."""
        leases = dict(self._leases)
        if not leases:
            return
        until = datetime.now(UTC) + timedelta(seconds=self._config.lease)
        kept = await self._graph.write(renew_leases, leases, until=until)
        for id in [id for id, by in leases.items() if id not in kept and self._leases.get(id) == by]:
            if (task := self._working.get(id)) is not None:
                task.cancel()
                await asyncio.wait([task])
            await self._drop(id)

    async def _keep(self) -> None:
        """Leases, for as long as this process lives and reaches the graph."""
        while True:
            await asyncio.sleep(self._config.beat)
            try:
                await self.renew()
            except Exception as error:  # noqa: BLE001 - logged; whoever has them by now is found out when they are written
                self._incident(error)


def in_turn(wanted: Mapping[str, str], busy: Iterable[str] = ()) -> list[str]:
    """Ids of what is wanted, by space: one of each space after the other, in the order in which they are wanted. `busy`: spaces
    that had their turn, each as often as it had."""
    turns = Counter(busy)
    found = []
    for place, (id, space) in enumerate(wanted.items()):
        found.append((turns[space], place, id))
        turns[space] += 1
    return [id for *_, id in sorted(found)]


async def _list_waiting(
    tx: Tx, worker: str, own: Sequence[tuple[str, str]], now: datetime, limit: int, left: int
) -> dict[str, str]:
    """Id → space, of the worker's own sources: what is not configured here is another service's, or waits until it is again."""
    if not own:
        return {}
    found = await list_to_take_in(tx, worker=worker, now=now, limit=limit, sources=own)
    return {**found, **await list_left(tx, now=now, limit=left, sources=own)}
