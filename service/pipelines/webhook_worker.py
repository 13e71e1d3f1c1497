"""Who sends what waits for webhooks? One worker a process: it takes what is due, looks anew what of it the webhook may be told,
sends it signed, and keeps what came of it. What fails is tried again, ever later; what never arrives is given up, and an
address at which nothing arrives any more is left alone until somebody enables it again."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from service.graph.access import read_scope
from service.graph.driver import Graph, Tx
from service.graph.events import find_told, is_last, told_last
from service.graph.webhook_deliveries import Claimed, DeliveryStatus, Sent, claim_due, save_sent
from service.graph.webhooks import Webhook, end_leave
from service.graph.write_events import FORGOTTEN, forget_events
from service.pipelines.webhook_call import CallConfig, Called, Caller
from service.pipelines.webhook_secrets import WebhookKey
from service.types.events import Event, ToldEvent
from service.types.ids import fresh
from service.types.people import Assurance, Principal, Viewer

GONE = 410
"""HTTP status of a receiver that wants no more (Standard Webhooks)."""


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    poll_seconds: float = 1.0
    """How long what has become due waits at most; one look costs an index seek a webhook."""
    lease_seconds: float = 60.0
    """A process that has not told what came of a try after so long is gone: four times what a try takes at most."""
    at_once: int = 24
    """Tries at a time, of all webhooks."""
    each: int = 4
    """Of them of one webhook, so that one that is slow leaves the others their places."""
    first_wait: float = 5.0
    """Seconds after the first failure; by hand, as the next three: 10 tries in about 20 hours."""
    growth: float = 4.0
    max_wait: float = 6 * 3600.0
    max_attempts: int = 10
    jitter: float = 0.25
    """A wait is longer or shorter by up to this share, so that what failed together does not come together again."""
    max_failures: int = 5
    """Deliveries in a row given up, each after a day of trying, and the webhook is disabled."""
    call: CallConfig = field(default_factory=CallConfig)


KEPT = timedelta(days=7)
"""How long events and deliveries can be looked at and sent again."""
FORGOTTEN_AT_ONCE = 5_000  # nodes a transaction: some 0.1 s

Incident = Callable[[BaseException], str]
"""Logs an unexpected error without its words; the number it is filed under."""

Leave = Callable[[Webhook], Awaitable[bool]]
"""Whether who answers for a webhook may have told now what it is told of."""


class WebhookWorker:
    """`start` and `stop` frame its life. What it has when it stops is due again when its lease is over."""

    def __init__(
        self,
        graph: Graph,
        key: Callable[[], WebhookKey | None],
        leave: Leave,
        incident: Incident,
        config: WorkerConfig | None = None,
    ) -> None:
        self._graph, self._find_key, self._leave, self._incident = graph, key, leave, incident
        self._config = config or WorkerConfig()
        self._lease = fresh()
        self._flying: Counter[str] = Counter()
        self._trying: set[asyncio.Task[None]] = set()
        self._landed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._work())

    async def stop(self) -> None:
        tasks = [*self._trying, *([self._task] if self._task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self) -> None:
        caller = Caller(self._config.call)
        try:
            while True:
                self._landed.clear()  # before looking: what lands meanwhile makes room for the next look
                if not await self._take(caller):
                    await self._landed_or(self._config.poll_seconds)
        finally:
            await caller.close()

    async def _take(self, caller: Caller) -> int:
        """How many were begun to be sent."""
        config, room = self._config, self._config.at_once - self._flying.total()
        if room <= 0:
            return 0
        busy = sorted(+self._flying)
        try:
            key = await asyncio.to_thread(self._find_key)
            if key is None:
                return 0
            claimed = await self._graph.write(
                claim_due,
                key=key.id,
                lease=self._lease,
                seconds=config.lease_seconds,
                each=config.each,
                limit=room,
                busy=busy,
            )
        except Exception as error:  # noqa: BLE001 - logged; Neo4j, or the file of the key, may be back at the next look
            self._incident(error)
            return 0
        for one in claimed:
            self._flying[one.webhook.id] += 1
            task = asyncio.create_task(self._try(one, key, caller))
            self._trying.add(task)
            task.add_done_callback(self._trying.discard)
        return len(claimed)

    async def _try(self, claimed: Claimed, key: WebhookKey, caller: Caller) -> None:
        try:
            sent = await self._sent(claimed, key, caller)
            await self._graph.write(save_sent, self._lease, [sent], max_failures=self._config.max_failures)
        except Exception as error:  # noqa: BLE001 - logged; it is due again when the lease is over, with one attempt less
            self._incident(error)
        finally:
            self._flying[claimed.webhook.id] -= 1
            self._landed.set()

    async def _sent(self, claimed: Claimed, key: WebhookKey, caller: Caller) -> Sent:
        if claimed.attempts > self._config.max_attempts:  # each ended without a result: the process died, or the graph was gone
            return Sent(claimed.id, DeliveryStatus.DEAD, error="interrupted")
        if not await self._leave(claimed.webhook):
            if claimed.webhook.space.startswith(FORGOTTEN):  # nothing is to be written of it any more
                return Sent(claimed.id, DeliveryStatus.DEAD, error="leave_ended")
            await self._graph.write(end_leave, claimed.webhook)
            return Sent(claimed.id, DeliveryStatus.WAITING, datetime.now(UTC), error="leave_ended")
        told = await look_anew(self._graph, claimed.webhook, claimed.event)
        if told is None:
            return Sent(claimed.id, DeliveryStatus.WITHHELD)
        now, body = datetime.now(UTC), payload(told, claimed.webhook)
        called = await caller(claimed.webhook.url, key.headers(claimed.webhook, id=told.id, at=now, body=body), body)
        return result(claimed, called, datetime.now(UTC), self._config, random.random())

    async def _landed_or(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._landed.wait()
        except TimeoutError:
            return


def result(claimed: Claimed, called: Called, now: datetime, config: WorkerConfig, chance: float) -> Sent:
    """What is to become of a delivery after a try; `chance` in [0, 1) is where in the jitter its next one lies."""
    if called.arrived:
        return Sent(claimed.id, DeliveryStatus.SENT, http_status=called.http_status)
    if called.http_status == GONE or claimed.attempts >= config.max_attempts:
        return Sent(claimed.id, DeliveryStatus.DEAD, http_status=called.http_status, error=called.error)
    wait = wait_after(claimed.attempts, config, chance)
    if called.wait is not None:
        wait = max(wait, min(called.wait, config.max_wait))
    next_at = now + timedelta(seconds=wait)
    return Sent(claimed.id, DeliveryStatus.WAITING, next_at, http_status=called.http_status, error=called.error)


def wait_after(attempts: int, config: WorkerConfig, chance: float) -> float:
    """Seconds until the try after so many (from 1) that failed."""
    wait = min(config.first_wait * config.growth ** (attempts - 1), config.max_wait)
    return wait * (1 + config.jitter * (2 * chance - 1))


def payload(told: ToldEvent, webhook: Webhook) -> bytes:
    """The body: ids and counts of what happened."""
    data: dict[str, Any] = {
        "space": told.space or webhook.space,
        "what": told.what,
        "sessionId": told.session_id,
        "correctionId": told.correction_id,
        "people": list(told.people),
        "voices": list(told.voices),
        "sessions": list(told.sessions),
        "counts": dict(told.counts),
    }
    said = {name: value for name, value in data.items() if value not in (None, [], {})}
    return body_of(told.kind.value, told.at, said)


def body_of(type: str, at: datetime, data: Mapping[str, Any]) -> bytes:
    """As Standard Webhooks has it."""
    when = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return json.dumps({"type": type, "timestamp": when, "data": dict(data)}, separators=(",", ":")).encode()


async def look_anew(graph: Graph, webhook: Webhook, event: Event) -> ToldEvent | None:
    """What of the event the webhook may be told now; None: nothing."""
    if is_last(event) and event.space.startswith(FORGOTTEN):
        return told_last(event)
    return await graph.read(_find_told, viewer_of(webhook), event)


def viewer_of(webhook: Webhook) -> Viewer:
    """With whose eyes a webhook is told: all of the space, or as a program that may ask for that person: what is a person's
    alone (that what they are like is gone) is not told in their name."""
    person = webhook.person_id
    if person is None:
        return Viewer(webhook.space, None, None, (), False, Assurance.NONE, reads_all=True)
    principal = Principal(webhook.made_by, may_act_for=frozenset({person}), scopes=frozenset({"ask"}))
    return Viewer(webhook.space, principal, person, (person,), False, Assurance.TOKEN)


async def _find_told(tx: Tx, viewer: Viewer, event: Event) -> ToldEvent | None:
    return await find_told(tx, await read_scope(tx, viewer), event)


async def expire_events(graph: Graph, now: datetime | None = None) -> int:
    """Delete events and deliveries that were kept long enough; how many."""
    found, total = FORGOTTEN_AT_ONCE, 0
    while found >= FORGOTTEN_AT_ONCE:
        found = await graph.write(forget_events, (now or datetime.now(UTC)) - KEPT, FORGOTTEN_AT_ONCE)
        total += found
    return total
