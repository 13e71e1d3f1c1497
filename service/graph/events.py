"""What of what happened may this viewer know? Read when it is told, never before: a session of which they may read nothing, a
voice that has a name by now, turns that moved out of their sight are not told.

- session.ready: whoever may know of the session; its messages, speakers and turns of nobody are counted as they may read them.
- person.unresolved: of the voices that nobody has a name for (`service.graph.inbox`), those that they have heard.
- identity.revised: whoever may read a turn that changed hands, or one of whom is shown as another now; of the people, those
  they know of. That two are not the same shows in nothing: it is told to who reads everything.
- erased: the person themselves, where it is one's and nobody else hears it; else who reads everything."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows
from service.graph.inbox import UnknownKind, find_unknown
from service.graph.personas import find_subject
from service.graph.sessions import find_session, list_participants
from service.graph.write_corrections import NOT_SAME
from service.graph.write_events import FORGOTTEN
from service.types.events import Erased, Event, EventKind, ToldEvent

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

COUNT_NOBODYS = """
MATCH (:Session {space: $space, id: $session_id})<-[:IN_SESSION]-(m:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND m.speaker_id IS NULL
RETURN count(m) AS n
"""

FIND_MOVED = """
MATCH (c:Correction {space: $space, id: $correction_id})
RETURN c.kind AS kind, size(c.messages) AS moved, COLLECT {
  UNWIND c.messages AS id
  MATCH (m:Message {space: $space, id: id})-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  RETURN m.session_id
} AS sessions
"""

LIST_KNOWN = """
UNWIND $ids AS wanted
MATCH (p:Person {space: $space, id: wanted})
WHERE $reads_all OR EXISTS {
  MATCH (p) (()<-[:MERGED_INTO]-()){0,12} (same:Person) WHERE same.id IN $themselves RETURN same
} OR EXISTS {
  MATCH (p) (()<-[:MERGED_INTO]-()){0,12} (same:Person)
  MATCH (same)-[:SPEAKS]->(:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences RETURN a
} OR EXISTS {
  MATCH (p) (()<-[:MERGED_INTO]-()){0,12} (same:Person)
  MATCH (same)<-[:ADDRESSES]-(:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences RETURN a
}
RETURN wanted AS id
"""

LIST_EVENTS = """
RETURN datetime() AS now, COLLECT {
  MATCH (e:Event {space: $space})
  WHERE e.created_at >= $since AND e.kind IN $kinds AND NOT e.id IN $had
  RETURN e {.*} ORDER BY e.created_at, e.id LIMIT $limit
} AS events
"""


async def list_events(
    tx: Tx, space: str, *, kinds: Collection[EventKind], since: datetime, had: Collection[str], limit: int
) -> tuple[list[Event], datetime]:
    """Events from `since` on, oldest first, without those `had`: for nobody's eyes, to be told by `list_told`. And when it was
    looked, by the clock that events have their times of."""
    wanted = [kind.value for kind in kinds]
    (row,) = await rows(tx, LIST_EVENTS, space=space, since=since, kinds=wanted, had=list(had), limit=limit)
    return [event_of(event) for event in row["events"]], row["now"]


async def list_told(tx: Tx, scope: ReadScope, events: Sequence[Event]) -> list[ToldEvent]:
    """What the scope may know of `events`, of those it may know of."""
    told = [await find_told(tx, scope, event) for event in events if event.space == scope.space]
    return [one for one in told if one is not None]


async def find_told(tx: Tx, scope: ReadScope, event: Event) -> ToldEvent | None:
    """What the scope may know of the event now; None: nothing."""
    match event.kind:
        case EventKind.SESSION_READY:
            return await _ready(tx, scope, event)
        case EventKind.PERSON_UNRESOLVED:
            return await _unresolved(tx, scope, event)
        case EventKind.IDENTITY_REVISED:
            return await _revised(tx, scope, event)
        case EventKind.ERASED:
            mine = bool(event.people) and set(event.people) <= set(await find_subject(tx, scope, None))
            return _told(event, people=event.people, counts=event.counts) if scope.reads_all or mine else None


def told_last(event: Event) -> ToldEvent:
    """That a space is gone: to all of its webhooks that are told of what is erased. Nothing is left of it to look at."""
    return _told(event, space=event.space.removeprefix(FORGOTTEN).partition("/")[2], counts=event.counts)


def is_last(event: Event) -> bool:
    return event.what == Erased.SPACE


async def _ready(tx: Tx, scope: ReadScope, event: Event) -> ToldEvent | None:
    id = event.session_id or ""
    session = await find_session(tx, scope, id)
    if session is None:
        return None
    people = (await list_participants(tx, scope, [id])).get(id, ())
    (row,) = await rows(tx, COUNT_NOBODYS, space=scope.space, session_id=id, audiences=scope.audiences)
    counts = {"messages": session.num_messages, "people": len(people), "unresolved": int(row["n"])}
    return _told(event, session_id=id, counts=counts)


async def _unresolved(tx: Tx, scope: ReadScope, event: Event) -> ToldEvent | None:
    unknown = await find_unknown(tx, scope, [*event.voices, *event.people])
    if not unknown:
        return None
    of = {kind: tuple(sorted(one.id for one in unknown.values() if one.kind is kind)) for kind in UnknownKind}
    return _told(
        event,
        session_id=event.session_id,
        voices=of[UnknownKind.LOCAL_SPEAKER],
        people=of[UnknownKind.PERSON],
        counts={"turns": sum(one.num_turns for one in unknown.values())},
    )


async def _revised(tx: Tx, scope: ReadScope, event: Event) -> ToldEvent | None:
    if event.session_id is not None:
        return await _attributed(tx, scope, event, event.session_id)
    found = await rows(tx, FIND_MOVED, space=scope.space, correction_id=event.correction_id or "", audiences=scope.audiences)
    kind, moved, sessions = (found[0]["kind"], found[0]["moved"], found[0]["sessions"]) if found else (event.what, 0, [])
    known = {row["id"] for row in await rows(tx, LIST_KNOWN, **scope.gate, ids=list(event.people))}
    changed_hands = bool(sessions) if moved else bool(event.people) and event.people[0] in known
    if not scope.reads_all and (kind == NOT_SAME or not changed_hands):
        return None
    return _told(
        event,
        correction_id=event.correction_id if scope.reads_all else None,
        people=tuple(sorted(known.intersection(event.people))),
        sessions=tuple(sorted(set(sessions))),
        counts={"turns": len(sessions)} if moved else {},
    )


async def _attributed(tx: Tx, scope: ReadScope, event: Event, session_id: str) -> ToldEvent | None:
    """By a login, of one session: to whoever may know of it and of somebody concerned."""
    session = await find_session(tx, scope, session_id)
    known = {row["id"] for row in await rows(tx, LIST_KNOWN, **scope.gate, ids=list(event.people))}
    if session is None or not (known or scope.reads_all):
        return None
    counts = event.counts if scope.reads_all else {}
    return _told(event, people=tuple(sorted(known)), sessions=(session_id,), counts=counts)


def _told(
    event: Event,
    *,
    space: str | None = None,
    session_id: str | None = None,
    correction_id: str | None = None,
    people: Sequence[str] = (),
    voices: Sequence[str] = (),
    sessions: Sequence[str] = (),
    counts: Mapping[str, int],
) -> ToldEvent:
    return ToldEvent(
        id=event.id,
        kind=event.kind,
        at=event.at,
        what=event.what,
        space=space,
        session_id=session_id,
        correction_id=correction_id,
        people=tuple(people),
        voices=tuple(voices),
        sessions=tuple(sessions),
        counts=dict(counts),
    )


def event_of(row: Mapping[str, Any]) -> Event:
    """An Event node's properties as a record."""
    return Event(
        id=row["id"],
        space=row["space"],
        kind=EventKind(row["kind"]),
        at=row["created_at"],
        what=row.get("what"),
        session_id=row.get("session_id"),
        correction_id=row.get("correction_id"),
        people=tuple(row["people"]),
        voices=tuple(row["voices"]),
        counts=json.loads(row["counts"]),
    )
