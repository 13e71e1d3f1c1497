"""Which entities do these words name, of those that the viewer may know to be spoken of? For words still being said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from service.graph.driver import rows
from service.types.entities import EntityType, NamedEntity

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

FIND_NAMED_ENTITIES = """
UNWIND $names AS name
UNWIND $types AS type
MATCH (given:Entity {space: $space, type: type, normal_name: name})
CALL (given) {
  MATCH (given)-[in:MENTIONED_IN]->(told)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  RETURN in.surface AS surface, count(told) AS times ORDER BY times DESC, surface LIMIT 1
}
MATCH (given) (()-[:ALIAS_OF]->()){0,8} (e:Entity) WHERE NOT EXISTS { (e)-[:ALIAS_OF]->() }
WITH e, collect({surface: surface, times: times}) AS said
RETURN e.id AS id, e.type AS type, head(said).surface AS name, reduce(n = 0, one IN said | n + one.times) AS times
ORDER BY times DESC, id LIMIT $most
"""


async def find_named_entities(tx: Tx, scope: ReadScope, names: Sequence[str], most: int) -> tuple[NamedEntity, ...]:
    """Those whose normalised name is among `names` and is mentioned in what the scope holds, the one mentioned most first."""
    found = await rows(
        tx, FIND_NAMED_ENTITIES, space=scope.space, audiences=scope.audiences, names=list(names),
        types=[type.value for type in EntityType], most=most,
    )  # fmt: skip
    return tuple(NamedEntity(row["id"], row["name"], EntityType(row["type"])) for row in found)
