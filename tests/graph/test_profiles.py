"""What a viewer may read of facts and profiles, one by one and in lists."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.errors import NotFound
from service.graph.driver import Graph
from service.graph.facts import FactFilters, find_facts, get_fact, list_facts, list_histories
from service.graph.paging import Page
from service.pipelines.profiles import ProfileReadConfig, find_profile
from service.types.facts import FactKind, Precision, TimeSpan
from service.types.ids import fresh
from service.types.profiles import Trait
from tests.graph.fact_builders import Told, fact_id, tell
from tests.graph.graph_builders import Said, World, seed

ALL, EVERYTHING = Page(first=100), FactFilters()
SAID = [
    Said("ana", "I live in Graz.", ("ana", "ben"), to=("ben",)),
    Said("ana", "I love tea.", ("ana", "ben")),
    Said("ana", "I will bake a cake.", ("ana", "ben"), to=("ben",)),
    Said("ana", "I moved to Linz, in secret.", ("ana", "cleo"), to=("cleo",), session="tuesday"),
    Said("ben", "Ana lives in Rome.", ("ana", "ben", "cleo"), session="tuesday"),
    Said("ben", "I will fetch you, Ana.", ("ana", "ben"), to=("ana",), session="tuesday"),
    Said("dan", "I live nowhere.", ("dan",), session="tuesday"),
    Said(None, "I live upstairs.", ("ana",), session="tuesday"),
]
TOLD = [
    Told("{speaker} lives in Graz", [0], attribute="home", value="Graz"),
    Told("{speaker} loves tea", [1], "preference", attribute="tea", value="loves"),
    Told("{speaker} will bake {addressee} a cake", [2], "commitment", about=datetime(2026, 5, 9, tzinfo=UTC)),
    Told("{speaker} lives in Linz", [3, 1], attribute="home", value="Linz"),
    Told("Ana lives in Rome", [4]),
    Told("{speaker} will fetch {addressee}", [5], "commitment"),
    Told("{speaker} lives nowhere", [6], attribute="home", value="nowhere"),
    Told("{speaker} lives upstairs", [7], attribute="home", value="upstairs"),
]


@pytest.fixture(scope="module")
async def world(graph: Graph) -> World:
    world = await seed(graph, f"test-{fresh()}", ("ana", "ben", "cleo", "dan"), SAID)
    await tell(world, TOLD)
    return world


def told(traits: tuple[Trait, ...]) -> list[tuple[list[str | None], list[str | None]]]:
    return [([f.value for f in t.now], [f.value for f in t.before]) for t in traits]


async def seen(world: World, *hearers: str, filters: FactFilters = EVERYTHING) -> list[int]:
    paged = await world.graph.read(list_facts, await world.scope(*hearers), page=ALL, filters=filters)
    ids = [fact_id(world, i) for i in range(len(TOLD))]
    return [ids.index(fact.id) for fact in paged.items]


async def test_facts_are_listed_newest_first_as_far_as_the_viewer_may_read_all_of_them(world: World) -> None:
    assert await seen(world, "ben") == [5, 4, 2, 1, 0]
    assert await seen(world, "ana") == [7, 5, 4, 3, 2, 1, 0]
    assert await seen(world, "cleo") == [4], "of Linz the context is not cleo's"
    assert await seen(world, "ana", "ben") == [5, 4, 2, 1, 0]
    assert await seen(world) == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (FactFilters(speakers=("ben",)), [5, 4]),
        (FactFilters(speakers=("ben",), telling=True), [5]),
        (FactFilters(addressees=("ben",)), [2, 0]),
        (FactFilters(kinds=(FactKind.COMMITMENT,)), [5, 2]),
        (FactFilters(kinds=(FactKind.COMMITMENT,), speakers=("ana",), addressees=("ben",)), [2]),
        (FactFilters(kinds=(FactKind.COMMITMENT,), speakers=("ana",), addressees=("cleo",)), []),
        (FactFilters(sessions=("monday",)), [2, 1, 0]),
    ],
)
async def test_lists_of_facts_are_narrowed_by_who_to_whom_where_and_what(
    world: World, filters: FactFilters, expected: list[int]
) -> None:
    wanted = FactFilters(
        tuple(map(world.person, filters.speakers)),
        tuple(map(world.person, filters.addressees)),
        tuple(map(world.session, filters.sessions)),
        filters.kinds,
        filters.telling,
    )
    assert await seen(world, "ana", filters=wanted) == expected


async def test_a_list_of_facts_goes_on_page_by_page(world: World) -> None:
    scope, found, page = await world.scope("ana"), [], Page(first=2)
    while True:
        paged = await world.graph.read(list_facts, scope, page=page)
        found += [fact.id for fact in paged.items]
        if not paged.has_next:
            break
        page = Page(first=2, after=paged.cursors[-1])
    assert found == [fact_id(world, i) for i in (7, 5, 4, 3, 2, 1, 0)]


async def test_a_fact_is_read_with_time_speaker_addressees_and_evidence(world: World) -> None:
    cake = await world.graph.read(get_fact, await world.scope("ben"), fact_id(world, 2))
    assert (cake.statement, cake.kind) == ("{speaker} will bake {addressee} a cake", FactKind.COMMITMENT)
    day = TimeSpan(datetime(2026, 5, 9, tzinfo=UTC), datetime(2026, 5, 10, tzinfo=UTC), Precision.DAY, "then")
    assert (cake.about, cake.evidence) == (day, (world.message(2),))
    assert (cake.speaker_id, [a.person_id for a in cake.addressees]) == (world.person("ana"), [world.person("ben")])


async def test_a_fact_outside_the_scope_is_as_one_that_does_not_exist(world: World) -> None:
    scope = await world.scope("ben")
    assert await world.graph.read(find_facts, scope, [fact_id(world, 3), fact_id(world, 6), fresh()]) == {}
    assert await world.graph.read(list_histories, scope, [fact_id(world, 3), fresh()]) == {}
    for id in (fact_id(world, 3), "nothing"):
        with pytest.raises(NotFound):
            await world.graph.read(get_fact, scope, id)


async def test_the_history_of_a_fact_is_what_the_viewer_may_know_of_it(world: World) -> None:
    home, moved = fact_id(world, 0), fact_id(world, 3)
    histories = await world.graph.read(list_histories, await world.scope("ana"), [home, moved])
    assert [f.value for f in histories[home]] == [f.value for f in histories[moved]] == ["Linz", "Graz"]
    (only,) = (await world.graph.read(list_histories, await world.scope("ben"), [home])).values()
    assert [f.value for f in only] == ["Graz"]
    rome, upstairs = fact_id(world, 4), fact_id(world, 7)
    alone = await world.graph.read(list_histories, await world.scope("ana"), [rome, upstairs])
    assert {id: [f.id for f in facts] for id, facts in alone.items()} == {rome: [rome], upstairs: [upstairs]}


async def test_a_profile_is_made_of_what_the_viewer_may_read(world: World) -> None:
    ana = world.person("ana")
    own = await world.graph.read(find_profile, await world.scope("ana"), ana)
    assert own is not None and own.person.display_name == "Ana" and own.complete
    assert told(own.background) == [(["Linz"], ["Graz"])]
    assert told(own.preferences) == [(["loves"], [])]
    assert [fact.statement for fact in own.commitments] == ["{speaker} will bake {addressee} a cake"]
    bens = await world.graph.read(find_profile, await world.scope("ben"), ana)
    assert bens is not None and told(bens.background) == [(["Graz"], [])], "that she moved is not his to know"
    cleos = await world.graph.read(find_profile, await world.scope("cleo"), ana)
    assert cleos is not None and (cleos.background, cleos.preferences, cleos.commitments) == ((), (), ())
    assert await world.graph.read(find_profile, await world.scope("dan"), ana) is None


async def test_a_profile_says_when_it_looked_only_at_the_newest(world: World) -> None:
    profile = await world.graph.read(
        find_profile, await world.scope("ana"), world.person("ana"), config=ProfileReadConfig(pages=0)
    )
    assert profile is not None and not profile.complete


async def test_a_merged_persons_facts_are_of_the_one_they_were_merged_into(graph: Graph, space: str) -> None:
    world = await seed(graph, space, ("ana", "ann", "ben"), [Said("ana", "a", ("ben",)), Said("ann", "b", ("ben",))])
    homes = [Told(f"{{speaker}} lives in {town}", [i], attribute="home", value=town) for i, town in enumerate("AB")]
    await tell(world, homes)
    await world.merge("ann", into="ana", confirmed=False)
    scope = await world.scope("ben")
    profile = await graph.read(find_profile, scope, world.person("ana"))
    assert profile is not None and told(profile.background) == [(["B"], ["A"])]
    assert {fact.speaker_id for trait in profile.background for fact in trait.now} == {world.person("ana")}
    assert len((await graph.read(list_histories, scope, [fact_id(world, 0)]))[fact_id(world, 0)]) == 2
