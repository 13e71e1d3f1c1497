"""Which sessions may this viewer know of? Those with a message they may read, and those that every hearer attended (a
bot's attendance grants nothing)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from service.errors import NotFound
from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.memory import Session, SessionStatus

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

FIND_SESSIONS = """
UNWIND $ids AS wanted
MATCH (s:Session {id: wanted, space: $space})
WITH s, COUNT { MATCH (s)<-[:IN_SESSION]-(:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences } AS num_messages
WHERE num_messages > 0 OR $reads_all OR (size($hearers) > 0
  AND all(ids IN $hearers WHERE EXISTS {
    MATCH (p:Person)-[:ATTENDED]->(s) WHERE p.id IN ids AND coalesce(p.kind, '') <> 'bot' }))
RETURN s {.id, .space, .title, .started_at, .zone, .source, .external_id, .status, .created_at,
  duration: coalesce(s.duration, 0.0), sound_lost: coalesce(s.sound_lost, false),
  revision: coalesce(s.revision, 1)} AS session, num_messages
"""


async def find_sessions(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, Session]:
    """Those of `ids` that the scope holds, by id. `num_messages` counts the visible messages only."""
    found = await rows(tx, FIND_SESSIONS, **_gate(scope), ids=list(ids))
    return {row["session"]["id"]: _session(row) for row in found}


async def find_session(tx: Tx, scope: ReadScope, session_id: str) -> Session | None:
    return (await find_sessions(tx, scope, [session_id])).get(session_id)


async def get_session(tx: Tx, scope: ReadScope, session_id: str) -> Session:
    """Raises NotFound, the same for what does not exist and for what lies outside the scope."""
    session = await find_session(tx, scope, session_id)
    if session is None:
        raise NotFound(kind="session", id=session_id)
    return session


LIST_SESSIONS = """
CALL () {
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(:Message)-[:IN_SESSION]->(s:Session {space: $space})
  RETURN s
  UNION
  WITH $hearers AS hearers
  MATCH (p:Person {space: $space})-[:ATTENDED]->(s:Session {space: $space})
  WHERE p.id IN hearers[0] AND all(ids IN hearers WHERE EXISTS {
    MATCH (q:Person)-[:ATTENDED]->(s) WHERE q.id IN ids AND coalesce(q.kind, '') <> 'bot' })
  RETURN s
  UNION
  WITH $reads_all AS reads_all WHERE reads_all
  MATCH (s:Session {space: $space})
  RETURN s
}
WITH [s.started_at.epochSeconds * 1000000000 + s.started_at.nanosecond, s.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_sessions(tx: Tx, scope: ReadScope, *, page: Page) -> Paged[Session]:
    """Visible sessions, newest first."""
    found = await rows(tx, LIST_SESSIONS, **_gate(scope), **parameters(page, newest_first=True))
    places = [row["place"] for row in found]
    return paged(page, places, await find_sessions(tx, scope, [id for _, id in places]))


COUNT_SESSIONS = """
CALL () {
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(:Message)-[:IN_SESSION]->(s:Session {space: $space})
  RETURN s
  UNION
  WITH $hearers AS hearers
  MATCH (p:Person {space: $space})-[:ATTENDED]->(s:Session {space: $space})
  WHERE p.id IN hearers[0] AND all(ids IN hearers WHERE EXISTS {
    MATCH (q:Person)-[:ATTENDED]->(s) WHERE q.id IN ids AND coalesce(q.kind, '') <> 'bot' })
  RETURN s
  UNION
  WITH $reads_all AS reads_all WHERE reads_all
  MATCH (s:Session {space: $space})
  RETURN s
}
RETURN count(s) AS n
"""


async def count_sessions(tx: Tx, scope: ReadScope) -> int:
    found = await rows(tx, COUNT_SESSIONS, **_gate(scope))
    return int(found[0]["n"])


LIST_PARTICIPANTS = """
UNWIND $ids AS wanted
MATCH (s:Session {id: wanted, space: $space})<-[:IN_SESSION]-(m:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
MATCH (p:Person)-[:SPEAKS]->(m)
MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
WITH s.id AS session_id, shown.id AS person_id, count(m) AS num_turns
ORDER BY num_turns DESC, person_id
RETURN session_id, collect(person_id) AS people
"""


async def list_participants(tx: Tx, scope: ReadScope, session_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each session, the ids of those who speak in its visible messages, most turns first."""
    found = await rows(tx, LIST_PARTICIPANTS, space=scope.space, audiences=scope.audiences, ids=list(session_ids))
    return {row["session_id"]: tuple(row["people"]) for row in found}


def _gate(scope: ReadScope) -> dict[str, Any]:
    hearers = [] if scope.public_only else [list(ids) for ids in scope.hearers]
    return {"space": scope.space, "audiences": scope.audiences, "hearers": hearers, "reads_all": scope.reads_all}


def _session(row: Mapping[str, Any]) -> Session:
    record = dict(row["session"])
    status = SessionStatus(record.pop("status"))
    return Session(**record, status=status, num_messages=row["num_messages"])
