"""Leave to ask for others, given in tests as anybody gives it: recorded in the graph, with an end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from service.graph.driver import Graph, GraphConfig
from service.graph.write_grants import NewGrant, save_grant
from service.types.ids import derived
from service.types.meeting import AccountKey


def a_grant(space: str, subject: str, person: str, *, days: float = 1.0, issuer: str = "local") -> NewGrant:
    now = datetime.now(UTC)
    id = derived("grant", space, issuer, subject, person)
    return NewGrant(id, space, AccountKey(issuer, subject), person, now + timedelta(days=days), "somebody", "a test", now)


async def let(graph: Graph, space: str, subject: str, people: Iterable[str]) -> list[str]:
    """Ids of the grants by which the account may ask for these people."""
    return [await graph.write(save_grant, a_grant(space, subject, person)) for person in people]


def let_at_once(config: GraphConfig, space: str, subject: str, people: Iterable[str]) -> None:
    """The same for who cannot await: on a connection of its own."""

    async def work() -> None:
        graph = await Graph.open(config)
        try:
            await let(graph, space, subject, people)
        finally:
            await graph.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(work())).result()
