"""What of a meeting is to be taken in next, and what was? Deliveries are read in the order in which they came, without a gap.

A commit is not seen all at once: of deliveries that were acknowledged together the later one may be there to read a moment
before the earlier one. Whoever takes in therefore says up to which place they know all (`seen`); where one before the next is
missing, the meeting is locked and read again: whoever wrote it is done then. For the worker; no gate stands before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any

from service.graph.deliveries import MAX_ERROR, StoredDelivery, stored
from service.graph.driver import Tx, changes, rows
from service.graph.meetings import MeetingFeed, find_meetings, hold_meeting

NOTHING_SEEN = -1
"""`seen` of who has not looked yet."""


@dataclass(frozen=True, slots=True)
class Next:
    """What is to be taken in now."""

    deliveries: Sequence[StoredDelivery]
    seen: int
    """Of the meeting's deliveries all up to this place are among these, or were before, or are not to be taken in yet."""
    feed: MeetingFeed | None
    """The meeting a moment after it was looked; None: there is none any more."""

    @property
    def is_all(self) -> bool:
        """Nothing else had come by then."""
        return self.feed is None or self.feed.num_deliveries <= self.seen + 1


SIZES_TAKEN_IN = """
MATCH (d:Delivery)
WHERE d.meeting_id = $meeting_id AND d.folded >= $first
RETURN d.id AS id, d.num_bytes AS num_bytes
ORDER BY d.folded LIMIT $limit
"""

SIZES_WAITING = """
MATCH (d:Delivery)
WHERE d.meeting_id = $meeting_id AND d.status = 'waiting' AND d.seq >= 0 AND d.next_at <= $now
RETURN d.id AS id, d.num_bytes AS num_bytes, d.seq AS seq
ORDER BY d.seq LIMIT $limit
"""

LIST_BY_ID = """
UNWIND range(0, size($ids) - 1) AS place
MATCH (d:Delivery {id: $ids[place]})
RETURN d {.id, .meeting_id, .seq, .status, .attempts, .provider, .source, .key, .body, .body_base64, .received_at, .headers,
          .query, .carried, .binary, .connection, .opened_at} AS delivery
ORDER BY place
"""

MOST_BYTES = 16_000_000
"""Of bodies read at once, but for a single one that is longer: two of the longest that are taken."""


async def deliveries_of(
    tx: Tx, meeting_id: str, *, first: int = 0, limit: int = 500, most_bytes: int = MOST_BYTES
) -> list[StoredDelivery]:
    """Those of the meeting that were taken in, in the order in which they were, from the `first`, and as many as `most_bytes`
    hold, at least one: what rebuilds its fold. For the worker; no gate stands before it."""
    sizes = await rows(tx, SIZES_TAKEN_IN, meeting_id=meeting_id, first=first, limit=limit)
    return await _list_first(tx, sizes, most_bytes)


LOCK_MEETING = """
MATCH (f:Meeting {id: $meeting_id})
SET f.created_at = f.created_at
"""

COUNT_CAME = """
MATCH (f:Meeting {id: $meeting_id})
RETURN f.num_deliveries AS came
"""


async def next_waiting(
    tx: Tx,
    meeting_id: str,
    *,
    now: datetime,
    seen: int = NOTHING_SEEN,
    settled: bool = False,
    limit: int = 500,
    most_bytes: int = MOST_BYTES,
    but: Collection[str] = (),
) -> Next:
    """Those of the meeting that are to be taken in by `now`, in the order in which they came, as many as `most_bytes` hold, at
    least one; without the ids of `but`. In a write transaction: it locks the meeting where something before them is missing, or
    where it is to be `settled` that there is nothing else."""
    asked: dict[str, Any] = {"meeting_id": meeting_id, "now": now, "limit": limit + len(but)}
    sizes = await rows(tx, SIZES_WAITING, **asked)
    came = None
    if settled or has_gap([row["seq"] for row in sizes], seen):
        came, sizes = await _settled(tx, asked)
    wanted = [row for row in sizes if row["id"] not in but][:limit]
    found = await _list_first(tx, wanted, most_bytes)
    if came is None and len(found) < len(_first(wanted, most_bytes)):  # of one, not all of its indexes were written
        came, sizes = await _settled(tx, asked)
        wanted = [row for row in sizes if row["id"] not in but][:limit]
        found = await _list_first(tx, wanted, most_bytes)
    feed = (await find_meetings(tx, [meeting_id])).get(meeting_id)
    if len(found) < len(wanted):
        return Next(found, max(seen, found[-1].seq), feed)
    if came is not None and len(sizes) < asked["limit"]:
        return Next(found, max(seen, came - 1), feed)
    return Next(found, max([seen, *(row["seq"] for row in sizes)]), feed)


async def _settled(tx: Tx, asked: Mapping[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """How many deliveries ever came of the meeting, and what waits of them, once nobody adds to it."""
    await changes(tx, LOCK_MEETING, meeting_id=asked["meeting_id"])
    found = await rows(tx, COUNT_CAME, meeting_id=asked["meeting_id"])
    return (found[0]["came"] if found else 0), await rows(tx, SIZES_WAITING, **asked)


def has_gap(places: Sequence[int], seen: int) -> bool:
    """Whether one is missing of those after `seen`, up to the last of `places` (ascending)."""
    new = [place for place in places if place > seen]
    return bool(new) and new[-1] - seen != len(new)


def _first(sizes: Sequence[Mapping[str, Any]], most_bytes: int) -> list[str]:
    """Ids of the first that `most_bytes` hold, at least one."""
    up_to = accumulate(int(row["num_bytes"]) for row in sizes)
    return [row["id"] for place, (row, total) in enumerate(zip(sizes, up_to, strict=True)) if place == 0 or total <= most_bytes]


async def _list_first(tx: Tx, sizes: Sequence[Mapping[str, Any]], most_bytes: int) -> list[StoredDelivery]:
    ids = _first(sizes, most_bytes)
    return [stored(row["delivery"]) for row in await rows(tx, LIST_BY_ID, ids=ids)] if ids else []


MARK_DONE = """
UNWIND $ids AS id
CALL (id) {
  MATCH (d:Delivery {id: id, meeting_id: $meeting_id})
  WHERE d.status = 'waiting'
  MATCH (w:MeetingWork {id: $meeting_id})
  SET d.status = 'done', d.error = null, d.next_at = null, d.folded = w.num_folded, w.num_folded = w.num_folded + 1
}
"""

MARK_FAILED = """
MATCH (d:Delivery {id: $id, meeting_id: $meeting_id})
WHERE d.status = 'waiting'
SET d.attempts = d.attempts + 1, d.error = $error, d.next_at = $next_at,
  d.status = CASE WHEN $next_at IS NULL THEN 'dead' ELSE 'waiting' END,
  d.expires_at = CASE WHEN $next_at IS NULL THEN $expires_at ELSE d.expires_at END,
  d += CASE WHEN $gone IS NULL THEN {} ELSE {body: null, body_base64: null, carried: null, body_sha256: $gone} END
"""

MARK_UNFOLDED = """
UNWIND $errors AS row
MATCH (d:Delivery {id: row.id, meeting_id: $meeting_id})
WHERE d.status = 'done'
SET d.error = row.error
"""


async def mark_done(tx: Tx, meeting_id: str, ids: Sequence[str], *, worker: str) -> None:
    """They are taken in, in this order: in the transaction that writes what came of them. Raises MeetingTaken."""
    await hold_meeting(tx, meeting_id, worker)
    await changes(tx, MARK_DONE, meeting_id=meeting_id, ids=list(ids))


async def mark_failed(
    tx: Tx,
    meeting_id: str,
    id: str,
    error: str,
    *,
    worker: str,
    next_at: datetime | None,
    expires_at: datetime | None = None,
    gone: str | None = None,
) -> None:
    """It could not be taken in for `error` (code: message, no text of what was said) and is tried again at `next_at`; None: it
    is dead, until `expires_at`. Those behind it do not wait for it. `gone`: SHA-256 of its body, which is kept no more. Raises
    MeetingTaken."""
    await hold_meeting(tx, meeting_id, worker)
    times = {"next_at": next_at, "expires_at": expires_at}
    await changes(tx, MARK_FAILED, meeting_id=meeting_id, id=id, error=error[:MAX_ERROR], gone=gone, **times)


async def mark_unfolded(tx: Tx, meeting_id: str, errors: Mapping[str, str], *, worker: str) -> None:
    """They (ids) were taken in once, and are not understood any more for these errors (code: message): they stay done. Raises
    MeetingTaken."""
    await hold_meeting(tx, meeting_id, worker)
    found = [{"id": id, "error": error[:MAX_ERROR]} for id, error in errors.items()]
    await changes(tx, MARK_UNFOLDED, meeting_id=meeting_id, errors=found)
