"""What are people called once turns are somebody else's? The sessions say anew what they say for a name; undone, names stand as
they were recorded, and where something has come since, what rests on the turns is weighed again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from service.graph.close_sessions import WrittenTurn, list_written_turns
from service.graph.driver import Tx
from service.graph.names_stood import SHOWN, Stood, list_subjects, names_stood, put_back_names
from service.graph.settled_sessions import SettledSession
from service.pipelines.naming import name_again

Renamed = Mapping[str, Any]
"""JSON-ready: `speakers`, the fingerprint of who spoke what in the sessions as the correction left them; `names`, by id of what
changed (names_stood), `was` and `after`, a fingerprint again. It holds the proposed names themselves: of a proposal that is
gone nothing else does. `people`: whom it tells something of."""


async def renamed(tx: Tx, space: str, sessions: Sequence[str], *, occasion: str) -> Renamed:
    """Name `sessions` again, whose turns have moved; what that changed. The caller holds the lock of the space."""
    subjects = await list_subjects(tx, space, sessions)
    before = await names_stood(tx, space, subjects, sessions)
    await name_again(tx, space, sessions, occasion=occasion)
    after = await names_stood(tx, space, subjects, sessions)
    turns = [turn for session in sessions for turn in await list_written_turns(tx, space, session)]
    changed = {id: {"was": was, "after": fingerprint(after[id])} for id, was in before.items() if was != after[id]}
    people = sorted(id for id in subjects if id + SHOWN in before and not changed.keys().isdisjoint((id, id + SHOWN)))
    return {"speakers": _speakers(turns), "names": changed, "people": people}


async def names_put_back(tx: Tx, space: str, stood: Sequence[SettledSession], record: Renamed | None, *, occasion: str) -> None:
    """Undo `renamed`, once the turns are whose they were; `stood`: the sessions before that. What is not as the correction left
    it any more, because of a session or a verdict in between, is named again instead; so is all of them when other turns of
    theirs have moved, or nothing is recorded."""
    sessions = [session.id for session in stood]
    recorded = record["names"] if record else {}
    untouched: dict[str, Stood] = {}
    as_left = record is not None and record["speakers"] == _speakers([turn for session in stood for turn in session.turns])
    if as_left:
        now = await names_stood(tx, space, {id.removesuffix(SHOWN) for id in recorded} - {*sessions}, sessions)
        untouched = {id: r["was"] for id, r in recorded.items() if id in now and fingerprint(now[id]) == r["after"]}
        await put_back_names(tx, space, untouched)
    if not as_left or any(id not in untouched for id in recorded if not id.endswith(SHOWN)):
        await name_again(tx, space, sessions, occasion=occasion, kept=untouched)


def _speakers(turns: Sequence[WrittenTurn]) -> str:
    return fingerprint({turn.message_id: turn.speaker_id for turn in turns})


def fingerprint(told: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
