from __future__ import annotations

import ast
import asyncio
import inspect
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import service.graph
from service.graph.access import ReadScope, ScopeNotOurs
from service.graph.driver import Graph, Tx
from service.graph.messages import count_messages, find_messages, find_reasons, list_messages
from service.graph.paging import Page
from service.graph.people import count_people, find_people, list_people
from service.graph.search import SearchConfig, full_text, nearest_messages
from service.graph.sessions import count_sessions, find_sessions, list_participants, list_sessions
from service.types.candidates import Words
from service.types.ids import fresh
from service.types.search import Filters
from tests.graph.graph_builders import Said, World, seed, unit_vectors

ROOT = Path(service.graph.__file__).parents[2]
READS = ("find_", "get_", "list_", "nearest_", "expand_", "count_", "full_text")
READ_MODULES = ("people", "sessions", "messages", "search")
PEOPLE = ("ana", "ben", "cleo", "dan")


# --- who may see what


async def test_a_message_is_visible_to_its_readers_only(graph: Graph, space: str) -> None:
    world = await seed(graph, space, PEOPLE, [Said("ana", "for ben", ("ana", "ben")), Said("ana", "for all", ("*",))])
    assert [await _visible(world, name) for name in PEOPLE] == [{0, 1}, {0, 1}, {1}, {1}]


async def test_whoever_hears_the_answer_narrows_it(graph: Graph, space: str) -> None:
    world = await seed(
        graph,
        space,
        PEOPLE,
        [Said("ana", "a", ("ana",)), Said("ana", "b", ("ana", "ben")), Said("ana", "c", ("ana", "ben", "cleo"))],
    )
    assert await _visible(world, "ana") == {0, 1, 2}
    assert await _visible(world, "ana", "ben") == {1, 2}
    assert await _visible(world, "ana", "ben", "cleo") == {2}
    assert await _visible(world, "ana", "dan") == set()


async def test_an_unknown_hearer_leaves_what_is_public(graph: Graph, space: str) -> None:
    world = await seed(graph, space, PEOPLE, [Said("ana", "mine", ("ana",)), Said("ana", "for all", ("*",))])
    assert await _visible(world, "ana", unknown_hearer=True) == {1}
    assert await _visible(world, unknown_hearer=True) == {1}
    assert await _visible(world) == {1}, "nobody in particular asks"


async def test_a_stranger_sees_nothing_and_an_id_that_names_nobody_grants_nothing(graph: Graph, space: str) -> None:
    world = await seed(graph, space, PEOPLE, [Said("ana", "mine", ("ana",))])
    scope = await world.scope("nobody such")
    assert scope.audiences == ()
    assert not await graph.read(find_people, scope, [world.person(name) for name in PEOPLE])


async def test_reading_all_ends_as_soon_as_somebody_listens(graph: Graph, space: str) -> None:
    world = await seed(graph, space, PEOPLE, [Said("ana", "mine", ("ana",)), Said("ben", "his", ("ben",))])
    assert await _visible(world, reads_all=True) == {0, 1}
    assert await _visible(world, "ben", reads_all=True) == {1}
    assert await _visible(world, unknown_hearer=True, reads_all=True) == set()


async def test_a_confirmed_merge_widens_what_may_be_read_and_an_unconfirmed_one_does_not(graph: Graph, space: str) -> None:
    world = await seed(
        graph, space, (*PEOPLE, "eve"), [Said("ana", "a", ("ana",)), Said("ben", "b", ("ben",)), Said("cleo", "c", ("cleo",))]
    )
    await world.merge("ana", into="dan", confirmed=True)
    await world.merge("ben", into="dan", confirmed=True)
    await world.merge("cleo", into="dan", confirmed=False)
    assert await _visible(world, "ana") == {0, 1}, "through the root to its other members"
    assert await _visible(world, "dan") == {0, 1}
    assert await _visible(world, "cleo") == {2}
    assert await _visible(world, "eve") == set()


async def test_hearing_oneself_twice_under_merged_ids_narrows_nothing(graph: Graph, space: str) -> None:
    world = await seed(graph, space, PEOPLE, [Said("ana", "a", ("ana",)), Said("ben", "b", ("ben",))])
    await world.merge("ana", into="ben", confirmed=True)
    assert await _visible(world, "ana", "ben") == {0, 1}


async def test_two_tenants_read_at_once_and_see_their_own(graph: Graph, space: str) -> None:
    other = f"test-{fresh()}"
    vectors = unit_vectors(2)
    said = [Said("ana", "the red bicycle", ("ana",), vector=vectors[0]), Said("ben", "the red car", ("*",), vector=vectors[1])]
    worlds = [await seed(graph, tenant, PEOPLE, said) for tenant in (space, other)]
    await _until_indexed(worlds[1], "ana", 2)

    async def read(world: World) -> set[str]:
        scope = await world.scope("ana")
        (found,) = await graph.read(full_text, scope, ["red"], Filters(), 10)
        near = await graph.read(nearest_messages, scope, "e5_small_v2_q", "turn", vectors[0], Filters(), 10)
        listed = await graph.read(list_messages, scope, page=Page(first=10))
        return _at(world, found) | _at(world, near.found) | {m.id for m in listed.items}

    results = await asyncio.gather(*(read(world) for world in worlds * 10))
    for world, result in zip(worlds * 10, results, strict=True):
        assert result == {world.message(0), world.message(1)}


# --- every read against an oracle in Python

_names = st.sampled_from(PEOPLE)
_readers = st.one_of(st.just(("*",)), st.lists(_names, max_size=3, unique=True).map(tuple))
_said = st.builds(
    Said,
    by=st.one_of(st.none(), _names),
    text=st.just("the word"),
    readers=_readers,
    to=st.lists(_names, max_size=2, unique=True).map(tuple),
    session=st.sampled_from(("monday", "tuesday", "wednesday")),
)
_hearers = st.lists(_names, max_size=3, unique=True).map(tuple)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(_said, min_size=1, max_size=8), hearers=_hearers, unknown=st.booleans(), reads_all=st.booleans())
async def test_no_read_shows_more_or_less_than_the_oracle(
    graph: Graph, said: list[Said], hearers: tuple[str, ...], unknown: bool, reads_all: bool
) -> None:
    vectors = unit_vectors(len(said))
    said = [replace(s, vector=vector) for s, vector in zip(said, vectors, strict=True)]
    world = await seed(graph, f"test-{fresh()}", PEOPLE, said)
    scope = await world.scope(*hearers, unknown_hearer=unknown, reads_all=reads_all)
    all_of_it = reads_all and not hearers and not unknown
    visible = {i for i, s in enumerate(said) if all_of_it or _may_read(s, hearers, unknown)}
    messages = {world.message(i) for i in visible}
    sessions = {world.session(s.session) for i, s in enumerate(said) if i in visible}
    people = {world.person(n) for i in visible for n in (said[i].by, *said[i].to) if n} | {world.person(n) for n in hearers[:1]}
    if all_of_it:
        people = {world.person(name) for name in PEOPLE}

    everyone = [world.person(name) for name in PEOPLE]
    every_session = [world.session(name) for name in ("monday", "tuesday", "wednesday")]
    every_message = [world.message(i) for i in range(len(said))]

    async def looked(tx: Tx) -> None:
        """All in one transaction: what each is read in is the driver's."""
        found = await find_messages(tx, scope, every_message)
        assert set(found) == messages
        assert set(await find_reasons(tx, scope, every_message)) == messages
        assert {m.id for m in (await list_messages(tx, scope, page=Page(first=50))).items} == messages
        assert await count_messages(tx, scope) == len(messages)
        assert set(await find_people(tx, scope, everyone)) == people
        assert {p.id for p in (await list_people(tx, scope, page=Page(first=50))).items} == people
        assert await count_people(tx, scope) == len(people)
        assert set(await find_sessions(tx, scope, every_session)) == sessions
        assert {s.id for s in (await list_sessions(tx, scope, page=Page(last=50))).items} == sessions
        assert await count_sessions(tx, scope) == len(sessions)
        assert {p for ps in (await list_participants(tx, scope, every_session)).values() for p in ps} <= people
        for id in everyone:
            of_speaker = await list_messages(tx, scope, page=Page(first=50), speaker_id=id)
            assert {m.id for m in of_speaker.items} == {m for m in messages if found[m].speaker_id == id}
        for id in every_session:
            of_session = await list_messages(tx, scope, page=Page(last=50), session_id=id)
            assert {m.id for m in of_session.items} == {m for m in messages if found[m].session_id == id}
        for config in (SearchConfig(), SearchConfig(exact_limit=0), SearchConfig(exact_limit=0, few_audiences=0)):
            near = await nearest_messages(tx, scope, "e5_small_v2_q", "turn", vectors[0], Filters(), 60, config)
            assert _at(world, near.found) == messages or near.how.startswith("index:")
            assert _at(world, near.found) <= messages
        (found_by_word,) = await full_text(tx, scope, ["word"], Filters(), 60)
        assert _at(world, found_by_word) <= messages

    await graph.read(looked)


def _may_read(said: Said, hearers: Sequence[str], unknown: bool) -> bool:
    if "*" in said.readers:
        return True
    return not unknown and bool(hearers) and all(name in said.readers for name in hearers)


# --- no way around


def test_a_scope_cannot_be_made_elsewhere() -> None:
    with pytest.raises(ScopeNotOurs):
        ReadScope("home", (), (), (), (), False, True, (), key=object())


async def test_a_scope_cannot_be_widened_by_replacing_a_field(graph: Graph, space: str) -> None:
    scope = await (await seed(graph, space, PEOPLE, [Said("ana", "a", ("ana",))])).scope("ben")
    with pytest.raises(ValueError, match="InitVar"):
        replace(scope, reads_all=True)


def test_only_the_gate_constructs_scopes() -> None:
    """Neither by name, nor through `replace` or `__new__`, nor with the gate's key."""
    makers = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in (ROOT / "service").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in _names_in(node)
        if name in {"ReadScope()", "access._KEY", "ReadScope.__new__"}
    }
    assert makers == {("service/graph/access.py", "ReadScope()")}


def _names_in(node: ast.AST) -> list[str]:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return [f"{name}()"]
        case ast.ImportFrom(module="service.graph.access", names=names):
            return [f"access.{alias.name}" for alias in names]
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
            return [f"{owner}.{name}"]
    return []


def test_every_read_takes_a_scope_right_after_its_transaction() -> None:
    assert set(READ_MODULES) <= {m.name for m in pkgutil.iter_modules(service.graph.__path__)}
    reads = 0
    for name in READ_MODULES:
        for function, read in inspect.getmembers(import_module(f"service.graph.{name}"), inspect.iscoroutinefunction):
            if read.__module__ == f"service.graph.{name}" and function.startswith(READS):
                assert list(inspect.signature(read).parameters)[:2] == ["tx", "scope"], f"{name}.{function}"
                assert read.__annotations__["scope"] == "ReadScope", f"{name}.{function}"
                reads += 1
    assert reads >= 15


async def _visible(world: World, *hearers: str, unknown_hearer: bool = False, reads_all: bool = False) -> set[int]:
    scope = await world.scope(*hearers, unknown_hearer=unknown_hearer, reads_all=reads_all)
    found = await world.graph.read(find_messages, scope, [world.message(i) for i in range(len(world.said))])
    return {i for i in range(len(world.said)) if world.message(i) in found}


def _at(world: World, places: Words) -> set[str]:
    """Ids of the messages that stand there."""
    return {world.message(index) for _, index in places}


async def _until_indexed(world: World, asker: str, n: int) -> None:
    """Full text and vectors appear shortly after the commit (0.2 s measured)."""
    scope = await world.scope(asker)
    for _ in range(100):
        if len((await world.graph.read(full_text, scope, ["the"], Filters(), 10))[0]) >= n:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("not indexed after 5 s")
