from __future__ import annotations

import pytest

from service.errors import NotFound
from service.graph.access import read_scope
from service.graph.driver import Graph
from service.graph.paging import Page
from service.graph.people import count_people, find_people, get_person, heard_of, list_named_people, list_people
from service.types.people import Assurance, Heard, Principal, Viewer
from tests.graph.graph_builders import Said, World, seed
from tests.graph.test_search import until_found

PEOPLE = ("ana", "ben", "cleo", "dan")


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    return await seed(
        graph,
        space,
        PEOPLE,
        [
            Said("ana", "one", ("ana", "ben"), to=("ben",)),
            Said("ana", "two", ("ana",), to=("cleo",)),
            Said("cleo", "three", ("cleo",)),
        ],
    )


async def test_numbers_of_a_person_count_what_the_viewer_may_read(graph: Graph, world: World) -> None:
    own = await graph.read(get_person, await world.scope("ana"), world.person("ana"))
    seen = await graph.read(get_person, await world.scope("ben"), world.person("ana"))
    assert (own.display_name, own.kind) == (seen.display_name, seen.kind) == ("Ana", "named")
    heard = {who: await graph.read(heard_of, await world.scope(who), [world.person("ana")]) for who in ("ana", "ben", "dan")}
    assert [found.get(world.person("ana")) for found in heard.values()] == [Heard(2, 5.0), Heard(1, 2.5), None]


async def test_one_knows_who_speaks_and_who_is_addressed_in_what_one_may_read_and_oneself(graph: Graph, world: World) -> None:
    for asker, known in {"ana": {"ana", "ben", "cleo"}, "ben": {"ana", "ben"}, "cleo": {"cleo"}, "dan": {"dan"}}.items():
        scope = await world.scope(asker)
        assert set(await graph.read(find_people, scope, [world.person(n) for n in PEOPLE])) == {world.person(n) for n in known}
        assert await graph.read(count_people, scope) == len(known)


async def test_naming_a_listener_or_playing_their_voice_does_not_tell_who_they_are(graph: Graph, world: World) -> None:
    everybody = [world.person(n) for n in PEOPLE]
    nobody_asks = Viewer(world.space, None, None, (world.person("dan"),), False, Assurance.NONE)
    ids = {"ana": frozenset[str](), "ben": frozenset({world.person("dan")})}
    at_a_token = {
        name: Viewer(
            world.space,
            Principal("account", world.person(name), leave, frozenset({"ask"})),
            world.person("dan"),
            (world.person("dan"), world.person(name)),
            False,
            Assurance.TOKEN_AND_VOICE,
        )
        for name, leave in ids.items()
    }
    for viewer, known in (
        (world.viewer("ana", "dan"), {"ana"}),
        (world.viewer("dan", "ana"), {"dan"}),
        (nobody_asks, set()),
        (at_a_token["ana"], {"ana"}),
        (at_a_token["ben"], {"dan"}),
    ):
        scope = await graph.read(read_scope, viewer)
        assert set(await graph.read(find_people, scope, everybody)) == {world.person(n) for n in known}
        assert {p.id for p in (await graph.read(list_people, scope, page=Page(first=9))).items} == set(
            await graph.read(find_people, scope, everybody)
        )
        assert await graph.read(count_people, scope) == len(known)


async def test_people_come_in_the_order_they_were_met_page_by_page(graph: Graph, world: World) -> None:
    scope = await world.scope(reads_all=True)
    first = await graph.read(list_people, scope, page=Page(first=3))
    rest = await graph.read(list_people, scope, page=Page(first=3, after=first.cursors[-1]))
    assert [p.id for p in (*first.items, *rest.items)] == [world.person(n) for n in PEOPLE]
    assert (first.has_next, rest.has_next, rest.has_previous) == (True, False, True)
    back = await graph.read(list_people, scope, page=Page(last=2, before=rest.cursors[0]))
    assert [p.id for p in back.items] == [world.person("ben"), world.person("cleo")]
    assert (back.has_previous, back.has_next) == (True, True)


async def test_an_unknown_person_and_an_invisible_one_are_told_apart_by_nothing(graph: Graph, world: World) -> None:
    scope = await world.scope("ben")
    errors = []
    for id in (world.person("cleo"), "no such person"):
        with pytest.raises(NotFound) as caught:
            await graph.read(get_person, scope, id)
        errors.append(str(caught.value).replace(id, "…"))
    assert errors[0] == errors[1]


async def test_a_merged_person_is_part_of_the_one_they_were_merged_into(graph: Graph, world: World) -> None:
    await world.merge("cleo", into="ana", confirmed=False)
    scope = await world.scope(reads_all=True)
    found = await graph.read(find_people, scope, [world.person("ana"), world.person("cleo")])
    assert set(found) == {world.person("ana")}
    assert await graph.read(heard_of, scope, list(found)) == {world.person("ana"): Heard(3, 7.5)}
    assert await graph.read(count_people, scope) == 3
    as_cleo = await graph.read(find_people, await world.scope("cleo"), [world.person("ana")])
    assert as_cleo[world.person("ana")].display_name == "Ana"
    heard = await graph.read(heard_of, await world.scope("cleo"), [world.person("ana")])
    assert heard[world.person("ana")].num_turns == 1, "named as Ana, and reading no more than before"


async def test_names_are_found_among_visible_people_only(graph: Graph, world: World) -> None:
    everybody = await world.scope(reads_all=True)
    await until_found(lambda: graph.read(list_named_people, everybody, "cleo dan"), 2)
    assert await graph.read(list_named_people, await world.scope("ben"), "cleo ana") == {world.person("ana"): ("Ana",)}
