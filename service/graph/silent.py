"""Which open sessions does nobody go on with? Those of which nothing came for some time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from service.graph.driver import Tx, rows

LIST_SILENT = """
MATCH (s:Session {space: $space, status: 'open'})
WHERE s.id IN $ids AND s.created_at < $before
  AND NOT EXISTS { MATCH (m:Message {session_id: s.id}) WHERE m.created_at >= $before }
  AND NOT EXISTS { MATCH (f:Meeting {space: $space, session_id: s.id}) WHERE f.last_at >= $before }
RETURN s.id AS id ORDER BY id
"""


async def list_silent(tx: Tx, space: str, ids: Collection[str], *, before: datetime) -> list[str]:
    """Those of the sessions `ids` that are open, and of which nothing was written, nor delivered, since `before`: whoever wrote
    them does not go on."""
    return [row["id"] for row in await rows(tx, LIST_SILENT, space=space, ids=sorted(ids), before=before)]
