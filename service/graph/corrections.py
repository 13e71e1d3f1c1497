"""What was corrected, and what can be undone? The records, for whoever may ask; and what stands in the way of undoing one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from service.errors import NotFound
from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class Correction:
    id: str
    kind: str
    """merge | split | reassign | not_same | bot"""
    actor: str
    why: str
    people: tuple[str, ...]
    num_turns: int
    created_at: datetime
    undone_at: datetime | None
    """None: it holds."""
    undone_by: str | None


@dataclass(frozen=True, slots=True)
class RecordedCorrection:
    """A correction as its undoing needs it."""

    id: str
    kind: str
    actor: str
    people: tuple[str, ...]
    messages: tuple[str, ...]
    record: Mapping[str, Any]

    @property
    def revision(self) -> int:
        """identity_revision that it made: tells what came first."""
        return int(self.record["revision"])


FIND_CORRECTION = """
MATCH (c:Correction {space: $space, id: $correction_id})
RETURN c {.id, .kind, .actor, .people, .messages, .record} AS correction, c.undone_at IS NOT NULL AS undone
"""

LIST_CORRECTIONS_OF_TURNS = """
MATCH (c:Correction {space: $space})
WHERE c.undone_at IS NULL AND any(message IN c.messages WHERE message IN $messages)
RETURN c {.id, .kind, .actor, .people, .messages, .record} AS correction
"""

LIST_MERGES_OF_PEOPLE = """
MATCH (c:Correction {space: $space})
WHERE c.undone_at IS NULL AND c.kind = 'merge' AND any(person IN c.people WHERE person IN $people)
RETURN c {.id, .kind, .actor, .people, .messages, .record} AS correction
"""

LIST_UNDONE_MOVES = """
MATCH (c:Correction {space: $space})
WHERE c.undone_at IS NOT NULL AND c.kind IN ['split', 'reassign'] AND any(person IN c.people WHERE person IN $people)
RETURN c {.id, .kind, .actor, .people, .messages, .record} AS correction
"""

LIST_CORRECTIONS = """
MATCH (c:Correction {space: $space})
WHERE ($reads_all OR c.actor IN $actors) AND (NOT $standing OR c.undone_at IS NULL)
WITH c, [c.created_at.epochSeconds * 1000000000 + c.created_at.nanosecond, c.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place, c {.id, .kind, .actor, .why, .people, .created_at, .undone_at, .undone_by, num_turns: size(c.messages)}
  AS correction
ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_corrections(
    tx: Tx, scope: ReadScope, *, page: Page, actors: Sequence[str] = (), standing: bool = False
) -> Paged[Correction]:
    """The newest first: all of the space for who reads all, else those that one of `actors` made (the ids the caller goes by).
    `standing`: only those not undone yet."""
    found = await rows(
        tx,
        LIST_CORRECTIONS,
        space=scope.space,
        reads_all=scope.reads_all,
        actors=list(actors),
        standing=standing,
        **parameters(page, newest_first=True),
    )
    records = {row["correction"]["id"]: _correction(row["correction"]) for row in found}
    return paged(page, [row["place"] for row in found], records)


async def find_correction(tx: Tx, space: str, correction_id: str) -> tuple[RecordedCorrection, bool] | None:
    """For writers, without a gate: the correction, and whether it was undone already; None where there is none."""
    found = await rows(tx, FIND_CORRECTION, space=space, correction_id=correction_id)
    return (_recorded(found[0]["correction"]), found[0]["undone"]) if found else None


async def get_correction(tx: Tx, space: str, correction_id: str) -> tuple[RecordedCorrection, bool]:
    """As find_correction. Raises NotFound."""
    found = await find_correction(tx, space, correction_id)
    if found is None:
        raise NotFound(kind="correction", id=correction_id)
    return found


async def list_corrections_of_turns(tx: Tx, space: str, messages: Sequence[str]) -> list[RecordedCorrection]:
    """Those that hold and moved one of `messages`, in the order they were made; for writers, without a gate."""
    found = await rows(tx, LIST_CORRECTIONS_OF_TURNS, space=space, messages=list(messages))
    return sorted((_recorded(row["correction"]) for row in found), key=lambda c: c.revision)


async def list_merges_of_people(tx: Tx, space: str, people: Sequence[str]) -> list[RecordedCorrection]:
    """Merges that hold and concern one of `people`, in the order they were made; for writers, without a gate."""
    found = await rows(tx, LIST_MERGES_OF_PEOPLE, space=space, people=list(people))
    return sorted((_recorded(row["correction"]) for row in found), key=lambda c: c.revision)


async def list_undone_moves(tx: Tx, space: str, people: Sequence[str]) -> list[RecordedCorrection]:
    """Splits and reassignments taken back that concern one of `people`; for writers, without a gate."""
    found = await rows(tx, LIST_UNDONE_MOVES, space=space, people=list(people))
    return [_recorded(row["correction"]) for row in found]


def _recorded(row: Mapping[str, Any]) -> RecordedCorrection:
    return RecordedCorrection(
        row["id"], row["kind"], row["actor"], tuple(row["people"]), tuple(row["messages"]), json.loads(row["record"])
    )


def _correction(row: Mapping[str, Any]) -> Correction:
    return Correction(**{**row, "people": tuple(row["people"])})
