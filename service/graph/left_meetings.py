"""What becomes of meetings whose source is configured no more? After a while they are closed, so that nothing of them waits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from service.graph.driver import Tx, changes, rows

MARK_LEFT = """
MATCH (f:Meeting)
WHERE $spaces IS NULL OR f.space IN $spaces
WITH f, [f.space, f.source] IN $own AS is_own
WHERE is_own = (f.left_since IS NOT NULL)
SET f.left_since = CASE WHEN is_own THEN null ELSE $now END
"""

CLOSE_LEFT = """
MATCH (f:Meeting)
WHERE ($spaces IS NULL OR f.space IN $spaces) AND f.left_since <= $before AND (f.status = 'open' OR EXISTS {
  MATCH (d:Delivery) WHERE d.meeting_id = f.id AND d.status = 'waiting' AND d.seq >= 0
})
WITH f LIMIT $limit
SET f.status = 'closed', f.expires_at = coalesce(f.expires_at, $now)
WITH f
CALL (f) {
  MATCH (d:Delivery)
  WHERE d.meeting_id = f.id AND d.status IN ['waiting', 'done'] AND d.seq >= 0
  WITH d, d.status = 'waiting' AS waits
  SET d.status = CASE WHEN waits THEN 'dead' ELSE 'done' END,
    d.error = CASE WHEN waits THEN $error END,
    d.next_at = null,
    d.expires_at = CASE WHEN waits THEN $dead_until ELSE $now END
}
RETURN count(f) AS closed
"""


async def mark_left(
    tx: Tx, own: Sequence[tuple[str, str]], *, now: datetime, spaces: Sequence[str] | None = None
) -> None:  # fmt: skip
    """Of `spaces`, None: of all: meetings of none of the sources `own`, (space, name), are left since now, or since when
    they were; others are not."""
    await changes(tx, MARK_LEFT, own=[list(source) for source in own], now=now, spaces=spaces)


async def close_left(
    tx: Tx,
    *,
    before: datetime,
    now: datetime,
    dead_until: datetime,
    error: str,
    limit: int,
    spaces: Sequence[str] | None = None,
) -> int:
    """Close at most `limit` meetings left since `before`; how many. What waits of them is dead until `dead_until`, for `error`;
    what was taken in goes."""
    found = await rows(tx, CLOSE_LEFT, before=before, now=now, dead_until=dead_until, error=error, limit=limit, spaces=spaces)
    return int(found[0]["closed"])
