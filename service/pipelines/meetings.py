"""Who takes in what meetings' backends delivered? One worker a process: it leases meetings, each to itself, and works at some
of them side by side. One that is killed is followed by whoever comes first once its leases have run out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from service.connectors.live.sources import Sources
from service.graph.driver import Graph, Neo4jUnreachable, Tx
from service.graph.meetings import (
    MeetingFeed,
    MeetingTaken,
    lease_meetings,
    list_left,
    list_to_take_in,
    release_meetings,
)
from service.graph.write_sessions import SessionBusy
from service.pipelines.blame import ModelFailed, is_its_own
from service.pipelines.deliveries import Incident
from service.pipelines.meeting import Fetched, Meeting, MeetingWorkConfig
from service.pipelines.meeting_session import WritesWith
from service.types.ids import fresh


@dataclass(frozen=True, slots=True)
class MeetingsConfig:
    at_once: int = 4  # meetings worked at side by side: more wait for two cores and for the lock of their space
    most: int = 1_000  # meetings leased: each holds its fold in memory, of eight hours some 50 MB; 0: deliveries only wait here
    poll: float = (
        1.0  # seconds until the inbox is looked into where nobody said that something came: another service may have it
    )
    pace: float = 0.2  # seconds between two looks at least: who delivers is answered meanwhile, and a turn waits for two anyway
    lease: float = 15.0  # seconds after which another worker may go on with a meeting
    beat: float = 4.0  # seconds after which leases are made longer
    again: float = 1.0  # seconds until a meeting is tried again after an error, each time twice as long …
    longest: float = 60.0  # … up to this
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
        arrived: asyncio.Event | None = None,
        config: MeetingsConfig | None = None,
    ) -> None:
        """`using`: asked for with the first meeting: models are loaded then. `arrived`: set when something came in this
        process."""
        self._graph, self._using, self._sources, self._fetched, self._incident = graph, using, sources, fetched, incident
        self._config = config or MeetingsConfig()
        self._arrived = arrived or asyncio.Event()
        self.id = fresh()
        self._meetings: dict[str, Meeting] = {}
        self._working: dict[str, asyncio.Task[None]] = {}
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
        for meeting in held.values():
            await meeting.stop()
        with suppress(Neo4jUnreachable):
            await self._graph.write(release_meetings, list(held), worker=self.id)

    async def settle(self, seconds: float) -> None:
        """Wait, at most so long, until nothing is left to do but what comes later; for tests and tools."""
        async with asyncio.timeout(seconds):
            while await self._look() or any(map(self._is_put_off, self._trouble)):
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

    async def _look(self) -> bool:
        """Begin with what is to be done; whether anything was."""
        due = [id for id, meeting in self._meetings.items() if meeting.due_in == 0.0]
        room = self._config.most - len(self._meetings)
        own = [(source.space, name) for name, source in self._sources.all().items()]
        found = await self._graph.read(_list_waiting, self.id, own, datetime.now(UTC), self._config.most)
        wanted = [id for id in dict.fromkeys([*due, *found]) if id not in self._working and not self._is_put_off(id)]
        new = [id for id in wanted if id not in self._meetings][: max(0, room)]
        leased = {feed.id: feed for feed in await self._lease(new)}
        for id in wanted:
            if id in leased or id in self._meetings:
                self._working[id] = asyncio.create_task(self._work(id, leased.get(id)))
        return bool(self._working)

    def _pause(self) -> float:
        due = [meeting.due_in for id, meeting in self._meetings.items() if id not in self._working]
        return max(0.02, min([self._config.poll, *(moment for moment in due if moment is not None)]))

    def _is_put_off(self, id: str) -> bool:
        trouble = self._trouble.get(id)
        return trouble is not None and time.monotonic() < trouble.until

    async def _work(self, id: str, feed: MeetingFeed | None) -> None:
        try:
            async with self._places:
                await self._go(id, feed)
        finally:
            del self._working[id]
            self._arrived.set()

    @asynccontextmanager
    async def _aside(self) -> AsyncIterator[None]:
        """Of a meeting that is worked at: another one may be meanwhile."""
        self._places.release()
        try:
            yield
        finally:
            await self._places.acquire()

    async def _go(self, id: str, feed: MeetingFeed | None) -> None:
        trouble = self._trouble.get(id)
        try:
            if feed is not None:
                using = await self._models()
                work = self._config.work
                self._meetings[id] = Meeting(
                    using, feed, self.id, self._sources, self._fetched, self._incident, work, self._arrived.set, self._aside
                )
            meeting = self._meetings[id]
            await meeting.go(tries=trouble.count if trouble is not None else 0)
        except (MeetingTaken, SessionBusy):  # another worker got on; where that has ended, it is taken up again
            await self._drop(id)
            self._put_off(id, None)
        except Exception as error:  # noqa: BLE001 - logged; one meeting must not keep others from being taken in
            self._incident(error)
            await self._drop(id)
            self._put_off(id, error)
        else:
            self._trouble.pop(id, None)
            if meeting.is_over:
                await self._drop(id)

    async def _models(self) -> WritesWith:
        """Raises ModelFailed."""
        try:
            return await self._using()
        except Exception as error:
            raise ModelFailed(reason=repr(error)) from error

    def _put_off(self, id: str, error: Exception | None) -> None:
        trouble = self._trouble.setdefault(id, _Trouble())
        if error is not None and not isinstance(error, Neo4jUnreachable):
            trouble.count += is_its_own(error)
            trouble.pauses += 1
        pause = min(self._config.longest, self._config.again * 2.0 ** min(16, trouble.pauses))
        trouble.until = time.monotonic() + pause

    async def _drop(self, id: str) -> None:
        meeting = self._meetings.pop(id, None)
        if meeting is not None:
            await meeting.stop()
        with suppress(Neo4jUnreachable):
            await self._graph.write(release_meetings, [id], worker=self.id)

    # ---- leases

    async def _lease(self, ids: list[str]) -> list[MeetingFeed]:
        if not ids:
            return []
        now = datetime.now(UTC)
        until = now + timedelta(seconds=self._config.lease)
        return await self._graph.write(lease_meetings, ids, worker=self.id, now=now, until=until)

    async def _keep(self) -> None:
        """Leases, for as long as this process lives and reaches the graph."""
        while True:
            await asyncio.sleep(self._config.beat)
            try:
                await self._lease(list(self._meetings))
            except Exception as error:  # noqa: BLE001 - logged; whoever has them by now is found out when they are written
                self._incident(error)


async def _list_waiting(tx: Tx, worker: str, own: Sequence[tuple[str, str]], now: datetime, limit: int) -> list[str]:
    """Of the worker's own sources: what is not configured here is another service's, or waits until it is again."""
    if not own:
        return []
    left = await list_left(tx, now=now, limit=limit, sources=own)
    return [*await list_to_take_in(tx, worker=worker, now=now, limit=limit, sources=own), *left]
