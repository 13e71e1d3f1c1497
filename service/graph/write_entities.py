"""How is it written what a session speaks of? Some turns at a time, each safe to repeat; then what is not mentioned any more
goes, what goes together is counted anew, and the session says who read it. Aliases are edges that somebody made and may take
away."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from service.errors import NotFound, VoicegraphError
from service.graph.audit import save_audit_event
from service.graph.driver import Tx, changes, rows
from service.graph.spaces import lock_space
from service.types.entities import EntityType, Mention
from service.types.ids import derived, fresh
from service.types.memory import SessionStatus


class AliasOfItself(VoicegraphError):
    code = "alias_of_itself"
    says = "The two are one entity already. Give two that are held to be different."
    http_status = 409


class AliasAlready(VoicegraphError):
    code = "alias_already"
    says = "{entity} is another name of {of} already. Take that back first (`voicegraph entities apart {entity}`)."
    http_status = 409


class AliasesTooLong(VoicegraphError):
    code = "aliases_too_long"
    says = "{most} names lead to {entity} already, each another name of the next. Take one of them back first."
    http_status = 409


@dataclass(frozen=True, slots=True)
class FactToRead:
    id: str
    statement: str
    evidence: tuple[str, ...]
    """Ids of messages, its source first."""


@dataclass(frozen=True, slots=True)
class Mentioned:
    """An entity is spoken of in a message or a fact."""

    target: str
    """Id of the Message or Fact."""
    mention: Mention
    theme: str


GET_ENTITIES_BY = """
MATCH (s:Session {space: $space, id: $session_id, status: $complete})
RETURN s.entities_by AS entities_by
"""

LIST_FACTS_TO_READ = """
MATCH (f:Fact {session_id: $session_id, space: $space})
RETURN f.id AS id, f.statement AS statement, COLLECT {
  MATCH (f)-[e:EVIDENCED_BY]->(m:Message) RETURN m.id ORDER BY e.role <> 'source', m.index
} AS evidence
ORDER BY id
"""

LIST_SESSIONS_WITHOUT_ENTITIES = """
MATCH (s:Session {space: $space, status: $complete})
WHERE $again OR s.entities_by IS NULL
RETURN s.id AS id
ORDER BY s.started_at, id
"""

SAVE_ENTITIES = """
UNWIND $entities AS row
MERGE (e:Entity {id: row.id})
ON CREATE SET e.space = $space, e.created_at = datetime(), e.type = row.type, e.normal_name = row.name
MERGE (s:Schema {id: row.theme_id})
ON CREATE SET s.space = $space, s.created_at = datetime(), s.label = row.theme
MERGE (e)-[:IN_SCHEMA]->(s)
"""

LEAVE_OTHER_SCHEMAS = """
UNWIND $entities AS row
MATCH (:Entity {id: row.id})-[in:IN_SCHEMA]->(s:Schema)
WHERE s.id <> row.theme_id
DELETE in
WITH DISTINCT s WHERE NOT EXISTS { (s)<-[:IN_SCHEMA]-() }
DETACH DELETE s
"""

SAVE_MENTIONS_IN_MESSAGES = """
UNWIND $mentions AS row
MATCH (m:Message {id: row.target, space: $space, session_id: $session_id}) WHERE m.erased_at IS NULL
MATCH (e:Entity {id: row.entity})
MERGE (e)-[in:MENTIONED_IN]->(m)
SET in.surface = row.surface, in.kind = row.kind
"""

SAVE_MENTIONS_IN_FACTS = """
UNWIND $mentions AS row
MATCH (f:Fact {id: row.target, space: $space, session_id: $session_id})
MATCH (e:Entity {id: row.entity})
MERGE (e)-[in:MENTIONED_IN]->(f)
SET in.surface = row.surface, in.kind = row.kind
"""

FORGET_OTHER_MENTIONS_IN_MESSAGES = """
MATCH (:Session {id: $session_id, space: $space})<-[:IN_SESSION]-(m:Message)<-[in:MENTIONED_IN]-(e:Entity)
WHERE NOT e.id + ' ' + m.id IN $kept
DELETE in
RETURN DISTINCT e.id AS lost
"""

FORGET_OTHER_MENTIONS_IN_FACTS = """
MATCH (f:Fact {session_id: $session_id, space: $space})<-[in:MENTIONED_IN]-(e:Entity)
WHERE NOT e.id + ' ' + f.id IN $kept
DELETE in
RETURN DISTINCT e.id AS lost
"""

LIST_NEIGHBOURS = """
UNWIND $entities AS id
MATCH (e:Entity {id: id, space: $space})-[:MICRO]-(other:Entity)
RETURN DISTINCT e.id AS one, other.id AS other
"""

SAVE_MICRO = """
UNWIND $pairs AS pair
MATCH (a:Entity {id: pair[0], space: $space})
MATCH (b:Entity {id: pair[1], space: $space})
OPTIONAL MATCH (a)-[:MENTIONED_IN]->(m:Message)<-[:MENTIONED_IN]-(b)
WITH a, b, collect(m.said_at) AS times, max(m.said_at) AS at
OPTIONAL MATCH (a)-[old:MICRO]->(b) WHERE at IS NULL
DELETE old
WITH a, b, times, at WHERE at IS NOT NULL
WITH a, b, at,
  reduce(sum = 0.0, t IN times | sum + 0.5 ^ ((at.epochSeconds - t.epochSeconds) / ($half_life_days * 86400.0))) AS weight
MERGE (a)-[micro:MICRO]->(b)
SET micro.weight = weight, micro.at = at
"""

FORGET_UNMENTIONED = """
UNWIND $entities AS id
MATCH (e:Entity {id: id, space: $space})
WHERE NOT EXISTS { (e)-[:MENTIONED_IN]->() } AND NOT EXISTS { (e)-[:ALIAS_OF]-() }
OPTIONAL MATCH (e)-[:IN_SCHEMA]->(s:Schema)
DETACH DELETE e
WITH DISTINCT s WHERE s IS NOT NULL AND NOT EXISTS { (s)<-[:IN_SCHEMA]-() }
DETACH DELETE s
"""

SAVE_ENTITIES_BY = """
MATCH (s:Session {space: $space, id: $session_id})
SET s.entities_by = $reader
"""

COUNT_ENTITIES_OF_SESSION = """
MATCH (:Session {id: $session_id, space: $space})<-[:IN_SESSION]-(:Message)<-[:MENTIONED_IN]-(e:Entity)
RETURN count(*) AS mentions, count(DISTINCT e) AS entities
"""


def entity_id(space: str, type: EntityType, name: str) -> str:
    """`name`: normalised. Follows from them, so that whoever mentions it first makes the same."""
    return derived("entity", space, type.value, name)


def schema_id(space: str, label: str) -> str:
    return derived("schema", space, label)


async def get_entities_by(tx: Tx, space: str, session_id: str) -> str | None:
    """Who read the session's entities; None: nobody yet. Raises NotFound, also for a session that is not complete."""
    complete = SessionStatus.COMPLETE.value
    found = await rows(tx, GET_ENTITIES_BY, space=space, session_id=session_id, complete=complete)
    if not found:
        raise NotFound(kind="complete session", id=session_id)
    by: str | None = found[0]["entities_by"]
    return by


async def list_facts_to_read(tx: Tx, space: str, session_id: str) -> list[FactToRead]:
    """All facts of the session; for the writer of entities only: no gate stands before it."""
    found = await rows(tx, LIST_FACTS_TO_READ, space=space, session_id=session_id)
    return [FactToRead(row["id"], row["statement"], tuple(row["evidence"])) for row in found]


async def list_sessions_without_entities(tx: Tx, space: str, *, again: bool = False) -> list[str]:
    """Ids of the complete sessions whose entities are not read yet, the oldest first; all of them with `again`."""
    complete = SessionStatus.COMPLETE.value
    return [row["id"] for row in await rows(tx, LIST_SESSIONS_WITHOUT_ENTITIES, space=space, again=again, complete=complete)]


async def save_mentions(tx: Tx, space: str, session_id: str, mentioned: Sequence[Mentioned]) -> None:
    """Write these mentions with their entities, each in its one schema; those of targets of another session are not written."""
    await lock_space(tx, space)
    entities = {_id(space, m): _entity(space, m) for m in mentioned}
    await tx.run(SAVE_ENTITIES, space=space, entities=list(entities.values()))
    await tx.run(LEAVE_OTHER_SCHEMAS, entities=list(entities.values()))
    written = [
        {"target": m.target, "entity": _id(space, m), "surface": m.mention.surface, "kind": m.mention.kind.value}
        for m in mentioned
    ]
    for query in (SAVE_MENTIONS_IN_MESSAGES, SAVE_MENTIONS_IN_FACTS):
        await tx.run(query, space=space, session_id=session_id, mentions=written)


async def forget_other_mentions(
    tx: Tx, space: str, session_id: str, mentioned: Sequence[Mentioned], *, half_life_days: float
) -> None:
    """The session mentions these and nothing else; what nothing mentions any more goes."""
    await lock_space(tx, space)
    kept = [f"{_id(space, m)} {m.target}" for m in mentioned]
    lost: set[str] = set()
    for query in (FORGET_OTHER_MENTIONS_IN_MESSAGES, FORGET_OTHER_MENTIONS_IN_FACTS):
        lost |= {row["lost"] for row in await rows(tx, query, space=space, session_id=session_id, kept=kept)}
    await forget_lost(tx, space, lost, half_life_days=half_life_days)


async def forget_lost(tx: Tx, space: str, lost: Collection[str], *, half_life_days: float) -> None:
    """Of entities (ids) that lost mentions: what goes together with them is counted anew, and those that nothing mentions go.
    The caller holds the lock of the space."""
    if not lost:
        return
    neighbours = await rows(tx, LIST_NEIGHBOURS, space=space, entities=sorted(lost))
    pairs = sorted({_pair(row["one"], row["other"]) for row in neighbours})
    await tx.run(SAVE_MICRO, space=space, pairs=pairs, half_life_days=half_life_days)
    await tx.run(FORGET_UNMENTIONED, space=space, entities=sorted(lost))


async def save_micro(tx: Tx, space: str, pairs: Sequence[tuple[str, str]], *, half_life_days: float) -> None:
    """Count anew, over all turns, how often each pair of entities is mentioned together."""
    await lock_space(tx, space)
    await tx.run(SAVE_MICRO, space=space, pairs=pairs, half_life_days=half_life_days)


async def finish_entities(tx: Tx, space: str, session_id: str, reader: str, facts: Sequence[FactToRead]) -> bool:
    """Whether the session says now who read it: not where its facts are others than those read, by now."""
    await lock_space(tx, space)
    if await list_facts_to_read(tx, space, session_id) != list(facts):
        return False
    await tx.run(SAVE_ENTITIES_BY, space=space, session_id=session_id, reader=reader)
    return True


async def count_entities_of_session(tx: Tx, space: str, session_id: str) -> tuple[int, int]:
    """Mentions in messages, and entities mentioned; for the report to who reads it."""
    (row,) = await rows(tx, COUNT_ENTITIES_OF_SESSION, space=space, session_id=session_id)
    return row["mentions"], row["entities"]


def pairs_of(space: str, mentioned: Sequence[Mentioned]) -> list[tuple[str, str]]:
    """Every two entities that one target mentions, by id, the smaller first."""
    by_target: dict[str, set[str]] = {}
    for m in mentioned:
        by_target.setdefault(m.target, set()).add(_id(space, m))
    return sorted({pair for ids in by_target.values() for pair in combinations(sorted(ids), 2)})


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _id(space: str, mentioned: Mentioned) -> str:
    return entity_id(space, mentioned.mention.type, mentioned.mention.name)


def _entity(space: str, mentioned: Mentioned) -> dict[str, Any]:
    mention, theme = mentioned.mention, mentioned.theme
    return {
        "id": _id(space, mentioned),
        "type": mention.type.value,
        "name": mention.name,
        "theme": theme,
        "theme_id": schema_id(space, theme),
    }


# ---- aliases

MAX_ALIASES = 8
"""Names on the way from one to what it is a name of: as far as the reads look (`{0,8}` in entities.py)."""

FIND_ALIASES = """
MATCH (e:Entity {id: $entity, space: $space})
MATCH (other:Entity {id: $of, space: $space})
MATCH (e) (()-[:ALIAS_OF]->())* (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
MATCH (other) (()-[:ALIAS_OF]->())* (into:Entity) WHERE NOT EXISTS { (into)-[:ALIAS_OF]->() }
RETURN root.id = into.id AS same, into.id AS into, COLLECT { MATCH (e)-[:ALIAS_OF]->(before) RETURN before.id }[0] AS before,
  COLLECT { MATCH path = (:Entity)-[:ALIAS_OF]->*(e) RETURN length(path) ORDER BY length(path) DESC LIMIT 1 }[0] AS below
"""

SAVE_ALIAS = """
MATCH (e:Entity {id: $entity, space: $space})
MATCH (into:Entity {id: $into, space: $space})
MERGE (e)-[alias:ALIAS_OF]->(into) SET alias.by = $by, alias.why = $why
"""

FORGET_ALIAS = """
MATCH (e:Entity {id: $entity, space: $space})-[alias:ALIAS_OF]->(:Entity)
DELETE alias
"""


async def save_alias(tx: Tx, space: str, entity: str, of: str, *, by: str, why: str) -> None:
    """`entity` is another name of `of`, with all the names that it has itself. No other edge moves. Raises NotFound,
    AliasOfItself, AliasAlready (of something else), AliasesTooLong."""
    await lock_space(tx, space)
    found = await rows(tx, FIND_ALIASES, space=space, entity=entity, of=of)
    if not found:
        raise NotFound(kind="entity", id=entity)
    (aliases,) = found
    if aliases["same"]:
        raise AliasOfItself()
    if aliases["before"] is not None:
        raise AliasAlready(entity=entity, of=aliases["before"])
    if aliases["below"] >= MAX_ALIASES:
        raise AliasesTooLong(entity=entity, most=MAX_ALIASES)
    await tx.run(SAVE_ALIAS, space=space, entity=entity, into=aliases["into"], by=by, why=why)
    await save_audit_event(tx, space, actor=by, action="join_entities", target=entity, why=why, occasion=fresh())


async def forget_alias(tx: Tx, space: str, entity: str, *, by: str, why: str = "") -> None:
    """`entity` is one of its own again, as it was. Raises NotFound for one that is no alias."""
    await lock_space(tx, space)
    if not (await changes(tx, FORGET_ALIAS, space=space, entity=entity)).relationships_deleted:
        raise NotFound(kind="alias", id=entity)
    await save_audit_event(tx, space, actor=by, action="separate_entities", target=entity, why=why, occasion=fresh())
