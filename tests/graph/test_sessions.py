from __future__ import annotations

import pytest

from service.errors import NotFound
from service.graph.driver import Graph, changes
from service.graph.paging import Page
from service.graph.sessions import count_sessions, find_sessions, get_session, list_participants, list_sessions
from service.types.memory import SessionStatus
from tests.graph.graph_builders import STARTED, Said, World, seed

DAYS = ("monday", "tuesday", "wednesday")


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    return await seed(
        graph,
        space,
        ("ana", "ben", "cleo"),
        [
            Said("ana", "one", ("ana", "ben"), session="monday"),
            Said("ben", "two", ("ben",), session="monday"),
            Said("ben", "three", ("ben",), session="tuesday"),
            Said("ana", "four", ("ana",), session="wednesday"),
        ],
    )


async def test_a_session_counts_its_visible_messages(graph: Graph, world: World) -> None:
    session = await graph.read(get_session, await world.scope("ana"), world.session("monday"))
    assert (session.num_messages, session.title, session.started_at, session.status) == (
        1,
        "monday",
        STARTED,
        SessionStatus.COMPLETE,
    )
    assert (await graph.read(get_session, await world.scope("ben"), world.session("monday"))).num_messages == 2


async def test_sessions_come_newest_first_and_pages_meet(graph: Graph, world: World) -> None:
    scope = await world.scope(reads_all=True)
    first = await graph.read(list_sessions, scope, page=Page(first=2))
    rest = await graph.read(list_sessions, scope, page=Page(first=2, after=first.cursors[-1]))
    assert [s.id for s in (*first.items, *rest.items)] == [world.session(d) for d in reversed(DAYS)]
    assert (first.has_next, rest.has_next) == (True, False)
    back = await graph.read(list_sessions, scope, page=Page(last=1, before=rest.cursors[0]))
    assert [s.id for s in back.items] == [world.session("tuesday")]


async def test_a_session_without_a_visible_message_is_known_to_who_attended_it(graph: Graph, world: World) -> None:
    scope = await world.scope("ana")
    assert await _known(graph, world, "ana") == {"monday", "wednesday"}
    with pytest.raises(NotFound):
        await graph.read(get_session, scope, world.session("tuesday"))
    await world.attended("ana", "tuesday")
    assert await _known(graph, world, "ana") == set(DAYS)
    assert (await graph.read(get_session, scope, world.session("tuesday"))).num_messages == 0
    assert await _known(graph, world, "ana", "cleo") == set(), "everybody who hears it must have been there"
    assert await _known(graph, world, "ana", unknown_hearer=True) == set()


async def test_the_attendance_of_a_bot_grants_nothing(graph: Graph, world: World) -> None:
    await world.attended("cleo", "tuesday")
    assert "tuesday" in await _known(graph, world, "cleo")
    await graph.write(changes, "MATCH (p:Person {id: $id}) SET p.kind = 'bot'", id=world.person("cleo"))
    assert "tuesday" not in await _known(graph, world, "cleo")


async def test_participants_are_who_speaks_in_what_one_may_read(graph: Graph, world: World) -> None:
    ids = [world.session(d) for d in DAYS]
    seen = await graph.read(list_participants, await world.scope("ana"), ids)
    assert seen == {ids[0]: (world.person("ana"),), ids[2]: (world.person("ana"),)}


async def _known(graph: Graph, world: World, *hearers: str, unknown_hearer: bool = False) -> set[str]:
    scope = await world.scope(*hearers, unknown_hearer=unknown_hearer)
    found = await graph.read(find_sessions, scope, [world.session(d) for d in DAYS])
    listed = await graph.read(list_sessions, scope, page=Page(first=10))
    assert {s.id for s in listed.items} == set(found)
    assert await graph.read(count_sessions, scope) == len(found)
    return {day for day in DAYS if world.session(day) in found}
