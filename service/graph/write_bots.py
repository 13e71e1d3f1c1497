"""How is it written that somebody is a program, as a bot that takes notes? In the transaction that its caller runs, with the
record that undoes it. A program reads nothing as itself, whatever it was there for (service.graph.access)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from service.graph.driver import Tx, rows
from service.graph.merges import list_merges
from service.graph.spaces import lock_space
from service.graph.write_corrections import Corrected, CorrectionConflict, NewCorrection, living, save_correction, touch
from service.types.ids import fresh

BOT = "bot"
"""Person.kind, and the kind of the Correction."""

MARK_BOTS = """
MATCH (p:Person {space: $space})
WHERE p.id IN $ids AND coalesce(p.tombstone, false) = false AND coalesce(p.kind, '') <> 'bot'
SET p.kind = 'bot'
RETURN p.id AS id
"""

UNMARK_BOTS = """
MATCH (p:Person {space: $space})
WHERE p.id IN $ids AND p.kind = 'bot'
SET p.kind = CASE WHEN p.display_name IS NULL THEN 'anonymous' ELSE 'named' END
"""

FIND_STANDING = """
MATCH (c:Correction {space: $space, kind: 'bot'})
WHERE c.undone_at IS NULL AND $person IN c.people
RETURN c.id AS id
"""

LIST_SETTLED_WITHOUT = """
MATCH (p:Person {space: $space}) WHERE p.id IN $ids
CALL (p) {
  MATCH (p)-[:ATTENDED]->(s:Session) RETURN s
  UNION
  MATCH (p)-[:SPEAKS]->(:Message)-[:IN_SESSION]->(s:Session) RETURN s
}
WITH p, s
WHERE s.status = 'complete' AND NOT EXISTS { (p)-[:MAY_READ]->(:Audience)<-[:FOR]-(:Message)-[:IN_SESSION]->(s) }
RETURN DISTINCT s.id AS id
ORDER BY id
"""

LEAVE_TO_FOLLOW = """
MATCH (a:Account {space: $space})-[:IS]->(p:Person)
WHERE p.id IN $ids
SET a.follows_since = $at
"""


async def say_bot(tx: Tx, space: str, person: str, *, actor: str, why: str) -> Corrected:
    """The person is a program, and so is everybody who is one with it by confirmed merges. What its logins tell of meetings
    before is another matter now, and left to whoever follows them up (`follows_since`).

    Raises NotFound, CorrectionConflict where it was said before."""
    await lock_space(tx, space)
    await living(tx, space, (person,))
    sets = await list_merges(tx, space, [person])
    same = sorted(one for one in sets.members(person) if sets.top(one) == sets.top(person))
    marked = sorted(row["id"] for row in await rows(tx, MARK_BOTS, space=space, ids=same))
    if not marked:
        standing = await rows(tx, FIND_STANDING, space=space, person=person)
        raise CorrectionConflict(
            what=f"Saying that {person} is a bot", why="it was said before", correction=standing[0]["id"] if standing else None
        )
    correction = fresh()
    record = {"bots": marked, "revision": await touch(tx, space, marked)}
    await _leave_to_follow(tx, space, marked)
    await save_correction(tx, NewCorrection(correction, space, BOT, actor, why, marked, (), record))
    return Corrected(correction, BOT, tuple(marked), person_id=sets.root(person))


async def say_no_bot(tx: Tx, space: str, record: Mapping[str, Any]) -> list[str]:
    """Undo it by its record: they are people again, with a name or without. Ids of the sessions that they were in and may read
    nothing of: those were settled meanwhile."""
    await tx.run(UNMARK_BOTS, space=space, ids=record["bots"])
    await touch(tx, space, record["bots"])
    await _leave_to_follow(tx, space, record["bots"])
    return [row["id"] for row in await rows(tx, LIST_SETTLED_WITHOUT, space=space, ids=record["bots"])]


async def _leave_to_follow(tx: Tx, space: str, people: Sequence[str]) -> None:
    await tx.run(LEAVE_TO_FOLLOW, space=space, ids=list(people), at=datetime.now(UTC))
