"""Does every engine keep to one contract? Nothing of another audience or space, nothing after `forget`, never a short list."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from service.engines.mem_search import ENGINES, EngineConfig, MemSearch, Wanted, mirror_space, open_engine
from service.graph.driver import Graph, changes, rows
from service.graph.write_audiences import move_messages
from service.pipelines.dense import Dense
from service.pipelines.mirror import Mirror, MirrorConfig, forget_all_marks
from service.settings import load_settings
from service.types.audio import Samples
from service.types.ids import fresh
from service.types.search import Filters
from tests.graph.graph_builders import STARTED, TEXT_SPACE, HashedWords, Said, World, seed

PEOPLE = ("ana", "ben", "cleo")
TEXTS = HashedWords()
SAID = (
    Said("ana", "The red bicycle is in the shed.", ("ana", "ben"), to=("ben",)),
    Said("ben", "A bicycle, a bicycle, a bicycle.", ("ben",)),
    Said("ben", "The shed is locked, and the key is gone.", ("ana", "ben"), session="tuesday"),
    Said("cleo", "Everybody may borrow this bicycle.", ("*",), session="tuesday"),
    Said("cleo", "I sold the old bicycle.", ("cleo",)),
)
HIDE = "MATCH (:Message {id: $id})-[r:FOR]->(:Audience) DELETE r"
COUNT_MIRRORED = "MATCH (n) WHERE n.group_id STARTS WITH $prefix RETURN count(n) AS n"


@dataclass(frozen=True, slots=True)
class Engine:
    name: str
    search: MemSearch
    graph: Graph

    def mirror(self, batch: int = 256) -> Mirror:
        return Mirror(self.graph, self.name, self.search, TEXT_SPACE, MirrorConfig(batch))

    async def finds(
        self, world: World, question: str, *hearers: str, k: int = 10, pool: Sequence[int] | None = None
    ) -> list[int]:
        """Indexes of what a viewer finds, best first."""
        ids = None if pool is None else [world.message(i) for i in pool]
        wanted = Wanted(question, TEXTS.queries([question])[0], k, ids)
        found = await self.search.nearest(await world.scope(*hearers), wanted)
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        every = {world.message(i): i for i in range(len(world.said))}
        return [every[one.id] for one in found]


@pytest.fixture(scope="module", params=sorted(ENGINES))
async def engine(
    graph: Graph, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    python = mem0_python()
    if request.param == "mem0" and python is None:
        pytest.skip("Mem0 has no environment here: python -m tests.bench.retrieval --make-peers makes it")
    folder = tmp_path_factory.mktemp(request.param)
    search = await open_engine(request.param, EngineConfig(graph, TEXTS.embedding_space, folder, python))
    yield Engine(request.param, search, graph)
    await search.close()


def mem0_python() -> Path | None:
    """Of the environment that `voicegraph settings` names, else that of the benchmark."""
    settings = load_settings()
    named = os.environ.get("VOICEGRAPH_MEM0_PYTHON")
    python = Path(named) if named else settings.cache_dir / "bench" / "peers" / "mem0" / "bin" / "python"
    return python if python.exists() else None


async def a_world(graph: Graph, said: Sequence[Said] = SAID, people: Sequence[str] = PEOPLE) -> World:
    vectors = TEXTS.passages([one.text for one in said])
    return await seed(
        graph, f"test-{fresh()}", people, [replace(one, vector=vector) for one, vector in zip(said, vectors, strict=True)]
    )


@pytest.fixture(scope="module")
async def home(graph: Graph, engine: Engine) -> World:
    """For tests that change nothing."""
    return await mirrored(engine, graph)


@pytest.fixture
async def own(graph: Graph, engine: Engine) -> World:
    """For a test that changes what is there."""
    return await mirrored(engine, graph)


async def mirrored(engine: Engine, graph: Graph) -> World:
    world = await a_world(graph)
    done = await engine.mirror()(world.space)
    assert (done.messages, done.behind) == (5, 0)
    return world


def nearest(said: Sequence[Said], question: str, visible: Sequence[int]) -> list[int]:
    """What an exact search over these finds."""
    vectors: Samples = TEXTS.passages([one.text for one in said])
    cosines = vectors @ TEXTS.queries([question])[0]
    return sorted(visible, key=lambda i: -float(cosines[i]))


@pytest.mark.parametrize(
    ("hearers", "visible"),
    [
        (("ana",), (0, 2, 3)),
        (("ben",), (0, 1, 2, 3)),
        (("cleo",), (3, 4)),
        (("ben", "ana"), (0, 2, 3)),
        (("ben", "cleo"), (3,)),
    ],
)
async def test_a_viewer_finds_all_that_everybody_who_hears_it_may_read_and_nothing_else(
    engine: Engine, home: World, hearers: tuple[str, ...], visible: tuple[int, ...]
) -> None:
    question = "Where is the red bicycle?"
    assert await engine.finds(home, question, *hearers) == nearest(SAID, question, visible)


async def test_who_is_nobody_finds_what_is_public(engine: Engine, home: World) -> None:
    assert await engine.finds(home, "bicycle", "nobody") == [3]
    unknown = await home.scope("ben", unknown_hearer=True)
    found = await engine.search.nearest(unknown, Wanted("bicycle", TEXTS.queries(["bicycle"])[0], 10))
    assert [one.id for one in found] == [home.message(3)]


async def test_where_nothing_is_visible_nothing_is_found(engine: Engine, graph: Graph, home: World) -> None:
    empty = await a_world(graph, [Said("ana", "A bicycle of mine.", ("ana",))])
    assert (await empty.scope("ben")).audiences == ()
    assert await engine.finds(empty, "bicycle", "ben") == []


async def test_another_space_with_the_same_words_is_another_space(engine: Engine, graph: Graph, home: World) -> None:
    other = await mirrored(engine, graph)
    assert await engine.finds(other, "bicycle", "ben") == await engine.finds(home, "bicycle", "ben")
    await engine.search.forget(other.space)
    assert len(await engine.finds(home, "bicycle", "ben")) == 4


async def test_k_are_found_where_there_are_k(engine: Engine, graph: Graph) -> None:
    said = [Said("ben", "bicycle " * (i + 1) + "shed", ("ana",) if i % 10 == 7 else ("ben",)) for i in range(80)]
    world = await a_world(graph, said)
    await engine.mirror()(world.space)
    assert await engine.finds(world, "the shed", "ana", k=5) == [7, 17, 27, 37, 47]
    assert len(await engine.finds(world, "the shed", "ana", k=50)) == 8


async def test_only_the_pool_is_looked_through_and_its_list_is_as_long_as_any(engine: Engine, home: World) -> None:
    question = "Where is the red bicycle?"
    assert await engine.finds(home, question, "ben", k=2, pool=(1, 2)) == nearest(SAID, question, (1, 2))
    assert await engine.finds(home, question, "ben", pool=(2, 4)) == [2], "a pool widens nothing"
    assert await engine.finds(home, question, "ben", pool=()) == []


@pytest.mark.parametrize("engine", ["graphiti", "mem0"], indirect=True)  # the graph has no mirror to forget
async def test_nothing_is_found_of_what_was_forgotten(engine: Engine, own: World) -> None:
    await engine.search.forget(own.space, [own.message(0), own.message(3), "an id never indexed"])
    assert await engine.finds(own, "bicycle", "ben") == nearest(SAID, "bicycle", (1, 2))
    await engine.search.forget(own.space, [own.message(0)])
    await engine.search.forget(own.space)
    await engine.search.forget(own.space)
    assert await engine.finds(own, "bicycle", "ben") == []


async def test_what_moves_to_other_readers_is_mirrored_anew_and_hidden_until_then(
    engine: Engine, graph: Graph, own: World
) -> None:
    dense = Dense(graph, TEXT_SPACE, None if engine.name == "neo4j" else engine.search, engine.name)
    question = "Where is the red bicycle?"

    async def shown(*hearers: str) -> set[int]:
        vector = TEXTS.queries([question])[0]
        leg = await dense(await own.scope(*hearers), question, vector, Filters(), 10, candidates=5)
        return {index for _, index in leg.found}

    await graph.write(move_messages, own.space, {own.message(0): frozenset({own.person("cleo")})})
    assert 0 not in await shown("ana")
    again = await engine.mirror()(own.space)
    assert (again.messages, again.behind) == (1, 0)
    assert 0 not in await shown("ana")
    assert await shown("cleo") == {0, 3, 4}
    assert 0 in await engine.finds(own, question, "cleo")
    assert 0 not in await engine.finds(own, question, "ana")


async def test_a_second_run_changes_nothing(engine: Engine, graph: Graph, own: World) -> None:
    assert (await engine.mirror()(own.space)).messages == 0
    await engine.search.forget(own.space)
    await forget_all_marks(graph, own.space)
    assert (await engine.mirror()(own.space)).messages == 5
    assert len(await engine.finds(own, "bicycle", "ben")) == 4


async def test_a_mirror_broken_off_goes_on_where_it_was(engine: Engine, graph: Graph) -> None:
    world = await a_world(graph)
    broken = Mirror(graph, engine.name, BreaksOff(engine.search, after=1), TEXT_SPACE, MirrorConfig(batch=2))
    with pytest.raises(ConnectionError):
        await broken(world.space)
    done = await engine.mirror(batch=2)(world.space)
    assert (done.messages, done.behind) == (3, 0)
    assert len(await engine.finds(world, "bicycle", "ben")) == 4


async def test_what_is_erased_while_an_engine_is_given_it_is_not_kept_there(engine: Engine, graph: Graph) -> None:
    world = await a_world(graph)
    assert await Mirror(graph, engine.name, ErasesMeanwhile(engine.search, graph, world), TEXT_SPACE)(world.space)
    assert set(await engine.finds(world, "bicycle", "ben")) == {0, 2, 3}


class BreaksOff:
    """An engine whose connection is lost after some batches, with the batch in it."""

    def __init__(self, engine: MemSearch, after: int) -> None:
        self._engine, self._left = engine, after

    async def index(self, space: str, items: Sequence[object]) -> None:
        await self._engine.index(space, items)  # type: ignore[arg-type]
        self._left -= 1
        if self._left < 0:
            raise ConnectionError("lost")

    async def nearest(self, *given: object) -> tuple[()]:
        return ()

    async def forget(self, *given: object) -> None: ...

    async def close(self) -> None: ...


class ErasesMeanwhile(BreaksOff):
    """The second message is hidden once the engine has it, and before it is marked."""

    def __init__(self, engine: MemSearch, graph: Graph, world: World) -> None:
        super().__init__(engine, after=9)
        self._graph, self._world = graph, world

    async def index(self, space: str, items: Sequence[object]) -> None:
        await super().index(space, items)
        await self._graph.write(changes, HIDE, id=self._world.message(1))

    async def forget(self, *given: object) -> None:
        await self._engine.forget(*given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "filters",
    [Filters(), Filters(speakers=("ben",)), Filters(sessions=("tuesday",)), Filters(since=STARTED + timedelta(days=1))],
)
async def test_every_engine_finds_for_the_search_what_the_graph_finds(
    engine: Engine, graph: Graph, home: World, filters: Filters
) -> None:
    wanted = replace(
        filters, speakers=tuple(map(home.person, filters.speakers)), sessions=tuple(map(home.session, filters.sessions))
    )
    question, scope = "Where is the red bicycle?", await home.scope("ben")
    vector = TEXTS.queries([question])[0]
    engines = (Dense(graph, TEXT_SPACE), Dense(graph, TEXT_SPACE, engine.search, engine.name))
    graphs, theirs = [await dense(scope, question, vector, wanted, 10, candidates=4) for dense in engines]
    assert dict(theirs.found) == pytest.approx(dict(graphs.found), abs=1e-5)
    assert len(theirs.found) == (4 if filters.empty else 2)


@pytest.mark.parametrize("engine", ["graphiti"], indirect=True)
async def test_graphiti_leaves_nothing_behind_and_knows_no_names(engine: Engine, graph: Graph, own: World) -> None:
    prefix = f"{mirror_space(own.space)}_"
    there = await graph.read(
        rows, "MATCH (n) WHERE n.group_id STARTS WITH $p RETURN labels(n) AS labels, n.name AS name, n.space AS space", p=prefix
    )
    assert {label for row in there for label in row["labels"]} == {"Episodic", "Entity"}
    assert {row["space"] for row in there} == {None}
    assert not {row["name"] for row in there} & {*PEOPLE, *map(str.title, PEOPLE)}
    await engine.search.forget(own.space, [own.message(i) for i in range(5)])
    assert (await graph.read(rows, COUNT_MIRRORED, prefix=prefix))[0]["n"] == 0
