"""How are a session's facts written? Some at a time, each safe to repeat; then what is not among them goes, and the session
says whose facts it has. Who may read a fact is settled in the transaction that writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from service.errors import NotFound
from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.graph.write_audiences import Readers, forget_unused, settle_facts
from service.graph.write_sessions import embedding_property
from service.types.audio import Samples
from service.types.facts import Fact
from service.types.ids import derived
from service.types.memory import SessionStatus


@dataclass(frozen=True, slots=True)
class TurnToRead:
    """A turn with words, as the writer of facts reads it; for nobody else: no gate stands before it."""

    message_id: str
    voice: str
    """Id of its LocalSpeaker."""
    text: str
    language: str | None
    said_at: datetime
    readers: Readers
    public: bool


@dataclass(frozen=True, slots=True)
class SessionToRead:
    id: str
    zone: str | None
    facts_by: str | None
    """Whose facts it has; None: none yet."""
    turns: tuple[TurnToRead, ...]
    """In spoken order."""


GET_SESSION_TO_READ = """
MATCH (s:Session {space: $space, id: $session_id, status: $complete})
RETURN s.id AS id, s.zone AS zone, s.facts_by AS facts_by
"""

LIST_TURNS_TO_READ = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
WHERE m.text IS NOT NULL AND m.erased_at IS NULL AND NOT any(doubt IN coalesce(m.doubts, []) WHERE doubt IN ['bot', 'partial'])
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m.id AS message_id, l.id AS voice, m.text AS text, m.language AS language, m.said_at AS said_at,
       COLLECT { MATCH (m)-[:FOR]->(:Audience)<-[:MAY_READ]-(p:Person) RETURN p.id } AS readers,
       EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.public } AS public
ORDER BY m.index
"""

LIST_SESSIONS_TO_READ = """
MATCH (s:Session {space: $space, status: $complete})
WHERE $again OR s.facts_by IS NULL
RETURN s.id AS id
ORDER BY s.started_at, id
"""

SAVE_FACTS = """
UNWIND $facts AS row
MATCH (s:Session {space: $space, id: $session_id}) WHERE NOT row.id IN coalesce(s.erased_facts, [])
  AND (EXISTS { MATCH (:Fact {id: row.id}) } OR NOT row.evidence[0] IN coalesce(s.erased_sources, []))
MATCH (m:Message {space: $space, session_id: $session_id}) WHERE m.id IN row.evidence AND m.erased_at IS NULL
  AND NOT EXISTS { MATCH (m)<-[:SPEAKS]-(p:Person) WHERE p.tombstone }
  AND NOT EXISTS { MATCH (e:Erasure {space: $space, subject: m.id}) WHERE e.kind = 'message' }
WITH row, collect(m) AS evidence WHERE size(evidence) = size(row.evidence)
MERGE (f:Fact {id: row.id})
ON CREATE SET f.space = $space, f.created_at = datetime(), f.session_id = $session_id
SET f += row.properties
WITH f, row, evidence
CALL (f) {
  MATCH (f)-[old:EVIDENCED_BY]->(:Message)
  DELETE old
}
UNWIND evidence AS m
MERGE (f)-[e:EVIDENCED_BY]->(m)
SET e.role = CASE m.id WHEN row.evidence[0] THEN 'source' ELSE 'context' END
FOREACH (_ IN CASE m.id WHEN row.evidence[0] THEN [1] ELSE [] END | SET f.said_at = m.said_at)
RETURN DISTINCT f.id AS id
"""

FORGET_OTHER_FACTS = """
MATCH (s:Session {space: $space, id: $session_id})
WITH [id IN coalesce(s.erased_sources, []) WHERE id IN $turns] AS kept
MATCH (f:Fact {session_id: $session_id, space: $space}) WHERE NOT f.id IN $ids
  AND NOT EXISTS { MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(m:Message) WHERE m.id IN kept }
OPTIONAL MATCH (f)-[:FOR]->(a:Audience)
WITH f, a.id AS audience
DETACH DELETE f
RETURN DISTINCT audience
"""

SAVE_FACTS_BY = """
MATCH (s:Session {space: $space, id: $session_id})
SET s.facts_by = $extractor
REMOVE s.entities_by
"""

COUNT_FACTS_OF_SESSION = """
MATCH (f:Fact {session_id: $session_id, space: $space})
RETURN count(f) AS n
"""


async def get_session_to_read(tx: Tx, space: str, session_id: str) -> SessionToRead:
    """Raises NotFound, also for a session that is not complete."""
    found = await _find_session_to_read(tx, space, session_id)
    if found is None:
        raise NotFound(kind="complete session", id=session_id)
    return found


async def _find_session_to_read(tx: Tx, space: str, session_id: str) -> SessionToRead | None:
    complete = SessionStatus.COMPLETE.value
    found = await rows(tx, GET_SESSION_TO_READ, space=space, session_id=session_id, complete=complete)
    if not found:
        return None
    turns = await rows(tx, LIST_TURNS_TO_READ, space=space, session_id=session_id)
    return SessionToRead(**found[0], turns=tuple(TurnToRead(**{**row, "readers": frozenset(row["readers"])}) for row in turns))


async def list_sessions_to_read(tx: Tx, space: str, *, again: bool = False) -> list[str]:
    """Ids of the complete sessions that have no facts yet, the oldest first; all of them with `again`."""
    found = await rows(tx, LIST_SESSIONS_TO_READ, space=space, again=again, complete=SessionStatus.COMPLETE.value)
    return [row["id"] for row in found]


async def save_facts(
    tx: Tx,
    space: str,
    session_id: str,
    facts: Sequence[Fact],
    *,
    extractor: str,
    embedder: str | None = None,
    vectors: Mapping[str, Samples] | None = None,
) -> None:
    """Write these facts with their evidence and audience; `vectors`: statement → embedding, in the space `embedder`.

    A fact that rests on a message which is not (any more) of this session is not written, nor one that is erased, or rests on
    what is, or is hidden to be. Of a message that a fact was erased of none is written that is not there already: what is
    erased might be said again in other words, and be of another kind in them. What else such a message says is then only known
    as it was read before (`finish_facts` leaves it). One of another message with it as context is written."""
    await lock_space(tx, space)
    properties = [_properties(fact, extractor, embedder, vectors or {}) for fact in facts]
    batch = [
        {"id": fact_id(fact), "evidence": list(fact.evidence), "properties": props}
        for fact, props in zip(facts, properties, strict=True)
    ]
    saved = await rows(tx, SAVE_FACTS, space=space, session_id=session_id, facts=batch)
    await settle_facts(tx, space, [row["id"] for row in saved])


async def finish_facts(
    tx: Tx, space: str, session: SessionToRead, session_id: str, facts: Sequence[Fact], extractor: str
) -> bool:
    """Whether the session has these facts and says whose they are: not where it is not complete any more, or something else was
    said in it, or by another, than in `session`, which they were read from. It has no others but those of turns that a fact was
    erased of: nothing in other words takes their place."""
    await lock_space(tx, space)
    now = await _find_session_to_read(tx, space, session_id)
    if now is None or _told(now) != _told(session):
        return False
    ids = sorted({fact_id(fact) for fact in facts})
    turns = [turn.message_id for turn in now.turns]
    left = await rows(tx, FORGET_OTHER_FACTS, space=space, session_id=session_id, ids=ids, turns=turns)
    await forget_unused(tx, space, [row["audience"] for row in left if row["audience"]])
    await tx.run(SAVE_FACTS_BY, space=space, session_id=session_id, extractor=extractor)
    return True


def _told(session: SessionToRead) -> list[tuple[object, ...]]:
    """What an extractor is given of it, but for who reads it: facts follow that by themselves."""
    return [(turn.message_id, turn.voice, turn.text, turn.language, turn.said_at) for turn in session.turns]


async def count_facts_of_session(tx: Tx, space: str, session_id: str) -> int:
    """For the report to who ingested it."""
    return int((await rows(tx, COUNT_FACTS_OF_SESSION, space=space, session_id=session_id))[0]["n"])


def fact_id(fact: Fact) -> str:
    """Follows from where and what was said, so that extracting again keeps it, whatever extracts."""
    return derived("fact", fact.source, fact.kind.value, fact.statement)


def _properties(fact: Fact, extractor: str, embedder: str | None, vectors: Mapping[str, Samples]) -> dict[str, Any]:
    """With what is not there as null: that takes away what another extractor said before."""
    about = fact.about
    return {
        "statement": fact.statement,
        "kind": fact.kind.value,
        "about_from": about.start if about else None,
        "about_to": about.end if about else None,
        "about_precision": about.precision.value if about else None,
        "about_words": about.words if about else None,
        "attribute": fact.attribute,
        "value": fact.value,
        "confidence": float(fact.confidence),
        "extractor": extractor,
        **({embedding_property(embedder, "turn"): vectors[fact.statement].tolist()} if embedder else {}),
    }
