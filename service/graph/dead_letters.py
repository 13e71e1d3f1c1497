"""What could not be taken in: who sees it, tries it again, or deletes it.

For who administers the space; no gate stands before it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from service.graph.deliveries import DeliveryShown, DeliveryStatus, StoredDelivery, list_deliveries, stored
from service.graph.driver import Tx, rows
from service.graph.paging import Page, Paged


async def list_dead(tx: Tx, space: str, *, page: Page, source: str | None = None) -> Paged[DeliveryShown]:
    """The dead letters of the space, newest first."""
    return await list_deliveries(tx, space, page=page, statuses=(DeliveryStatus.DEAD,), source=source)


LIST_DEAD_LETTERS = """
UNWIND $ids AS id
MATCH (d:Delivery {id: id, space: $space})
WHERE d.status = 'dead'
RETURN d {.id, .meeting_id, .seq, .status, .attempts, .provider, .source, .key, .body, .body_base64, .received_at, .headers,
          .query, .carried, .binary, .connection, .opened_at} AS delivery
"""

RETRY_DEAD = """
UNWIND $ids AS id
CALL (id) {
  MATCH (d:Delivery {id: id, space: $space})
  WHERE d.status = 'dead' AND d.body_sha256 IS NULL
  MATCH (f:Meeting {id: d.meeting_id})
  SET d.status = 'waiting', d.attempts = 0, d.error = null, d.next_at = $now, d.expires_at = f.expires_at,
    d.seq = f.num_deliveries, f.num_deliveries = f.num_deliveries + 1, f.last_at = $now
  RETURN d.id AS retried
}
RETURN retried
"""

FORGET_DEAD = """
UNWIND $ids AS id
MATCH (d:Delivery {id: id, space: $space})
WHERE d.status = 'dead'
DETACH DELETE d
RETURN count(*) AS gone
"""


async def list_dead_letters(tx: Tx, space: str, ids: Sequence[str]) -> list[StoredDelivery]:
    """Those of `ids` that are dead, whole, for who reads them once more."""
    return [stored(row["delivery"]) for row in await rows(tx, LIST_DEAD_LETTERS, space=space, ids=list(ids))]


async def retry_dead(tx: Tx, space: str, ids: Sequence[str], *, now: datetime) -> list[str]:
    """Dead letters of meetings wait again, behind what came meanwhile; their ids. Those of no meeting are left as they are."""
    return [row["retried"] for row in await rows(tx, RETRY_DEAD, space=space, ids=list(ids), now=now)]


async def forget_dead(tx: Tx, space: str, ids: Sequence[str]) -> int:
    """Delete those of `ids` that are dead; how many were."""
    return int((await rows(tx, FORGET_DEAD, space=space, ids=list(ids)))[0]["gone"])
