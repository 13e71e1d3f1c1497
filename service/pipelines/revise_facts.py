"""What do newer facts change? Off the path of whoever waits: some facts at a time, until none waits. They are compared in a
thread and outside of any transaction, so that neither the service nor who writes identities waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.graph.driver import Graph
from service.graph.write_revisions import list_waiting, save_compared
from service.memory.updater import REVISER, change
from service.types.revisions import Change, Waiting


@dataclass(frozen=True, slots=True)
class ReviseConfig:
    batch: int = 64  # facts compared and written together, each with all that its speaker said


async def revise_facts(graph: Graph, space: str, session_id: str | None = None, config: ReviseConfig = ReviseConfig()) -> int:
    """Compare every fact that waits, of one session or of the whole space; how many that were. Broken off, the same call goes
    on; a second one does nothing."""
    done = 0
    while waiting := await graph.read(list_waiting, space, session_id, REVISER, config.batch):
        revisions = await asyncio.to_thread(revisions_of, waiting)
        done += await graph.write(save_compared, space, REVISER, waiting, revisions)
    return done


def revisions_of(waiting: Sequence[Waiting]) -> dict[str, Mapping[tuple[str, str], Change]]:
    """By id, what comes of the comparison of each with all that its speaker said, by (newer, older)."""
    return {one.id: _revisions(one) for one in waiting}


def _revisions(waiting: Waiting) -> dict[tuple[str, str], Change]:
    one = next((fact for fact in waiting.facts if fact.id == waiting.id), None)
    found: dict[tuple[str, str], Change] = {}
    for other in waiting.facts if one is not None else ():
        if one is not None and other.id != one.id and (made := change(one, other)) is not None:
            older, newer = sorted((one, other), key=lambda fact: fact.place)
            found[newer.id, older.id] = made
    return found
