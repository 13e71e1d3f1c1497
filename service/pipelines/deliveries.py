"""How do deliveries become durable, many at once? Those that come while one transaction is written are written with the next.

Whoever delivers waits until theirs is in the graph, and is told to wait where more is in than is taken out again."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from service.errors import VoicegraphError
from service.graph.deliveries import Dead, NewDelivery, measure_dead, measure_waiting, save_dead, save_deliveries
from service.graph.driver import Graph, Tx
from service.pipelines.pressure import Pressure

T = TypeVar("T")
Incident = Callable[[BaseException], str]
"""Logs an unexpected error without its words; the number it is filed under."""


class InboxFull(VoicegraphError):
    code = "inbox_full"
    says = "{waiting} deliveries wait to be taken in already. Deliver this one again in {seconds} s; nothing of it was kept."
    http_status = 429


class NotKept(VoicegraphError):
    code = "not_kept"
    says = "The delivery could not be kept just now. Deliver it again in {seconds} s."
    http_status = 503


@dataclass(frozen=True, slots=True)
class InboxConfig:
    most: int = 200
    """Deliveries in one transaction: some 30 ms of it, about what one of them may wait."""
    gather_seconds: float = 0.008
    """That are waited for more before a transaction, while much comes: one costs 2.4 ms of the database's CPU and 2 of ours,
    however many are in it, and each delivery 0.4 (warm, 2026-11-30), so half as many of them save a tenth of two cores."""
    most_bytes: int = 8_000_000
    """Of their bodies, beyond which no more are put with them: what a small server has for a transaction."""
    queued: int = 2_000
    """That wait for a transaction: a second's worth of what one process gets written."""
    queued_bytes: int = 64_000_000
    """Of their bodies: what a process may hold in memory for it."""
    waiting: int = 50_000
    """In the graph and not taken in yet, of all sources: counting them takes 50 ms, once a second."""
    waiting_of_source: int = 10_000
    """Of one source, so that one that floods leaves room for the others: minutes of the worker's work."""
    waiting_bytes: int = 1_000_000_000
    """Of the bodies of all that waits: some minutes of what a disk writes, and of what one worker reads."""
    waiting_bytes_of_source: int = 200_000_000
    """25 of the longest; 10,000 of the usual have 20 MB."""
    dead_bytes_of_source: int = 20_000_000
    """Of the bodies of a source's dead letters: enough to see what is wrong. Of more of them only length and hash are kept."""
    dead_of_source: int = 1_000
    """Dead letters of a source that could not be read: more than anybody looks at. A client that is set up wrongly and comes
    again all day would make a million; of further ones it is only counted how many."""
    count_seconds: float = 1.0
    """How old the count of these may be; what this process adds meanwhile is counted at once."""
    write_seconds: float = 5.0
    """For one transaction. The providers we know give up after 5 to 15 s and try again later."""
    full_again: int = 15
    """Seconds that one who finds the inbox full is asked to wait: what takes in has emptied a part of it by then."""
    kept_again: int = 5
    """As `full_again`, where the graph cannot be reached: a server that starts takes some 10 s."""


@dataclass(slots=True)
class _Unit:
    """What is kept together, or not at all."""

    deliveries: Sequence[NewDelivery]
    dead: Sequence[Dead]
    kept: asyncio.Future[None] = field(repr=False)

    @property
    def count(self) -> int:
        return len(self.deliveries) + len(self.dead)

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(len(one.body) for one in self.deliveries) + sum(len(one.delivery.body) for one in self.dead)


class Inbox:
    """The way of this process into the graph's inbox; `start` and `stop` frame its life."""

    def __init__(self, graph: Graph, incident: Incident, config: InboxConfig | None = None) -> None:
        self._graph, self._incident = graph, incident
        self.config = config or InboxConfig()
        self._queue: deque[_Unit] = deque()
        self._queued = self._queued_bytes = 0
        self._came = asyncio.Event()
        self._waiting: Counter[tuple[str, str]] = Counter()
        self._bytes: Counter[tuple[str, str]] = Counter()
        self._dead: dict[tuple[str, str], tuple[int, int]] = {}
        """Bytes of the bodies of a source's dead letters, and how many could not be read."""
        self._counted_at = float("-inf")
        self._counting = asyncio.Lock()
        self._writer: asyncio.Task[None] | None = None
        self.pressure = Pressure()

    async def start(self) -> None:
        self._writer = asyncio.create_task(self._write())

    async def stop(self) -> None:
        """What is being written is written; what waits behind it is told that it was not kept."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        writer.cancel()
        with suppress(asyncio.CancelledError):
            await writer
        for unit in self._queue:
            self._tell(unit, NotKept(seconds=self.config.kept_again))
        self._queue.clear()
        self.pressure.waits(-self._queued)
        self._queued = self._queued_bytes = 0

    async def check_room(self, space: str, source: str, *, own: Collection[tuple[str, str]] | None = None) -> None:
        """Raises InboxFull where too much waits, in this process or in the graph, and NotKept where that cannot be told. `own`:
        (space, name) of the sources whose deliveries are taken in; what waits of others is in nobody's way."""
        if self._queued >= self.config.queued or self._queued_bytes >= self.config.queued_bytes:
            raise InboxFull(waiting=self._queued, seconds=self.config.kept_again)
        await self._count()
        all_of = self._waiting if own is None else own
        of_all, size_of_all = (sum(count[one] for one in all_of) for count in (self._waiting, self._bytes))
        if of_all >= self.config.waiting or size_of_all >= self.config.waiting_bytes:
            raise InboxFull(waiting=of_all, seconds=self.config.full_again)
        of_source, size = self._waiting[space, source], self._bytes[space, source]
        if of_source >= self.config.waiting_of_source or size >= self.config.waiting_bytes_of_source:
            raise InboxFull(waiting=of_source, seconds=self.config.full_again)

    async def keep(self, deliveries: Sequence[NewDelivery] = (), dead: Sequence[Dead] = ()) -> None:
        """They are in the graph when this returns, in this order. Raises NotKept: then none is, or they are and a repeat of
        them will be known."""
        if self._writer is None:
            raise NotKept(seconds=self.config.kept_again)
        unit = _Unit(deliveries, [await self._within_quota(one) for one in dead], asyncio.get_running_loop().create_future())
        self._queue.append(unit)
        self._queued += unit.count
        self._queued_bytes += unit.size
        self.pressure.waits(unit.count)
        self._came.set()
        await unit.kept

    async def _within_quota(self, dead: Dead) -> Dead:
        """Without its body where the source's dead letters have too much of them; only counted where there are too many.
        Raises NotKept."""
        one, size = dead.delivery, len(dead.delivery.body)
        source = one.space, one.source
        await self._count()
        if source not in self._dead:
            found = await self._asked(measure_dead, [one.space])
            self._dead |= {source: (0, 0)} | found
        used, number = self._dead[source]
        if number >= self.config.dead_of_source:
            return replace(dead, keeps_body=False, is_counted=True)
        keeps = dead.keeps_body and used + size <= self.config.dead_bytes_of_source
        self._dead[source] = used + size * keeps, number + 1
        return dead if keeps else replace(dead, keeps_body=False)

    async def _write(self) -> None:
        while True:
            while not self._queue:
                self._came.clear()
                await self._came.wait()
            if self.pressure.is_busy:
                await asyncio.sleep(self.config.gather_seconds)
            batch = self._next()
            # a shield: what was begun ends, also where the service stops, so that nobody is told wrongly
            await asyncio.shield(asyncio.ensure_future(self._keep_and_say(batch)))

    def _next(self) -> list[_Unit]:
        batch: list[_Unit] = []
        count = size = 0
        while self._queue and (not batch or (count < self.config.most and size < self.config.most_bytes)):
            unit = self._queue.popleft()
            batch.append(unit)
            count, size = count + unit.count, size + unit.size
        self._queued -= count
        self._queued_bytes -= size
        return batch

    async def _keep_and_say(self, batch: list[_Unit]) -> None:
        try:
            await self._keep(batch)
        finally:
            self.pressure.waits(-sum(unit.count for unit in batch))

    async def _keep(self, batch: list[_Unit]) -> None:
        """All of them, whatever becomes of it; where one of several is at fault, the others without it."""
        error: Exception | None = None
        try:
            async with asyncio.timeout(self.config.write_seconds):
                await self._graph.write(_save, batch)
        except Exception as failed:  # noqa: BLE001 - logged, and told to each of those who wait
            error = failed
        if error is not None and len(batch) > 1 and not isinstance(error, VoicegraphError | TimeoutError):
            for unit in batch:
                await self._keep([unit])
            return
        if error is not None:
            self._incident(error)
        for unit in batch:
            self._tell(unit, error and NotKept(seconds=self.config.kept_again))
        if error is None:
            kept = [delivery for unit in batch for delivery in unit.deliveries]
            for one in kept:
                self._waiting[one.space, one.source] += 1
                self._bytes[one.space, one.source] += len(one.body)
            self.pressure.kept(kept)

    @staticmethod
    def _tell(unit: _Unit, error: Exception | None) -> None:
        if unit.kept.done():  # nobody waits for it any more
            return
        if error is None:
            unit.kept.set_result(None)
        else:
            unit.kept.set_exception(error)

    async def _count(self) -> None:
        """How many wait by the graph, where the last count is too old."""
        now = asyncio.get_running_loop().time
        if now() - self._counted_at < self.config.count_seconds:
            return
        async with self._counting:
            if now() - self._counted_at < self.config.count_seconds:
                return
            found = await self._asked(measure_waiting)
            self._waiting = Counter({source: count for source, (count, _) in found.items()})
            self._bytes = Counter({source: size for source, (_, size) in found.items()})
            self._dead = {}
            self._counted_at = now()

    async def _asked(self, read: Callable[..., Awaitable[T]], *args: object) -> T:
        """What the graph says. Raises NotKept where it says nothing."""
        try:
            async with asyncio.timeout(self.config.write_seconds):
                return await self._graph.read(read, *args)
        except (VoicegraphError, TimeoutError) as error:
            self._incident(error)
            raise NotKept(seconds=self.config.kept_again) from error


async def _save(tx: Tx, batch: Sequence[_Unit]) -> None:
    if deliveries := [one for unit in batch for one in unit.deliveries]:
        await save_deliveries(tx, deliveries)
    if dead := [one for unit in batch for one in unit.dead]:
        await save_dead(tx, dead)
