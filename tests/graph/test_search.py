from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sized
from datetime import timedelta

import numpy as np
import pytest

from service.graph.driver import Graph, changes
from service.graph.search import SearchConfig, UnescapedQuery, full_text, nearest_messages
from service.retrieval.lucene import escaped
from service.types.audio import Samples
from service.types.candidates import Words
from service.types.ids import fresh
from service.types.search import Filters
from tests.graph.graph_builders import STARTED, TEXT_SPACE, Said, World, seed, unit_vectors

PEOPLE = ("ana", "ben", "cleo")
SAVE_CAPTION = "MATCH (m:Message {id: $id}) SET m.captions = $captions"
NUM = 3_000
K = 60


async def until_found(read: Callable[[], Awaitable[Sized]], n: int) -> None:
    """Full text appears shortly after the commit (0.2 s measured)."""
    for _ in range(200):
        if len(await read()) >= n:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"fewer than {n} found after 10 s")


# --- a small space


@pytest.fixture
async def home(graph: Graph, space: str) -> World:
    world = await seed(
        graph,
        space,
        PEOPLE,
        [
            Said("ana", "The red bicycle is in the shed.", ("ana", "ben"), to=("ben",), vector=unit_vectors(5)[0]),
            Said("ben", "A bicycle, a bicycle, a bicycle.", ("ben",), vector=unit_vectors(5)[1]),
            Said("ben", "C++ or C#? 50% [sic] \\o/ 🚲", ("ana", "ben"), session="tuesday", vector=unit_vectors(5)[2]),
            Said("cleo", "Everybody sees this bicycle.", ("*",), session="tuesday", vector=unit_vectors(5)[3]),
            Said("cleo", "No vector here, only a bicycle.", ("cleo",)),
        ],
    )
    everything = await world.scope(reads_all=True)

    async def found() -> Sized:
        return (await graph.read(full_text, everything, ["bicycle"], Filters(), K))[0]

    await until_found(found, 4)
    return world


async def test_full_text_finds_what_the_asker_may_read(graph: Graph, home: World) -> None:
    assert await _texts(home, "bicycle", "ana") == {0, 3}
    assert await _texts(home, "bicycle", "ben") == {0, 1, 3}
    assert await _texts(home, "bicycle", "ben", "ana") == {0, 3}
    assert await _texts(home, "bicycle", "nobody") == {3}
    assert await _texts(home, "bicycle", reads_all=True) == {0, 1, 3, 4}


async def test_an_id_among_the_readers_is_not_text(graph: Graph, home: World) -> None:
    assert await _texts(home, home.person("ana").replace("-", ""), "ana") == set()
    assert await _texts(home, "public", "ana") == set()


@pytest.mark.parametrize(
    "question",
    [
        "what? (AND [x:",
        "tb-",
        "a/b",
        "C++ or C#?",
        "🚲",
        "readers:*",
        "*:*",
        "MATCH (n) DETACH DELETE n",
        "' OR 1=1 //",
        "`",
        "$k",
        "\\",
    ],
)
async def test_any_question_is_only_words(graph: Graph, home: World, question: str) -> None:
    assert await _texts(home, question, "ana") <= {0, 2, 3}


async def test_operators_that_were_not_escaped_are_refused(graph: Graph, home: World) -> None:
    with pytest.raises(UnescapedQuery):
        await graph.read(full_text, await home.scope("ana"), ["x) OR readers:public"], Filters(), K)


async def test_each_query_has_its_own_hits_and_one_without_words_has_none(graph: Graph, home: World) -> None:
    found = await graph.read(full_text, await home.scope("ana"), ["red", escaped("?!"), "everybody"], Filters(), K)
    assert [_indexes(home, words) for words in found] == [{0}, set(), {3}]


async def test_captions_are_searched_with_the_words(graph: Graph, home: World) -> None:
    await graph.write(changes, SAVE_CAPTION, id=home.message(2), captions="a parrot on a roof")

    async def found() -> Sized:
        return (await graph.read(full_text, await home.scope("ana"), ["parrot"], Filters(), K))[0]

    await until_found(found, 1)
    assert await _texts(home, "parrot", "ana") == {2}
    assert await _texts(home, "parrot", "cleo") == set()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(speakers=("cleo",)), {3, 4}),
        (Filters(addressees=("ben",)), {0}),
        (Filters(sessions=("tuesday",)), {3}),
        (Filters(since=STARTED + timedelta(days=1)), {3}),
        (Filters(until=STARTED + timedelta(days=1)), {0, 1, 4}),
        (Filters(speakers=("cleo",), sessions=("monday",)), {4}),
        (Filters(speakers=("nobody",)), set()),
    ],
)
async def test_filters_narrow_every_leg_alike(graph: Graph, home: World, filters: Filters, expected: set[int]) -> None:
    wanted = Filters(
        tuple(map(home.person, filters.speakers)),
        tuple(map(home.person, filters.addressees)),
        tuple(map(home.session, filters.sessions)),
        filters.since,
        filters.until,
    )
    scope = await home.scope(reads_all=True)
    (text,) = await graph.read(full_text, scope, ["bicycle"], wanted, K)
    assert _indexes(home, text) == expected
    with_vector = {i for i in _every(home, wanted) if home.said[i].vector is not None}
    for config in (SearchConfig(), SearchConfig(exact_limit=0, few_audiences=0)):
        near = await graph.read(nearest_messages, scope, TEXT_SPACE, "turn", unit_vectors(5)[0], wanted, K, config)
        assert _indexes(home, near.found) == with_vector


async def test_a_filter_by_a_person_means_whoever_is_merged_with_them(graph: Graph, home: World) -> None:
    await home.merge("cleo", into="ben", confirmed=False)
    ben = Filters(speakers=(home.person("ben"),))
    (found,) = await graph.read(full_text, await home.scope(reads_all=True), ["bicycle"], ben, K)
    assert _indexes(home, found) == {1, 3, 4}


async def test_scores_are_raw_cosines(graph: Graph, home: World) -> None:
    vectors = unit_vectors(5)
    leg = await graph.read(nearest_messages, await home.scope("ana"), TEXT_SPACE, "turn", vectors[0], Filters(), K)
    assert leg.how == "exact"
    assert {index: cosine for (_, index), cosine in leg.found.items()} == pytest.approx(
        {i: float(vectors[i] @ vectors[0]) for i in (0, 2, 3)}, abs=1e-5
    )


# --- a viewer of little among many


@pytest.fixture(scope="module")
async def crowd(graph: Graph) -> tuple[World, Samples]:
    """3,000 messages: Ana may read 30 of them, Ben 600, Cleo all but Ana's own."""
    vectors = unit_vectors(NUM, seed=1)
    said = [
        Said(
            "ben" if i % 2 else "cleo",
            "nothing but the word" if i % 3 else "another thing",
            ("ana",) if i % 100 == 7 else (("ben", "cleo") if i % 5 == 0 else ("cleo",)),
            vector=vectors[i],
        )
        for i in range(NUM)
    ]
    world = await seed(graph, f"test-{fresh()}", PEOPLE, said, views=["turn"])
    scope = await world.scope("ana")

    async def indexed() -> Sized:
        return (await graph.read(full_text, scope, ["word thing"], Filters(), K))[0]

    await until_found(indexed, 30)
    return world, vectors


@pytest.mark.parametrize(
    ("asker", "config", "how"),
    [
        ("ana", SearchConfig(), "exact"),
        ("ana", SearchConfig(exact_limit=10), "index:audiences(1)"),
        ("ana", SearchConfig(exact_limit=10, few_audiences=0), "exact"),
        ("ana", SearchConfig(exact_limit=10, few_audiences=0, exact_cost=1e9), "index+widen"),
        ("ben", SearchConfig(exact_limit=300, few_audiences=0, first_fetch=100), "index+widen(1)"),
        ("ben", SearchConfig(exact_limit=300), "index:audiences(1)"),
        ("ben", SearchConfig(exact_limit=300, few_audiences=0), "index"),
        ("cleo", SearchConfig(exact_limit=300, few_audiences=0), "index"),
    ],
)
async def test_every_way_of_looking_finds_what_the_exact_one_finds(
    graph: Graph, crowd: tuple[World, Samples], asker: str, config: SearchConfig, how: str
) -> None:
    world, vectors = crowd
    question = unit_vectors(1, seed=2)[0]
    leg = await graph.read(nearest_messages, await world.scope(asker), TEXT_SPACE, "turn", question, Filters(), K, config)
    assert leg.how.startswith(how)
    visible = [i for i, s in enumerate(world.said) if asker in s.readers]
    best = sorted(visible, key=lambda i: -float(vectors[i] @ question))[:K]
    found = _indexes(world, leg.found)
    assert len(found) == min(K, len(visible))
    missed = set(best) - found
    assert len(missed) <= (0 if leg.how.endswith("exact") else 3), "an index is approximate, a filter is not"


async def test_a_small_viewer_gets_a_full_list_from_the_full_text(graph: Graph, crowd: tuple[World, Samples]) -> None:
    world, _ = crowd
    (found,) = await graph.read(full_text, await world.scope("ana"), ["word"], Filters(), K)
    assert _indexes(world, found) == {i for i, s in enumerate(world.said) if "ana" in s.readers and "word" in s.text}


async def _texts(world: World, question: str, *hearers: str, reads_all: bool = False) -> set[int]:
    scope = await world.scope(*hearers, reads_all=reads_all)
    (found,) = await world.graph.read(full_text, scope, [escaped(question)], Filters(), K)
    return _indexes(world, found)


def _indexes(world: World, found: Words) -> set[int]:
    """Of places, whose indexes count through all of the world's sessions here."""
    assert all(world.session(world.said[index].session) == session for session, index in found)
    return {index for _, index in found}


def _every(world: World, filters: Filters) -> set[int]:
    """All messages of `world` that the filters let through."""
    days = list(dict.fromkeys(s.session for s in world.said))
    kept = set()
    for i, said in enumerate(world.said):
        at = STARTED + timedelta(days=days.index(said.session), seconds=4.0 * i)
        if (
            (not filters.speakers or (said.by and world.person(said.by) in filters.speakers))
            and (not filters.addressees or {world.person(t) for t in said.to} & set(filters.addressees))
            and (not filters.sessions or world.session(said.session) in filters.sessions)
            and (filters.since is None or at >= filters.since)
            and (filters.until is None or at < filters.until)
        ):
            kept.add(i)
    return kept


def test_unit_vectors_are_of_unit_length() -> None:
    assert np.allclose(np.linalg.norm(unit_vectors(3), axis=1), 1.0)
