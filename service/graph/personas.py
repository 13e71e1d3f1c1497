"""How does somebody feel, and what are they like? For themselves and nobody else: neither who else hears the answer, nor who
reads everything. From turns that are theirs now, under the gate of every message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.graph.people import list_same_people
from service.graph.write_personas import SURE, mark_of, shown_and_heard
from service.types.affect import Affect, Emotion, Mark, Shown

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class Felt:
    """How somebody was in one turn of theirs."""

    message_id: str
    said_at: datetime
    affect: Affect
    marks: tuple[Mark, ...]
    pitch: float | None
    """Hz."""
    speech_rate: float | None
    """Words a second."""


LIST_SHOWN = """
MATCH (p:Person {space: $space}) WHERE p.id IN $ids
MATCH (p)-[:SPEAKS]->(m:Message)
WHERE m.affect_of IN $ids AND m.said_at >= $since AND EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
RETURN m.id AS message_id, m.session_id AS session_id, m.said_at AS said_at, m.marks AS marks, COLLECT {
  MATCH (m)-[to:ADDRESSES]->(q:Person) WHERE to.confidence >= $sure
  MATCH (q) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
  RETURN DISTINCT shown.id LIMIT 2
} AS addressees
ORDER BY said_at, message_id
"""

LIST_FELT = """
MATCH (p:Person {space: $space}) WHERE p.id IN $ids
MATCH (p)-[:SPEAKS]->(m:Message)
WHERE m.affect_of IN $ids AND EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH m, [m.said_at.epochSeconds * 1000000000 + m.said_at.nanosecond, m.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place, m {.id, .said_at, .valence, .arousal, .emotion, .marks, .pitch, .speech_rate} AS turn
ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def find_subject(tx: Tx, scope: ReadScope, person_id: str | None) -> tuple[str, ...]:
    """Ids of the asker, if `person_id` (None: the asker) is them, they themselves ask and nobody else hears it; else none,
    whoever it is.

    What an automatic merge joined to them is not among these until somebody confirms it."""
    if not scope.own or scope.public_only or any(set(hearer).isdisjoint(scope.own) for hearer in scope.hearers):
        return ()
    if person_id is None:
        return scope.own
    same = await list_same_people(tx, scope, [person_id])
    return scope.own if not set(same).isdisjoint(scope.own) else ()


async def list_shown(
    tx: Tx, scope: ReadScope, subject: tuple[str, ...], since: datetime
) -> tuple[list[Shown], dict[str, datetime]]:
    """What turns in the scope from `since` on show of `subject` (of `find_subject`), targets as said; and when they were first
    heard in each of the sessions that were read."""
    found = await rows(tx, LIST_SHOWN, space=scope.space, audiences=scope.audiences, ids=subject, since=since, sure=SURE)
    return shown_and_heard(found)


async def list_felt(tx: Tx, scope: ReadScope, subject: tuple[str, ...], *, page: Page) -> Paged[Felt]:
    """Turns of `subject` (of `find_subject`) in the scope that were read for feelings, newest first."""
    found = await rows(
        tx, LIST_FELT, space=scope.space, audiences=scope.audiences, ids=subject, **parameters(page, newest_first=True)
    )  # fmt: skip
    return paged(page, [row["place"] for row in found], {row["turn"]["id"]: _felt(row["turn"]) for row in found})


def _felt(turn: Mapping[str, Any]) -> Felt:
    emotion = turn["emotion"]
    return Felt(
        message_id=turn["id"],
        said_at=turn["said_at"],
        affect=Affect(turn["valence"], turn["arousal"], Emotion(emotion) if emotion else None),
        marks=tuple(map(mark_of, json.loads(turn["marks"] or "[]"))),
        pitch=turn["pitch"],
        speech_rate=turn["speech_rate"],
    )
