"""What was said later of the same stands above, where a question asks how things are: by what the viewer may read."""

from __future__ import annotations

import pytest

from service.graph.candidates import list_alike
from service.graph.driver import Graph
from service.pipelines.search import Search, SearchPipelineConfig
from service.retrieval.newer import NEWER, NewerConfig
from tests.graph.graph_builders import TEXT_SPACE, HashedWords, Said, World
from tests.graph.searching import searchable

ALL = ("ana", "bo")
SAID = [
    Said("ana", "The dentist appointment is on Tuesday morning.", ALL),
    Said("bo", "The dentist appointment is on Tuesday evening.", ALL),
    Said("ana", "The dentist appointment was moved to Thursday.", ALL, session="tuesday"),
    Said("ana", "The dentist appointment is on Friday for me.", ("ana",), session="wednesday"),
]
LEAST = 0.3


@pytest.fixture(scope="module")
async def home(graph: Graph) -> World:
    return await searchable(graph, ALL, SAID, "dentist", 4)


async def order(graph: Graph, home: World, hearer: str, question: str, alike: dict[str, float]) -> list[int]:
    search = Search(graph, HashedWords(), SearchPipelineConfig(newer=NewerConfig(alike, within=100.0)))
    result = await search(await home.scope(hearer), question)
    put_above = [hit for hit in result.hits if NEWER in dict(hit.because)]
    assert bool(put_above) == bool(alike) or "was" in question
    return [next(i for i in range(len(SAID)) if home.message(i) == hit.message.id) for hit in result.hits]


async def test_what_holds_now_stands_above_what_held_before(graph: Graph, home: World) -> None:
    question, alike = "When is the dentist appointment on Tuesday?", {TEXT_SPACE: LEAST}
    assert (await order(graph, home, "bo", question, {}))[0] in (0, 1)
    assert (await order(graph, home, "bo", question, alike))[0] == 2
    assert (await order(graph, home, "ana", question, alike))[0] == 3


async def test_what_was_is_asked_for_as_it_was(graph: Graph, home: World) -> None:
    question, alike = "When was the dentist appointment on Tuesday?", {TEXT_SPACE: LEAST}
    assert await order(graph, home, "bo", question, alike) == await order(graph, home, "bo", question, {})


async def test_of_two_alike_both_are_in_the_scope_and_of_two_sessions(graph: Graph, home: World) -> None:
    ids = [home.message(i) for i in range(len(SAID))]
    of = {home.message(i): i for i in range(len(SAID))}

    async def pairs(*hearers: str) -> set[tuple[int, int]]:
        found = await graph.read(list_alike, await home.scope(*hearers), TEXT_SPACE, ids, -1.0)
        return {(of[later], of[earlier]) for later, earlier in found}

    assert await pairs("ana") == {(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)}
    assert await pairs("bo") == {(2, 0), (2, 1)}
    assert await pairs("ana", "bo") == {(2, 0), (2, 1)}
    assert await pairs() == set()
