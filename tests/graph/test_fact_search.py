from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from service.graph.driver import Graph
from service.graph.fact_search import FactLeg, count_facts, facts_full_text, facts_nearest
from service.graph.messages import count_held, list_messages
from service.graph.paging import Page
from service.graph.search import SearchConfig, UnescapedQuery
from service.retrieval.lucene import escaped
from service.types.ids import fresh
from service.types.search import Filters, Layer
from tests.graph.fact_builders import Told, fact_id, tell
from tests.graph.graph_builders import STARTED, TEXT_SPACE, Said, World, seed, unit_vectors

K = 60
V = unit_vectors(6, seed=3)
SAID = [
    Said("ana", "I bought a bicycle.", ("ana", "ben"), to=("ben",)),
    Said("ben", "For whom?", ("ben", "cleo")),
    Said("ben", "It is a bicycle.", ("ben",), session="tuesday"),
    Said("cleo", "Everybody knows.", ("*",), to=("ana",), session="tuesday"),
    Said("cleo", "Mine.", ("cleo",), session="tuesday"),
]
TOLD = [
    Told("{speaker} bought a bicycle", [0], vector=V[0]),
    Told("{speaker} asks {addressee} for whom the bicycle is", [1, 0], "question", vector=V[1]),
    Told("it is a bicycle", [2], vector=V[2]),
    Told("everybody knows of the bicycle", [3], vector=V[3]),
    Told("{speaker} has a bicycle", [4, 3], attribute="vehicle", value="a bicycle", vector=V[4]),
    Told("nobody may read this of the bicycle", [4, 0], vector=V[5]),
]


@pytest.fixture(scope="module")
async def world(graph: Graph) -> World:
    world = await seed(graph, f"test-{fresh()}", ("ana", "ben", "cleo"), SAID)
    await tell(world, TOLD)
    everything = await world.scope(reads_all=True)
    for _ in range(200):
        if len((await graph.read(facts_full_text, everything, "bicycle", Filters(), K)).found) == len(TOLD):
            return world
        await asyncio.sleep(0.05)
    raise AssertionError("the full text does not have all facts after 10 s")


def seen(world: World, leg: FactLeg) -> set[int]:
    ids = [fact_id(world, i) for i in range(len(TOLD))]
    return {ids.index(found.id) for found in leg.found}


@pytest.mark.parametrize(
    ("hearers", "expected"),
    [
        (("ana",), {0, 3}),
        (("ben",), {0, 1, 2, 3}),
        (("cleo",), {3, 4}),
        (("ana", "ben"), {0, 3}),
        (("ana", "cleo"), {3}),
        ((), {3}),
    ],
)
@pytest.mark.parametrize("exact_limit", [1_000, 0])
async def test_every_leg_holds_what_everybody_who_hears_may_read_all_of(
    graph: Graph, world: World, hearers: tuple[str, ...], expected: set[int], exact_limit: int
) -> None:
    scope, config = await world.scope(*hearers), SearchConfig(exact_limit=exact_limit, exact_cost=1e9)
    assert seen(world, await graph.read(facts_full_text, scope, "bicycle", Filters(), K)) == expected
    assert seen(world, await graph.read(facts_nearest, scope, TEXT_SPACE, V[0], Filters(), K, config)) == expected
    assert await graph.read(count_facts, scope) == len(expected)
    messages = await graph.read(list_messages, scope, page=Page(first=50))
    assert await graph.read(count_held, scope) == (len(messages.items), len(expected))


async def test_who_reads_all_meets_every_fact(graph: Graph, world: World) -> None:
    scope = await world.scope(reads_all=True)
    assert seen(world, await graph.read(facts_full_text, scope, "bicycle", Filters(), K)) == set(range(len(TOLD)))


@pytest.mark.parametrize("exact_limit", [1_000, 0])
async def test_of_profiles_only_what_has_an_attribute_is_found(graph: Graph, world: World, exact_limit: int) -> None:
    scope, config = await world.scope("cleo"), SearchConfig(exact_limit=exact_limit, exact_cost=1e9)
    profiles, both = Filters(layers=(Layer.PROFILES,)), Filters(layers=(Layer.PROFILES, Layer.FACTS))
    for filters, expected in ((profiles, {4}), (both, {3, 4})):
        assert seen(world, await graph.read(facts_full_text, scope, "bicycle", filters, K)) == expected
        assert seen(world, await graph.read(facts_nearest, scope, TEXT_SPACE, V[0], filters, K, config)) == expected


@pytest.mark.parametrize("exact_limit", [1_000, 0])
async def test_a_fact_brings_its_evidence_with_the_source_first(graph: Graph, world: World, exact_limit: int) -> None:
    scope, config = await world.scope("ben"), SearchConfig(exact_limit=exact_limit, exact_cost=1e9)
    for leg in (
        await graph.read(facts_full_text, scope, "bicycle", Filters(), K),
        await graph.read(facts_nearest, scope, TEXT_SPACE, V[1], Filters(), K, config),
    ):
        evidence = {found.id: found.evidence for found in leg.found}
        assert evidence[fact_id(world, 1)] == (world.message(1), world.message(0))
    assert (leg.found[0].id, leg.found[0].score) == (fact_id(world, 1), pytest.approx(1.0, abs=1e-4))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(speakers=("cleo",)), {3, 4, 5}),
        (Filters(addressees=("ben",)), {0}),
        (Filters(by_or_to=("ana",)), {0, 3}),
        (Filters(sessions=("tuesday",)), {2, 3, 4, 5}),
        (Filters(since=STARTED + timedelta(days=1)), {2, 3, 4, 5}),
        (Filters(until=STARTED + timedelta(days=1)), {0, 1}),
    ],
)
async def test_filters_are_asked_of_the_source(graph: Graph, world: World, filters: Filters, expected: set[int]) -> None:
    wanted = Filters(
        tuple(map(world.person, filters.speakers)),
        tuple(map(world.person, filters.addressees)),
        tuple(map(world.session, filters.sessions)),
        filters.since,
        filters.until,
        tuple(map(world.person, filters.by_or_to)),
    )
    scope = await world.scope(reads_all=True)
    assert seen(world, await graph.read(facts_full_text, scope, "bicycle", wanted, K)) == expected
    for config in (SearchConfig(), SearchConfig(exact_limit=0, few_audiences=0, exact_cost=1e9)):
        assert seen(world, await graph.read(facts_nearest, scope, TEXT_SPACE, V[0], wanted, K, config)) == expected


async def test_a_question_is_only_words(graph: Graph, world: World) -> None:
    scope = await world.scope("ana")
    assert await graph.read(facts_full_text, scope, escaped("?!"), Filters(), K) == FactLeg((), "skipped(empty)")
    with pytest.raises(UnescapedQuery):
        await graph.read(facts_full_text, scope, "x) OR readers:public", Filters(), K)
