"""How is a session written? Opened, batch by batch with its checkpoint, settled and closed: each step one transaction under
the lock of the space, each safe to repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from service.errors import NotFound, VoicegraphError
from service.graph.cypher import for_space
from service.graph.driver import Tx, rows
from service.graph.images import Shown, save_images
from service.graph.receipts import refuse_erased
from service.graph.silent import list_silent
from service.graph.spaces import LOCK_SPACE, lock_space
from service.graph.succession import list_begun, refuse_partly_erased, revised_id
from service.graph.thin_checkpoints import checkpoint_hash
from service.graph.write_audiences import move_messages
from service.graph.write_people import PersonWrite, VoiceWrite, save_people, save_voices
from service.types.audio import EmbeddingSpace, Samples, SpeakerTurn
from service.types.memory import SessionStatus
from service.types.people import Assigned, Create, Decision, Link, Unresolved

ROUTER, SETTLEMENT = "router", "settlement"
"""`by` of a decision: made when the turn came, or at the session's end."""
GIVEN_UP = "given_up"
"""`error` of a session that was broken off, and whose recording was then given with other content."""


class SessionConflict(VoicegraphError):
    code = "session_conflict"
    says = "{what} is already there with other content ({why}). {advice}"
    http_status = 409


ANOTHER_ID = "Give another session id, or deliver the same thing again."
AGAIN = ANOTHER_ID + " The same recording may be ingested `again`: a new revision then takes the place of the one there."
ITS_ID = "Give the id that it has there, or none if it has none of yours."
AS_IT_IS = "It stays as it is."
"""What to do about a conflict."""


class SessionBusy(VoicegraphError):
    code = "session_busy"
    says = "Session {session_id} is being written by another ingest just now. Wait for it; what is written is kept."
    http_status = 409


@dataclass(frozen=True, slots=True)
class NewSession:
    id: str
    space: str
    title: str
    started_at: datetime
    zone: str | None
    source: str
    external_id: str
    content_hash: str
    roster: tuple[str, ...]
    duration: float
    encoder: str
    embedder: str | None
    transcript: str | None = None
    """SHA-256 of the transcript beside a recording: it must not be there by itself, before or after."""
    again: bool = False
    """Where its recording is there with other content, this is to take its place as a new revision."""
    silent_since: datetime | None = None
    """`again`, what was begun with other content is given up where nothing of it was written since then."""
    revision: int = 1
    replaces: str | None = None
    """Id of the session whose place it takes; until then nobody reads it."""
    access: str | None = None
    """Of one that takes another's place the policy that this was settled by: what was said is not opened by a later one."""


@dataclass(frozen=True, slots=True)
class OpenedSession:
    id: str
    """Of a new revision its own."""
    status: SessionStatus
    started_at: datetime
    """As first written: what is written already counts from it."""
    checkpoint: str | None
    """As last written; None before the first batch, and after the last."""
    num_messages: int
    revision: int = 1
    replaces: str | None = None
    """Id of the session whose place it takes, until nothing is left of that one."""
    unswept: str | None = None
    """Id of the session whose place that one took: where something of it is left it goes before this is written."""


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A turn with everything known when it is written, except whose it is."""

    id: str
    local_speaker: str
    """Id of the LocalSpeaker; the turn's own `track` is its label."""
    turn: SpeakerTurn
    said_at: datetime
    provenance: str
    vectors: Mapping[str, Samples]
    """view → embedding of the text and the captions; empty without either."""
    caption_vectors: Sequence[Samples | None] = ()
    """Of its images' captions; empty where they are not embedded."""
    doubts: tuple[str, ...] = ()
    """As on Message."""
    only_told: bool = False
    """Nobody listened to it for this: where it is written already, what was heard of it stays."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step of the fold adds to a session."""

    space: str
    session_id: str
    encoder: EmbeddingSpace
    embedder: str | None
    read_revision: int
    """identity_revision of the gallery that the decisions rest on."""
    checkpoint_before: str | None
    checkpoint: str
    messages: Sequence[NewMessage]
    decisions: Sequence[Decision]
    by: str
    bound: Mapping[str, Decision]
    """LocalSpeaker id → the decision that bound it to a person in this step."""
    people: Sequence[PersonWrite]
    """Everybody new, or counted anew."""
    voices: Sequence[VoiceWrite]
    """Of `people`, those whose voice is kept or changed."""
    hidden: bool = False
    """Nobody reads the messages before the session is closed, nor who said them: others do not read them twice."""


@dataclass(frozen=True, slots=True)
class BatchSaved:
    revision: int
    kept: frozenset[str]
    """People of `voices` whose voice was written; of the others consent did not allow it."""


@dataclass(frozen=True, slots=True)
class RevisionMoved:
    """Somebody else changed who is who since the gallery was read; nothing was written."""

    revision: int


FIND_SESSION_BY_ID = """
OPTIONAL MATCH (s:Session {id: $session_id})
RETURN s {.id, .space, .external_id, .content_hash, .status, .started_at, .checkpoint, .replaces, .access,
          revision: coalesce(s.revision, 1), num_messages: COUNT { (s)<-[:IN_SESSION]-(:Message) }} AS session
"""

FIND_SESSION_BY_EXTERNAL_ID = """
MATCH (s:Session {space: $space, external_id: $external_id})
RETURN s.id AS id
"""

FIND_SESSION_BY_TRANSCRIPT = """
MATCH (s:Session {space: $space, transcript: $transcript})
WHERE s.status <> 'failed' OR EXISTS { (s)<-[:IN_SESSION]-(:Message) }
RETURN s.id AS id
ORDER BY id
LIMIT 1
"""

OPEN_SESSION = """
MERGE (s:Session {id: $session_id})
ON CREATE SET s.created_at = datetime()
SET s += $properties, s.status = 'open'
REMOVE s.error
"""

FAIL_SESSION = """
MATCH (s:Session {space: $space, id: $session_id})
WHERE s.status = 'open'
SET s.status = 'failed', s.error = $error
"""

GET_STATE = """
MATCH (space:Space {id: $space})
MATCH (s:Session {space: $space, id: $session_id})
RETURN space.identity_revision AS revision,
       s.status = 'open' AND (coalesce(s.checkpoint, '') = $checkpoint OR coalesce(s.thinned_of, '') = $hash) AS ours
"""

SAVE_PROGRESS = """
MATCH (space:Space {id: $space})
MATCH (s:Session {space: $space, id: $session_id})
SET space.identity_revision = $revision, s.checkpoint = $checkpoint
REMOVE s.thinned_of
"""

SAVE_MESSAGES = """
MATCH (s:Session {space: $space, id: $session_id})
UNWIND $messages AS row
MERGE (m:Message {id: row.id})
ON CREATE SET m.space = $space, m.created_at = datetime(), m.session_id = $session_id, m += row.heard
SET m += CASE WHEN m.erased_at IS NULL THEN row.properties ELSE {} END
SET m += CASE WHEN m.erased_at IS NULL AND NOT row.only_told THEN row.heard ELSE {} END
MERGE (m)-[:IN_SESSION]->(s)
WITH s, m, row WHERE m.erased_at IS NULL
MERGE (l:LocalSpeaker {id: row.local_speaker})
ON CREATE SET l.space = $space, l.created_at = datetime(), l.session_id = $session_id, l.label = row.label
MERGE (l)-[:HEARD_IN]->(s)
MERGE (l)-[:UTTERED]->(m)
"""

SAVE_SPEAKERS = """
UNWIND $decisions AS row
MATCH (p:Person {space: $space, id: row.person_id})
MATCH (m:Message {space: $space, id: row.message_id}) WHERE m.erased_at IS NULL
MERGE (p)-[r:SPEAKS]->(m)
SET r = row.properties, m.speaker_id = p.id, m.decision = row.properties.decision, m.reason = row.properties.reason
"""

SAVE_UNRESOLVED = """
UNWIND $decisions AS row
MATCH (:LocalSpeaker)-[u:UTTERED]->(m:Message {space: $space, id: row.message_id}) WHERE m.erased_at IS NULL
SET u = row.properties, m.decision = row.properties.decision, m.reason = row.properties.reason
"""

SAVE_IDENTITIES = """
UNWIND $bound AS row
MATCH (l:LocalSpeaker {space: $space, id: row.track})
MATCH (p:Person {space: $space, id: row.person_id})
MERGE (l)-[r:IS]->(p)
SET r = row.properties
"""


async def open_session(tx: Tx, session: NewSession) -> OpenedSession:
    """Make the session, or find what is there of it. Raises SessionErased, and SessionConflict for the same id or the same
    sound with other content; a failed session without messages may be delivered anew in another form.

    What is there with other content is replaced `again`: a new revision is opened, under an id of its own, that nobody reads
    and no recording is known by until `take_place`; that one stays as it is. PartlyErased where it may not be. What was begun
    with other content, and nobody goes on with, is failed; SessionBusy where it is being written. Afterwards the same request,
    `again` or not, finds the revision, and the one before is a conflict."""
    await lock_space(tx, session.space)
    there = await _find(tx, session.id) or await _find_revision(tx, session)
    if there is not None and _is_other(session, there) and there["status"] == SessionStatus.OPEN:
        await _give_up(tx, session, there["id"])
        there["status"] = SessionStatus.FAILED
    unswept = None
    if there is not None and _is_replaced(session, there):
        unswept = there["replaces"]
        session = await _revised(tx, session, there)
        there = await _find(tx, session.id)
    elif there is not None and there["revision"] > 1:
        session = replace(session, id=there["id"], revision=there["revision"], replaces=there["replaces"])
    if there is None:
        await refuse_erased(tx, session.space, session.id)
        await _refuse_known_sound(tx, session)
    else:
        _refuse_other_content(session, there)
        if there["status"] == SessionStatus.COMPLETE:
            return _opened(session, SessionStatus.COMPLETE, there["started_at"], None, there["num_messages"])
    written = there["num_messages"] if there else 0
    started_at = there["started_at"] if there and written else session.started_at
    properties = {} if written else _session_properties(session)
    if properties and session.replaces:  # its recording is that of the session there, until it takes the place of that one
        properties |= {"external_id": there and there["external_id"], "access": session.access or (there and there["access"])}
    await tx.run(OPEN_SESSION, session_id=session.id, properties=properties)
    opened = _opened(session, SessionStatus.OPEN, started_at, there["checkpoint"] if there else None, written)
    return replace(opened, unswept=unswept)


def _opened(
    session: NewSession, status: SessionStatus, started_at: datetime, checkpoint: str | None, num_messages: int
) -> OpenedSession:
    return OpenedSession(session.id, status, started_at, checkpoint, num_messages, session.revision, session.replaces)


async def _find(tx: Tx, session_id: str) -> dict[str, Any] | None:
    (row,) = await rows(tx, FIND_SESSION_BY_ID, session_id=session_id)
    found: dict[str, Any] | None = row["session"]
    return found


async def _find_revision(tx: Tx, session: NewSession) -> dict[str, Any] | None:
    """What stands by now where the session of this id stood first."""
    known = await find_session_of(tx, session.space, session.external_id)
    there = await _find(tx, known) if known else None
    if there is None or there["revision"] == 1:
        return None
    return there if there["id"] == revised_id(session.id, there["revision"], there["content_hash"]) else None


def _is_other(session: NewSession, there: Mapping[str, Any]) -> bool:
    """Whether what is there is of the same recording, with other content than it is to have now."""
    same = all(there[name] == getattr(session, name) for name in ("space", "external_id"))
    return session.again and same and there["content_hash"] != session.content_hash


def _is_replaced(session: NewSession, there: Mapping[str, Any]) -> bool:
    """Whether what is there is what `session` is to be a new revision of: whole, or broken off for good."""
    over = there["status"] == SessionStatus.COMPLETE or (there["status"] == SessionStatus.FAILED and there["num_messages"])
    return bool(over and _is_other(session, there))


async def _give_up(tx: Tx, session: NewSession, begun: str) -> None:
    """Who writes `begun` after all finds it failed, and stops. Raises SessionBusy where something of it was written lately."""
    before = session.silent_since
    if before is None or not await list_silent(tx, session.space, [begun], before=before):
        raise SessionBusy(session_id=begun)
    await fail_session(tx, session.space, begun, GIVEN_UP)


async def _revised(tx: Tx, session: NewSession, there: Mapping[str, Any]) -> NewSession:
    await refuse_partly_erased(tx, session.space, there["id"])
    revision = there["revision"] + 1
    id = revised_id(session.id, revision, session.content_hash)
    for begun in await list_begun(tx, session.space, [there["id"]], failed=False):
        if begun != id:
            await _give_up(tx, session, begun)
    return replace(session, id=id, revision=revision, replaces=there["id"], access=there["access"])


async def _refuse_known_sound(tx: Tx, session: NewSession) -> None:
    known = await find_session_of(tx, session.space, session.external_id)
    if known and known != session.replaces:
        raise SessionConflict(what="This recording", why=f"it is session {known}", advice=ITS_ID)
    if session.transcript and (known := await find_session_of(tx, session.space, session.transcript)):
        why = f"without its recording it is session {known}"
        raise SessionConflict(what="This transcript", why=why, advice="Erase that session first.")
    if beside := await rows(tx, FIND_SESSION_BY_TRANSCRIPT, space=session.space, transcript=session.external_id):
        why = f"with its recording it is session {beside[0]['id']}"
        raise SessionConflict(what="This transcript", why=why, advice=AS_IT_IS)


async def find_session_of(tx: Tx, space: str, external_id: str) -> str | None:
    """Id of the session made of the file with this SHA-256."""
    known = await rows(tx, FIND_SESSION_BY_EXTERNAL_ID, space=space, external_id=external_id)
    return known[0]["id"] if known else None


def _refuse_other_content(session: NewSession, there: Mapping[str, Any]) -> None:
    """A session of another space is refused in the same words: whether it exists there is not ours to tell."""
    if there["space"] == session.space and there["content_hash"] == session.content_hash:
        return
    if there["space"] == session.space and there["status"] == SessionStatus.FAILED and not there["num_messages"]:
        return
    if there["space"] == session.space and there["revision"] > 1:
        why = f"it is revision {there['revision']}, session {session.id}, of another transcript, date, addressee or model"
        raise SessionConflict(what="This recording", why=why, advice=ANOTHER_ID if session.again else AGAIN)
    why = "another recording, transcript, date, addressee or model"
    raise SessionConflict(what=f"Session {session.id}", why=why, advice=ANOTHER_ID if session.again else AGAIN)


def _session_properties(session: NewSession) -> dict[str, Any]:
    given = ("space", "title", "started_at", "zone", "source", "external_id", "transcript", "content_hash", "duration")
    names = (*given, "encoder", "embedder")
    revised = {"revision": session.revision, "replaces": session.replaces} if session.replaces else {}
    return {**{name: getattr(session, name) for name in names}, "roster": list(session.roster), **revised}


async def fail_session(tx: Tx, space: str, session_id: str, error: str) -> None:
    """Say by the code `error` why the input could not become a session; what was written of it stays."""
    await tx.run(FAIL_SESSION, space=space, session_id=session_id, error=error)


async def save_batch(tx: Tx, batch: Batch) -> BatchSaved | RevisionMoved:
    """Write one step: people and voices, messages, decisions, narrow audiences and the checkpoint, all or nothing.

    Raises SessionBusy when the checkpoint is not the one this step began from: another process writes the session."""
    revision = await hold_session(tx, batch.space, batch.session_id, batch.checkpoint_before)
    if revision != batch.read_revision:
        return RevisionMoved(revision)
    kept = frozenset[str]()
    if batch.people:
        revision += 1
        await save_people(tx, batch.space, batch.people, revision)
        kept = await save_voices(tx, batch.space, batch.encoder, batch.voices)
    if batch.messages:
        await _save_messages(tx, batch)
    await _save_decisions(tx, batch)
    progress = {"revision": revision, "checkpoint": batch.checkpoint}
    await tx.run(SAVE_PROGRESS, {"space": batch.space, "session_id": batch.session_id, **progress})
    return BatchSaved(revision, kept)


async def hold_session(tx: Tx, space: str, session_id: str, checkpoint: str | None) -> int:
    """Lock the space for this transaction; its identity_revision. Raises NotFound, and SessionBusy when the session is not
    open at this checkpoint, or at what a refusal has left of it."""
    await tx.run(LOCK_SPACE, space=space)
    known = checkpoint or ""
    found = await rows(tx, GET_STATE, space=space, session_id=session_id, checkpoint=known, hash=checkpoint_hash(known))
    if not found:
        raise NotFound(kind="session", id=session_id)
    if not found[0]["ours"]:
        raise SessionBusy(session_id=session_id)
    return int(found[0]["revision"])


async def _save_messages(tx: Tx, batch: Batch) -> None:
    messages = [
        {
            "id": m.id,
            "local_speaker": m.local_speaker,
            "label": m.turn.track,
            "heard": _heard_properties(m.turn),
            "only_told": m.only_told,
            "properties": _message_properties(m, batch.embedder),
        }
        for m in batch.messages
    ]
    await tx.run(SAVE_MESSAGES, space=batch.space, session_id=batch.session_id, messages=messages)
    shown = {m.id: Shown(m.turn.told.images, m.caption_vectors) for m in batch.messages if m.turn.told.images}
    await save_images(tx, batch.space, shown, batch.embedder)


def _message_properties(message: NewMessage, embedder: str | None) -> dict[str, Any]:
    turn = message.turn
    return {
        "index": turn.index,
        "text": turn.text,
        "captions": turn.told.captions,
        "given_id": turn.told.key,
        "answers": turn.told.answers,
        "said_to": list(turn.told.said_to) or None,
        "language": turn.language,
        "start": turn.segment.start,
        "end": turn.segment.end,
        "said_at": message.said_at,
        "provenance": message.provenance,
        "doubts": list(message.doubts) or None,
        **{embedding_property(embedder, view): vector.tolist() for view, vector in message.vectors.items() if embedder},
    }


def _heard_properties(turn: SpeakerTurn) -> dict[str, Any]:
    return {
        "net_speech": float(turn.net_speech),
        "overlapped": float(turn.overlapped),
        "level_dbfs": turn.quality.level_dbfs if turn.quality else None,
        "snr_db": turn.quality.snr_db if turn.quality else None,
        "bandwidth_hz": turn.quality.bandwidth_hz if turn.quality else None,
        "channel": turn.channel,
    }


def embedding_property(embedder: str, view: str) -> str:
    return for_space("embedding__<space>__<view>", embedder, view)


async def _save_decisions(tx: Tx, batch: Batch) -> None:
    decided = [_decision(d, batch.by) for d in batch.decisions if not isinstance(d, Unresolved)]
    unresolved = [_decision(d, batch.by) for d in batch.decisions if isinstance(d, Unresolved)]
    bound = [{"track": track, **_decision(d, batch.by)} for track, d in sorted(batch.bound.items())]
    if decided:
        await tx.run(SAVE_SPEAKERS, space=batch.space, decisions=decided)
    if unresolved:
        await tx.run(SAVE_UNRESOLVED, space=batch.space, decisions=unresolved)
    if bound:
        await tx.run(SAVE_IDENTITIES, space=batch.space, bound=bound)
    if batch.hidden:
        return
    nobody = frozenset[str]()
    await move_messages(
        tx,
        batch.space,
        {
            **{d["message_id"]: nobody for d in unresolved},
            **{d["message_id"]: frozenset((d["person_id"],)) for d in decided},
        },
    )


def _decision(decision: Decision, by: str) -> dict[str, Any]:
    scores = decision.scores
    person: str | None = None if isinstance(decision, Unresolved) else decision.person_id
    reason: str | None = decision.reason if isinstance(decision, Assigned | Unresolved) else None
    match decision:
        case Link():
            outcome = "link"
        case Create():
            outcome = "create"
        case Assigned():
            outcome = "assigned"
        case Unresolved():
            outcome = "unresolved"
    return {
        "message_id": decision.message_id,
        "person_id": person,
        "properties": {
            "decision": outcome,
            "cosine": scores.cosine,
            "runner_up": scores.runner_up,
            "runner_up_id": scores.runner_up_id,
            "margin": scores.margin,
            "threshold": scores.threshold,
            "channels": scores.channels,
            "policy": scores.policy,
            "encoder": scores.encoder,
            "by": by,
            "reason": reason,
        },
    }
