"""Did one of these people refuse what a purpose asks for? Whoever was never asked did not."""

from __future__ import annotations

from collections.abc import Sequence

from service.graph.driver import Tx, rows

FIND_UNWILLING = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people
  AND COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: $purpose})
                RETURN c.state ORDER BY c.at DESC, c.created_at DESC, c.state <> 'granted' DESC LIMIT 1 }[0]
    IN ['withdrawn', 'opted_out']
RETURN p.id AS id LIMIT 1
"""


async def any_refused(tx: Tx, space: str, people: Sequence[str], purpose: str) -> bool:
    """Whether the newest consent of one of these very people to `purpose` is a refusal."""
    return bool(await rows(tx, FIND_UNWILLING, space=space, people=list(people), purpose=purpose))
