"""How do sounds of people go: with their consent, with that of whoever turns out to be them, when their time has come, or where
a space keeps no sound any more?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from service.graph.cypher import holding
from service.graph.driver import Tx, changes, rows
from service.graph.refusals import any_refused
from service.graph.write_events import save_erased
from service.types.events import Erased
from service.types.ids import fresh

KEEP_AUDIO = "keep_audio"
"""Consent.purpose without which no sound of a person is kept, nor told."""

FORGET_SOUNDS_OF = """
MATCH (named:Person {space: $space}) WHERE named.id IN $people
MATCH (named) (()-[:MERGED_INTO]-()){0,12} (p:Person)
WITH collect(DISTINCT p.id) AS ids
CALL (ids) {
  MATCH (a:AudioMemory {space: $space})-[:ATTACHED_TO]->(m:Message) WHERE a.of IN ids OR m.speaker_id IN ids
  DETACH DELETE a
}
MATCH (s:Session {space: $space}) WHERE any(id IN s.sounds_of WHERE id IN ids)
SET s.sounds_of = [id IN s.sounds_of WHERE NOT id IN ids]
"""

FORGET_SOUNDS_OF_UNWILLING = holding("""
MATCH (a:AudioMemory {space: $space})-[:ATTACHED_TO]->(m:Message) WHERE m.id IN $messages
MATCH (p:Person {space: $space, id: m.speaker_id})
WHERE EXISTS {
  MATCH (p) (()-[:MERGED_INTO]-()){0,12} (same:Person)
  WHERE COLLECT { MATCH (same)-[:GAVE]->(c:Consent {purpose: $purpose})
                  <holds> }[0]
    IN ['withdrawn', 'opted_out']
}
DETACH DELETE a
""")

FORGET_ALL_SOUNDS = """
MATCH (a:AudioMemory {space: $space})
DETACH DELETE a
"""

FORGET_HEARD = """
MATCH (s:Session {space: $space}) WHERE s.sounds_by IS NOT NULL
REMOVE s.sounds_by, s.sounds_of
"""

FORGET_PIECES = """
MATCH (a:AudioMemory {space: $space}) WHERE a.waveform IS NOT NULL OR a.embedding IS NOT NULL
REMOVE a.waveform, a.embedding
"""

SHORTEN_SOUNDS = """
MATCH (a:AudioMemory {space: $space})
WITH a, a.created_at + duration({days: $days}) AS until WHERE a.expires_at > until
SET a.expires_at = until
"""

FORGET_EXPIRED_SOUNDS = """
MATCH (a:AudioMemory) WHERE a.expires_at <= $now AND a.space IN $spaces
WITH a LIMIT $limit
WITH a, a.space AS space
DETACH DELETE a
RETURN space, count(*) AS gone
"""


async def forget_sounds_of(tx: Tx, space: str, people: Sequence[str]) -> int:
    """All sounds of `people` and of whoever is merged with them, and of turns that are theirs now; how many. The caller has the
    lock."""
    return (await changes(tx, FORGET_SOUNDS_OF, space=space, people=list(people))).nodes_deleted


async def obey_unheard(tx: Tx, space: str, people: Sequence[str]) -> None:
    """Of `people`, who are one from now on, no sound stays if one of them refused. The caller holds the lock."""
    if await any_refused(tx, space, people, KEEP_AUDIO):
        await forget_sounds_of(tx, space, people)


async def obey_unheard_turns(tx: Tx, space: str, messages: Sequence[str]) -> None:
    """Of turns that have become somebody else's, no sound stays if that one refused. The caller holds the lock."""
    await tx.run(FORGET_SOUNDS_OF_UNWILLING, space=space, messages=list(messages), purpose=KEEP_AUDIO)


async def obey_sound_policy(tx: Tx, space: str, *, workplace: bool, keeps_sound: bool, days: int) -> None:
    """What a space allows no more goes at once: in a workplace every sound, else the pieces, and what is older than `days`."""
    if workplace:
        if gone := (await changes(tx, FORGET_ALL_SOUNDS, space=space)).nodes_deleted:
            await save_erased(tx, space, Erased.SOUNDS, erased=gone, occasion=fresh())
        await tx.run(FORGET_HEARD, space=space)
        return
    if not keeps_sound:
        await tx.run(FORGET_PIECES, space=space)
    await tx.run(SHORTEN_SOUNDS, space=space, days=days)


async def forget_expired_sounds(tx: Tx, spaces: Sequence[str], now: datetime, limit: int) -> int:
    """Delete sounds whose time has come, at most `limit`; how many."""
    found = await rows(tx, FORGET_EXPIRED_SOUNDS, spaces=list(spaces), now=now, limit=limit)
    for row in found:
        await save_erased(tx, row["space"], Erased.SOUNDS, erased=row["gone"], occasion=fresh())
    return sum(row["gone"] for row in found)
