"""What did I promise, and what was I promised? From facts and from words, and never beyond the scope."""

from __future__ import annotations

import pytest

from service.graph.directed import list_of_kind
from service.graph.driver import Graph
from service.pipelines.answer import Answerer
from service.pipelines.search import Search
from service.types.facts import FactKind
from service.types.search import AnswerStatus, Filters, QuestionType, SearchResult, Tool
from tests.graph.fact_builders import Told, tell
from tests.graph.graph_builders import HashedWords, Said, World
from tests.graph.searching import searchable

ALL = ("ana", "bo", "cy")
SAID = [
    Said("ana", "Of course, on Friday at the latest.", ALL, to=("bo",)),  # a promise by the question before it: a fact
    Said("bo", "The river was high again today.", ALL, to=("ana",)),
    Said("ana", "I'll do it tomorrow, Cy.", ALL, to=("cy",)),  # by its words alone
    Said("ana", "I'll hide the present in the shed.", ("ana", "bo"), to=("bo",)),
    Said("ana", "I could lend you the ladder.", ALL, to=("bo",), session="tuesday"),
    Said("ana", "The ladder is in the shed.", ALL, to=("bo",), session="tuesday"),
    Said("cy", "I will never eat snails again.", ALL, to=("ana",), session="tuesday"),
]
FACTS = [
    Told("{speaker} will mend the roof", [0], "commitment"),
    Told("{speaker} will hide the present in the shed", [3], "commitment"),
    Told("the river was high", [1]),
]
PROMISED = (FactKind.COMMITMENT,)


@pytest.fixture(scope="module")
async def home(graph: Graph) -> World:
    world = await searchable(graph, ALL, SAID, "ladder", 2)
    await tell(world, FACTS)
    return world


@pytest.fixture
def search(graph: Graph) -> Search:
    return Search(graph, HashedWords())


def shown(home: World, result: SearchResult) -> list[int]:
    return [next(i for i in range(len(SAID)) if home.message(i) == hit.message.id) for hit in result.hits]


async def test_what_i_promised_goes_before_what_else_i_said(home: World, search: Search) -> None:
    result = await search(await home.scope("ana"), "What did I promise to do?")
    assert result.asked is not None and result.asked.type is QuestionType.COMMITMENT
    assert shown(home, result) == [3, 0, 2, 4, 5], "kept as facts, newest first; by their words; and the rest"
    assert {found.tool for found in result.hits[0].found} == {Tool.FACT_KIND}
    assert len(result.rounds) == 1


async def test_what_i_was_promised_is_what_was_said_to_me(home: World, search: Search) -> None:
    assert shown(home, await search(await home.scope("cy"), "What was I promised?")) == [2]
    assert shown(home, await search(await home.scope("bo"), "What was I promised?"))[:3] == [3, 0, 4]


async def test_nobody_hears_of_a_promise_that_they_may_not_read(home: World, search: Search) -> None:
    assert shown(home, await search(await home.scope("cy"), "What did Ana promise to do?"))[:3] == [0, 2, 4]
    of_ana = Filters(speakers=(home.person("ana"),))
    for hearers, of_kind in ((("ana",), [3, 0]), (("cy",), [0]), (("ana", "cy"), [0]), ((), [])):
        found = await home.graph.read(list_of_kind, await home.scope(*hearers), of_ana, PROMISED, 10)
        assert list(found) == [home.message(i) for i in of_kind]
    assert await home.graph.read(list_of_kind, await home.scope("cy"), Filters(), PROMISED, 10) == (home.message(0),)


async def test_the_answer_tells_promises_and_nothing_else(home: World, graph: Graph, search: Search) -> None:
    answer = Answerer(graph, search)
    told = await answer(await home.scope("ana"), "What did I say I would do?")
    assert [hit.message.id for hit in told.citations] == [home.message(i) for i in (3, 0, 2, 4)]
    assert (await answer(await home.scope("bo"), "What did I promise?")).status is AnswerStatus.NOTHING_FOUND
    assert (await answer(await home.scope("cy"), "What did I promise?")).status is AnswerStatus.NOTHING_FOUND
