"""How is it written who may read a message? Audiences are immutable: a message moves from one to another."""

from __future__ import annotations

from collections.abc import Mapping

from service.graph.driver import Tx, rows
from service.types.ids import derived

Readers = frozenset[str]
"""Person ids; empty: nobody but who reads everything."""

SAVE_AUDIENCES = """
UNWIND $audiences AS row
MERGE (a:Audience {id: row.id})
ON CREATE SET a.space = $space, a.created_at = datetime(), a.public = false, a.num_readers = size(row.readers)
WITH a, row
UNWIND row.readers AS reader
MATCH (p:Person {space: $space, id: reader})
MERGE (p)-[:MAY_READ]->(a)
"""

MOVE_MESSAGES = """
UNWIND $moves AS row
MATCH (m:Message {space: $space, id: row.message_id})
MATCH (a:Audience {space: $space, id: row.audience})
OPTIONAL MATCH (m)-[old:FOR]->(before:Audience)
WHERE before.id <> a.id
DELETE old
MERGE (m)-[:FOR]->(a)
SET m.audience = a.id, m.readers = row.readers
RETURN DISTINCT before.id AS id
"""

FORGET_UNUSED_AUDIENCES = """
UNWIND $ids AS id
MATCH (a:Audience {space: $space, id: id})
WHERE NOT EXISTS { ()-[:FOR]->(a) }
DETACH DELETE a
"""


def audience_id(space: str, readers: Readers) -> str:
    return derived("audience", space, *sorted(readers))


def readers_text(readers: Readers) -> str:
    """What the full-text index holds: ids without hyphens, so that each is one word."""
    return " ".join(person.replace("-", "") for person in sorted(readers))


async def move_messages(tx: Tx, space: str, readers: Mapping[str, Readers]) -> None:
    """Let each message (by id) be read by exactly these people; audiences without a message left are removed.

    The caller holds the lock of the space."""
    if not readers:
        return
    audiences = [{"id": audience_id(space, who), "readers": sorted(who)} for who in sorted(set(readers.values()), key=sorted)]
    await tx.run(SAVE_AUDIENCES, space=space, audiences=audiences)
    moves = [
        {"message_id": message, "audience": audience_id(space, who), "readers": readers_text(who)}
        for message, who in readers.items()
    ]
    left = [row["id"] for row in await rows(tx, MOVE_MESSAGES, space=space, moves=moves) if row["id"]]
    if left:
        await tx.run(FORGET_UNUSED_AUDIENCES, space=space, ids=left)
