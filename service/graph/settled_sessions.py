"""How does a complete session stand? What it was settled with and what came of it, to settle it again: for writers, no gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.errors import NotFound
from service.graph.close_sessions import Relations, WrittenTurn, list_written_turns
from service.graph.driver import Tx, rows
from service.types.audio import Segment
from service.types.memory import Addressee, Attendance, How, SessionStatus
from service.types.people import AccessPolicy


@dataclass(frozen=True, slots=True)
class SettledSession:
    id: str
    access: AccessPolicy
    """The policy that its audiences follow."""
    addressed_to: tuple[str, ...]
    """As the caller said of every turn."""
    roster: tuple[str, ...]
    embedder: str | None
    turns: Sequence[WrittenTurn]
    relations: Relations
    public: frozenset[str]
    """Ids of messages that everybody may read, whatever is settled."""


@dataclass(frozen=True, slots=True)
class StandsBy:
    """What holds for a session whenever it is settled, and may be none of its space's doing by now."""

    access: AccessPolicy | None
    """That it was settled by; None: it never was."""
    public: frozenset[str]
    """Ids of messages that everybody may read, whatever is settled."""


GET_STANDS_BY = """
MATCH (s:Session {space: $space, id: $session_id})
RETURN s.access AS access,
       COLLECT { MATCH (s)<-[:IN_SESSION]-(m:Message)-[:FOR]->(a:Audience) WHERE a.public RETURN m.id } AS public
"""

GET_SETTLED_SESSION = """
MATCH (s:Session {space: $space, id: $session_id})
MATCH (tenant:Space {id: $space})
RETURN s.status AS status, coalesce(s.access, tenant.access) AS access, s.addressed_to AS addressed_to,
       coalesce(s.roster, []) AS roster, s.embedder AS embedder,
       COLLECT { MATCH (p:Person)-[a:ATTENDED]->(s) RETURN a {.starts, .ends, .source, person_id: p.id} ORDER BY p.id }
         AS attendance
"""

LIST_SETTLED_TURNS = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
RETURN m.id AS message_id,
       COLLECT { MATCH (m)-[to:ADDRESSES]->(p:Person) RETURN to {.confidence, .how, person_id: p.id} ORDER BY p.id }
         AS addressees,
       COLLECT { MATCH (m)-[:REPLIES_TO]->(answered:Message) RETURN answered.id } AS answered,
       COLLECT { MATCH (m)-[:FOR]->(:Audience)<-[:MAY_READ]-(p:Person) RETURN p.id } AS readers,
       EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.public } AS public
"""


async def get_stands_by(tx: Tx, space: str, session_id: str) -> StandsBy:
    """Of a session in any state: one that was complete and is written again keeps the policy that it was complete with."""
    found = await rows(tx, GET_STANDS_BY, space=space, session_id=session_id)
    access = found[0]["access"] if found else None
    public = frozenset(found[0]["public"]) if found else frozenset[str]()
    return StandsBy(AccessPolicy(access) if access is not None else None, public)


async def get_settled_session(tx: Tx, space: str, session_id: str) -> SettledSession:
    """Raises NotFound, also for a session that is not complete."""
    found = await rows(tx, GET_SETTLED_SESSION, space=space, session_id=session_id)
    if not found or found[0]["status"] != SessionStatus.COMPLETE:
        raise NotFound(kind="complete session", id=session_id)
    (session,) = found
    turns = await rows(tx, LIST_SETTLED_TURNS, space=space, session_id=session_id)
    addressees = {row["message_id"]: tuple(_addressee(to) for to in row["addressees"]) for row in turns}
    return SettledSession(
        id=session_id,
        access=AccessPolicy(session["access"]),
        addressed_to=_addressed_to(session["addressed_to"], addressees),
        roster=tuple(session["roster"]),
        embedder=session["embedder"],
        turns=await list_written_turns(tx, space, session_id),
        relations=Relations(
            attendance=[_attendance(a) for a in session["attendance"]],
            addressees=addressees,
            replies={row["message_id"]: answered for row in turns for answered in row["answered"]},
            readers={row["message_id"]: frozenset(row["readers"]) for row in turns},
        ),
        public=frozenset(row["message_id"] for row in turns if row["public"]),
    )


def _addressed_to(noted: Sequence[str] | None, addressees: Mapping[str, Sequence[Addressee]]) -> tuple[str, ...]:
    """A session closed before this was noted tells it by the edges that the caller's word made."""
    if noted is not None:
        return tuple(noted)
    return tuple(sorted({a.person_id for to in addressees.values() for a in to if a.how is How.CALLER}))


def _addressee(row: Mapping[str, Any]) -> Addressee:
    return Addressee(row["person_id"], row["confidence"], How(row["how"]))


def _attendance(row: Mapping[str, Any]) -> Attendance:
    intervals = tuple(Segment(start, end) for start, end in zip(row["starts"], row["ends"], strict=True))
    return Attendance(row["person_id"], intervals, row["source"])
