"""When does a record go of who might ask for whom?"""

from __future__ import annotations

from datetime import UTC, datetime

from service.graph.driver import Graph
from service.graph.write_grants import forget_grants

AT_ONCE = 1_000
"""Grants a transaction."""


async def expire_grants(graph: Graph, now: datetime | None = None) -> int:
    """Delete grants that ended long enough ago, of all spaces; how many."""
    found, total = AT_ONCE, 0
    while found >= AT_ONCE:
        found = await graph.write(forget_grants, now or datetime.now(UTC), AT_ONCE)
        total += found
    return total
