"""Who spoke when in a session whose recording is processed again? For who writes its new revision: no gate stands before it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from service.graph.cypher import holding
from service.graph.driver import Tx, rows
from service.graph.voices import consent_of
from service.types.people import Former


@dataclass(frozen=True, slots=True)
class FormerTurn:
    message_id: str
    start: float
    end: float
    person_id: str | None


LIST_FORMER_TURNS = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
OPTIONAL MATCH (p:Person)-[:SPEAKS]->(m) WHERE coalesce(p.tombstone, false) = false
RETURN m.id AS message_id, m.start AS start, m.end AS end, p.id AS person_id, m.index AS index
ORDER BY index
"""

LIST_FORMER = holding("""
MATCH (p:Person {space: $space}) WHERE p.id IN $ids AND coalesce(p.tombstone, false) = false
RETURN p.id AS person_id, coalesce(p.num_turns, 0) AS num_turns, coalesce(p.net_speech, 0.0) AS net_speech,
       COLLECT { MATCH (p)-[:MERGED_INTO]->+(root:Person) WHERE NOT EXISTS { (root)-[:MERGED_INTO]->(:Person) }
                 RETURN root.id LIMIT 1 } AS same_as,
       COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: 'remember_voice'})
                 <holds> } AS consent,
       COLLECT { MATCH (p)-[:MERGED_INTO]-+(member:Person)
                 WITH DISTINCT member WHERE member <> p
                 RETURN COLLECT { MATCH (member)-[:GAVE]->(c:Consent {purpose: 'remember_voice'})
                                  <holds>
                                }[0] } AS consents_of_set
""")


async def list_former_turns(tx: Tx, space: str, session_id: str) -> list[FormerTurn]:
    """All turns of the session in spoken order; none where it is gone."""
    found = await rows(tx, LIST_FORMER_TURNS, space=space, session_id=session_id)
    return [FormerTurn(row["message_id"], row["start"], row["end"], row["person_id"]) for row in found]


async def list_former(tx: Tx, space: str, people: Collection[str]) -> dict[str, Former]:
    """Those of `people` (ids) who are there, as they are now."""
    found = await rows(tx, LIST_FORMER, space=space, ids=sorted(people)) if people else []
    return {
        row["person_id"]: Former(
            row["person_id"],
            row["num_turns"],
            row["net_speech"],
            consent_of(row["consent"], row["consents_of_set"]),
            row["same_as"][0] if row["same_as"] else None,
        )
        for row in found
    }
