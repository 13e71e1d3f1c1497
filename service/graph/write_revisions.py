"""How is it kept what newer facts change? The queue is the facts themselves: one waits until it says that it was compared as
what it is now, by extractor, comparison and speaker. So it is done exactly once, goes on where it broke off, and is done
again for facts whose speaker was put right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.types.facts import FactKind
from service.types.revisions import Change, Compared, Comparison

LIST_PENDING = """
MATCH (f:Fact {space: $space})-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WHERE $session_id IS NULL OR f.session_id = $session_id
WITH f, head(COLLECT {
  MATCH (p:Person)-[:SPEAKS]->(m)
  MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
  RETURN shown.id
}) AS speaker
WITH f, speaker, $reviser + ' ' + f.extractor + ' ' + coalesce(speaker, 'nobody') AS mark
WHERE f.compared_as IS NULL OR f.compared_as <> mark
RETURN f.id AS id, speaker, mark ORDER BY f.said_at, f.id LIMIT $limit
"""

LIST_FACTS_TO_COMPARE = """
UNWIND $speakers AS speaker
MATCH (:Person {id: speaker, space: $space}) (()<-[:MERGED_INTO]-()){0,12} (p:Person)
WITH DISTINCT speaker, p
MATCH (p)-[:SPEAKS]->(:Message)<-[:EVIDENCED_BY {role: 'source'}]-(f:Fact)
RETURN speaker, collect(f {.id, .statement, .kind, .attribute, .value, .said_at}) AS facts
"""

SAVE_COMPARED = """
UNWIND $facts AS row
MATCH (f:Fact {id: row.id, space: $space})
SET f.compared_as = row.mark
WITH f
MATCH (f)-[old:REVISES]-(:Fact)
DELETE old
"""

SAVE_REVISIONS = """
UNWIND $revisions AS row
MATCH (newer:Fact {id: row.newer, space: $space})
MATCH (older:Fact {id: row.older, space: $space})
MERGE (newer)-[r:REVISES]->(older)
SET r.change = row.change
"""


async def compare_some(tx: Tx, space: str, session_id: str | None, change: Comparison, reviser: str, limit: int) -> int:
    """Compare the next facts that wait, of one session or of all, with all that their speakers said; how many that were."""
    await lock_space(tx, space)
    pending = await rows(tx, LIST_PENDING, space=space, session_id=session_id, reviser=reviser, limit=limit)
    speakers = sorted({row["speaker"] for row in pending if row["speaker"]})
    said = {
        row["speaker"]: [_compared(fact) for fact in row["facts"]]
        for row in await rows(tx, LIST_FACTS_TO_COMPARE, space=space, speakers=speakers)
    }
    revisions = {
        pair: made for row in pending for pair, made in _revisions(row["id"], said.get(row["speaker"], ()), change).items()
    }
    await tx.run(SAVE_COMPARED, space=space, facts=[{"id": row["id"], "mark": row["mark"]} for row in pending])
    written = [{"newer": newer, "older": older, "change": made.value} for (newer, older), made in sorted(revisions.items())]
    await tx.run(SAVE_REVISIONS, space=space, revisions=written)
    return len(pending)


def _revisions(id: str, facts: Sequence[Compared], change: Comparison) -> dict[tuple[str, str], Change]:
    """By (newer, older)."""
    one = next((fact for fact in facts if fact.id == id), None)
    found: dict[tuple[str, str], Change] = {}
    for other in facts if one is not None else ():
        if one is not None and other.id != id and (made := change(one, other)) is not None:
            older, newer = sorted((one, other), key=lambda fact: fact.place)
            found[newer.id, older.id] = made
    return found


def _compared(fact: Mapping[str, Any]) -> Compared:
    return Compared(**{**fact, "kind": FactKind(fact["kind"])})
