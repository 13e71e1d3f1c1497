"""How do words go that are erased? Some turns at a time, each batch one transaction that also counts it: of a person's turns
time and length stay, of a session's nothing; with them goes what was made of them alone, and what it was made with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_schema.schema import TEXT_SPACES
from service.graph.cypher import for_space
from service.graph.driver import Tx, rows
from service.graph.erase import add_counts
from service.graph.erase_names import FOREIGN, name_parts
from service.graph.spaces import lock_space
from service.graph.write_audiences import forget_unused
from service.graph.write_entities import forget_lost
from service.graph.write_meetings import UNCOUNT
from service.types.erasure import Erasure, FactSeen, SubjectKind

BEFORE = 3
"""Turns at most that a context view looks back over (service/pipelines/closing.py)."""
_CONTEXTS = {for_space("embedding__<space>__<view>", space, "context"): None for space in TEXT_SPACES}
"""Context views of every embedding space, as what takes them away."""

LIST_FACTS_OF_TURNS = """
UNWIND $ids AS id
MATCH (f:Fact {space: $space})-[:EVIDENCED_BY]->(:Message {id: id, space: $space})
WITH DISTINCT f
MATCH (f)-[e:EVIDENCED_BY]->(m:Message)
RETURN f.id AS id, f.statement AS statement, f.value AS value, collect([m.id, e.role, coalesce(m.text, '')]) AS evidence
"""

LIST_FACTS_TOLD = """
MATCH (p:Person {space: $space})<-[:ADDRESSES]-(m:Message)<-[:EVIDENCED_BY {role: 'source'}]-(f:Fact)
WHERE p.id IN $people AND NOT EXISTS { MATCH (m)-[:ADDRESSES]->(other:Person) WHERE NOT other.id IN $people }
RETURN DISTINCT f.id AS id, f.statement AS statement, f.value AS value
"""

LIST_FACTS_NAMING = """
CALL db.index.fulltext.queryNodes('fact_text', $query) YIELD node
WITH node WHERE node.space = $space
RETURN node.id AS id, node.statement AS statement, node.value AS value, node.session_id IN $sessions AS where_they_were
"""

LIST_FACTS_THERE = """
UNWIND $sessions AS session
MATCH (f:Fact {session_id: session}) WHERE f.space = $space
  AND any(said IN [f.statement, f.value] WHERE any(part IN $parts WHERE toLower(said) CONTAINS part) OR said =~ $foreign)
RETURN f.id AS id, f.statement AS statement, f.value AS value, true AS where_they_were,
       COLLECT { MATCH (e:Entity {type: 'person'})-[:MENTIONED_IN]->(f) RETURN e.normal_name } AS people
"""

LIST_TURNS_OF_PEOPLE = """
MATCH (p:Person {space: $space})-[:SPEAKS]->(m:Message) WHERE p.id IN $people
RETURN m.id AS id
"""

LIST_TURNS_OF_SESSION = """
MATCH (m:Message {session_id: $session_id}) WHERE m.index IS NOT NULL AND m.space = $space
RETURN m.id AS id
"""

LIST_PEOPLES_TURNS = """
MATCH (p:Person {space: $space})-[:SPEAKS]->(m:Message) WHERE p.id IN $people
  AND NOT EXISTS { (m)-[:IN_SESSION]->(:Session {status: 'open'}) }
RETURN m.id AS id ORDER BY m.session_id, m.index LIMIT $limit
"""

LIST_SESSIONS_TURNS = """
MATCH (m:Message {session_id: $session_id}) WHERE m.index IS NOT NULL AND m.space = $space
RETURN m.id AS id ORDER BY m.index LIMIT $limit
"""

LIST_SINGLE_TURNS = """
MATCH (m:Message {space: $space}) WHERE m.id IN $ids AND m.erased_at IS NULL
RETURN m.id AS id ORDER BY m.id LIMIT $limit
"""

FORGET_ATTACHED = """
MATCH (a:Image|AudioMemory)-[:ATTACHED_TO]->(m:Message) WHERE m.id IN $ids AND m.space = $space
WITH a, a:Image AS image
DETACH DELETE a
RETURN sum(CASE WHEN image THEN 1 ELSE 0 END) AS images, sum(CASE WHEN image THEN 0 ELSE 1 END) AS sounds
"""

FORGET_MENTIONS = """
UNWIND $ids AS id
MATCH (e:Entity)-[in:MENTIONED_IN]->(:Message {id: id, space: $space})
DELETE in
RETURN e.id AS entity
"""

FORGET_EXEMPLARS = """
UNWIND $ids AS id
MATCH (e:Exemplar {message_id: id}) WHERE e.space = $space
OPTIONAL MATCH (owner:Person)-[:HAS_EXEMPLAR]->(e)
WITH e, owner.id AS owner
DETACH DELETE e
RETURN owner
"""

FORGET_EDGES = """
UNWIND $ids AS id
MATCH (:Message {id: id, space: $space})-[r:SPEAKS|ADDRESSES|REPLIES_TO|FOR|FOUND|EVIDENCED_BY]-()
DELETE r
"""

FORGET_DECISIONS = """
UNWIND $ids AS id
MATCH (:LocalSpeaker)-[u:UTTERED]->(:Message {id: id, space: $space})
SET u = {}
"""

KEEP_TIME_AND_LENGTH = """
UNWIND $ids AS id
MATCH (m:Message {id: id, space: $space})
SET m = {id: m.id, space: m.space, created_at: m.created_at, session_id: m.session_id, index: m.index, start: m.start,
         end: m.end, said_at: m.said_at, erased_at: $at}
"""

LIST_SILENT_VOICES = """
UNWIND $ids AS id
MATCH (l:LocalSpeaker)-[:UTTERED]->(:Message {id: id, space: $space})
WITH DISTINCT l
WHERE NOT EXISTS { MATCH (l)-[:UTTERED]->(m:Message) WHERE m.erased_at IS NULL }
RETURN l.id AS id
"""

LIST_VOICES_OF_SESSION = """
MATCH (l:LocalSpeaker {session_id: $session_id}) WHERE l.space = $space
RETURN l.id AS id
"""

FORGET_VOICES_TRACES = """
UNWIND $ids AS id
MATCH (l:LocalSpeaker {id: id, space: $space})
CALL (l) { MATCH (n:NameProposal)-[:ABOUT]->(l) DETACH DELETE n }
CALL (l) { MATCH (l)-[:HAS_EXEMPLAR]->(e:Exemplar) DETACH DELETE e }
CALL (l) { MATCH (l)-[r:IS|USES|MAY_BE]->() DELETE r }
SET l.label = $label
"""

DELETE_VOICES = """
UNWIND $ids AS id
MATCH (l:LocalSpeaker {id: id, space: $space})
DETACH DELETE l
"""

FORGET_CONTEXTS = """
UNWIND $ids AS id
MATCH (erased:Message {id: id, space: $space})
MATCH (m:Message {session_id: erased.session_id})
WHERE m.index > erased.index AND m.index <= erased.index + $before AND m.erased_at IS NULL AND NOT m.id IN $ids
SET m += $nothing
"""

DELETE_TURNS = """
UNWIND $ids AS id
MATCH (m:Message {id: id, space: $space})
OPTIONAL MATCH (m)-[:FOR]->(a:Audience)
WITH m, a.id AS audience
DETACH DELETE m
RETURN DISTINCT audience
"""

NOTE_ERASED_FACTS = """
UNWIND $ids AS id
MATCH (f:Fact {id: id, space: $space})-[:EVIDENCED_BY {role: 'source'}]->(m:Message) WHERE m.erased_at IS NULL
MATCH (s:Session {space: $space, id: f.session_id})
WITH s, collect(f.id) AS gone, collect(DISTINCT m.id) AS sources
SET s.erased_facts = [id IN coalesce(s.erased_facts, []) WHERE NOT id IN gone] + gone,
  s.erased_sources = [id IN coalesce(s.erased_sources, []) WHERE NOT id IN sources] + sources
"""
"""Of those whose words stay: reading these again makes them no more, in whatever words (`save_facts`)."""

FORGET_FACTS = """
UNWIND $ids AS id
MATCH (f:Fact {id: id, space: $space})
OPTIONAL MATCH (f)-[:FOR]->(a:Audience)
WITH f, a.id AS audience, COLLECT { MATCH (e:Entity)-[:MENTIONED_IN]->(f) RETURN e.id } AS entities
DETACH DELETE f
RETURN audience, entities
"""

LIST_FACTS_LEFT = """
UNWIND $ids AS id
MATCH (f:Fact {id: id, space: $space})
RETURN f.id AS id LIMIT $limit
"""


@dataclass(frozen=True, slots=True)
class TurnsErased:
    ids: tuple[str, ...]
    owners: frozenset[str] = frozenset()
    """People whose pieces of voice went: what is made of them is to be made anew."""
    counts: Mapping[str, int] = field(default_factory=dict)


async def list_turns_of(tx: Tx, erasure: Erasure) -> list[str]:
    """Ids of all turns that are to be erased, at most those of one person or session: no gate, for who erases."""
    match erasure.subject.kind:
        case SubjectKind.PERSON:
            found = await rows(tx, LIST_TURNS_OF_PEOPLE, space=erasure.space, people=list(erasure.people))
        case SubjectKind.SESSION:
            found = await rows(tx, LIST_TURNS_OF_SESSION, space=erasure.space, session_id=erasure.subject.id)
        case _:
            return list(erasure.messages)
    return [row["id"] for row in found]


async def list_facts_seen(tx: Tx, erasure: Erasure, turns: Sequence[str]) -> list[FactSeen]:
    """Every fact that rests on one of `turns`, was told to the people, or has one of the names in it."""
    gone, space = set(turns), erasure.space
    seen = []
    for row in await rows(tx, LIST_FACTS_OF_TURNS, space=space, ids=list(turns)):
        of = [(text, id in gone, role) for id, role, text in row.pop("evidence")]
        seen.append(
            FactSeen(
                **row,
                source_erased=any(erased and role == "source" for _, erased, role in of),
                erased_texts=tuple(text for text, erased, _ in of if erased),
                kept_texts=tuple(text for text, erased, _ in of if not erased),
            )
        )
    if erasure.subject.kind is SubjectKind.PERSON:
        told = await rows(tx, LIST_FACTS_TOLD, space=space, people=list(erasure.people))
        seen += [FactSeen(**row, source_erased=False, told_them=True) for row in told]
        seen += await _naming(tx, erasure)
    return seen


async def _naming(tx: Tx, erasure: Erasure) -> list[FactSeen]:
    everything = (*erasure.names, *erasure.words, *erasure.shared_names)
    there: dict[str, Any] = {"sessions": list(erasure.sessions), "parts": name_parts(everything), "foreign": FOREIGN}
    found = await rows(tx, LIST_FACTS_THERE, space=erasure.space, **there) if everything else []
    names = [f'"{name}"' for name in erasure.names if not set(name) & set('"\\')]
    if names:
        asked: dict[str, Any] = {"query": f"statement:({' '.join(names)})", "sessions": list(erasure.sessions)}
        found += await rows(tx, LIST_FACTS_NAMING, space=erasure.space, **asked)
    return [FactSeen(**{**row, "people": tuple(row.get("people", ()))}, source_erased=False) for row in found]


async def next_turns(tx: Tx, erasure: Erasure, limit: int) -> list[str]:
    """Ids of the next turns to erase, without those of sessions that are still written."""
    asked: dict[str, Any] = {"space": erasure.space, "limit": limit}
    match erasure.subject.kind:
        case SubjectKind.PERSON:
            found = await rows(tx, LIST_PEOPLES_TURNS, people=list(erasure.people), **asked)
        case SubjectKind.SESSION:
            found = await rows(tx, LIST_SESSIONS_TURNS, session_id=erasure.subject.id, **asked)
        case _:
            found = await rows(tx, LIST_SINGLE_TURNS, ids=list(erasure.messages), **asked)
    return [row["id"] for row in found]


async def erase_turns(tx: Tx, erasure: Erasure, limit: int, *, half_life_days: float) -> TurnsErased:
    """The next `limit` turns and all that hangs on them; without `ids` there is none left. Facts go by `erase_facts`."""
    await lock_space(tx, erasure.space)
    ids = await next_turns(tx, erasure, limit)
    if not ids:
        return TurnsErased(())
    of: dict[str, Any] = {"space": erasure.space, "ids": ids}
    (attached,) = await rows(tx, FORGET_ATTACHED, **of)
    lost = [row["entity"] for row in await rows(tx, FORGET_MENTIONS, **of)]
    owners = [row["owner"] for row in await rows(tx, FORGET_EXEMPLARS, **of)]
    counts = {"messages": len(ids), "mentions": len(lost), "voices": len(owners), **attached}
    await tx.run(FORGET_CONTEXTS, **of, before=BEFORE, nothing=_CONTEXTS)
    whole = erasure.subject.kind is SubjectKind.SESSION
    if erasure.subject.kind is not SubjectKind.PERSON:
        await tx.run(UNCOUNT, **of)
    await tx.run(FORGET_EDGES, **of)
    if whole:
        await tx.run(DELETE_TURNS, **of)
    else:
        await tx.run(FORGET_DECISIONS, **of)
        await tx.run(KEEP_TIME_AND_LENGTH, **of, at=erasure.at)
        counts["voices of sessions"] = await _silence(tx, erasure, ids)
    await forget_lost(tx, erasure.space, lost, half_life_days=half_life_days)
    await add_counts(tx, erasure, counts)
    return TurnsErased(tuple(ids), frozenset(owner for owner in owners if owner), counts)


async def _silence(tx: Tx, erasure: Erasure, ids: Sequence[str]) -> int:
    silent = [row["id"] for row in await rows(tx, LIST_SILENT_VOICES, space=erasure.space, ids=list(ids))]
    await tx.run(FORGET_VOICES_TRACES, space=erasure.space, ids=silent, label="erased")
    return len(silent)


async def erase_voices_of_session(tx: Tx, erasure: Erasure) -> int:
    """What the diariser or the platform told apart in a session that is erased."""
    await lock_space(tx, erasure.space)
    of = {"space": erasure.space, "session_id": erasure.subject.id}
    ids = [row["id"] for row in await rows(tx, LIST_VOICES_OF_SESSION, **of)]
    await tx.run(FORGET_VOICES_TRACES, space=erasure.space, ids=ids, label="erased")
    await tx.run(DELETE_VOICES, space=erasure.space, ids=ids)
    await add_counts(tx, erasure, {"voices of sessions": len(ids)})
    return len(ids)


async def erase_facts(tx: Tx, erasure: Erasure, limit: int, ids: Collection[str], *, half_life_days: float) -> int:
    """At most `limit` of the facts `ids` that there still are; how many."""
    await lock_space(tx, erasure.space)
    left = [row["id"] for row in await rows(tx, LIST_FACTS_LEFT, space=erasure.space, ids=sorted(set(ids)), limit=limit)]
    if not left:
        return 0
    await tx.run(NOTE_ERASED_FACTS, space=erasure.space, ids=left)
    gone = await rows(tx, FORGET_FACTS, space=erasure.space, ids=left)
    await forget_unused(tx, erasure.space, [row["audience"] for row in gone if row["audience"]])
    lost = {entity for row in gone for entity in row["entities"]}
    await forget_lost(tx, erasure.space, lost, half_life_days=half_life_days)
    await add_counts(tx, erasure, {"facts": len(left)})
    return len(left)
