"""Did one of these people refuse what a purpose asks for? Whoever was never asked did not."""

from __future__ import annotations

from collections.abc import Sequence

from service.graph.cypher import holding
from service.graph.driver import Tx, rows

LIST_UNWILLING = holding("""
MATCH (p:Person {space: $space}) WHERE p.id IN $people AND any(purpose IN $purposes
  WHERE COLLECT { MATCH (p)-[:GAVE]->(c:Consent) WHERE c.purpose = purpose
                  <holds> }[0]
    IN ['withdrawn', 'opted_out'])
RETURN p.id AS id ORDER BY id
""")


async def list_refused(tx: Tx, space: str, people: Sequence[str], purposes: Sequence[str]) -> list[str]:
    """Those of these very people whose newest consent to one of `purposes` is a refusal."""
    found = await rows(tx, LIST_UNWILLING, space=space, people=list(people), purposes=list(purposes))
    return [row["id"] for row in found]


async def any_refused(tx: Tx, space: str, people: Sequence[str], purpose: str) -> bool:
    """Whether the newest consent of one of these very people to `purpose` is a refusal."""
    return bool(await list_refused(tx, space, people, [purpose]))
