"""What has a meeting's backend delivered, and what became of it? The inbox: a delivery is acknowledged once it is in here.

Deliveries stand one behind the other in their meeting (`seq`, as they came; `folded`, as they were taken in). Bodies are read
by who takes them in, and by nobody else: what operators see of them are ids, times and codes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.graph.driver import Tx, changes, rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.ids import derived


class DeliveryStatus(StrEnum):
    WAITING = "waiting"
    DONE = "done"
    """Taken in; kept for a while, so that a repeat is known and the meeting can be folded again."""
    DEAD = "dead"
    """Not taken in, and not tried again unless somebody says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    space: str
    source: str
    """Name of the configured source it came to."""
    provider: str
    meeting: str | None
    """The provider's id; None only of what is dead."""
    key: str
    """The same for a repeat of the delivery."""
    body: bytes
    received_at: datetime
    headers: Mapping[str, str]
    """Those that reading it again takes."""
    query: Mapping[str, str] | None = None
    carried: Mapping[str, str] | None = None
    """What was told before it on its connection, or by what pointed to it, and reading it takes."""
    binary: bool = False
    connection: str = ""
    opened_at: datetime | None = None

    @property
    def id(self) -> str:
        return derived("delivery", self.space, self.source, self.key)

    @property
    def meeting_id(self) -> str:
        """Of the Meeting node."""
        return meeting_id(self.space, self.source, self.meeting or "")


@dataclass(frozen=True, slots=True)
class Dead:
    """A delivery that was signed rightly and cannot be read."""

    delivery: NewDelivery
    error: str
    """code: message"""
    expires_at: datetime
    keeps_body: bool = True
    """Else only how long it is, and its SHA-256: there may be sound in it, or its source has too many."""
    is_counted: bool = False
    """Not kept at all: its source has so many dead letters that one of them only counts further ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDelivery:
    """As its reader gets it back."""

    id: str
    meeting_id: str | None
    seq: int
    status: DeliveryStatus
    attempts: int
    provider: str
    source: str
    key: str
    body: bytes | None
    """None: it was not kept, of a dead letter."""
    received_at: datetime
    headers: Mapping[str, str]
    query: Mapping[str, str] | None
    carried: Mapping[str, str] | None
    binary: bool
    connection: str
    opened_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryShown:
    """As operators see it."""

    id: str
    source: str
    provider: str
    meeting_id: str | None
    meeting: str | None
    """The provider's id of it."""
    status: DeliveryStatus
    attempts: int
    error: str | None
    num_bytes: int
    received_at: datetime
    next_at: datetime | None
    expires_at: datetime | None


MAX_ERROR = 500
"""Characters of an error that are kept: what broke may be as long as what it broke on."""


def meeting_id(space: str, source: str, external_id: str) -> str:
    return derived("meeting", space, source, external_id)


SAVE_MEETINGS = """
UNWIND $meetings AS row
MERGE (f:Meeting {space: row.space, source: row.source, external_id: row.external_id})
ON CREATE SET f.id = row.id, f.created_at = datetime(), f.provider = row.provider, f.status = 'open',
  f.num_deliveries = 0
SET f.last_at = CASE WHEN f.last_at > row.last_at THEN f.last_at ELSE row.last_at END,
  f.sound_in = CASE WHEN $sound_in IS NULL OR $sound_in IN coalesce(f.sound_in, []) THEN f.sound_in
                    ELSE coalesce(f.sound_in, []) + $sound_in END
"""

SAVE_DELIVERIES = """
UNWIND $meetings AS row
MERGE (f:Meeting {space: row.space, source: row.source, external_id: row.external_id})
ON CREATE SET f.id = row.id, f.created_at = datetime(), f.provider = row.provider, f.status = 'open',
  f.num_deliveries = 0
SET f.last_at = CASE WHEN f.last_at > row.last_at THEN f.last_at ELSE row.last_at END
WITH count(f) AS locked
UNWIND $deliveries AS row
CALL (row) {
  MATCH (f:Meeting {id: row.meeting_id})
  OPTIONAL MATCH (known:Delivery {space: row.space, source: row.source, key: row.key})
  WITH row, f, known IS NULL AS is_new
  MERGE (d:Delivery {space: row.space, source: row.source, key: row.key})
  ON CREATE SET d += row.properties, d.id = row.id, d.created_at = datetime(), d.meeting_id = f.id, d.status = 'waiting',
    d.attempts = 0, d.next_at = row.properties.received_at, d.expires_at = f.expires_at,
    d.seq = f.num_deliveries, f.num_deliveries = f.num_deliveries + 1
  RETURN is_new
}
RETURN count(CASE WHEN is_new THEN 1 END) AS new
"""
"""One statement: each is a round trip, for which many wait. A subquery for each row sees what those before it counted; one plan
over all of them may read the counter once."""

SAVE_DEAD = """
UNWIND $deliveries AS row
MERGE (d:Delivery {space: row.space, source: row.source, key: row.key})
ON CREATE SET d += row.properties, d.id = row.id, d.created_at = datetime(), d.status = 'dead', d.attempts = 1,
  d.error = row.error, d.expires_at = row.expires_at
"""

COUNT_DEAD = """
UNWIND $counted AS row
MERGE (d:Delivery {space: row.space, source: row.source, key: $key})
ON CREATE SET d.id = row.id, d.created_at = datetime(), d.provider = row.provider, d.status = 'dead', d.headers = '{}',
  d.attempts = 0, d.num_bytes = 0, d.body_sha256 = ''
SET d.attempts = d.attempts + row.number, d.num_bytes = d.num_bytes + row.num_bytes, d.received_at = row.received_at,
  d.expires_at = row.expires_at
SET d.error = $code + toString(d.attempts) + $says + row.error
"""

FURTHER_DEAD = "further dead letters"
"""`key` of what counts them; no hash is written like it."""


async def save_meetings(tx: Tx, deliveries: Iterable[NewDelivery], *, sound_in: str | None = None) -> None:
    """The meetings of these are there, and something came of them when these did; the deliveries are not looked at.
    `sound_in`: id of the data folder where their sound is kept; None: it is kept nowhere."""
    await changes(tx, SAVE_MEETINGS, meetings=_meetings(deliveries), sound_in=sound_in)


async def save_deliveries(tx: Tx, deliveries: Sequence[NewDelivery]) -> int:
    """Put them behind what is there of their meetings, in the order given; how many are new. One whose key is known is a
    repeat and changes nothing. Locks the meetings."""
    if not deliveries:
        return 0
    given = [_row(delivery) for delivery in deliveries]
    (row,) = await rows(tx, SAVE_DELIVERIES, meetings=_meetings(deliveries), deliveries=given)
    return int(row["new"])


def _meetings(deliveries: Iterable[NewDelivery]) -> list[dict[str, Any]]:
    last = {delivery.meeting_id: delivery for delivery in deliveries}
    return [
        {
            "id": id,
            "space": one.space,
            "source": one.source,
            "external_id": one.meeting or "",
            "provider": one.provider,
            "last_at": one.received_at,
        }
        for id, one in sorted(last.items())  # of two writers at once neither waits for what the other holds
    ]


async def save_dead(tx: Tx, dead: Sequence[Dead]) -> int:
    """Keep what cannot be read for somebody to look at; how many are new. Of those that are only counted, how many came of
    their source, and the last one's error."""
    found = [
        {**_row(one.delivery, keeps_body=one.keeps_body), "error": one.error[:MAX_ERROR], "expires_at": one.expires_at}
        for one in dead
        if not one.is_counted
    ]
    if counted := _counted([one for one in dead if one.is_counted]):
        says = {"code": "dead_letters_counted: ", "says": " more could not be read, and are only counted. The last: "}
        await changes(tx, COUNT_DEAD, counted=counted, key=FURTHER_DEAD, **says)
    return (await changes(tx, SAVE_DEAD, deliveries=found)).nodes_created if found else 0


def _counted(dead: Sequence[Dead]) -> list[dict[str, Any]]:
    """One row a source."""
    by_source: dict[tuple[str, str], list[Dead]] = {}
    for one in dead:
        by_source.setdefault((one.delivery.space, one.delivery.source), []).append(one)
    return [
        {
            "id": derived("delivery", space, source, FURTHER_DEAD),
            "space": space,
            "source": source,
            "provider": some[-1].delivery.provider,
            "number": len(some),
            "num_bytes": sum(len(one.delivery.body) for one in some),
            "received_at": some[-1].delivery.received_at,
            "expires_at": some[-1].expires_at,
            "error": some[-1].error[:MAX_ERROR],
        }
        for (space, source), some in sorted(by_source.items())
    ]


COUNT_WAITING = """
MATCH (d:Delivery)
WHERE d.status = 'waiting' AND d.next_at IS NOT NULL
RETURN d.space AS space, d.source AS source, count(*) AS waiting, sum(d.num_bytes) AS num_bytes
"""

SUM_DEAD = """
UNWIND $spaces AS space
MATCH (d:Delivery)
WHERE d.space = space AND d.status = 'dead' AND d.created_at IS NOT NULL
RETURN d.space AS space, d.source AS source, sum(CASE WHEN d.body_sha256 IS NULL THEN d.num_bytes ELSE 0 END) AS num_bytes,
       count(CASE WHEN d.seq IS NULL THEN 1 END) AS unread
"""


async def count_waiting(tx: Tx) -> dict[tuple[str, str], int]:
    """(space, source) → deliveries not taken in yet: for back pressure."""
    return {source: count for source, (count, _) in (await measure_waiting(tx)).items()}


async def measure_waiting(tx: Tx) -> dict[tuple[str, str], tuple[int, int]]:
    """(space, source) → deliveries not taken in yet, and bytes of their bodies."""
    found = await rows(tx, COUNT_WAITING)
    return {(row["space"], row["source"]): (row["waiting"], row["num_bytes"]) for row in found}


async def measure_dead(tx: Tx, spaces: Collection[str]) -> dict[tuple[str, str], tuple[int, int]]:
    """(space, source) → bytes of the bodies that dead letters have, and how many of them could not be read at all."""
    found = await rows(tx, SUM_DEAD, spaces=sorted(spaces))
    return {(row["space"], row["source"]): (row["num_bytes"], row["unread"]) for row in found}


LIST_DELIVERIES = """
MATCH (d:Delivery)
WHERE d.space = $space AND d.status IN $statuses AND d.created_at IS NOT NULL AND ($source IS NULL OR d.source = $source)
  AND ($meeting_id IS NULL OR d.meeting_id = $meeting_id)
WITH d, [d.created_at.epochSeconds * 1000000000 + d.created_at.nanosecond, d.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
WITH d, place
ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
OPTIONAL MATCH (f:Meeting {id: d.meeting_id})
RETURN place, f.external_id AS meeting,
       d {.id, .source, .provider, .meeting_id, .status, .attempts, .error, .num_bytes, .received_at, .next_at, .expires_at}
         AS delivery
ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC
"""


async def list_deliveries(
    tx: Tx,
    space: str,
    *,
    page: Page,
    statuses: Sequence[DeliveryStatus] = tuple(DeliveryStatus),
    source: str | None = None,
    meeting_id: str | None = None,
) -> Paged[DeliveryShown]:
    """Those of the space, newest first, without what they say: for who administers it."""
    found = await rows(
        tx,
        LIST_DELIVERIES,
        space=space,
        statuses=list(statuses),
        source=source,
        meeting_id=meeting_id,
        **parameters(page, newest_first=True),
    )
    shown = {row["delivery"]["id"]: _shown(row["delivery"], row["meeting"]) for row in found}
    return paged(page, [row["place"] for row in found], shown)


LIST_EXPIRED = """
MATCH (d:Delivery)
WHERE d.expires_at <= $now AND d.status <> 'waiting'
RETURN d.id AS id LIMIT $limit
"""

LOCK_DELIVERIES = """
UNWIND $ids AS id
MATCH (d:Delivery {id: id})
SET d.created_at = d.created_at
"""

FORGET_EXPIRED = """
UNWIND $ids AS id
MATCH (d:Delivery {id: id})
WHERE d.expires_at <= $now AND d.status <> 'waiting'
DETACH DELETE d
RETURN count(*) AS gone
"""

LIST_EXPIRED_MEETINGS = """
MATCH (f:Meeting)
WHERE f.expires_at <= $now AND NOT EXISTS {
  MATCH (d:Delivery) WHERE d.meeting_id = f.id AND d.status IN ['waiting', 'done', 'dead'] AND d.seq >= 0
}
RETURN f.id AS id LIMIT $limit
"""

LOCK_MEETINGS = """
UNWIND $ids AS id
MATCH (f:Meeting {id: id})
SET f.created_at = f.created_at
"""

FORGET_EXPIRED_MEETINGS = """
UNWIND $ids AS id
MATCH (f:Meeting {id: id})
WHERE f.expires_at <= $now AND NOT EXISTS {
  MATCH (d:Delivery) WHERE d.meeting_id = f.id AND d.status IN ['waiting', 'done', 'dead'] AND d.seq >= 0
}
OPTIONAL MATCH (w:MeetingWork {id: id})
DETACH DELETE w, f
"""


async def forget_expired_deliveries(tx: Tx, *, now: datetime, limit: int) -> int:
    """Delete at most `limit` deliveries whose time has come, of all spaces, and meetings of which none are left; how many
    deliveries had their time. One that waits is not lost for being old, nor one that comes, or is tried again, at this moment:
    what was found is locked, and looked at again."""
    found = sorted(row["id"] for row in await rows(tx, LIST_EXPIRED, now=now, limit=limit))
    if found:
        await changes(tx, LOCK_DELIVERIES, ids=found)
        await rows(tx, FORGET_EXPIRED, ids=found, now=now)
    meetings = sorted(row["id"] for row in await rows(tx, LIST_EXPIRED_MEETINGS, now=now, limit=limit))
    if meetings:
        await changes(tx, LOCK_MEETINGS, ids=meetings)
        await changes(tx, FORGET_EXPIRED_MEETINGS, ids=meetings, now=now)
    return len(found)


def _row(delivery: NewDelivery, *, keeps_body: bool = True) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "space": delivery.space,
        "source": delivery.source,
        "key": delivery.key,
        "meeting_id": delivery.meeting_id,
        "properties": {
            "provider": delivery.provider,
            **(_kept(delivery.body) if keeps_body else {"body_sha256": hashlib.sha256(delivery.body).hexdigest()}),
            "num_bytes": len(delivery.body),
            "received_at": delivery.received_at,
            "headers": json.dumps(dict(delivery.headers)),
            "query": None if delivery.query is None else json.dumps(dict(delivery.query)),
            "carried": None if delivery.carried is None else json.dumps(dict(delivery.carried)),
            "binary": delivery.binary or None,
            "connection": delivery.connection or None,
            "opened_at": delivery.opened_at,
        },
    }


def _kept(body: bytes) -> dict[str, Any]:
    """As text where it is, as nearly all are; else in base64."""
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode(), "body_base64": True}


def _body(found: Mapping[str, Any]) -> bytes | None:
    if found["body"] is None:
        return None
    return base64.b64decode(found["body"]) if found["body_base64"] else str(found["body"]).encode()


def stored(found: Mapping[str, Any]) -> StoredDelivery:
    """As LIST_WAITING returns it."""
    plain = {name: found[name] for name in ("id", "meeting_id", "attempts", "provider", "source", "key", "received_at")}
    return StoredDelivery(
        **plain,
        seq=-1 if found["seq"] is None else found["seq"],
        status=DeliveryStatus(found["status"]),
        body=_body(found),
        headers=json.loads(found["headers"]),
        query=found["query"] and json.loads(found["query"]),
        carried=found["carried"] and json.loads(found["carried"]),
        binary=bool(found["binary"]),
        connection=found["connection"] or "",
        opened_at=found["opened_at"],
    )


def _shown(found: Mapping[str, Any], meeting: str | None) -> DeliveryShown:
    return DeliveryShown(**{**found, "status": DeliveryStatus(found["status"]), "meeting": meeting})
