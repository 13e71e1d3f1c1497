"""Who told whom, and what was said while somebody was away: from the edges, and never beyond the scope."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from service.graph.directed import list_directed, list_replies, list_timeline
from service.graph.driver import Graph, changes
from service.graph.paging import Page
from service.types.ids import fresh
from service.types.memory import Message
from service.types.search import Filters
from tests.graph.fact_builders import Told, tell
from tests.graph.graph_builders import STARTED, Said, World, seed

ALL = ("ana", "bo", "cy")
SAID = [
    Said("ana", "We leave for Rome on Friday.", ALL, to=("bo",)),  # 0 s
    Said("bo", "I will bring the tent with me.", ALL, to=("ana",)),  # 4 s
    Said("cy", "Somebody has to feed the cat.", ALL, to=("ana", "bo")),  # 8 s
    Said("ana", "Cy must not know about the party.", ("ana", "bo"), to=("bo",)),  # 12 s
    Said("ana", "The plumber comes tomorrow, Cy.", ALL, to=("cy",)),  # 16 s
    Said("bo", "Mm.", ALL, to=("ana",)),  # 20 s
    Said("ana", "Bo, the rent is due again.", ALL, to=("bo",), session="tuesday"),
]
EVERYTHING = Filters()


@pytest.fixture(scope="module")
async def home(graph: Graph) -> World:
    world = await seed(graph, f"test-{fresh()}", ALL, SAID)
    for person in ("ana", "bo"):
        await world.attended(person, "monday")
    await world.replies(1, 0)
    await world.replies(3, 2)
    await graph.write(
        changes,
        "MATCH (p:Person {id: $person}), (s:Session {id: $session}) "
        "MERGE (p)-[:ATTENDED {starts: [0.0, 15.0], ends: [5.4, 30.0], source: 'caller'}]->(s)",
        person=world.person("cy"),
        session=world.session("monday"),
    )
    return world


async def said(world: World, filters: Filters, *hearers: str, away: bool = False) -> list[int]:
    scope = await world.scope(*hearers)
    found = await world.graph.read(list_directed, scope, filters, 50, away=away)
    return [next(i for i in range(len(SAID)) if world.message(i) == ranked.id) for ranked in found]


async def test_what_one_told_another_is_what_the_edges_say_newest_first(home: World) -> None:
    to_bo = Filters(speakers=(home.person("ana"),), addressees=(home.person("bo"),))
    assert await said(home, to_bo, "bo") == [6, 3, 0]
    assert await said(home, Filters(addressees=(home.person("ana"),)), "bo") == [2, 1]


async def test_nobody_hears_more_of_it_than_they_may_read(home: World) -> None:
    to_bo = Filters(speakers=(home.person("ana"),), addressees=(home.person("bo"),))
    assert await said(home, to_bo, "cy") == [6, 0]
    assert await said(home, to_bo, "ana", "cy") == [6, 0]
    assert await said(home, to_bo) == []


async def test_while_away_is_when_less_than_half_of_it_was_heard(home: World) -> None:
    """Cy hears the first turn and half a second short of half of the second; then nothing until 15 s."""
    assert set(await said(home, EVERYTHING, "cy", away=True)) == {1, 6}
    assert await said(home, Filters(addressees=(home.person("cy"),)), "cy", away=True) == []
    assert set(await said(home, Filters(speakers=(home.person("ana"),)), "cy", away=True)) == {6}


async def test_own_words_were_not_said_while_away(home: World) -> None:
    assert await said(home, EVERYTHING, "ana", away=True) == []


async def test_time_and_session_narrow(home: World) -> None:
    early = Filters(speakers=(home.person("ana"),), until=STARTED + timedelta(seconds=10))
    assert await said(home, early, "bo") == [0]
    assert await said(home, Filters(sessions=(home.session("tuesday"),)), "bo") == [6]
    assert await said(home, Filters(by_or_to=(home.person("cy"),)), "bo") == [4, 2]


async def test_replies_are_found_both_ways_and_inside_the_scope_only(home: World) -> None:
    monday = home.session("monday")
    scope, of_cy = await home.scope("bo"), await home.scope("cy")
    ids = [home.message(0), home.message(2)]
    assert set(await home.graph.read(list_replies, scope, ids)) == {(monday, 1), (monday, 3)}
    assert set(await home.graph.read(list_replies, of_cy, ids)) == {(monday, 1)}


async def test_a_timeline_is_what_somebody_said_and_was_told_and_what_it_tells_of_in_order(home: World) -> None:
    leaving, party = STARTED + timedelta(days=2), STARTED + timedelta(seconds=6)
    told = [
        Told("{speaker} leaves for Rome", [0], "plan", about=leaving),
        Told("there is a party", [3], about=party),
        Told("{speaker} brings the tent", [1], "commitment"),
        Told("when is the rent due?", [6], "question", about=leaving),
        Told("the plumber comes", [4], about=leaving),
    ]
    await tell(home, told)

    async def timeline(*hearers: str, page: Page | None = None, **window: datetime) -> list[int | str]:
        both = {"since": None, "until": None, **window}
        scope, page = await home.scope(*hearers), page or Page(first=50)
        paged = await home.graph.read(list_timeline, scope, home.person("bo"), page=page, **both)
        return [m.index if isinstance(m, Message) else m.statement for m in paged.items]

    rome, feast = told[0].statement, told[1].statement
    assert await timeline("bo") == [0, 1, feast, 2, 3, 5, 6, rome]
    assert await timeline("bo", page=Page(last=2)) == [6, rome]
    assert await timeline("cy") == [0, 1, 2, 5, 6, rome]
    assert await timeline("bo", since=STARTED + timedelta(seconds=5), until=STARTED + timedelta(hours=1)) == [feast, 2, 3, 5]
    assert await timeline() == []
