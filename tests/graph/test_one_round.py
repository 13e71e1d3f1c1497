from __future__ import annotations

import asyncio

import pytest

from service.graph.candidates import read_around, read_candidates
from service.graph.driver import Graph
from service.pipelines.one_round import OneRound, OneRoundConfig
from service.retrieval.plan import plan
from service.retrieval.signals import SignalsConfig
from service.types.candidates import Unread
from service.types.search import Filters, Tool
from tests.graph.graph_builders import TEXT_SPACE, HashedWords, Said, World, seed

PEOPLE = ("ana", "ben", "cleo")
TOLD = [
    ("ana", "Where did you leave the red bicycle?", ("ana", "ben")),
    ("ben", "In the shed, behind the ladder.", ("ana", "ben")),
    ("ben", "Cleo may not know that the bicycle is hers.", ("ben",)),
    ("cleo", "I painted the garden gate yesterday.", ("*",)),
    ("ana", "It looks lovely.", ("ana", "cleo")),
    ("cleo", "The bicycle needs paint as well.", ("*",)),
]


@pytest.fixture
async def home(graph: Graph, space: str) -> World:
    words = HashedWords()
    said = [
        Said(by, text, readers, to=("ben",) if by == "ana" else ("ana",), vector=words.passages([text])[0])
        for by, text, readers in TOLD
    ]
    world = await seed(graph, space, PEOPLE, said)
    for _ in range(200):
        if await found(world, "bicycle", reads_all=True) >= {0, 2, 5}:
            return world
        await asyncio.sleep(0.05)
    raise AssertionError("the full text does not appear")


async def found(world: World, question: str, *hearers: str, reads_all: bool = False) -> set[int]:
    """What the words alone find, and what stands beside it."""
    round = OneRound(world.graph, HashedWords(), OneRoundConfig(near=1))
    scope = await world.scope(*hearers, reads_all=reads_all)
    pool = await round(scope, plan(question, {}), Filters())
    return {index_of(world, candidate.id) for candidate in pool.candidates}


def index_of(world: World, id: str) -> int:
    return [world.message(i) for i in range(len(world.said))].index(id)


async def test_neither_a_candidate_nor_what_is_around_it_lies_outside_the_scope(graph: Graph, home: World) -> None:
    round = OneRound(graph, HashedWords())
    for hearers, may_read in (
        (("ana",), {0, 1, 3, 4, 5}),
        (("cleo",), {3, 4, 5}),
        (("ana", "cleo"), {3, 4, 5}),
        (("nobody",), {3, 5}),
    ):
        looked = await round.look(await home.scope(*hearers), plan("Where is the red bicycle?", {}), Filters())
        assert {index_of(home, one.id) for one in looked.signals.read} == may_read, hearers
        assert {index for _, index in looked.signals.around} <= may_read
        assert {index for words in looked.signals.hits.terms for _, index in words} <= may_read
        assert looked.visible == len(may_read)


async def test_places_named_by_hand_are_gated_too(graph: Graph, home: World) -> None:
    places = [(home.session("monday"), i) for i in range(9)]
    scope = await home.scope("cleo")
    vector = HashedWords().queries(["bicycle"])
    unread = [Unread(place, (0,), context=True) for place in places]
    read = await graph.read(read_candidates, scope, TEXT_SPACE, unread, list(vector), (), Filters())
    assert {one.place[1] for one in read} == {3, 4, 5}
    assert {index for _, index in await graph.read(read_around, scope, places)} == {3, 4, 5}


async def test_what_answers_stands_beside_what_was_asked(home: World) -> None:
    assert 1 in await found(home, "red bicycle", "ana"), "no word of the question is in it"


async def test_filters_hold_for_candidates_and_not_for_what_is_around_them(graph: Graph, home: World) -> None:
    by_ben = Filters(speakers=(home.person("ben"),))
    looked = await OneRound(graph, HashedWords()).look(await home.scope("ana"), plan("the red bicycle", {}), by_ben)
    assert {index_of(home, one.id) for one in looked.signals.read} == {1}
    assert 0 in {index for _, index in looked.signals.around}


async def test_who_is_meant_is_told_from_the_edges(graph: Graph, home: World) -> None:
    await home.merge("cleo", into="ben", confirmed=False)
    planned = plan("What did Ben say about the bicycle?", {home.person("ben"): ("Ben",)})
    looked = await OneRound(graph, HashedWords()).look(await home.scope(reads_all=True), planned, Filters())
    assert {index_of(home, one.id) for one in looked.signals.read if one.by} == {1, 2, 3, 5}, "and who is merged with Ben"
    assert {index_of(home, one.id) for one in looked.signals.read if one.to} == {0, 4}


async def test_a_further_round_brings_what_is_near_to_what_was_found_before(graph: Graph, home: World) -> None:
    round, scope, planned = OneRound(graph, HashedWords()), await home.scope("ana"), plan("the gate", {})
    first = await round.look(scope, planned, Filters())
    further = await round.look(scope, planned, Filters(), [home.message(1)])
    assert all(len(one.turn) == 1 for one in first.signals.read)
    cosines = {index_of(home, one.id): one.turn for one in further.signals.read}
    assert cosines[1][1] > cosines[1][0], "its own words are in the question now"
    assert any(leg.startswith("further:") for leg in further.legs)


async def test_what_the_asker_may_not_read_extends_no_question(graph: Graph, home: World) -> None:
    round, scope = OneRound(graph, HashedWords()), await home.scope("ana")
    looked = await round.look(scope, plan("the gate", {}), Filters(), [home.message(2)])
    assert all(len(one.turn) == 1 for one in looked.signals.read)


async def test_the_best_is_first_and_says_what_found_it(graph: Graph, home: World) -> None:
    pool = await OneRound(graph, HashedWords())(await home.scope("cleo"), plan("Who painted the garden gate?", {}), Filters())
    best = pool.candidates[0]
    assert index_of(home, best.id) == 3 and best.because
    assert {Tool.BM25, Tool.DENSE} <= {one.tool for one in best.found}
    assert [one.score for one in pool.candidates] == sorted((one.score for one in pool.candidates), reverse=True)


async def test_no_more_is_ranked_than_the_pool_holds(graph: Graph, home: World) -> None:
    small = OneRound(graph, HashedWords(), OneRoundConfig(signals=SignalsConfig(pool=2)))
    assert len((await small(await home.scope("ana"), plan("bicycle", {}), Filters())).candidates) == 2


@pytest.mark.parametrize("question", ["?!", "the", "🚲", "readers:*"])
async def test_a_question_of_no_words_is_answered_by_meaning_alone(graph: Graph, home: World, question: str) -> None:
    looked = await OneRound(graph, HashedWords()).look(await home.scope("cleo"), plan(question, {}), Filters())
    assert {index_of(home, one.id) for one in looked.signals.read} == {3, 4, 5}


async def test_nobody_sees_nothing(graph: Graph, space: str) -> None:
    world = await seed(graph, space, PEOPLE, [Said("ana", "The red bicycle.", ("ana",))])
    pool = await OneRound(graph, HashedWords())(await world.scope("ben"), plan("bicycle", {}), Filters())
    assert pool.candidates == () and pool.visible == 0
