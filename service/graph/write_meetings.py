"""How is a session written whose meeting still goes on, and put right when more is known? Turns keep their ids: a text, a time
or a voice that changes replaces what was there, and nothing keeps what was before. For who writes it: no gate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from service.graph.driver import Tx, rows
from service.graph.forget_inferred import INFERRED
from service.graph.meetings import hold_meeting, save_meeting_session
from service.graph.spaces import LOCK_SPACE
from service.graph.write_audiences import forget_unused
from service.graph.write_entities import forget_lost
from service.graph.write_sessions import NewSession, OpenedSession, hold_session, open_session
from service.types.memory import SessionStatus

CORRECTED = "corrected"
"""`decision` of a turn that somebody gave to somebody, and `reason` of one that they said is nobody's: no label takes either
away again."""


@dataclass(frozen=True, slots=True)
class TurnThere:
    """A turn as it is written."""

    message_id: str
    index: int
    local_speaker: str
    label: str
    text: str | None
    language: str | None
    start: float
    end: float
    said_at: datetime
    decision: str | None
    speaker_id: str | None
    doubts: tuple[str, ...] = ()
    reason: str | None = None
    """Why it is nobody's, or whose."""
    is_erased: bool = False
    """Its time and length are left, and it is written no more."""

    @property
    def is_corrected(self) -> bool:
        """Somebody said whose it is, or that it is nobody's."""
        return CORRECTED in (self.decision, self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a batch changes of turns that are written; the turns themselves, as they are now, are in the batch."""

    worded: Sequence[str] = ()
    """Ids of those that say something else now: what was made of their words goes."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Id of those that are another voice's now → id of that LocalSpeaker."""
    undecided: Sequence[str] = ()
    """Of `moved`, those whose person followed from the voice."""
    withdrawn: Sequence[str] = ()
    """Never said, or not any more."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """LocalSpeaker id → what it is called now."""

    def __bool__(self) -> bool:
        return bool(self.worded or self.moved or self.withdrawn or self.labels)

    def of(self, messages: Collection[str], *, rest: bool) -> Changes:
        """What of it goes with these messages (ids); with the `rest`, what goes with none."""
        return Changes(
            worded=[id for id in self.worded if id in messages],
            moved={id: voice for id, voice in self.moved.items() if id in messages},
            undecided=[id for id in self.undecided if id in messages],
            withdrawn=self.withdrawn if rest else (),
            labels=self.labels if rest else {},
        )


LIST_TURNS_THERE = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m.id AS message_id, m.index AS index, l.id AS local_speaker, l.label AS label, m.text AS text, m.language AS language,
       m.start AS start, m.end AS end, m.said_at AS said_at, m.decision AS decision, m.speaker_id AS speaker_id,
       coalesce(m.doubts, []) AS doubts, m.reason AS reason, m.erased_at IS NOT NULL AS is_erased
ORDER BY index
"""

LIST_HEARD = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
WHERE m.snr_db IS NOT NULL
RETURN m.id AS id
"""

FORGET_FACTS_OF = """
UNWIND $ids AS id
MATCH (f:Fact {space: $space})-[:EVIDENCED_BY]->(:Message {id: id, space: $space})
WITH DISTINCT f
OPTIONAL MATCH (f)-[:FOR]->(a:Audience)
WITH f, a.id AS audience, COLLECT { MATCH (e:Entity)-[:MENTIONED_IN]->(f) RETURN e.id } AS entities
DETACH DELETE f
RETURN audience, entities
"""

FORGET_MADE_OF_WORDS = """
UNWIND $ids AS id
MATCH (m:Message {id: id, space: $space})
SET m += $nothing
WITH m
MATCH (e:Entity)-[in:MENTIONED_IN]->(m)
DELETE in
RETURN e.id AS entity
"""

LEAVE_OTHER_VOICES = """
UNWIND $moved AS row
MATCH (m:Message {id: row.message_id, space: $space})<-[old:UTTERED]-(l:LocalSpeaker)
WHERE l.id <> row.local_speaker
MATCH (m)<-[now:UTTERED]-(:LocalSpeaker {id: row.local_speaker})
SET now = properties(old)
DELETE old
"""

UNCOUNT = """
UNWIND $ids AS id
MATCH (m:Message {id: id, space: $space})<-[:SPEAKS]-(p:Person)
WITH p, count(m) AS turns, sum(coalesce(m.net_speech, 0.0)) AS seconds
SET p.num_turns = CASE WHEN p.num_turns > turns THEN p.num_turns - turns ELSE 0 END,
    p.net_speech = CASE WHEN p.net_speech > seconds THEN p.net_speech - seconds ELSE 0.0 END
"""

UNDECIDE = """
UNWIND $ids AS id
MATCH (m:Message {id: id, space: $space})
OPTIONAL MATCH (:Person)-[by:SPEAKS]->(m)
DELETE by
SET m += $nothing
REMOVE m.speaker_id
"""

FORGET_MESSAGES = """
UNWIND $ids AS id
MATCH (m:Message {id: id, space: $space, session_id: $session_id})
CALL (m) {
  MATCH (shown:Image|AudioMemory)-[:ATTACHED_TO]->(m)
  DETACH DELETE shown
}
OPTIONAL MATCH (m)-[:FOR]->(a:Audience)
WITH m, a.id AS audience, COLLECT { MATCH (e:Entity)-[:MENTIONED_IN]->(m) RETURN e.id } AS entities
DETACH DELETE m
RETURN audience, entities
"""

FORGET_SILENT_VOICES = """
MATCH (:Session {space: $space, id: $session_id})<-[:HEARD_IN]-(l:LocalSpeaker)
WHERE NOT EXISTS { (l)-[:UTTERED]->() }
CALL (l) {
  MATCH (n:NameProposal)-[:ABOUT]->(l)
  DETACH DELETE n
}
DETACH DELETE l
"""

SAVE_LABELS = """
UNWIND $labels AS row
MATCH (l:LocalSpeaker {id: row.local_speaker, space: $space})
SET l.label = row.label
"""

PUT_ASIDE = """
UNWIND $order AS row
MATCH (m:Message {id: row.message_id, session_id: $session_id})
SET m.index = -1 - row.index
"""

PUT_IN_ORDER = """
UNWIND $order AS row
MATCH (m:Message {id: row.message_id, session_id: $session_id})
SET m.index = row.index
"""

SAVE_MEETING_TIMES = """
MATCH (s:Session {space: $space, id: $session_id})
SET s += $properties
"""

REOPEN_SESSION = """
MATCH (s:Session {space: $space, id: $session_id})
WHERE s.status = 'complete'
SET s.status = 'open', s.checkpoint = $checkpoint
REMOVE s.facts_by, s.entities_by
"""


async def list_turns_there(tx: Tx, space: str, session_id: str) -> list[TurnThere]:
    """All turns of the session by index, as they are written so far."""
    return [
        TurnThere(**{**row, "doubts": tuple(row["doubts"])})
        for row in await rows(tx, LIST_TURNS_THERE, space=space, session_id=session_id)
    ]


async def list_heard(tx: Tx, space: str, session_id: str) -> frozenset[str]:
    """Ids of the turns whose sound was listened to."""
    return frozenset(row["id"] for row in await rows(tx, LIST_HEARD, space=space, session_id=session_id))


async def save_changes(tx: Tx, space: str, session_id: str, changes: Changes, *, half_life_days: float) -> None:
    """After `save_batch` with the turns as they are now, in its transaction, which holds the lock of the space."""
    left: list[str] = []
    lost: set[str] = set()
    gone = [*changes.worded, *changes.withdrawn]
    if gone:
        for row in await rows(tx, FORGET_FACTS_OF, space=space, ids=gone):
            left += [row["audience"]] if row["audience"] else []
            lost.update(row["entities"])
    if changes.worded:
        nothing = {**dict.fromkeys(INFERRED), "mirrored": None}
        found = await rows(tx, FORGET_MADE_OF_WORDS, space=space, ids=list(changes.worded), nothing=nothing)
        lost.update(row["entity"] for row in found)
    if changes.moved:
        moved = [{"message_id": message, "local_speaker": voice} for message, voice in changes.moved.items()]
        await tx.run(LEAVE_OTHER_VOICES, space=space, moved=moved)
    if lost_by_somebody := [*changes.undecided, *changes.withdrawn]:
        await tx.run(UNCOUNT, space=space, ids=lost_by_somebody)
    if changes.undecided:
        await tx.run(UNDECIDE, space=space, ids=list(changes.undecided), nothing=dict.fromkeys(INFERRED))
    if changes.withdrawn:
        for row in await rows(tx, FORGET_MESSAGES, space=space, session_id=session_id, ids=list(changes.withdrawn)):
            left += [row["audience"]] if row["audience"] else []
            lost.update(row["entities"])
    if changes.labels:
        labels = [{"local_speaker": voice, "label": label} for voice, label in changes.labels.items()]
        await tx.run(SAVE_LABELS, space=space, labels=labels)
    if changes.moved or changes.withdrawn:
        await tx.run(FORGET_SILENT_VOICES, space=space, session_id=session_id)
    await forget_unused(tx, space, left)
    await forget_lost(tx, space, lost, half_life_days=half_life_days)


async def begin_session(tx: Tx, session: NewSession, meeting: str, worker: str) -> OpenedSession:
    """Open the session of a meeting and note that it is its. One that is complete stays so: what it was made of is kept no
    more. Raises MeetingTaken."""
    opened = await open_session(tx, session)
    await hold_meeting(tx, meeting, worker)
    if opened.status is not SessionStatus.COMPLETE:
        await save_meeting_session(tx, meeting, session.id)
    return opened


async def reopen_session(tx: Tx, space: str, session_id: str, checkpoint: str, meeting: str, worker: str) -> None:
    """Let a complete session be written again, with the checkpoint that its fold was settled with: what it tells is read anew
    once it is closed again, and until then it is read as it was. Raises MeetingTaken."""
    await tx.run(LOCK_SPACE, space=space)
    await tx.run(REOPEN_SESSION, space=space, session_id=session_id, checkpoint=checkpoint)
    await hold_meeting(tx, meeting, worker)
    await save_meeting_session(tx, meeting, session_id)


async def arrange_session(tx: Tx, session: NewSession, checkpoint: str | None, order: Mapping[str, int]) -> None:
    """What is known by now of the meeting as a whole, and `order`: message id → its place, of all whose place is another now;
    they may change places among themselves. Raises SessionBusy as save_batch does."""
    await hold_session(tx, session.space, session.id, checkpoint)
    places: list[dict[str, Any]] = [{"message_id": message, "index": index} for message, index in order.items()]
    await tx.run(PUT_ASIDE, session_id=session.id, order=places)  # no two may ever have one place
    await tx.run(PUT_IN_ORDER, session_id=session.id, order=places)
    properties = {
        "title": session.title,
        "started_at": session.started_at,
        "zone": session.zone,
        "duration": session.duration,
        "roster": list(session.roster),
    }
    await tx.run(SAVE_MEETING_TIMES, space=session.space, session_id=session.id, properties=properties)
