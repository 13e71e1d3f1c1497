"""How is it kept that something happened? In the transaction that makes it true: one Event, and a delivery for each webhook
that is told of its kind. If the transaction does not come to be, nobody is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from service.graph.driver import Tx, changes, rows
from service.types.events import EventKind, NewEvent
from service.types.ids import derived

MAX_IDS = 200
"""Of people, and of voices, in one event: it says that something happened, and is no list of it."""

SAVE_EVENT = """
MERGE (e:Event {id: $id})
ON CREATE SET e.space = $space, e.created_at = datetime(), e += $properties
WITH e
MATCH (w:Webhook {space: $space, status: 'active'}) WHERE e.kind IN w.kinds
MERGE (d:WebhookDelivery {id: w.id + '/' + e.id})
ON CREATE SET d.space = $space, d.created_at = datetime(), d.webhook_id = w.id, d.event_id = e.id, d.kind = e.kind,
  d.status = 'waiting', d.attempts = 0, d.next_at = datetime()
"""

COUNT_CLOSED = """
MATCH (e:Event {space: $space}) WHERE e.session_id = $session_id AND e.kind = $kind
RETURN count(e) AS n
"""

LIST_UNRESOLVED = """
MATCH (s:Session {space: $space, id: $session_id})
RETURN COLLECT {
  MATCH (s)<-[:IN_SESSION]-(m:Message)<-[:UTTERED]-(l:LocalSpeaker)
  WHERE NOT EXISTS { (m)<-[:SPEAKS]-(:Person) }
  RETURN DISTINCT l.id ORDER BY l.id LIMIT $limit
} AS voices, COLLECT {
  MATCH (s)<-[:IN_SESSION]-(:Message)<-[:SPEAKS]-(p:Person)
  WHERE p.display_name IS NULL AND coalesce(p.kind, '') <> 'bot' AND NOT EXISTS { (p)-[:MERGED_INTO]->(:Person) }
  AND NOT EXISTS { MATCH (p)-[:SPEAKS]->(other:Message) WHERE other.session_id <> $session_id RETURN other }
  RETURN DISTINCT p.id ORDER BY p.id LIMIT $limit
} AS people
"""

FORGET_EVENTS = """
MATCH (n:Event|WebhookDelivery) WHERE n.created_at < $before
WITH n LIMIT $limit
DELETE n
"""

LOCK_TO_BE_TOLD_LAST = """
MATCH (w:Webhook) WHERE w.space STARTS WITH $forgotten
SET w.created_at = w.created_at
RETURN w.id AS id
"""

FORGET_TOLD_LAST = """
MATCH (w:Webhook) WHERE w.id IN $ids AND w.space STARTS WITH $forgotten
AND NOT EXISTS { MATCH (d:WebhookDelivery {webhook_id: w.id, status: 'waiting'}) RETURN d }
WITH w LIMIT $limit
CALL (w) {
  MATCH (n:Event|WebhookDelivery {space: w.space})
  DELETE n
}
DELETE w
"""
"""Of one that was just made the delivery may be seen a moment later: whoever makes both has the webhook locked as long."""

FORGOTTEN = "forgotten/"
"""How the space of a webhook begins that is still to be told that its space is gone; the rest is an id, `/`, and its name."""


async def save_event(tx: Tx, new: NewEvent) -> str:
    """Id of the event; it follows from its kind and occasion, so that writing it again is the same event, told once."""
    id = derived("event", new.space, new.kind.value, new.occasion)
    properties = {
        "kind": new.kind.value,
        "what": new.what,
        "session_id": new.session_id,
        "correction_id": new.correction_id,
        "people": list(dict.fromkeys(new.people))[:MAX_IDS],
        "voices": list(dict.fromkeys(new.voices))[:MAX_IDS],
        "counts": json.dumps(dict(new.counts), sort_keys=True),
    }
    await tx.run(SAVE_EVENT, id=id, space=new.space, properties=properties)
    return id


async def save_session_events(tx: Tx, space: str, session_id: str) -> None:
    """A session is complete from now on (again, where what came late was taken in); and of whose voices in it nothing is known
    but that: turns that are nobody's, and people without a name that were not heard before."""
    ready = EventKind.SESSION_READY
    before = (await rows(tx, COUNT_CLOSED, space=space, session_id=session_id, kind=ready.value))[0]["n"]
    occasion = f"{session_id} {before}" if before else session_id
    await save_event(tx, NewEvent(space=space, kind=ready, occasion=occasion, session_id=session_id))
    found = await rows(tx, LIST_UNRESOLVED, space=space, session_id=session_id, limit=MAX_IDS)
    voices, people = (tuple(found[0][name]) if found else () for name in ("voices", "people"))
    if voices or people:
        unresolved = NewEvent(
            space=space,
            kind=EventKind.PERSON_UNRESOLVED,
            occasion=occasion,
            session_id=session_id,
            people=people,
            voices=voices,
        )
        await save_event(tx, unresolved)


async def save_erased(
    tx: Tx, space: str, what: str, *, people: Sequence[str] = (), erased: int | None = None, occasion: str
) -> None:
    """`erased`: how many of it; None where that is nobody's to know."""
    counts = {} if erased is None else {"erased": erased}
    gone = NewEvent(space=space, kind=EventKind.ERASED, occasion=occasion, what=what, people=tuple(people), counts=counts)
    await save_event(tx, gone)


async def forget_events(tx: Tx, before: datetime, limit: int) -> int:
    """Delete what happened before, with what was sent of it or was still to be; at most `limit` of each; how many in all."""
    gone = (await changes(tx, FORGET_EVENTS, before=before, limit=limit)).nodes_deleted
    told = [row["id"] for row in await rows(tx, LOCK_TO_BE_TOLD_LAST, forgotten=FORGOTTEN)]
    if told:
        gone += (await changes(tx, FORGET_TOLD_LAST, ids=told, forgotten=FORGOTTEN, limit=limit)).nodes_deleted
    return gone
