"""What else tells of who or what is erased? Links to other people, logins, questions, what was inferred, sounds, records of
corrections, what meetings' backends sent, and audiences that name them: each emptied in batches that count themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from service.graph.driver import Tx, rows
from service.graph.erase import add_counts
from service.graph.erase_names import FOREIGN, name_parts
from service.graph.forget_inferred import INFERRED
from service.graph.meetings import close_meeting
from service.graph.spaces import lock_space
from service.graph.write_audiences import audience_id, forget_unused, readers_text, save_audiences
from service.types.erasure import Erasure, SubjectKind

Step = Callable[[Tx, Erasure, int], Awaitable[int]]
"""Takes at most so many away; how many: fewer when none is left."""
_NOTHING = dict.fromkeys(INFERRED)

FORGET_PERSONAS = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people
MATCH (p)<-[:CROSS_BRAIN]-(n:PersonaNode)
RETURN n.id AS id LIMIT $limit
UNION
MATCH (p:Person {space: $space}) WHERE p.id IN $people
MATCH (p)-[:HAS_PERSONA]->(n:PersonaNode)
RETURN n.id AS id LIMIT $limit
"""

DELETE_PERSONAS = """
UNWIND $ids AS id
MATCH (n:PersonaNode {id: id, space: $space})
DETACH DELETE n
"""

FORGET_AFFECT = """
UNWIND $people AS person
MATCH (m:Message {affect_of: person}) WHERE m.space = $space
WITH m LIMIT $limit
SET m += $nothing
RETURN count(m) AS gone
"""

FORGET_SOUNDS = """
MATCH (a:AudioMemory {space: $space}) WHERE a.of IN $people
WITH a LIMIT $limit
DETACH DELETE a
RETURN count(*) AS gone
"""

FORGET_QUESTIONS = """
MATCH (q:Query {space: $space})
WHERE q.created_at IS NOT NULL AND (q.asked_by IN $people OR any(id IN coalesce(q.about, []) WHERE id IN $people))
WITH q LIMIT $limit
DETACH DELETE q
RETURN count(*) AS gone
"""

FORGET_ACCOUNTS = """
MATCH (a:Account {space: $space}) WHERE a.id IN $accounts
WITH a LIMIT $limit
DETACH DELETE a
RETURN count(*) AS gone
"""

FORGET_PROPOSALS = """
MATCH (n:NameProposal)-[:ABOUT]->(p:Person {space: $space}) WHERE p.id IN $people
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone
"""

FORGET_GRANTS = """
MATCH (g:Grant {space: $space})
WHERE g.account IN $accounts OR EXISTS { MATCH (g)-[:LETS_ASK_FOR]->(p:Person {space: $space}) WHERE p.id IN $people }
WITH g LIMIT $limit
DETACH DELETE g
RETURN count(*) AS gone
"""

FORGET_JOBS = """
MATCH (j:Job {space: $space})
WHERE j.account IN $accounts AND NOT j.status IN ['queued', 'running'] AND NOT j.kind STARTS WITH 'erase_'
WITH j LIMIT $limit
DETACH DELETE j
RETURN count(*) AS gone
"""
"""But for those that asked for erasures: asked again, they are the same, and they tell the receipt's id alone; and for those
that are still worked on, whose end would be told of nothing."""

LIST_JOBS_LEFT = """
MATCH (j:Job {space: $space})
WHERE j.account IN $accounts AND NOT j.kind STARTS WITH 'erase_'
RETURN j.id AS id ORDER BY id
"""

FORGET_LINKS = """
MATCH (p:Person {space: $space})-[r:IS|MAY_BE|NOT_SAME_AS|MERGED_INTO|ATTENDED|ADDRESSES|SHARES]-() WHERE p.id IN $people
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
"""

FORGET_BARE_PROPOSALS = """
MATCH (n:NameProposal {space: $space})
WHERE n.status IS NOT NULL AND coalesce(n.decided_by, 'voicegraph') = 'voicegraph'
  AND NOT EXISTS { MATCH (n)-[:EVIDENCED_BY]->(:Message) }
WITH n LIMIT $limit
OPTIONAL MATCH (p:Person {space: $space}) WHERE p.named_by = n.id
SET p.kind = CASE p.kind WHEN 'bot' THEN 'bot' ELSE 'anonymous' END, p.display_name = null, p.named_by = null
WITH DISTINCT n
DETACH DELETE n
RETURN count(*) AS gone
"""

LIST_CORRECTIONS = """
MATCH (c:Correction {space: $space})
WHERE any(id IN c.people WHERE id IN $people) OR any(id IN c.messages WHERE id IN $turns)
RETURN c {.id, .kind, .people, .messages, .record} AS correction
ORDER BY c.id LIMIT $limit
"""

DELETE_CORRECTIONS = """
UNWIND $ids AS id
MATCH (c:Correction {id: id, space: $space})
DETACH DELETE c
"""

SAVE_CORRECTIONS = """
UNWIND $corrections AS row
MATCH (c:Correction {id: row.id, space: $space})
SET c.people = row.people, c.messages = row.messages, c.record = row.record
"""

FORGET_IN_EVENTS = """
MATCH (e:Event {space: $space})
WHERE e.created_at IS NOT NULL AND e.kind <> 'erased' AND any(id IN e.people WHERE id IN $people)
SET e.people = [id IN e.people WHERE NOT id IN $people]
RETURN count(e) AS changed
"""

LIST_AUDIENCES_OF_PEOPLE = """
MATCH (p:Person {space: $space})-[:MAY_READ]->(a:Audience) WHERE p.id IN $people
WITH DISTINCT a ORDER BY a.id LIMIT $limit
RETURN a.id AS id, COLLECT { MATCH (q:Person)-[:MAY_READ]->(a) WHERE NOT q.id IN $people RETURN q.id } AS readers
"""

MOVE_READ = """
UNWIND $moves AS row
MATCH (:Audience {id: row.before, space: $space})<-[old:FOR]-(n:Message|Fact)
WITH row, old, n LIMIT $limit
MATCH (a:Audience {id: row.audience, space: $space})
DELETE old
MERGE (n)-[:FOR]->(a)
SET n.audience = a.id, n.readers = row.readers
RETURN count(n) AS moved
"""

DELETE_AUDIENCES = """
UNWIND $ids AS id
MATCH (a:Audience {id: id, space: $space}) WHERE NOT EXISTS { ()-[:FOR]->(a) }
DETACH DELETE a
RETURN count(*) AS gone
"""

FORGET_DELIVERIES = """
UNWIND $meetings AS meeting
MATCH (f:Meeting {id: meeting, space: $space})
OPTIONAL MATCH (w:MeetingWork {id: meeting})
MATCH (d:Delivery {meeting_id: meeting})
WHERE d.status <> 'waiting' AND (f.status = 'closed' OR d.folded < coalesce(w.first_folded, 0) OR d.status = 'dead')
WITH d LIMIT $limit
DETACH DELETE d
RETURN count(*) AS gone
"""

FORGET_MEETINGS = """
UNWIND $meetings AS meeting
MATCH (f:Meeting {id: meeting, space: $space, status: 'closed'})
WHERE NOT EXISTS { MATCH (d:Delivery {meeting_id: meeting}) WHERE d.status IN ['waiting', 'done', 'dead'] AND d.seq >= 0 }
OPTIONAL MATCH (w:MeetingWork {id: meeting})
DETACH DELETE w, f
"""

LIST_DEAD_LETTERS = """
MATCH (d:Delivery)
WHERE d.space = $space AND d.status = 'dead' AND d.created_at IS NOT NULL
  AND any(said IN [d.body, d.carried] WHERE any(part IN $parts WHERE toLower(said) CONTAINS part) OR said =~ $foreign)
RETURN d.id AS id, [said IN [d.body, d.carried] WHERE said IS NOT NULL] AS texts
"""

DELETE_DEAD_LETTERS = """
MATCH (d:Delivery) WHERE d.id IN $ids AND d.space = $space AND d.status = 'dead'
DETACH DELETE d
RETURN count(*) AS gone
"""

FORGET_CHECKPOINTS = """
MATCH (s:Session {space: $space}) WHERE s.id IN $sessions AND s.status = 'failed'
REMOVE s.checkpoint, s.thinned_of
"""

LIST_SOURCELESS = """
UNWIND $sessions AS session
MATCH (f:Fact {session_id: session})
WHERE f.space = $space AND NOT EXISTS { (f)-[:EVIDENCED_BY {role: 'source'}]->(:Message) }
RETURN f.id AS id
"""

LIST_MEETINGS_OVER = """
UNWIND $meetings AS meeting
MATCH (f:Meeting {id: meeting, space: $space, status: 'closed'})
RETURN f.id AS id
"""

LIST_BARE_PEOPLE = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people
  AND coalesce(p.tombstone, false) = false AND p.display_name IS NULL
  AND NOT EXISTS { (p)-[:SPEAKS|HAS_EXEMPLAR|GAVE|HAS_PERSONA]->() } AND NOT EXISTS { (p)-[:MERGED_INTO]-() }
  AND NOT EXISTS { (:Account)-[:IS]->(p) }
RETURN p.id AS id
"""

DELETE_PEOPLE = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people
CALL (p) { MATCH (n:NameProposal)-[:ABOUT]->(p) DETACH DELETE n }
DETACH DELETE p
"""

NOTE_FORGOTTEN = """
MATCH (s:Space {id: $space})
SET s.identity_revision = s.identity_revision + 1, s.forgotten_revision = s.identity_revision + 1
"""

LIST_OPEN = """
MATCH (p:Person {space: $space})-[:SPEAKS]->(:Message)-[:IN_SESSION]->(s:Session) WHERE p.id IN $people AND s.status = 'open'
RETURN DISTINCT s.id AS id
UNION
MATCH (s:Session {space: $space, status: 'open'})
WHERE s.id IN $sessions OR any(id IN $people WHERE s.checkpoint CONTAINS id)
RETURN s.id AS id
"""


LIST_MEETINGS_OPEN = """
MATCH (f:Meeting {space: $space, status: 'open'}) WHERE f.id IN $meetings AND f.session_id IN $sessions
RETURN f.session_id AS id
"""

LIST_SILENT_MEETINGS = """
MATCH (f:Meeting {space: $space, status: 'open'}) WHERE f.id IN $meetings AND f.last_at < $before
  AND NOT EXISTS { MATCH (:Session {space: $space, id: f.session_id, status: 'open'}) }
RETURN f.id AS id
"""


async def close_silent_meetings(tx: Tx, erasure: Erasure, *, before: datetime, now: datetime) -> None:
    """Those of which nothing came since `before`, and nobody takes anything in: whose worker is gone for good."""
    await lock_space(tx, erasure.space)
    asked = {"space": erasure.space, "meetings": list(erasure.meetings), "before": before}
    for row in await rows(tx, LIST_SILENT_MEETINGS, **asked):
        await close_meeting(tx, row["id"], expires_at=now)


async def list_open(tx: Tx, erasure: Erasure) -> tuple[str, ...]:
    """Ids of sessions that are still written, in which the person is; and of those that are complete, but for their meeting,
    whose deliveries are kept until that is closed."""
    asked = {"space": erasure.space, "sessions": list(erasure.sessions)}
    found = await rows(tx, LIST_MEETINGS_OPEN, **asked, meetings=list(erasure.meetings))
    if erasure.subject.kind is SubjectKind.PERSON:
        found += await rows(tx, LIST_OPEN, **asked, people=list(erasure.people))
    return tuple(sorted({row["id"] for row in found}))


async def list_jobs_left(tx: Tx, erasure: Erasure) -> tuple[str, ...]:
    """Ids of what the accounts of a person asked for and is not through, or was not when it was looked for."""
    if erasure.subject.kind is not SubjectKind.PERSON:
        return ()
    found = await rows(tx, LIST_JOBS_LEFT, space=erasure.space, accounts=list(erasure.accounts))
    return tuple(row["id"] for row in found)


def _some(what: str, query: str, **more: Any) -> Step:
    """A step of one query that says how many are `gone`, counted as `what`."""

    async def step(tx: Tx, erasure: Erasure, limit: int) -> int:
        await lock_space(tx, erasure.space)
        asked = {"space": erasure.space, "limit": limit, "people": list(erasure.people), "accounts": list(erasure.accounts)}
        (row,) = await rows(tx, query, **asked, meetings=list(erasure.meetings), **more)
        await add_counts(tx, erasure, {what: row["gone"]})
        return int(row["gone"])

    return step


async def erase_personas(tx: Tx, erasure: Erasure, limit: int) -> int:
    """What the people are like, and what others feel about them."""
    await lock_space(tx, erasure.space)
    of = {"space": erasure.space, "people": list(erasure.people)}
    ids = sorted({row["id"] for row in await rows(tx, FORGET_PERSONAS, **of, limit=limit)})
    await tx.run(DELETE_PERSONAS, space=erasure.space, ids=ids)
    await add_counts(tx, erasure, {"personas": len(ids)})
    return len(ids)


STEPS_OF_A_PERSON: tuple[Step, ...] = (
    erase_personas,
    _some("feelings", FORGET_AFFECT, nothing=_NOTHING),
    _some("sounds", FORGET_SOUNDS),
    _some("questions", FORGET_QUESTIONS),
    _some("names proposed", FORGET_PROPOSALS),
    _some("accounts", FORGET_ACCOUNTS),
    _some("grants", FORGET_GRANTS),
    _some("jobs", FORGET_JOBS),
    _some("links", FORGET_LINKS),
)
STEPS_OF_MEETINGS: tuple[Step, ...] = (_some("deliveries", FORGET_DELIVERIES),)
STEPS_OF_NAMES: tuple[Step, ...] = (_some("names proposed", FORGET_BARE_PROPOSALS),)


async def forget_checkpoints(tx: Tx, erasure: Erasure) -> None:
    """What sessions that broke off kept of voices: delivered again, they are heard anew. The caller holds the lock."""
    await tx.run(FORGET_CHECKPOINTS, space=erasure.space, sessions=list(erasure.sessions))


async def list_dead_letters(tx: Tx, space: str, names: Collection[str]) -> list[tuple[str, list[str]]]:
    """Ids of those that may hold one of `names` (folded), with their texts; no gate, for who erases."""
    found = await rows(tx, LIST_DEAD_LETTERS, space=space, parts=name_parts(names), foreign=FOREIGN) if names else []
    return [(row["id"], row["texts"]) for row in found]


async def forget_dead_letters(tx: Tx, erasure: Erasure, ids: Sequence[str]) -> None:
    await lock_space(tx, erasure.space)
    (row,) = await rows(tx, DELETE_DEAD_LETTERS, space=erasure.space, ids=list(ids))
    await add_counts(tx, erasure, {"dead letters": row["gone"]})


async def list_sourceless(tx: Tx, erasure: Erasure) -> tuple[str, ...]:
    """Ids of facts of its sessions that rest on nothing any more: of an erased session all. After the turns."""
    found = await rows(tx, LIST_SOURCELESS, space=erasure.space, sessions=list(erasure.sessions))
    return tuple(row["id"] for row in found)


async def list_meetings_over(tx: Tx, erasure: Erasure) -> list[str]:
    """Ids of its meetings that do not go on."""
    found = await rows(tx, LIST_MEETINGS_OVER, space=erasure.space, meetings=list(erasure.meetings))
    return [row["id"] for row in found]


async def forget_meetings(tx: Tx, erasure: Erasure) -> None:
    """Those that are over and of which no delivery is left."""
    await tx.run(FORGET_MEETINGS, space=erasure.space, meetings=list(erasure.meetings))


async def forget_in_events(tx: Tx, erasure: Erasure) -> None:
    """What happened before names them no more."""
    await lock_space(tx, erasure.space)
    (row,) = await rows(tx, FORGET_IN_EVENTS, space=erasure.space, people=list(erasure.people))
    await add_counts(tx, erasure, {"events": row["changed"]})


async def list_corrections_of(
    tx: Tx, space: str, people: Sequence[str], turns: Sequence[str], limit: int
) -> list[dict[str, Any]]:
    """Those that concern `people` or moved one of `turns`: id, kind, people, messages and record."""
    found = await rows(tx, LIST_CORRECTIONS, space=space, people=list(people), turns=list(turns), limit=limit)
    return [row["correction"] for row in found]


async def save_survivors(tx: Tx, erasure: Erasure, gone: Sequence[str], kept: Sequence[Mapping[str, Any]]) -> None:
    """Delete the corrections `gone`, and let those `kept` be as given. The caller holds the lock."""
    await tx.run(DELETE_CORRECTIONS, space=erasure.space, ids=list(gone))
    await tx.run(SAVE_CORRECTIONS, space=erasure.space, corrections=[dict(one) for one in kept])
    await add_counts(tx, erasure, {"undo records": len(gone) + len(kept)})


async def erase_readers(tx: Tx, erasure: Erasure, audiences: int, limit: int) -> int:
    """Let what at most so many audiences are for be read by the same people without who is erased; how many audiences are left
    to look at in this batch, 0 when nobody erased stands in any."""
    await lock_space(tx, erasure.space)
    people = list(erasure.people)
    found = await rows(tx, LIST_AUDIENCES_OF_PEOPLE, space=erasure.space, people=people, limit=audiences)
    if not found:
        return 0
    readers = {row["id"]: frozenset(row["readers"]) for row in found}
    await save_audiences(tx, erasure.space, readers.values())
    moves = [
        {"before": id, "audience": audience_id(erasure.space, who), "readers": readers_text(who)} for id, who in readers.items()
    ]
    (row,) = await rows(tx, MOVE_READ, space=erasure.space, moves=moves, limit=limit)
    (gone,) = await rows(tx, DELETE_AUDIENCES, space=erasure.space, ids=sorted(readers))
    await forget_unused(tx, erasure.space, [move["audience"] for move in moves])
    await add_counts(tx, erasure, {"audiences": gone["gone"], "readers": row["moved"]})
    return len(found)


async def forget_bare_people(tx: Tx, erasure: Erasure) -> list[str]:
    """Who was known from an erased session alone: no name, no turn, no voice left. The caller holds the lock."""
    found = [row["id"] for row in await rows(tx, LIST_BARE_PEOPLE, space=erasure.space, people=list(erasure.people))]
    if found:
        await tx.run(DELETE_PEOPLE, space=erasure.space, people=found)
        await tx.run(NOTE_FORGOTTEN, space=erasure.space)
        await add_counts(tx, erasure, {"people": len(found)})
    return found
