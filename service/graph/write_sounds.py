"""How is a sound of a turn written? Only of people who agreed to it, in a space that is no workplace, until it expires; the
piece itself and what embeds it only where the space keeps pieces. All of it is looked at in the transaction that writes, under
the lock that giving and withdrawing consent take, too.

A sound names whose it is (`of`): where its turn is put down to somebody else later, nobody sees it until that is undone."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from service.graph.driver import Tx, rows
from service.graph.forget_sounds import KEEP_AUDIO
from service.graph.spaces import lock_space
from service.graph.write_personas import list_willing
from service.types.ids import derived
from service.types.memory import SessionStatus
from service.types.sounds import HeardSound, Manner


@dataclass(frozen=True, slots=True)
class TurnToHear:
    """A turn as the tagger gets it; for nobody else: no gate stands before it."""

    message_id: str
    person: str | None
    start: float
    end: float
    words: int
    net_speech: float
    level: float | None
    channel: str | None
    track: str
    pending: bool
    """It is of somebody who agreed, and whose sounds in this session were not listened for yet."""
    overlapped: float = 0.0
    """Seconds while somebody else spoke, too."""
    readers: frozenset[str] = frozenset()
    """As `Message.readers` has them."""

    @property
    def rate(self) -> float | None:
        """Words a second of net speech."""
        return self.words / self.net_speech if self.words and self.net_speech > 0 else None


@dataclass(frozen=True, slots=True)
class SpokenBefore:
    """How somebody spoke in a turn of an earlier session."""

    channel: str | None
    manner: Manner
    readers: frozenset[str]
    """As `Message.readers` has them."""


LIST_TURNS_TO_HEAR = """
MATCH (m:Message)-[:IN_SESSION]->(s:Session {space: $space, id: $session_id, status: $complete})
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
OPTIONAL MATCH (p:Person)-[:SPEAKS]->(m)
RETURN m {message_id: m.id, .start, .end, .net_speech, .channel, level: m.level_dbfs,
          overlapped: coalesce(m.overlapped, 0.0)} AS turn,
       p.id AS person, coalesce(m.readers, '') AS readers,
       l.label AS track, size(split(trim(coalesce(m.text, '')), ' ')) AS words, coalesce(m.text, '') = '' AS silent,
       coalesce(s.sounds_by, '') = $by AND p.id IN coalesce(s.sounds_of, []) AS heard
ORDER BY m.index
"""

LIST_MANNERS_BEFORE = """
MATCH (s:Session {space: $space, id: $session_id})
UNWIND $people AS person
MATCH (p:Person {space: $space, id: person})
RETURN person, COLLECT {
  MATCH (p)-[:SPEAKS]->(m:Message)
  WHERE m.said_at < s.started_at AND m.net_speech > 0 AND m.text IS NOT NULL
  RETURN m {.channel, level: m.level_dbfs, rate: size(split(trim(m.text), ' ')) / m.net_speech,
            readers: coalesce(m.readers, '')}
  ORDER BY m.said_at DESC, m.id LIMIT $limit
} AS manners
"""

SAVE_SOUNDS = """
UNWIND $sounds AS row
MATCH (:Person {space: $space, id: row.of})-[:SPEAKS]->(m:Message {space: $space, id: row.message_id})
MERGE (a:AudioMemory {id: row.id})
ON CREATE SET a.space = $space, a.created_at = datetime(), a.expires_at = $expires_at
SET a += row.properties, a.of = row.of
MERGE (a)-[:ATTACHED_TO]->(m)
"""

FORGET_OTHER_SOUNDS = """
MATCH (a:AudioMemory {space: $space})-[:ATTACHED_TO]->(m:Message)
WHERE m.session_id = $session_id AND a.of IN $people AND NOT a.id IN $ids
DETACH DELETE a
"""

FINISH_SOUNDS = """
MATCH (s:Session {space: $space, id: $session_id})
SET s.sounds_of = CASE WHEN coalesce(s.sounds_by, '') = $by
                  THEN [id IN coalesce(s.sounds_of, []) WHERE NOT id IN $people] + $people ELSE $people END,
    s.sounds_by = $by
"""


async def list_turns_to_hear(tx: Tx, space: str, session_id: str, by: str) -> tuple[TurnToHear, ...]:
    """All turns of a complete session in spoken order, whoever speaks; none of one that is not complete."""
    found = await rows(
        tx, LIST_TURNS_TO_HEAR, space=space, session_id=session_id, by=by, complete=SessionStatus.COMPLETE.value
    )  # fmt: skip
    people = sorted({row["person"] for row in found if row["person"]})
    willing = await list_willing(tx, space, people, KEEP_AUDIO) if people else frozenset()
    return tuple(
        TurnToHear(
            **row["turn"],
            person=row["person"],
            track=row["track"],
            words=0 if row["silent"] else row["words"],
            pending=row["person"] in willing and not row["heard"],
            readers=frozenset(row["readers"].split()),
        )
        for row in found
    )


async def list_manners_before(
    tx: Tx, space: str, session_id: str, people: Sequence[str], limit: int
) -> dict[str, list[SpokenBefore]]:
    """How loud and fast each of `people` spoke before this session, the newest first."""
    found = await rows(tx, LIST_MANNERS_BEFORE, space=space, session_id=session_id, people=list(people), limit=limit)
    return {
        row["person"]: [
            SpokenBefore(one["channel"], Manner(one["level"], None, one["rate"], None), frozenset(one["readers"].split()))
            for one in row["manners"]
        ]
        for row in found
    }


async def save_sounds(tx: Tx, space: str, sounds: Sequence[tuple[str, HeardSound]], by: str, now: datetime) -> int:
    """Write (person, sound) of those who still agree, of turns that are still theirs; how many are of people who agree. A sound
    that is there keeps its expiry."""
    settings = await lock_space(tx, space)
    willing = await list_willing(tx, space, sorted({person for person, _ in sounds}), KEEP_AUDIO)
    batch = [_row(person, sound, by, settings.keeps_sound) for person, sound in sounds if person in willing]
    await tx.run(SAVE_SOUNDS, space=space, sounds=batch, expires_at=now + timedelta(days=settings.sound_days))
    return len(batch)


async def finish_sounds(
    tx: Tx, space: str, session_id: str, people: Sequence[str], sounds: Sequence[HeardSound], by: str
) -> None:
    """All sounds of those of `people` who still agree are written; what else was heard of them in this session goes."""
    await lock_space(tx, space)
    willing = sorted(await list_willing(tx, space, people, KEEP_AUDIO))
    if willing:
        ids = [_id(sound) for sound in sounds]
        await tx.run(FORGET_OTHER_SOUNDS, space=space, session_id=session_id, people=willing, ids=ids)
        await tx.run(FINISH_SOUNDS, space=space, session_id=session_id, people=willing, by=by)


def _id(sound: HeardSound) -> str:
    return derived("audio_memory", sound.message_id, sound.tagged.label.value)


def _row(person: str, sound: HeardSound, by: str, keeps: bool) -> dict[str, Any]:
    """What the space does not keep is written as null: that takes away what an earlier tagging left."""
    tagged, piece = sound.tagged, sound.piece if keeps else None
    return {
        "id": _id(sound),
        "of": person,
        "message_id": sound.message_id,
        "properties": {
            "label": tagged.label.value,
            "start": round(tagged.segment.start, 3),
            "end": round(tagged.segment.end, 3),
            "score": tagged.score,
            "tagger": by,
            "embedding": piece.vector.tolist() if piece else None,
            "waveform": base64.b64encode(piece.content).decode() if piece else None,
        },
    }
