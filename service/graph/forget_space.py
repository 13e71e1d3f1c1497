"""How does everything of one tenant go? For the demo, which begins afresh each time; erasing one person is another matter."""

from __future__ import annotations

from service.graph.driver import Graph, Tx, rows

BATCH = 2_000
"""Nodes a transaction: some 20 MB of its memory, whatever the space holds."""

FORGET_LEAVES = """
MATCH (n:Message|Fact {space: $space})
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone
"""
"""What has a few edges each goes first. People, sessions and audiences have hundreds: 2,000 of them with all their edges are
over 700 MB in one transaction, more than a small server gives to all of them."""

FORGET_SPACE = """
MATCH (n) WHERE n.space = $space OR (n:Space AND n.id = $space)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone
"""


async def forget_some(tx: Tx, space: str, *, leaves: bool, limit: int = BATCH) -> int:
    """How many nodes went; less than `limit` when none is left. `leaves`: messages and facts only."""
    return int((await rows(tx, FORGET_LEAVES if leaves else FORGET_SPACE, space=space, limit=limit))[0]["gone"])


async def forget_space(graph: Graph, space: str, *, batch: int = BATCH) -> int:
    """Every node of `space` and the space itself; how many that were. Walks through the whole store once a batch."""
    gone = 0
    for leaves in (True, False):
        while some := await graph.write(forget_some, space, leaves=leaves, limit=batch):
            gone += some
    return gone
