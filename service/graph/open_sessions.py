"""What of a session that still goes on may be read, and by whom? How long it is so far, who is there, and the readers of its
turns, settled again after each batch: whoever is there finds what is said while they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.graph.close_sessions import save_attendance
from service.graph.driver import Tx, rows
from service.graph.spaces import LOCK_SPACE
from service.graph.write_audiences import Readers, audience_id, move_messages
from service.graph.write_sessions import RevisionMoved, hold_session
from service.types.audio import Segment
from service.types.memory import Attendance


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn of an open session as its writer reads it back; for nobody else: no gate stands before it."""

    message_id: str
    segment: Segment
    track: str
    speaker_id: str | None
    audience: str | None


@dataclass(frozen=True, slots=True)
class SoFar:
    """What is known of a session that goes on."""

    space: str
    session_id: str
    checkpoint: str | None
    """The one all of this rests on."""
    read_revision: int
    duration: float
    """Seconds heard."""
    attendance: Sequence[Attendance]
    """By now, of everybody."""
    readers: Mapping[str, Readers]
    """message id → who may read it by now, of those whose readers changed"""


LIST_OPEN_TURNS = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m.id AS message_id, m.index AS index, m.start AS start, m.end AS end, l.id AS track, m.speaker_id AS speaker_id,
       m.audience AS audience
ORDER BY index
"""

SAVE_DURATION = """
MATCH (s:Session {space: $space, id: $session_id})
SET s.duration = $duration
"""

GIVE_UP_SESSION = """
MATCH (s:Session {space: $space, id: $session_id})
WHERE s.status <> 'complete'
SET s.status = 'failed', s.error = $error
REMOVE s.checkpoint, s.thinned_of
RETURN s.id AS id
"""


async def list_open_turns(tx: Tx, space: str, session_id: str) -> list[OpenTurn]:
    """All turns of the session so far in spoken order."""
    found = await rows(tx, LIST_OPEN_TURNS, space=space, session_id=session_id)
    return [
        OpenTurn(row["message_id"], Segment(row["start"], row["end"]), row["track"], row["speaker_id"], row["audience"])
        for row in found
    ]


def reads_otherwise(turn: OpenTurn, space: str, readers: Readers) -> bool:
    """Whether others than `readers` read it now."""
    return turn.audience != audience_id(space, readers)


async def save_so_far(tx: Tx, so_far: SoFar) -> RevisionMoved | None:
    """Write who may read what, who is there, and how long the session is by now; None when done. Raises SessionBusy as
    save_batch does."""
    revision = await hold_session(tx, so_far.space, so_far.session_id, so_far.checkpoint)
    if revision != so_far.read_revision:
        return RevisionMoved(revision)
    await move_messages(tx, so_far.space, so_far.readers)
    await save_attendance(tx, so_far.space, so_far.session_id, so_far.attendance)
    await tx.run(SAVE_DURATION, space=so_far.space, session_id=so_far.session_id, duration=so_far.duration)
    return None


async def give_up_session(tx: Tx, space: str, session_id: str, error: str) -> bool:
    """Say by the code `error` why nobody goes on with it, and let go of who was there, which nobody could correct, and of the
    checkpoint, with voices of people who were not decided yet, or may not be kept. False where there is none, or it is
    complete. Locks the space."""
    await tx.run(LOCK_SPACE, space=space)
    if not await rows(tx, GIVE_UP_SESSION, space=space, session_id=session_id, error=error):
        return False
    await save_attendance(tx, space, session_id, ())
    return True
