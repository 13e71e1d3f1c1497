"""What is left of a person who was erased? An id that nobody can become again, what they said about being known, and, where
they opted out, marks that are bound to nobody."""

from __future__ import annotations

from service.graph.cypher import holding
from service.graph.driver import Tx, rows
from service.graph.opt_outs import forget_opt_outs_of, leave_opt_outs_of

LEAVE_TOMBSTONE = holding("""
MATCH (p:Person {space: $space, id: $person_id})
WITH p, p.created_at AS created_at, COLLECT {
  UNWIND ['remember_voice', 'attribute'] AS purpose
  RETURN COLLECT { MATCH (p)-[:GAVE]->(c:Consent) WHERE c.purpose = purpose
                   <holds> }[0]
} AS states
SET p = {id: $person_id, space: $space, created_at: created_at, tombstone: true}
WITH p, states
CALL (p) {
  MATCH (p)-[:GAVE]->(c:Consent)
  REMOVE c.evidence, c.recorded_by
}
RETURN 'opted_out' IN states AS opted_out
""")


async def leave_tombstone(tx: Tx, space: str, person_id: str) -> bool:
    """Take every property from the person but the id, and say of it that it is erased: nothing writes to it again. Their
    consents stay as proof, without what may name them; edges are the caller's to delete, but for GAVE. Whether they opted out:
    then the marks that they are known again by outlive them, and else go with them. Safe to repeat; a person who is not there
    is none.

    The caller holds the lock of the space and makes a new identity_revision in this transaction."""
    found = await rows(tx, LEAVE_TOMBSTONE, space=space, person_id=person_id)
    opted_out = bool(found and found[0]["opted_out"])
    if opted_out:
        await leave_opt_outs_of(tx, space, person_id)
    else:
        await forget_opt_outs_of(tx, space, person_id)
    return opted_out
