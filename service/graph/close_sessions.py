"""How is a session closed, and settled again? What can only be said once all of it is known, written in one transaction: who
was there, to whom each turn was said, what it answers, and who may read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.errors import NotFound
from service.graph.cypher import for_space
from service.graph.driver import Tx, rows
from service.graph.write_audiences import Readers, move_messages
from service.graph.write_events import save_session_events
from service.graph.write_sessions import RevisionMoved, embedding_property, hold_session
from service.types.audio import Samples, Segment
from service.types.memory import Addressee, Attendance
from service.types.people import AccessPolicy


@dataclass(frozen=True, slots=True)
class WrittenTurn:
    """A turn of an open session as its writer reads it back; for nobody else: no gate stands before it."""

    message_id: str
    index: int
    segment: Segment
    track: str
    speaker_id: str | None
    text: str | None
    label: str | None = None
    """Of the track, as the transcript or the diariser has it."""
    captions: str | None = None
    given_id: str | None = None
    answers: str | None = None
    """`given_id` of another turn."""
    said_to: tuple[str, ...] = ()
    """Labels."""


@dataclass(frozen=True, slots=True)
class Decided:
    """How many messages of a session were given to one person by one kind of decision."""

    decision: str
    person_id: str | None
    num_messages: int
    known: bool
    """Whether the person was there before the session: of a recording that is processed again, whose voice is heard anew."""


@dataclass(frozen=True, slots=True)
class KnownPerson:
    id: str
    names: tuple[str, ...]
    is_bot: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """What of a session's words is in no message, and what of its transcript had to be guessed."""

    words: int
    captions_mended: int


NOTHING_LOST = Lost(0, 0)


@dataclass(frozen=True, slots=True)
class Relations:
    """What the whole session tells of its people and turns."""

    attendance: Sequence[Attendance]
    """sorted by person"""
    addressees: Mapping[str, Sequence[Addressee]]
    """message id → to whom"""
    replies: Mapping[str, str]
    """message id → message answered"""
    readers: Mapping[str, Readers]


@dataclass(frozen=True, slots=True)
class Contexts:
    """Context views of a session's turns, written with one embedding space."""

    embedder: str
    vectors: Mapping[str, Samples]
    """message id → embedding of its context view, where that is more than the turn itself"""
    plain: Sequence[str]
    """ids of the messages whose context view is the turn itself"""


@dataclass(frozen=True, slots=True)
class Closing:
    space: str
    session_id: str
    checkpoint: str | None
    """The one all of this rests on."""
    read_revision: int
    access: AccessPolicy
    """The policy that `readers` follow."""
    addressed_to: Sequence[str]
    """As the caller said of every turn."""
    relations: Relations
    contexts: Contexts | None
    lost: Lost = NOTHING_LOST


LIST_WRITTEN_TURNS = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m.id AS message_id, m.index AS index, m.start AS start, m.end AS end, l.id AS track, m.speaker_id AS speaker_id,
       m.text AS text, l.label AS label, m.captions AS captions, m.given_id AS given_id, m.answers AS answers,
       coalesce(m.said_to, []) AS said_to
ORDER BY index
"""

LIST_KNOWN_PEOPLE = """
MATCH (p:Person {space: $space})
WHERE p.id IN $ids AND coalesce(p.tombstone, false) = false
RETURN p.id AS id, coalesce(p.aliases, []) + coalesce(p.display_name, []) AS names, p.kind = 'bot' AS is_bot
ORDER BY id
"""

FORGET_ATTENDANCE = """
MATCH (:Person)-[attended:ATTENDED]->(:Session {space: $space, id: $session_id})
DELETE attended
"""

FORGET_RELATIONS = """
UNWIND $ids AS id
MATCH (:Message {space: $space, id: id})-[r:ADDRESSES|REPLIES_TO]->()
DELETE r
"""

SAVE_ATTENDANCE = """
MATCH (s:Session {space: $space, id: $session_id})
UNWIND $attendance AS row
MATCH (p:Person {space: $space, id: row.person_id}) WHERE coalesce(p.tombstone, false) = false
MERGE (p)-[a:ATTENDED]->(s)
SET a = row.properties
"""

SAVE_ADDRESSEES = """
UNWIND $addressees AS row
MATCH (m:Message {space: $space, id: row.message_id})
MATCH (p:Person {space: $space, id: row.person_id}) WHERE coalesce(p.tombstone, false) = false
MERGE (m)-[a:ADDRESSES]->(p)
SET a = row.properties
"""

SAVE_REPLIES = """
UNWIND $replies AS row
MATCH (m:Message {space: $space, id: row.message_id})
MATCH (answered:Message {space: $space, id: row.answered})
MERGE (m)-[:REPLIES_TO]->(answered)
"""

SAVE_PLAIN_CONTEXTS = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
WHERE m.embedding__<space>__turn IS NOT NULL AND m.id IN $ids
SET m.embedding__<space>__context = m.embedding__<space>__turn
"""

SAVE_CONTEXTS = """
UNWIND $contexts AS row
MATCH (m:Message {space: $space, id: row.message_id})
SET m += row.properties
"""

COUNT_DECISIONS = """
MATCH (m:Message)-[:IN_SESSION]->(s:Session {space: $space, id: $session_id})
RETURN m.decision AS decision, m.speaker_id AS person_id, count(m) AS num_messages,
       EXISTS { MATCH (p:Person {id: m.speaker_id, space: $space}) WHERE p.created_at < s.created_at } AS known
ORDER BY decision, person_id
"""

COMPLETE_SESSION = """
MATCH (s:Session {space: $space, id: $session_id})
SET s.status = 'complete', s.words_left_out = $words, s.captions_mended = $captions_mended, s.access = $access,
    s.addressed_to = $addressed_to
REMOVE s.checkpoint, s.thinned_of
"""

GET_LOST = """
MATCH (s:Session {space: $space, id: $session_id})
RETURN coalesce(s.words_left_out, 0) AS words, coalesce(s.captions_mended, 0) AS captions_mended
"""


async def list_written_turns(tx: Tx, space: str, session_id: str) -> list[WrittenTurn]:
    """All turns of the session in spoken order."""
    return [
        WrittenTurn(segment=Segment(row.pop("start"), row.pop("end")), said_to=tuple(row.pop("said_to")), **row)
        for row in await rows(tx, LIST_WRITTEN_TURNS, space=space, session_id=session_id)
    ]


async def list_known_people(tx: Tx, space: str, ids: Sequence[str]) -> list[KnownPerson]:
    """Names of `ids`, to hear whom a turn calls; ids that name nobody are left out."""
    found = await rows(tx, LIST_KNOWN_PEOPLE, space=space, ids=list(ids))
    return [KnownPerson(row["id"], tuple(row["names"]), row["is_bot"]) for row in found]


async def count_decisions(tx: Tx, space: str, session_id: str) -> list[Decided]:
    """What came of the session's turns, for the report to who ingested it."""
    return [Decided(**row) for row in await rows(tx, COUNT_DECISIONS, space=space, session_id=session_id)]


async def get_lost(tx: Tx, space: str, session_id: str) -> Lost:
    """For the report to who ingested the session. Raises NotFound."""
    found = await rows(tx, GET_LOST, space=space, session_id=session_id)
    if not found:
        raise NotFound(kind="session", id=session_id)
    return Lost(**found[0])


async def close_session(tx: Tx, closing: Closing) -> RevisionMoved | None:
    """Write all of `closing` and mark the session complete; None when done. Raises SessionBusy as save_batch does."""
    revision = await hold_session(tx, closing.space, closing.session_id, closing.checkpoint)
    if revision != closing.read_revision:
        return RevisionMoved(revision)
    turns = closing.relations.readers.keys()
    await save_relations(tx, closing.space, closing.session_id, closing.relations, closing.contexts, of=turns)
    await tx.run(
        COMPLETE_SESSION,
        space=closing.space,
        session_id=closing.session_id,
        words=closing.lost.words,
        captions_mended=closing.lost.captions_mended,
        access=closing.access.value,
        addressed_to=list(closing.addressed_to),
    )
    await save_session_events(tx, closing.space, closing.session_id)
    return None


async def save_relations(
    tx: Tx, space: str, session_id: str, relations: Relations, contexts: Contexts | None, *, of: Collection[str]
) -> None:
    """Attendance in place of what there is; addressees and replies in place of those of the messages `of`; readers and context
    views of the messages that `relations` and `contexts` name. The caller holds the lock of the space."""
    session: dict[str, Any] = {"space": space, "session_id": session_id}
    await save_attendance(tx, space, session_id, relations.attendance)
    await tx.run(FORGET_RELATIONS, space=space, ids=sorted(of))
    await tx.run(SAVE_ADDRESSEES, space=space, addressees=_addressees(relations.addressees))
    await tx.run(
        SAVE_REPLIES,
        space=space,
        replies=[{"message_id": m, "answered": answered} for m, answered in relations.replies.items()],
    )
    await move_messages(tx, space, relations.readers)
    if contexts is not None:
        await _save_contexts(tx, session, contexts)


async def save_attendance(tx: Tx, space: str, session_id: str, attendance: Sequence[Attendance]) -> None:
    """In place of what there is. The caller holds the lock of the space."""
    await tx.run(FORGET_ATTENDANCE, space=space, session_id=session_id)
    await tx.run(SAVE_ATTENDANCE, space=space, session_id=session_id, attendance=[_attendance(a) for a in attendance])


async def _save_contexts(tx: Tx, session: Mapping[str, Any], contexts: Contexts) -> None:
    name = embedding_property(contexts.embedder, "context")
    await tx.run(for_space(SAVE_PLAIN_CONTEXTS, contexts.embedder), **session, ids=list(contexts.plain))
    vectors = [{"message_id": m, "properties": {name: vector.tolist()}} for m, vector in contexts.vectors.items()]
    await tx.run(SAVE_CONTEXTS, space=session["space"], contexts=vectors)


def _attendance(attendance: Attendance) -> dict[str, Any]:
    return {
        "person_id": attendance.person_id,
        "properties": {
            "starts": [i.start for i in attendance.intervals],
            "ends": [i.end for i in attendance.intervals],
            "source": attendance.source,
        },
    }


def _addressees(addressees: Mapping[str, Sequence[Addressee]]) -> list[dict[str, Any]]:
    return [
        {"message_id": message, "person_id": a.person_id, "properties": {"confidence": a.confidence, "how": a.how.value}}
        for message, people in addressees.items()
        for a in people
    ]
