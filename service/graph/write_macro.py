"""How is it written which themes go together? Counted anew over all turns of the space, in one pass: themes are a short list,
and every session touches most of their pairs."""

from __future__ import annotations

from service.graph.driver import Tx
from service.graph.spaces import lock_space

SAVE_MACRO = """
MATCH (s:Schema {space: $space})<-[:IN_SCHEMA]-(e:Entity)-[:MENTIONED_IN]->(m:Message)
WITH m, collect(DISTINCT s) AS themes WHERE size(themes) > 1
UNWIND themes AS a
UNWIND themes AS b
WITH a, b, m WHERE a.id < b.id
WITH a, b, collect(m.said_at.epochSeconds) AS times, max(m.said_at) AS at
MERGE (a)-[macro:MACRO]->(b)
SET macro.at = at, macro.weight = round(
  reduce(sum = 0.0, t IN times | sum + 0.5 ^ ((at.epochSeconds - t) / ($half_life_days * 86400.0))), 6)
"""
"""Rounded, so that it is the same in whatever order the turns are added up."""

FORGET_OTHER_MACRO = """
MATCH (a:Schema {space: $space})-[macro:MACRO]->(b:Schema)
WHERE NOT EXISTS {
  MATCH (a)<-[:IN_SCHEMA]-(:Entity)-[:MENTIONED_IN]->(m:Message)<-[:MENTIONED_IN]-(:Entity)-[:IN_SCHEMA]->(b)
}
DELETE macro
"""


async def save_macro(tx: Tx, space: str, *, half_life_days: float) -> None:
    """Each two themes that turns speak of together are linked, from the smaller id to the greater, and no others."""
    await lock_space(tx, space)
    await tx.run(SAVE_MACRO, space=space, half_life_days=half_life_days)
    await tx.run(FORGET_OTHER_MACRO, space=space)
