"""How is it kept what newer facts change? The queue is the facts themselves: one waits until it says that it was compared as
what it is now, by extractor, comparison and speaker. So it is done exactly once, goes on where it broke off, and is done
again for facts whose speaker was put right. Compared outside of any transaction, what came of it is kept only where nothing
that was looked at has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.types.facts import FactKind
from service.types.revisions import Change, Compared, Waiting

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

LIST_STILL_PENDING = """
UNWIND $ids AS id
MATCH (f:Fact {id: id, space: $space})-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WITH f, head(COLLECT {
  MATCH (p:Person)-[:SPEAKS]->(m)
  MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
  RETURN shown.id
}) AS speaker
WITH f, $reviser + ' ' + f.extractor + ' ' + coalesce(speaker, 'nobody') AS mark
WHERE f.compared_as IS NULL OR f.compared_as <> mark
RETURN f.id AS id, mark
"""

LIST_IDS_TO_COMPARE = """
UNWIND $speakers AS speaker
MATCH (:Person {id: speaker, space: $space}) (()<-[:MERGED_INTO]-()){0,12} (p:Person)
WITH DISTINCT speaker, p
MATCH (p)-[:SPEAKS]->(:Message)<-[:EVIDENCED_BY {role: 'source'}]-(f:Fact)
RETURN speaker, collect(f.id) AS ids
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


async def list_waiting(tx: Tx, space: str, session_id: str | None, reviser: str, limit: int) -> list[Waiting]:
    """The next facts to compare, of one session or of all, with all that their speakers said."""
    pending = await rows(tx, LIST_PENDING, space=space, session_id=session_id, reviser=reviser, limit=limit)
    found = await rows(tx, LIST_FACTS_TO_COMPARE, space=space, speakers=_speakers(row["speaker"] for row in pending))
    said = {
        row["speaker"]: tuple(Compared(**{**fact, "kind": FactKind(fact["kind"])}) for fact in row["facts"]) for row in found
    }
    return [Waiting(row["id"], row["speaker"], row["mark"], said.get(row["speaker"], ())) for row in pending]


async def save_compared(
    tx: Tx, space: str, reviser: str, compared: Sequence[Waiting], revisions: Mapping[str, Mapping[tuple[str, str], Change]]
) -> int:
    """By the id of each of `compared`, what came of it, by (newer, older); of how many it was kept. Those that are not what
    they were, or whose speaker has said more or less since, wait on."""
    await lock_space(tx, space)
    waiting = {
        row["id"]: row["mark"]
        for row in await rows(tx, LIST_STILL_PENDING, space=space, reviser=reviser, ids=[one.id for one in compared])
    }
    speakers = _speakers(one.speaker for one in compared)
    said = {row["speaker"]: set(row["ids"]) for row in await rows(tx, LIST_IDS_TO_COMPARE, space=space, speakers=speakers)}
    kept = [
        one
        for one in compared
        if waiting.get(one.id) == one.mark and {fact.id for fact in one.facts} == said.get(one.speaker or "", set())
    ]
    made = {pair: change for one in kept for pair, change in revisions[one.id].items()}
    await tx.run(SAVE_COMPARED, space=space, facts=[{"id": one.id, "mark": one.mark} for one in kept])
    written = [{"newer": newer, "older": older, "change": change.value} for (newer, older), change in sorted(made.items())]
    await tx.run(SAVE_REVISIONS, space=space, revisions=written)
    return len(kept)


def _speakers(found: Iterable[str | None]) -> list[str]:
    return sorted({speaker for speaker in found if speaker})
