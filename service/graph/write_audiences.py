"""How is it written who may read a message, or a fact? Audiences are immutable: a message moves from one to another, and the
facts made from it follow in the same transaction, so that nobody ever reads a fact who may not read all it is made from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from service.graph.driver import Tx, rows
from service.types.ids import derived

Readers = frozenset[str]
"""Person ids; empty: nobody but who reads everything."""
PUBLIC = "public"
"""Stands among the readers of what everybody may read."""

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
WHERE m.erased_at IS NULL AND NOT EXISTS { (m)-[:FOR]->(every:Audience) WHERE every.public }
  AND NOT EXISTS { (m)<-[:SPEAKS]-(p:Person) WHERE p.tombstone }
MATCH (a:Audience {space: $space, id: row.audience})
OPTIONAL MATCH (m)-[old:FOR]->(before:Audience)
WHERE before.id <> a.id
DELETE old
MERGE (m)-[:FOR]->(a)
SET m.audience = a.id, m.readers = row.readers
RETURN DISTINCT before.id AS id
"""

LIST_FACTS_OF_MESSAGES = """
UNWIND $messages AS message
MATCH (:Message {space: $space, id: message})<-[:EVIDENCED_BY]-(f:Fact)
RETURN DISTINCT f.id AS id
"""

LIST_AUDIENCES_OF_EVIDENCE = """
UNWIND $facts AS fact
MATCH (f:Fact {space: $space, id: fact})-[:EVIDENCED_BY]->(m:Message)
RETURN f.id AS fact, collect(DISTINCT head(COLLECT { MATCH (m)-[:FOR]->(a:Audience) RETURN a.id })) AS audiences,
       count(m) = sum(COUNT { (m)-[:FOR]->(:Audience) }) AS all_have
"""

LIST_READERS = """
UNWIND $audiences AS audience
MATCH (a:Audience {space: $space, id: audience})
RETURN a.id AS id, a.public AS public, COLLECT { MATCH (p:Person)-[:MAY_READ]->(a) RETURN p.id } AS readers
"""

MOVE_FACTS = """
UNWIND $moves AS row
MATCH (f:Fact {space: $space, id: row.fact})
MATCH (a:Audience {space: $space, id: row.audience})
OPTIONAL MATCH (f)-[old:FOR]->(before:Audience)
WHERE before.id <> a.id
DELETE old
MERGE (f)-[:FOR]->(a)
SET f.audience = a.id, f.readers = row.readers
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
    """Let each message (by id) be read by exactly these people, and the facts made from them by whoever may read all that they
    are made from; audiences that nothing is for any more are removed. What everybody may read stays everybody's, and what is
    erased nobody's.

    The caller holds the lock of the space."""
    if not readers:
        return
    await save_audiences(tx, space, readers.values())
    moves = [
        {"message_id": message, "audience": audience_id(space, who), "readers": readers_text(who)}
        for message, who in readers.items()
    ]
    left = [row["id"] for row in await rows(tx, MOVE_MESSAGES, space=space, moves=moves) if row["id"]]
    facts = [row["id"] for row in await rows(tx, LIST_FACTS_OF_MESSAGES, space=space, messages=list(readers))]
    left += await _move_facts(tx, space, facts)
    await forget_unused(tx, space, [*left, *(move["audience"] for move in moves)])


async def settle_facts(tx: Tx, space: str, facts: Sequence[str]) -> None:
    """Let each fact (by id) be read by whoever may read all of its evidence, as that stands now. The caller holds the lock."""
    await forget_unused(tx, space, await _move_facts(tx, space, facts))


async def _move_facts(tx: Tx, space: str, facts: Sequence[str]) -> list[str]:
    """Ids of the audiences that they left."""
    if not facts:
        return []
    evidence = await rows(tx, LIST_AUDIENCES_OF_EVIDENCE, space=space, facts=list(facts))
    named = sorted({id for row in evidence for id in row["audiences"]})
    known = {row["id"]: row for row in await rows(tx, LIST_READERS, space=space, audiences=named)}
    open_to_all = {id for id, row in known.items() if row["public"]}
    moves, wanted = [], []
    for row in evidence:
        private = [id for id in row["audiences"] if id not in open_to_all]
        if row["all_have"] and not private:
            moves.append({"fact": row["fact"], "audience": min(row["audiences"]), "readers": PUBLIC})
            continue
        in_all = [frozenset(known[id]["readers"]) for id in private]
        who: Readers = frozenset.intersection(*in_all) if row["all_have"] else frozenset()
        wanted.append(who)
        moves.append({"fact": row["fact"], "audience": audience_id(space, who), "readers": readers_text(who)})
    await save_audiences(tx, space, wanted)
    return [row["id"] for row in await rows(tx, MOVE_FACTS, space=space, moves=moves) if row["id"]]


async def save_audiences(tx: Tx, space: str, readers: Collection[Readers]) -> None:
    """One for each set of readers. The caller holds the lock of the space, and forgets those that nothing comes to be for."""
    audiences = [{"id": audience_id(space, who), "readers": sorted(who)} for who in sorted(set(readers), key=sorted)]
    await tx.run(SAVE_AUDIENCES, space=space, audiences=audiences)


async def forget_unused(tx: Tx, space: str, audiences: Sequence[str]) -> None:
    """Remove those of `audiences` (ids) that nothing is for."""
    if audiences:
        await tx.run(FORGET_UNUSED_AUDIENCES, space=space, ids=sorted(set(audiences)))
