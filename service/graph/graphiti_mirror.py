"""How does what Graphiti keeps of us go? In one transaction, with what nothing else needs: its own leaves parts.

Graphiti's nodes stand in the same database under names of its own (`uuid`, `group_id`), never ours (`id`, `space`), so that no
query of the one finds anything of the other. Written by Graphiti itself: `service/engines/graphiti.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.graph.driver import Graph, Tx, rows

FORGET_GRAPHITI_FACTS = """
UNWIND $uuids AS uuid
MATCH (a:Entity)-[r:RELATES_TO {uuid: uuid}]->(b:Entity)
WHERE r.group_id STARTS WITH $prefix
WITH r, a.uuid AS start, b.uuid AS end
DELETE r
RETURN collect(DISTINCT start) + collect(DISTINCT end) AS ends
"""

FORGET_GRAPHITI_EPISODES = """
UNWIND $uuids AS uuid
MATCH (e:Episodic {uuid: uuid})
WHERE e.group_id STARTS WITH $prefix
DETACH DELETE e
"""

FORGET_GRAPHITI_LEFT = """
UNWIND $uuids AS uuid
MATCH (n:Entity {uuid: uuid})
WHERE n.group_id STARTS WITH $prefix AND NOT EXISTS { (n)-[:RELATES_TO]-() } AND NOT EXISTS { (:Episodic)-[:MENTIONS]->(n) }
DETACH DELETE n
"""

FORGET_GRAPHITI_SPACE = """
CALL () {
  MATCH (e:Episodic) WHERE e.group_id STARTS WITH $prefix RETURN e AS n LIMIT $limit
  UNION
  MATCH (e:Entity) WHERE e.group_id STARTS WITH $prefix RETURN e AS n LIMIT $limit
}
DETACH DELETE n
RETURN count(*) AS gone
"""


async def forget_graphiti_items(tx: Tx, prefix: str, uuids: Sequence[str]) -> None:
    """Episodes and facts of these uuids, in groups that begin with `prefix`, and what only they were about."""
    found = await rows(tx, FORGET_GRAPHITI_FACTS, prefix=prefix, uuids=list(uuids))
    await tx.run(FORGET_GRAPHITI_EPISODES, prefix=prefix, uuids=list(uuids))
    await tx.run(FORGET_GRAPHITI_LEFT, prefix=prefix, uuids=found[0]["ends"])


async def _forget_some(tx: Tx, prefix: str, limit: int) -> int:
    return int((await rows(tx, FORGET_GRAPHITI_SPACE, prefix=prefix, limit=limit))[0]["gone"])


async def forget_graphiti_groups(graph: Graph, prefix: str, *, batch: int = 1_000) -> None:
    """Everything in groups that begin with `prefix`."""
    while await graph.write(_forget_some, prefix, batch):
        pass
