"""What do sessions that are being written, or broke off, keep of a voice that was just refused? Nothing from this transaction
on: their checkpoints hold voices that are not in the graph. Whoever writes such a session goes on with it (hold_session)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import Any

from service.graph.driver import Tx, rows

LIST_CHECKPOINTS = """
MATCH (p:Person {space: $space})<-[:IS]-(:LocalSpeaker)-[:HEARD_IN]->(s:Session)
WHERE p.id IN $ids AND s.checkpoint IS NOT NULL
RETURN DISTINCT s.id AS id, s.checkpoint AS checkpoint, s.thinned_of AS thinned_of
UNION
MATCH (p:Person {space: $space})-[:SPEAKS]->(:Message)-[:IN_SESSION]->(s:Session)
WHERE p.id IN $ids AND s.checkpoint IS NOT NULL
RETURN DISTINCT s.id AS id, s.checkpoint AS checkpoint, s.thinned_of AS thinned_of
"""

SAVE_THINNED = """
UNWIND $sessions AS row
MATCH (s:Session {space: $space, id: row.id})
SET s.checkpoint = row.checkpoint, s.thinned_of = row.thinned_of
"""


def checkpoint_hash(checkpoint: str) -> str:
    return hashlib.sha256(checkpoint.encode()).hexdigest()


async def thin_checkpoints(tx: Tx, space: str, people: Collection[str]) -> None:
    """Take the voices of `people` out of the checkpoints of sessions they were heard in. The caller holds the lock."""
    thinned = []
    for row in await rows(tx, LIST_CHECKPOINTS, space=space, ids=sorted(people)):
        thin = json.dumps(_thin(json.loads(row["checkpoint"]), people), sort_keys=True, separators=(",", ":"))
        if thin != row["checkpoint"]:
            before = row["thinned_of"] or checkpoint_hash(row["checkpoint"])
            thinned.append({"id": row["id"], "checkpoint": thin, "thinned_of": before})
    if thinned:
        await tx.run(SAVE_THINNED, space=space, sessions=thinned)


def _thin(checkpoint: dict[str, Any], people: Collection[str]) -> dict[str, Any]:
    """Without passing voices of `people`, and without the voice of what is undecided on a track of theirs."""
    fold = checkpoint["fold"]
    tracks = {track for track, person in fold["bound"].items() if person in people}
    fold["passing"] = [voice for voice in fold["passing"] if voice["person_id"] not in people]
    fold["pending"] = [
        {**turn, "vector": None, "narrow": None, "space": None} if turn["track"] in tracks else turn for turn in fold["pending"]
    ]
    return checkpoint
