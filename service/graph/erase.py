"""How is something hidden from everybody at once? In one transaction that also writes what is being erased: no read gives it
out from then on, voices are gone, and who was erased reads nothing. The sweep does the rest; broken off anywhere, it goes on.

Nobody reads a message or a fact but by its FOR edge, and no write gives one to what is erased, or to a tombstone's words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from service.errors import NotFound
from service.graph.audit import save_audit_event
from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.graph.thin_checkpoints import thin_checkpoints
from service.graph.tombstones import leave_tombstone
from service.graph.write_corrections import touch
from service.graph.write_events import save_erased
from service.types.erasure import Erasure, Subject, SubjectKind
from service.types.events import Erased
from service.types.memory import SessionStatus

_SHA256 = re.compile("[0-9a-f]{64}")
ACTION = "erase"
"""Of its AuditEvent."""
FIND_ERASURE = """
MATCH (e:Erasure {space: $space, kind: $kind, subject: $subject})
RETURN e {.*} AS erasure
"""

LIST_ERASURES = """
MATCH (e:Erasure)
WHERE $space IS NULL OR e.space = $space
RETURN e {.*} AS erasure ORDER BY e.created_at, e.id
"""

LIST_SESSIONS_OF_PEOPLE = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people
CALL (p) {
  MATCH (p)-[:SPEAKS]->(m:Message) RETURN m.session_id AS id
  UNION
  MATCH (p)-[:ATTENDED]->(s:Session) RETURN s.id AS id
  UNION
  MATCH (p)<-[:ADDRESSES]-(m:Message) RETURN m.session_id AS id
}
RETURN DISTINCT id ORDER BY id
"""

GET_SESSION_TO_ERASE = """
MATCH (s:Session {space: $space, id: $session_id})
RETURN s.status AS status, COLLECT {
  MATCH (s)<-[:IN_SESSION]-(:Message)<-[:SPEAKS]-(p:Person) RETURN DISTINCT p.id ORDER BY p.id
} AS people
"""

LIST_SOURCES = """
MATCH (s:Session {space: $space}) WHERE s.id IN $sessions
RETURN s.external_id AS external_id, s.transcript AS transcript, COLLECT {
  MATCH (f:Meeting {space: $space})
  WHERE f.session_id = s.id OR s.external_id = f.source + ':' + f.external_id
     OR s.external_id STARTS WITH f.source + ':' + f.external_id + '@'
  RETURN f.id
} AS meetings
"""

LIST_ACCOUNTS_OF_SPACE = """
MATCH (j:Job {space: $space})
RETURN j.account AS id
UNION
MATCH (a:Account {space: $space})
RETURN a.id AS id
"""

GET_MESSAGE_TO_ERASE = """
MATCH (m:Message {space: $space, id: $message_id})-[:IN_SESSION]->(s:Session) WHERE m.erased_at IS NULL
RETURN s.id AS session_id, s.status AS status, COLLECT { MATCH (p:Person)-[:SPEAKS]->(m) RETURN p.id } AS people
"""

GET_FACT_TO_ERASE = """
MATCH (f:Fact {space: $space, id: $fact_id})
RETURN f.session_id AS session_id
"""

LIST_THERE = """
UNWIND $subjects AS row
CALL (row) {
  MATCH (p:Person {id: row.id, space: row.space}) WHERE row.kind = 'person' AND coalesce(p.tombstone, false) = false
  RETURN row.id AS id
  UNION
  MATCH (s:Session {id: row.id, space: row.space}) WHERE row.kind = 'session'
  RETURN row.id AS id
  UNION
  MATCH (m:Message {id: row.id, space: row.space}) WHERE row.kind = 'message' AND m.erased_at IS NULL
  RETURN row.id AS id
  UNION
  MATCH (f:Fact {id: row.id, space: row.space}) WHERE row.kind = 'fact'
  RETURN row.id AS id
}
WITH row WHERE NOT EXISTS { MATCH (:Erasure {space: row.space, kind: row.kind, subject: row.id}) }
RETURN row.space AS space, row.kind AS kind, row.id AS id
"""

FIND_SOURCE_OF_FACT = """
MATCH (:Fact {space: $space, id: $fact_id})-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
RETURN m.id AS id
"""

SAVE_ALTHOUGH = """
MATCH (e:Erasure {space: $space, kind: $kind, subject: $subject})
SET e.although = true, e.touched_at = datetime()
RETURN e {.*} AS erasure
"""

SAVE_ERASURE = """
CREATE (e:Erasure {id: $id, space: $space, created_at: $at, touched_at: $at})
SET e += $properties
"""

HIDE_PEOPLE = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people
CALL (p) { MATCH (p)-[:SPEAKS]->(:Message)-[r:FOR]->(:Audience) DELETE r }
CALL (p) { MATCH (p)<-[r:ADDRESSES]-(:Message) DELETE r }
CALL (p) { MATCH (p)-[r:ATTENDED]->(:Session) DELETE r }
CALL (p) { MATCH (p)-[r:SHARES]-(:Person) DELETE r }
CALL (p) { MATCH (p)-[:HAS_EXEMPLAR]->(e:Exemplar) DETACH DELETE e }
"""

HIDE_SESSION = """
MATCH (s:Session {space: $space, id: $session_id})
CALL (s) { MATCH (s)<-[:IN_SESSION]-(:Message)-[r:FOR]->(:Audience) DELETE r }
DETACH DELETE s
"""

HIDE_MESSAGES = """
UNWIND $ids AS id
MATCH (:Message {space: $space, id: id})-[r:FOR]->(:Audience)
DELETE r
"""

HIDE_FACTS = """
UNWIND $ids AS id
MATCH (:Fact {space: $space, id: id})-[r:FOR]->(:Audience)
DELETE r
"""

NOTE_ERASED_FACT = """
MATCH (s:Session {space: $space, id: $session_id})
SET s.erased_facts = [id IN coalesce(s.erased_facts, []) WHERE id <> $fact_id] + $fact_id
WITH s
MATCH (:Fact {space: $space, id: $fact_id})-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
SET s.erased_sources = [id IN coalesce(s.erased_sources, []) WHERE id <> m.id] + m.id
"""

COUNT_HIDDEN = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people
RETURN sum(COUNT { (p)-[:HAS_EXEMPLAR]->(:Exemplar) }) AS voices, sum(COUNT { (p)<-[:ADDRESSES]-(:Message) }) AS addressed,
       sum(COUNT { (p)-[:ATTENDED]->(:Session) }) AS attended, sum(COUNT { (p)-[:SHARES]->(:Person) }) AS shared,
       count(p) AS people
"""

GET_COUNTS = """
MATCH (e:Erasure {id: $id, space: $space})
SET e.touched_at = datetime()
RETURN e.counts AS counts
"""

SAVE_COUNTS = """
MATCH (e:Erasure {id: $id, space: $space})
SET e.counts = $counts
"""


@dataclass(frozen=True, slots=True)
class Sources:
    """What sessions were made of, outside of the graph."""

    meetings: tuple[str, ...]
    uploads: tuple[str, ...]
    """SHA-256 of recordings and transcripts."""


async def find_erasure(tx: Tx, space: str, subject: Subject) -> Erasure | None:
    """One that is not through yet."""
    found = await rows(tx, FIND_ERASURE, space=space, kind=subject.kind.value, subject=subject.id)
    return erasure_of(found[0]["erasure"]) if found else None


async def list_erasures(tx: Tx, space: str | None = None) -> list[tuple[Erasure, str, datetime]]:
    """Those that are not through, the oldest first, with the key that each waits for and when it was last worked on."""
    found = [row["erasure"] for row in await rows(tx, LIST_ERASURES, space=space)]
    return [(erasure_of(row), row["key"], row["touched_at"]) for row in found]


async def list_there(tx: Tx, subjects: Collection[tuple[str, Subject]]) -> list[tuple[str, Subject]]:
    """Those of (space, subject) that are in the graph and are not being erased."""
    asked = [{"space": space, "kind": one.kind.value, "id": one.id} for space, one in subjects]
    found = await rows(tx, LIST_THERE, subjects=asked)
    return [(row["space"], Subject(SubjectKind(row["kind"]), row["id"])) for row in found]


async def list_sessions_of_people(tx: Tx, space: str, people: Collection[str]) -> tuple[str, ...]:
    """Ids of those they spoke in, were in, or were spoken to in."""
    return tuple(row["id"] for row in await rows(tx, LIST_SESSIONS_OF_PEOPLE, space=space, people=sorted(people)))


async def list_sources(tx: Tx, space: str, sessions: Collection[str]) -> Sources:
    found = await rows(tx, LIST_SOURCES, space=space, sessions=sorted(sessions))
    meetings = sorted({id for row in found for id in row["meetings"]})
    hashes = {given for row in found for given in (row["external_id"], row["transcript"]) if given}
    return Sources(tuple(meetings), tuple(sorted(given for given in hashes if _SHA256.fullmatch(given))))


async def list_accounts_of_space(tx: Tx, space: str) -> frozenset[str]:
    """Ids of the logins that are known there or asked for something, whoever they are bound to; for who erases."""
    return frozenset(row["id"] for row in await rows(tx, LIST_ACCOUNTS_OF_SPACE, space=space))


async def get_session_to_erase(tx: Tx, space: str, session_id: str) -> tuple[SessionStatus, tuple[str, ...]]:
    """Its state, and who spoke in it. Raises NotFound."""
    found = await rows(tx, GET_SESSION_TO_ERASE, space=space, session_id=session_id)
    if not found:
        raise NotFound(kind="session", id=session_id)
    return SessionStatus(found[0]["status"]), tuple(found[0]["people"])


async def get_message_to_erase(tx: Tx, space: str, message_id: str) -> tuple[str, SessionStatus, tuple[str, ...]]:
    """Its session, that one's state, and who said it. Raises NotFound, also where it is erased already."""
    found = await rows(tx, GET_MESSAGE_TO_ERASE, space=space, message_id=message_id)
    if not found:
        raise NotFound(kind="message", id=message_id)
    return found[0]["session_id"], SessionStatus(found[0]["status"]), tuple(found[0]["people"])


async def get_fact_to_erase(tx: Tx, space: str, fact_id: str) -> str:
    """Its session. Raises NotFound."""
    found = await rows(tx, GET_FACT_TO_ERASE, space=space, fact_id=fact_id)
    if not found:
        raise NotFound(kind="fact", id=fact_id)
    return str(found[0]["session_id"])


async def find_source_of_fact(tx: Tx, space: str, fact_id: str) -> str | None:
    """Id of the turn it was taken from; for who decides whose it is: no gate stands before it."""
    found = await rows(tx, FIND_SOURCE_OF_FACT, space=space, fact_id=fact_id)
    return found[0]["id"] if found else None


async def hide(tx: Tx, one: Erasure, key: str) -> Erasure:
    """Write the record and hide the subject, with facts and voices; `key`: of whose sweep it is. The caller holds the lock of
    the space."""
    counts = await _hide(tx, one)
    await tx.run(HIDE_FACTS, space=one.space, ids=list(one.facts))
    done = replace(one, counts={kind: number for kind, number in counts.items() if number})
    await tx.run(SAVE_ERASURE, id=one.id, space=one.space, at=one.at, properties=_properties(done, key))
    await touch(tx, one.space, one.people if one.subject.kind is SubjectKind.PERSON else ())
    await save_audit_event(
        tx, one.space, actor=one.asked_by, action=f"{ACTION}_{one.subject.kind.value}", target=one.subject.id, why=one.why,
        occasion=one.id,
    )  # fmt: skip
    people = one.people if one.subject.kind is SubjectKind.PERSON else ()
    await save_erased(tx, one.space, Erased(one.subject.kind.value), people=people, occasion=one.id)
    return done


async def let_go_on(tx: Tx, space: str, subject: Subject, *, by: str) -> Erasure | None:
    """An administrator has seen in how many places its names stand where it was not. None: it is through, or never began."""
    await lock_space(tx, space)
    found = await rows(tx, SAVE_ALTHOUGH, space=space, kind=subject.kind.value, subject=subject.id)
    if not found:
        return None
    one = erasure_of(found[0]["erasure"])
    await save_audit_event(
        tx, space, actor=by, action=f"{ACTION}_{subject.kind.value}_named_elsewhere", target=subject.id, why="", occasion=one.id
    )
    return one


async def _hide(tx: Tx, one: Erasure) -> dict[str, int]:
    match one.subject.kind:
        case SubjectKind.PERSON:
            (row,) = await rows(tx, COUNT_HIDDEN, space=one.space, people=list(one.people))
            await thin_checkpoints(tx, one.space, one.people)
            for person in one.people:
                await leave_tombstone(tx, one.space, person)
            await tx.run(HIDE_PEOPLE, space=one.space, people=list(one.people))
            named = {"addressed": "said to them", "attended": "attendance", "shared": "shares"}
            return {named.get(name, name): int(number) for name, number in row.items()}
        case SubjectKind.SESSION:
            await tx.run(HIDE_SESSION, space=one.space, session_id=one.subject.id)
            return {"sessions": 1}
        case SubjectKind.MESSAGE:
            await tx.run(HIDE_MESSAGES, space=one.space, ids=[one.subject.id])
        case SubjectKind.FACT:
            await tx.run(NOTE_ERASED_FACT, space=one.space, session_id=one.sessions[0], fact_id=one.subject.id)
    return {}


async def add_counts(tx: Tx, erasure: Erasure, gone: Mapping[str, int]) -> None:
    """In the transaction that deletes them: what is counted is counted once, whatever breaks off."""
    found = await rows(tx, GET_COUNTS, id=erasure.id, space=erasure.space)
    if found and any(gone.values()):
        counts = Counter(json.loads(found[0]["counts"] or "{}"))
        counts.update({kind: number for kind, number in gone.items() if number})
        await tx.run(SAVE_COUNTS, id=erasure.id, space=erasure.space, counts=_json(counts))


async def get_erasure(tx: Tx, erasure: Erasure) -> Erasure | None:
    """As it is by now, under the lock of its space; None where another sweep was through with it."""
    await lock_space(tx, erasure.space)
    return await find_erasure(tx, erasure.space, erasure.subject)


def _properties(one: Erasure, key: str) -> dict[str, Any]:
    lists = ("people", "names", "words", "shared_names", "sessions", "messages", "facts", "accounts", "meetings", "uploads")
    return {
        "kind": one.subject.kind.value,
        "subject": one.subject.id,
        "asked_by": one.asked_by,
        "why": one.why,
        "key": key,
        "although": one.although or None,
        **{name: list(getattr(one, name)) for name in lists},
        "counts": _json(one.counts),
    }


def erasure_of(row: Mapping[str, Any]) -> Erasure:
    def ids(name: str) -> tuple[str, ...]:
        found: Sequence[str] = row.get(name) or ()
        return tuple(found)

    return Erasure(
        id=row["id"],
        space=row["space"],
        subject=Subject(SubjectKind(row["kind"]), row["subject"]),
        asked_by=row["asked_by"],
        why=row["why"],
        at=row["created_at"],
        people=ids("people"),
        names=ids("names"),
        words=ids("words"),
        shared_names=ids("shared_names"),
        sessions=ids("sessions"),
        messages=ids("messages"),
        facts=ids("facts"),
        accounts=ids("accounts"),
        meetings=ids("meetings"),
        uploads=ids("uploads"),
        although=bool(row.get("although")),
        counts=json.loads(row.get("counts") or "{}"),
    )


def _json(counts: Mapping[str, int]) -> str:
    return json.dumps(dict(counts), sort_keys=True)
