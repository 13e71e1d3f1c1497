"""How does everything of one tenant go? For the demo, which begins afresh each time; erasing one person is another matter."""

from __future__ import annotations

from service.graph.driver import Graph, Tx, rows

BATCH = 2_000
"""Nodes a transaction: a few megabytes of its memory, whatever the space holds."""

FORGET_SPACE = """
MATCH (n) WHERE n.space = $space OR (n:Space AND n.id = $space)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone
"""


async def forget_some(tx: Tx, space: str, limit: int = BATCH) -> int:
    """How many nodes went; less than `limit` when none is left."""
    return int((await rows(tx, FORGET_SPACE, space=space, limit=limit))[0]["gone"])


async def forget_space(graph: Graph, space: str) -> int:
    """Every node of `space` and the space itself; how many that were. Walks through the whole store once a batch."""
    gone = 0
    while (some := await graph.write(forget_some, space)) == BATCH:
        gone += some
    return gone + some
