"""What is still to be sent to a webhook, by whom, and what came of it? An outbox: `write_events` fills it in the transaction
that makes an event true, a process takes what is due for a while (a lease), sends it, and says what came of it. One that dies
meanwhile has it no more when the lease is over; so each is sent at least once, and with the same id each time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.errors import NotFound
from service.graph.driver import Tx, rows
from service.graph.events import event_of
from service.graph.paging import Page, Paged, paged, parameters
from service.graph.webhooks import Webhook, webhook_of
from service.types.events import Event, EventKind

MAX_REPLAYED = 10_000
"""Deliveries that one replay makes at most; more are asked for with a later `since`."""


class DeliveryStatus(StrEnum):
    WAITING = "waiting"
    SENT = "sent"
    DEAD = "dead"
    """Given up; a replay tries again."""
    WITHHELD = "withheld"
    """With the webhook's eyes there was nothing to tell, or nothing any more."""


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """As administrators see it: what was sent is not kept."""

    id: str
    webhook_id: str
    event_id: str
    kind: EventKind
    status: DeliveryStatus
    attempts: int
    next_at: datetime | None
    http_status: int | None
    error: str | None
    """Code of what the last try ended with."""
    sent_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Claimed:
    """For one process to send, until its lease is over."""

    id: str
    attempts: int
    """This one included."""
    webhook: Webhook
    event: Event


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of one try."""

    id: str
    status: DeliveryStatus
    next_at: datetime | None = None
    """Of one that waits on: when to try again."""
    http_status: int | None = None
    error: str | None = None


LIST_DUE = """
MATCH (w:Webhook {status: 'active'})
WHERE w.key = $key AND NOT w.id IN $busy
CALL (w) {
  MATCH (d:WebhookDelivery {webhook_id: w.id, status: 'waiting'})
  WHERE d.next_at <= datetime()
  RETURN d.id AS id ORDER BY d.next_at LIMIT $each
}
RETURN id ORDER BY id LIMIT $limit
"""

LOCK_DELIVERIES = """
UNWIND $ids AS id
MATCH (d:WebhookDelivery {id: id})
SET d.created_at = d.created_at
"""

CLAIM = """
UNWIND $ids AS id
MATCH (d:WebhookDelivery {id: id, status: 'waiting'}) WHERE d.next_at <= datetime()
MATCH (w:Webhook {id: d.webhook_id})
MATCH (e:Event {id: d.event_id})
SET d.lease = $lease, d.attempts = d.attempts + 1, d.next_at = datetime() + duration({seconds: $seconds})
RETURN d.id AS id, d.attempts AS attempts, w {.*} AS webhook, e {.*} AS event
"""

SAVE_SENT = """
UNWIND $sent AS row
MATCH (d:WebhookDelivery {id: row.id, lease: $lease})
SET d.status = row.status, d.next_at = row.next_at, d.http_status = row.http_status, d.error = row.error,
  d.sent_at = CASE WHEN row.status = 'sent' THEN datetime() ELSE d.sent_at END
REMOVE d.lease
WITH d.webhook_id AS id, collect(row) AS results
MATCH (w:Webhook {id: id})
WITH w, any(row IN results WHERE row.status = 'sent') AS arrived, size([row IN results WHERE row.status = 'dead']) AS dead,
  any(row IN results WHERE row.http_status = 410) AS gone
SET w.last_sent_at = CASE WHEN arrived THEN datetime() ELSE w.last_sent_at END,
  w.failures = CASE WHEN arrived THEN 0 ELSE w.failures + dead END
WITH w, gone WHERE w.status = 'active' AND (gone OR w.failures >= $max_failures)
SET w.status = 'disabled', w.disabled_why = CASE WHEN gone THEN 'gone' ELSE 'failing' END
RETURN w.id AS disabled
"""

LIST_DELIVERIES = """
MATCH (d:WebhookDelivery {space: $space})
WHERE ($webhook_id IS NULL OR d.webhook_id = $webhook_id) AND ($statuses IS NULL OR d.status IN $statuses)
WITH d, [d.created_at.epochSeconds * 1000000000 + d.created_at.nanosecond, d.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place, d {.*} AS delivery
ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""

REPLAY_ONE = """
MATCH (d:WebhookDelivery {id: $id, space: $space, webhook_id: $webhook_id})
WITH d, d.lease IS NULL OR d.next_at <= datetime() AS free
SET d.status = CASE WHEN free THEN 'waiting' ELSE d.status END, d.attempts = CASE WHEN free THEN 0 ELSE d.attempts END,
  d.next_at = CASE WHEN free THEN datetime() ELSE d.next_at END
RETURN d {.*} AS delivery
"""

REPLAY_SINCE = """
MATCH (w:Webhook {id: $webhook_id, space: $space})
MATCH (e:Event {space: $space})
WHERE e.created_at >= $since AND e.created_at < $until AND e.kind IN w.kinds
WITH w, e ORDER BY e.created_at, e.id LIMIT $limit
MERGE (d:WebhookDelivery {id: w.id + '/' + e.id})
ON CREATE SET d.space = w.space, d.created_at = datetime(), d.webhook_id = w.id, d.event_id = e.id, d.kind = e.kind
WITH d WHERE d.lease IS NULL OR d.next_at <= datetime()
SET d.status = 'waiting', d.attempts = 0, d.next_at = datetime()
RETURN count(d) AS n
"""


async def claim_due(
    tx: Tx, *, key: str, lease: str, seconds: float, each: int, limit: int, busy: Collection[str]
) -> list[Claimed]:
    """Deliveries that are due, of webhooks whose secrets are made of `key`: `each` of a webhook, `limit` in all, none of those
    `busy`. They are this `lease`'s for so many seconds. Two processes never get the same: what is read is locked and then
    looked at again."""
    due = [row["id"] for row in await rows(tx, LIST_DUE, key=key, busy=list(busy), each=each, limit=limit)]
    if not due:
        return []
    await rows(tx, LOCK_DELIVERIES, ids=due)
    claimed = await rows(tx, CLAIM, ids=due, lease=lease, seconds=round(seconds))
    return [Claimed(row["id"], row["attempts"], webhook_of(row["webhook"]), event_of(row["event"])) for row in claimed]


async def save_sent(tx: Tx, lease: str, sent: Sequence[Sent], *, max_failures: int) -> list[str]:
    """What came of them, where they are still this lease's; ids of webhooks that are disabled by it: they answered 410, or so
    many deliveries in a row were given up."""
    written = [
        {
            "id": one.id,
            "status": one.status.value,
            "next_at": one.next_at,
            "http_status": one.http_status,
            "error": one.error,
        }
        for one in sent
    ]
    return [row["disabled"] for row in await rows(tx, SAVE_SENT, lease=lease, sent=written, max_failures=max_failures)]


async def list_deliveries(
    tx: Tx, space: str, *, page: Page, webhook_id: str | None = None, statuses: Collection[DeliveryStatus] = ()
) -> Paged[WebhookDelivery]:
    """Newest first, of one webhook or of all of the space; for administrators. `statuses`: none means any."""
    found = await rows(
        tx,
        LIST_DELIVERIES,
        space=space,
        webhook_id=webhook_id,
        statuses=[status.value for status in statuses] or None,
        **parameters(page, newest_first=True),
    )
    return paged(page, [row["place"] for row in found], {row["delivery"]["id"]: _delivery(row["delivery"]) for row in found})


async def replay_one(tx: Tx, space: str, webhook_id: str, id: str) -> WebhookDelivery:
    """To be sent again, with the same id; as it is, while a process has it. Raises NotFound."""
    found = await rows(tx, REPLAY_ONE, space=space, webhook_id=webhook_id, id=id)
    if not found:
        raise NotFound(kind="delivery", id=id)
    return _delivery(found[0]["delivery"])


async def replay_since(tx: Tx, space: str, webhook_id: str, since: datetime, until: datetime) -> int:
    """Everything of its kinds that happened in that time, to be sent (again) to one webhook; how many, MAX_REPLAYED at most."""
    (row,) = await rows(tx, REPLAY_SINCE, space=space, webhook_id=webhook_id, since=since, until=until, limit=MAX_REPLAYED)
    return int(row["n"])


def _delivery(row: Mapping[str, Any]) -> WebhookDelivery:
    record: dict[str, Any] = {name: row.get(name) for name in WebhookDelivery.__slots__}
    return WebhookDelivery(**{**record, "kind": EventKind(row["kind"]), "status": DeliveryStatus(row["status"])})
