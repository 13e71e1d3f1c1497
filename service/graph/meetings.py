"""Which meetings have something to be taken in, and whose turn is it? Each is leased by one worker.

What comes in is counted on the Meeting, what is taken out on its MeetingWork: whoever takes in holds the latter for as long as
a session's writing takes, and who delivers meanwhile must not wait for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.errors import VoicegraphError
from service.graph.driver import Tx, changes, rows


class MeetingTaken(VoicegraphError):
    code = "meeting_taken"
    says = "The meeting {id} is another worker's by now. It goes on there; nothing was written."
    http_status = 409


class SessionGoesOn(VoicegraphError):
    code = "session_goes_on"
    says = "The session of meeting {id} is open: it is closed first. Nothing was written."
    http_status = 409


class MeetingStatus(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    """Ended, or silent for so long that it counts as ended; late deliveries may still come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingFeed:
    """What a source delivers of one meeting."""

    id: str
    space: str
    source: str
    provider: str
    external_id: str
    """The provider's id."""
    session_id: str | None
    """The session that was begun of it."""
    status: MeetingStatus
    num_deliveries: int
    """That ever came, repeats not counted."""
    num_folded: int
    """Of them taken in."""
    first_folded: int
    """Place of the first of them that is of the meeting that goes on: in a room one follows another."""
    last_at: datetime
    """When the last one came."""
    expires_at: datetime | None
    after: datetime | None = None
    """In a room: until when the meeting before the one that goes on did so, as far as is told."""
    sound_in: Sequence[str] = ()
    """Ids of the data folders that have sound of it."""
    sound_awaited: datetime | None = None
    """Since when it is over and left to whoever has its sound."""
    bots_before: Sequence[str] = ()
    """In a call that is held again: the last of the bots that were in the meetings before the one that goes on."""


LIST_TO_TAKE_IN = """
MATCH (d:Delivery)
WHERE d.status = 'waiting' AND d.next_at <= $now
WITH d.meeting_id AS id, min(d.next_at) AS since
MATCH (f:Meeting {id: id})
WHERE $sources IS NULL OR [f.space, f.source] IN $sources
OPTIONAL MATCH (w:MeetingWork {id: id})
WITH f, w, since
WHERE w.leased_until IS NULL OR w.leased_until < $now OR w.leased_by STARTS WITH $worker
WITH f, since ORDER BY since, f.id
WITH f.space AS space, collect(f.id)[..$limit] AS ids
UNWIND range(0, size(ids) - 1) AS place
RETURN ids[place] AS id, space
ORDER BY place, space LIMIT $limit
"""

LIST_IDLE = """
MATCH (f:Meeting {space: $space, source: $source})
WHERE f.status = 'open' AND f.last_at < $before
OPTIONAL MATCH (w:MeetingWork {id: f.id})
WITH f, w
WHERE w.leased_until IS NULL OR w.leased_until < $now OR w.leased_by = $worker
RETURN f.id AS id
ORDER BY f.last_at, id LIMIT $limit
"""

LIST_LEFT = """
MATCH (f:Meeting)
WHERE f.status = 'open' AND ($sources IS NULL OR [f.space, f.source] IN $sources)
OPTIONAL MATCH (w:MeetingWork {id: f.id})
WITH f, w
WHERE (w.leased_until IS NULL OR w.leased_until < $now) AND (w.due_at IS NULL OR w.due_at <= $now)
WITH f ORDER BY f.last_at, f.id
WITH f.space AS space, collect(f.id)[..$limit] AS ids
UNWIND range(0, size(ids) - 1) AS place
RETURN ids[place] AS id, space
ORDER BY place, space LIMIT $limit
"""

ENSURE_WORK = """
UNWIND $ids AS id
MATCH (f:Meeting {id: id})
MERGE (w:MeetingWork {id: id})
ON CREATE SET w.space = f.space, w.created_at = datetime(), w.num_folded = 0, w.first_folded = 0
SET w.created_at = w.created_at
"""

LEASE_MEETINGS = """
UNWIND $ids AS id
MATCH (w:MeetingWork {id: id})
WHERE w.leased_until IS NULL OR w.leased_until < $now OR w.leased_by = $worker
MATCH (f:Meeting {id: id})
SET w.leased_by = $worker, w.leased_until = $until, w.due_at = null
RETURN f {.id, .space, .source, .provider, .external_id, .session_id, .status, .num_deliveries, .last_at, .expires_at,
          .sound_awaited, num_folded: w.num_folded, first_folded: w.first_folded, after: w.after,
          sound_in: coalesce(f.sound_in, []), bots_before: coalesce(w.bots_before, [])} AS meeting
"""

RENEW_LEASES = """
UNWIND $leases AS lease
MATCH (w:MeetingWork {id: lease.id})
WHERE w.leased_by = lease.by
SET w.leased_until = $until
RETURN w.id AS id
"""

LET_REST = """
UNWIND $leases AS lease
MATCH (w:MeetingWork {id: lease.id})
WHERE w.leased_by = lease.by
SET w.leased_by = null, w.leased_until = null, w.due_at = lease.due_at
"""

LOCK_WORK = """
MATCH (w:MeetingWork {id: $id})
SET w.created_at = w.created_at
"""

IS_HELD = """
MATCH (w:MeetingWork {id: $id})
RETURN w.leased_by = $worker AS held
"""

SAVE_MEETING_SESSION = """
MATCH (f:Meeting {id: $id})
SET f.session_id = $session_id, f.status = 'open', f.expires_at = null
"""

LIST_OPEN_SESSION = """
MATCH (f:Meeting {id: $id})
MATCH (s:Session {id: f.session_id})
WHERE s.status = 'open'
RETURN s.id AS id
"""

CLOSE_MEETING = """
MATCH (f:Meeting {id: $id})
SET f.status = 'closed', f.expires_at = $expires_at, f.sound_in = null, f.sound_awaited = null
"""

AWAIT_SOUND = """
MATCH (f:Meeting {id: $id})
SET f.sound_awaited = coalesce(f.sound_awaited, $at)
RETURN f.sound_awaited AS since
"""

NOTE_SOUND_LOST = """
MATCH (f:Meeting {id: $id})
SET f.sound_lost = $at
WITH f
MATCH (s:Session {space: f.space, id: f.session_id})
SET s.sound_lost = true
"""

REOPEN_MEETING = """
MATCH (f:Meeting {id: $id})
SET f.status = 'open', f.expires_at = null
"""

EXPIRE_DELIVERIES = """
MATCH (d:Delivery)
WHERE d.meeting_id = $id AND d.status IN ['waiting', 'done'] AND d.seq >= 0
MATCH (w:MeetingWork {id: $id})
WHERE d.folded IS NULL OR d.folded >= w.first_folded
SET d.expires_at = $expires_at
"""

BEGIN_NEXT = """
MATCH (f:Meeting {id: $id})
MATCH (w:MeetingWork {id: $id})
SET w.first_folded = w.num_folded, w.after = $after, f.status = 'open', f.session_id = null,
    w.bots_before = (coalesce(w.bots_before, []) + $bots)[-$most_bots..]
"""

MOST_BOTS = 100
"""Bots of meetings before that are known: what a backend tells of one comes within days, and few are in one call."""


Sources = Sequence[tuple[str, str]]
"""(space, name)"""


async def list_to_take_in(tx: Tx, *, worker: str, now: datetime, limit: int, sources: Sources | None = None) -> dict[str, str]:
    """Id → space of meetings of `sources` (None: of all, in all spaces) in which a delivery is to be taken in by `now` and that
    are no other worker's. One of each space after the other, in each those that wait longest first."""
    found = await rows(tx, LIST_TO_TAKE_IN, worker=worker, now=now, limit=limit, sources=_pairs(sources))
    return {row["id"]: row["space"] for row in found}


async def list_idle(tx: Tx, space: str, source: str, *, worker: str, now: datetime, before: datetime, limit: int) -> list[str]:
    """Ids of the source's meetings that are open, no other worker's, and silent since `before`."""
    found = await rows(
        tx, LIST_IDLE, space=space, source=source, worker=worker, now=now, before=before, limit=limit
    )  # fmt: skip
    return [row["id"] for row in found]


async def list_left(tx: Tx, *, now: datetime, limit: int, sources: Sources | None = None) -> dict[str, str]:
    """Id → space of meetings that are open and nobody's: a worker is gone, there is nothing but sound so far, or whoever let
    them rest said that something is due by `now`. In the order of `list_to_take_in`."""
    found = await rows(tx, LIST_LEFT, now=now, limit=limit, sources=_pairs(sources))
    return {row["id"]: row["space"] for row in found}


async def lease_meetings(tx: Tx, ids: Sequence[str], *, worker: str, now: datetime, until: datetime) -> list[MeetingFeed]:
    """Those of `ids` that are nobody's, or were until their lease ran out: `worker`'s alone until `until`. It is to be of this
    one lease: whoever gets a meeting anew is another, and what began under the lease before is not written."""
    await changes(tx, ENSURE_WORK, ids=sorted(ids))
    return [
        _meeting(row["meeting"]) for row in await rows(tx, LEASE_MEETINGS, ids=sorted(ids), worker=worker, now=now, until=until)
    ]


async def renew_leases(tx: Tx, leases: Mapping[str, str], *, until: datetime) -> set[str]:
    """By meeting, whose it was. Returns those that are so still, until `until`: none is taken, and none taken back."""
    found = [{"id": id, "by": by} for id, by in sorted(leases.items())]
    return {row["id"] for row in await rows(tx, RENEW_LEASES, leases=found, until=until)}


async def release_meetings(tx: Tx, leases: Mapping[str, str], *, due: Mapping[str, datetime] | None = None) -> None:
    """By meeting, whose it was: anybody's now. `due`: when something is to be done even if nothing comes; of others at once."""
    due = due or {}
    found = [{"id": id, "by": by, "due_at": due.get(id)} for id, by in sorted(leases.items())]
    await changes(tx, LET_REST, leases=found)


async def hold_meeting(tx: Tx, id: str, worker: str) -> None:
    """Keep the meeting this worker's until the transaction ends; raises MeetingTaken where it is not."""
    await changes(tx, LOCK_WORK, id=id)
    if not any(row["held"] for row in await rows(tx, IS_HELD, id=id, worker=worker)):
        raise MeetingTaken(id=id)


async def save_meeting_session(tx: Tx, id: str, session_id: str) -> None:
    """The session that is written of it, which goes on. The caller holds the meeting."""
    await changes(tx, SAVE_MEETING_SESSION, id=id, session_id=session_id)


async def close_meeting(tx: Tx, id: str, *, expires_at: datetime) -> None:
    """It has ended; its deliveries, and any that still come, are kept until `expires_at` so that repeats are known. The caller
    holds the meeting, and closed its session: raises SessionGoesOn."""
    if await rows(tx, LIST_OPEN_SESSION, id=id):
        raise SessionGoesOn(id=id)
    await changes(tx, CLOSE_MEETING, id=id, expires_at=expires_at)
    await changes(tx, EXPIRE_DELIVERIES, id=id, expires_at=expires_at)


async def await_sound(tx: Tx, id: str, *, at: datetime) -> datetime:
    """It is over and left to whoever has its sound; since when it is. The caller holds the meeting."""
    (row,) = await rows(tx, AWAIT_SOUND, id=id, at=at)
    since: datetime = row["since"]
    return since


async def note_sound_lost(tx: Tx, id: str, *, at: datetime) -> None:
    """It is closed without sound that came of it, and so is its session. The caller holds the meeting."""
    await changes(tx, NOTE_SOUND_LOST, id=id, at=at)


async def reopen_meeting(tx: Tx, id: str) -> None:
    """What came late is told in a moment: until then it is open, so that whoever is left with it tells it, and its deliveries
    are kept. The caller holds the meeting."""
    await changes(tx, REOPEN_MEETING, id=id)
    await changes(tx, EXPIRE_DELIVERIES, id=id, expires_at=None)


async def begin_next(tx: Tx, id: str, *, after: datetime | None, bots: Sequence[str] = ()) -> None:
    """In its room the next meeting begins, with what is taken in from now on; the one before went on until `after`, as far as
    is told, with these bots. The caller holds the meeting, and closed it."""
    await changes(tx, BEGIN_NEXT, id=id, after=after, bots=list(bots), most_bots=MOST_BOTS)


def _pairs(sources: Sources | None) -> list[list[str]] | None:
    return None if sources is None else [list(source) for source in sources]


FIND_MEETINGS = """
UNWIND $ids AS id
MATCH (f:Meeting {id: id})
OPTIONAL MATCH (w:MeetingWork {id: id})
RETURN f {.id, .space, .source, .provider, .external_id, .session_id, .status, .num_deliveries, .last_at, .expires_at,
          .sound_awaited, num_folded: coalesce(w.num_folded, 0), first_folded: coalesce(w.first_folded, 0), after: w.after,
          sound_in: coalesce(f.sound_in, []), bots_before: coalesce(w.bots_before, [])} AS meeting
"""


async def find_meetings(tx: Tx, ids: Sequence[str]) -> dict[str, MeetingFeed]:
    """Those of `ids` that there are."""
    return {row["meeting"]["id"]: _meeting(row["meeting"]) for row in await rows(tx, FIND_MEETINGS, ids=list(ids))}


def _meeting(found: Mapping[str, Any]) -> MeetingFeed:
    return MeetingFeed(**{**found, "status": MeetingStatus(found["status"])})
