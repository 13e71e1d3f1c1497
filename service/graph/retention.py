"""Which sessions have been kept as long as their space keeps them?"""

from __future__ import annotations

from datetime import datetime

from service.graph.driver import Tx, rows

LIST_EXPIRED_SESSIONS = """
MATCH (space:Space) WHERE space.session_days IS NOT NULL
WITH space, $now - duration({days: space.session_days}) AS before
MATCH (s:Session {space: space.id})
WHERE s.started_at < before AND coalesce(s.kept_since, s.created_at) < before AND s.status <> 'open'
  AND s.started_at + duration({milliseconds: toInteger(1000 * coalesce(s.duration, 0.0))}) < before
RETURN space.id AS space, s.id AS id
ORDER BY s.started_at, id
LIMIT $limit
"""


async def list_expired_sessions(tx: Tx, now: datetime, limit: int) -> list[tuple[str, str]]:
    """(space, id) of sessions that ended and were written longer ago than their space's `session_days`, the oldest first, of
    all spaces, counted from the first time where a recording was processed again; not of those that are still written: they are
    once they are complete."""
    return [(row["space"], row["id"]) for row in await rows(tx, LIST_EXPIRED_SESSIONS, now=now, limit=limit)]
