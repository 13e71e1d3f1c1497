"""Which themes go together, as this viewer may know it? Counted over visible turns when it is read, as everything that is told
of a theme; what the graph keeps of it (MACRO) is of all turns, and shown to nobody."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from service.graph.driver import rows
from service.types.entities import RelatedTheme, Strength

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

LIST_RELATED_THEMES = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(told)<-[:MENTIONED_IN]-(named:Entity {space: $space})
WITH named, count(told) AS times
MATCH (named) (()-[:ALIAS_OF]->()){0,8} (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
WITH root, named, times ORDER BY named.id = root.id DESC, times DESC, named.id
WITH root, collect(named) AS names
WITH names, head(names) AS e
MATCH (e)-[:IN_SCHEMA]->(s:Schema)
UNWIND names AS name
MATCH (name)-[:MENTIONED_IN]->(m:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
WITH m, collect(DISTINCT s.label) AS themes,
  0.5 ^ (($at.epochSeconds - m.said_at.epochSeconds) / ($half_life_days * 86400.0)) AS weight
UNWIND themes AS one
UNWIND themes AS other
RETURN one, other, count(m) AS num_messages, sum(weight) AS weight
ORDER BY one, weight DESC, other
"""


async def list_related_themes(
    tx: Tx, scope: ReadScope, *, at: datetime, half_life_days: float, strong: float, strong_share: float, most: int
) -> dict[str, tuple[RelatedTheme, ...]]:
    """By label: themes that visible turns speak of together with it, the weightiest first, at most `most`. Strong are two from
    the weight `strong` on, where that is `strong_share` of the lighter one's. Walks through all that the scope holds."""
    found = await rows(
        tx, LIST_RELATED_THEMES, space=scope.space, audiences=scope.audiences, at=at, half_life_days=half_life_days
    )  # fmt: skip
    alone = {row["one"]: row["weight"] for row in found if row["one"] == row["other"]}
    related: dict[str, list[RelatedTheme]] = {label: [] for label in alone}
    for row in found:
        if row["one"] != row["other"]:
            least = max(strong, strong_share * min(alone[row["one"]], alone[row["other"]]))
            strength = Strength.of(row["weight"], least)
            related[row["one"]].append(RelatedTheme(row["other"], row["num_messages"], row["weight"], strength))
    return {label: tuple(each[:most]) for label, each in related.items()}
