"""Which names did somebody hold to be one? As far as the viewer may read where each of the two is spoken of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from service.graph.driver import rows
from service.types.entities import EntityType, JoinedName

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

LIST_ALIASES = """
UNWIND $ids AS wanted
MATCH (given:Entity {id: wanted, space: $space})
WHERE EXISTS { MATCH (given)-[:MENTIONED_IN]->()-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
MATCH (given) (()-[:ALIAS_OF]->()){0,8} (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
MATCH (root) (()<-[:ALIAS_OF]-()){0,8} (same:Entity)
MATCH (same)-[alias:ALIAS_OF]->(of:Entity)
WHERE EXISTS { MATCH (of)-[:MENTIONED_IN]->()-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
CALL (same) {
  MATCH (same)-[in:MENTIONED_IN]->(told)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  RETURN in.surface AS surface, count(told) AS times ORDER BY times DESC, surface LIMIT 1
}
RETURN wanted, same.id AS id, surface, same.type AS type, of.id AS of,
  CASE WHEN $reads_all THEN alias.by END AS by, CASE WHEN $reads_all THEN alias.why END AS why
ORDER BY wanted, surface, id
"""


async def list_aliases(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, tuple[JoinedName, ...]]:
    """For each of `ids` that the scope holds: the names that were held to be one with it, each with what it was joined to. Who
    said so and why, only for who reads everything: it may tell what somebody else may not know."""
    found = await rows(
        tx, LIST_ALIASES, space=scope.space, audiences=scope.audiences, ids=list(ids), reads_all=scope.reads_all
    )  # fmt: skip
    joined: dict[str, list[JoinedName]] = {}
    for row in found:
        one = JoinedName(row["id"], row["surface"], EntityType(row["type"]), row["of"], row["by"], row["why"])
        joined.setdefault(row["wanted"], []).append(one)
    return {wanted: tuple(each) for wanted, each in joined.items()}
