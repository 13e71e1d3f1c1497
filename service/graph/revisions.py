"""What may this viewer know of what newer facts change? Only of facts that they may read, both, and that one person is now held
to have said; and how many of what they may read were not compared yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from service.graph.driver import Tx, rows
from service.types.revisions import Change, Lag, Revision

if TYPE_CHECKING:
    from service.graph.access import ReadScope

MAX_REVISIONS = 20
"""Newer facts told with one, the newest: who says a thing more often has a profile for it."""

LIST_REVISIONS = """
UNWIND $ids AS wanted
MATCH (f:Fact {id: wanted, space: $space})-[:FOR]->(a:Audience) WHERE a.id IN $audiences
MATCH (f)<-[r:REVISES]-(newer:Fact)-[:FOR]->(b:Audience) WHERE b.id IN $audiences
MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(:Message)<-[:SPEAKS]-(p:Person)
MATCH (newer)-[:EVIDENCED_BY {role: 'source'}]->(:Message)<-[:SPEAKS]-(q:Person)
MATCH (p) (()-[:MERGED_INTO]->()){0,12} (x:Person) WHERE NOT EXISTS { (x)-[:MERGED_INTO]->() }
MATCH (q) (()-[:MERGED_INTO]->()){0,12} (y:Person) WHERE NOT EXISTS { (y)-[:MERGED_INTO]->() } AND y.id = x.id
WITH DISTINCT wanted, newer, r ORDER BY newer.said_at DESC, newer.id
RETURN wanted, collect({fact_id: newer.id, change: r.change, said_at: newer.said_at})[0..$most] AS revisions
"""

FIND_LAG = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(f:Fact {space: $space})-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WITH f, head(COLLECT {
  MATCH (p:Person)-[:SPEAKS]->(m)
  MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
  RETURN shown.id
}) AS speaker
WITH f WHERE f.compared_as IS NULL OR f.compared_as <> $reviser + ' ' + f.extractor + ' ' + coalesce(speaker, 'nobody')
RETURN count(f) AS pending, min(f.said_at) AS oldest
"""


async def list_revisions(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, tuple[Revision, ...]]:
    """For each of `ids` that the scope holds and something changes: by what visible facts, newest first. What somebody else is
    now known to have said changes nothing, whatever it was compared as."""
    found = await rows(
        tx, LIST_REVISIONS, space=scope.space, audiences=scope.audiences, ids=list(ids), most=MAX_REVISIONS
    )  # fmt: skip
    return {
        row["wanted"]: tuple(Revision(r["fact_id"], Change(r["change"]), r["said_at"]) for r in row["revisions"])
        for row in found
    }


async def find_lag(tx: Tx, scope: ReadScope, reviser: str) -> Lag:
    (row,) = await rows(tx, FIND_LAG, space=scope.space, audiences=scope.audiences, reviser=reviser)
    return Lag(row["pending"], row["oldest"])
