"""What do newer facts change? Off the path of whoever waits: some facts a transaction, until none waits."""

from __future__ import annotations

from dataclasses import dataclass

from service.graph.driver import Graph
from service.graph.write_revisions import compare_some
from service.memory.updater import REVISER, change


@dataclass(frozen=True, slots=True)
class ReviseConfig:
    batch: int = 64  # facts a transaction, each with all that its speaker said: some tenths of a second under the lock


async def revise_facts(graph: Graph, space: str, session_id: str | None = None, config: ReviseConfig = ReviseConfig()) -> int:
    """Compare every fact that waits, of one session or of the whole space; how many that were. Broken off, the same call goes
    on; a second one does nothing."""
    done = 0
    while some := await graph.write(compare_some, space, session_id, change, REVISER, config.batch):
        done += some
    return done
