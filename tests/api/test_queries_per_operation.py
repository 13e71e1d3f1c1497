"""How many Cypher queries does an operation cost? As many for a full page as for one item, and never more than said here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from service.graph.driver import Graph
from service.settings import Settings
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.graph.graph_builders import Said, World, seed, unit_vectors
from tests.graph.identity_builders import may_be, proposed

PEOPLE = ["ana", "ben", "cleo", "dan"]
GATE = 1
"""Identity sets of who hears, and visible audiences."""


class Counting(Graph):
    """The graph, and how many queries ran on it."""

    queries = 0

    async def read(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        async def counted(tx: Any, *a: Any, **k: Any) -> Any:
            return await work(_Counted(tx, self), *a, **k)

        return await super().read(counted, *args, **kwargs)


class _Counted:
    def __init__(self, tx: Any, graph: Counting) -> None:
        self._tx, self._graph = tx, graph

    async def run(self, *args: Any, **kwargs: Any) -> Any:
        self._graph.queries += 1
        return await self._tx.run(*args, **kwargs)


@pytest.fixture
async def counted(graph: Graph, space: str, tmp_path: Path) -> AsyncIterator[tuple[Api, Counting, World]]:
    said = [
        Said(PEOPLE[i % 4], f"line {i}", PEOPLE, to=[PEOPLE[(i + 1) % 4]], session=f"day {i % 8}", vector=v)
        for i, v in enumerate(unit_vectors(48))
    ]
    said += [Said(None, f"mumble {i}", PEOPLE, session=f"day {i}") for i in range(8)]
    world = await seed(graph, space, PEOPLE, said)
    for i in range(8):
        await may_be(world, f"day {i}", "ben")
        await proposed(world, f"day {i}", "Dora", [48 + i])
    counting = Counting(graph._driver, graph.config, graph.version)
    services = Services(Settings(data_dir=tmp_path, development=False, recogniser="none", space=space), counting)
    async with serving(services, space) as api:
        before = -10
        while counting.queries > before + 4:  # until what a service sweeps when it starts is swept; workers look once a second
            before = counting.queries
            await asyncio.sleep(0.5)
        yield api, counting, world


PERSON = "{ displayName }"
UNKNOWN = """{ turns { text } heard { session { title } } suggestions { person { displayName } }
  names { name evidence { text } } }"""
MESSAGE = f"{{ text speaker {PERSON} addressees {{ person {PERSON} }} session {{ title }} replyTo {{ text }} }}"


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("{ people(first: %d) { edges { node { displayName } } } }", 2),
        ("{ people(first: %d) { totalCount edges { node { displayName } } } }", 3),
        (f"{{ messages(first: %d) {{ edges {{ node {MESSAGE} }} }} }}", 4),
        (
            f"{{ sessions(first: %d) {{ edges {{ node {{ title messages(first: 5) {{ edges {{ node {MESSAGE} }} }} }} }} }} }}",
            6,
        ),
        (f"{{ people(first: %d) {{ edges {{ node {{ messages(first: 5) {{ edges {{ node {MESSAGE} }} }} }} }} }} }}", 6),
        (f"{{ whoIsThis(first: %d) {{ totalCount edges {{ node {UNKNOWN} }} }} }}", 10),
        ("{ nameProposals(first: %d) { edges { node { name evidence { text } } } } }", 4),
        (
            f'{{ search(query: "line", first: %d) {{ ... on SearchResult {{ hits {{ message {MESSAGE} }} }} }} }}',
            28,
        ),  # two rounds
    ],
)
async def test_a_full_page_takes_as_many_queries_as_one_item(
    counted: tuple[Api, Counting, World], query: str, most: int
) -> None:
    api, graph, world = counted
    token = api.token("ana", person_id=world.person("ana"))
    taken = []
    for first in (1, 2, 8):
        await api.data(query % first, token)  # models and space settings are there
        times = []
        for _ in range(3):  # now and then a worker of the service looks meanwhile whether there is something to do
            graph.queries = 0
            await api.data(query % first, token)
            times.append(graph.queries)
        taken.append(min(times))
    assert max(taken) <= GATE + most, taken
    assert taken[1] == taken[2], taken
