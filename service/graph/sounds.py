"""Which sounds are heard in what a viewer may read? Read under the gate of their messages, while they are kept."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows
from service.graph.search import narrowed
from service.types.audio import Segment
from service.types.search import Filters
from service.types.sounds import KeptSound, SoundLabel

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

LIST_SOUNDS = """
MATCH (s:AudioMemory {space: $space})-[:ATTACHED_TO]->(m:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND s.expires_at > $now AND m.speaker_id = s.of
  AND ($labels IS NULL OR s.label IN $labels)
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
RETURN s {.id, .label, .start, .end, .score, .expires_at, message_id: m.id, session: m.session_id, index: m.index,
          has_piece: s.waveform IS NOT NULL} AS sound
ORDER BY m.said_at DESC, m.id, s.score DESC, s.label LIMIT $k
"""

NEAREST_SOUNDS = """
MATCH (given:AudioMemory {space: $space, id: $sound_id})-[:ATTACHED_TO]->(heard:Message)-[:FOR]->(b:Audience)
WHERE b.id IN $audiences AND given.expires_at > $now AND heard.speaker_id = given.of AND given.of IN $own
  AND given.embedding IS NOT NULL
MATCH (s:AudioMemory {space: $space})-[:ATTACHED_TO]->(m:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND s.expires_at > $now AND m.speaker_id = s.of AND s.of IN $own
  AND s.embedding IS NOT NULL AND s.id <> given.id
  AND ($labels IS NULL OR s.label IN $labels)
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
WITH s, m, vector.similarity.cosine(s.embedding, given.embedding) AS score
ORDER BY score DESC, s.id LIMIT $k
RETURN s {.id, .label, .start, .end, .score, .expires_at, message_id: m.id, session: m.session_id, index: m.index,
          has_piece: s.waveform IS NOT NULL} AS sound, 2 * score - 1 AS cosine
"""

FIND_PIECE = """
MATCH (s:AudioMemory {space: $space, id: $sound_id})-[:ATTACHED_TO]->(m:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND s.expires_at > $now AND m.speaker_id = s.of AND s.of IN $own
RETURN s.waveform AS waveform
"""


async def list_sounds(
    tx: Tx, scope: ReadScope, labels: Sequence[SoundLabel], filters: Filters, k: int, *, now: datetime
) -> list[KeptSound]:
    """The `k` newest with one of `labels` (none: any) in visible messages that `filters` let through."""
    found = await rows(
        tx, LIST_SOUNDS, labels=[label.value for label in labels] or None, k=k, now=now, **await narrowed(tx, scope, filters)
    )  # fmt: skip
    return [_sound(row["sound"]) for row in found]


async def nearest_sounds(
    tx: Tx, scope: ReadScope, sound_id: str, labels: Sequence[SoundLabel], filters: Filters, k: int, *, now: datetime
) -> list[tuple[KeptSound, float]]:
    """The asker's own `k` visible sounds most like that one of theirs, with their raw cosines, exactly, best first; none where
    that one is not theirs, is outside the scope or has no piece, and none where anybody else hears of it."""
    if not _alone(scope):
        return []
    found = await rows(
        tx, NEAREST_SOUNDS, sound_id=sound_id, own=scope.own, labels=[label.value for label in labels] or None, k=k, now=now,
        **await narrowed(tx, scope, filters),
    )  # fmt: skip
    return [(_sound(row["sound"]), row["cosine"]) for row in found]


async def find_piece(tx: Tx, scope: ReadScope, sound_id: str, *, now: datetime) -> bytes | None:
    """The piece of sound itself, Ogg Opus, where it is the asker's own voice and they themselves ask with nobody listening;
    None for any other id, known or not."""
    if not _alone(scope):
        return None
    found = await rows(
        tx, FIND_PIECE, space=scope.space, audiences=scope.audiences, own=scope.own, sound_id=sound_id, now=now
    )  # fmt: skip
    return base64.b64decode(found[0]["waveform"]) if found and found[0]["waveform"] else None


def _alone(scope: ReadScope) -> bool:
    """Whoever asks hears it, and nobody else: a piece of somebody's sound, and what embeds it, are kept for them."""
    return bool(scope.own) and not scope.public_only and all(set(hearer) & set(scope.own) for hearer in scope.hearers)


def _sound(row: Mapping[str, Any]) -> KeptSound:
    return KeptSound(
        id=row["id"],
        message_id=row["message_id"],
        place=(row["session"], row["index"]),
        label=SoundLabel(row["label"]),
        segment=Segment(row["start"], row["end"]),
        score=row["score"],
        has_piece=row["has_piece"],
        expires_at=row["expires_at"],
    )
