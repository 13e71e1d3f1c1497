from __future__ import annotations

import pytest

from service.errors import InvalidInput, NotFound
from service.graph.driver import Graph
from service.graph.messages import count_messages, find_messages, find_reasons, get_message, list_messages
from service.graph.paging import Page
from service.types.memory import How
from tests.graph.graph_builders import Said, World, seed

PEOPLE = ("ana", "ben", "cleo")


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    return await seed(
        graph,
        space,
        PEOPLE,
        [
            Said("ana", "The key is under the pot.", ("ana", "ben"), to=("ben",)),
            Said("ben", "Thank you.", ("ana", "ben"), to=("ana",)),
            Said("cleo", "I am late.", ("ana", "ben", "cleo")),
            Said(None, "Somebody mumbles.", ("ana",)),
            Said("cleo", "Good morning, all.", ("*",), session="tuesday"),
        ],
    )


async def test_a_message_comes_with_its_speaker_addressees_and_decision(graph: Graph, world: World) -> None:
    scope = await world.scope("ben")
    message = await graph.read(get_message, scope, world.message(0))
    assert (message.speaker_id, message.decision, message.cosine, message.margin) == (world.person("ana"), "link", 0.7, 0.3)
    assert [(a.person_id, a.how) for a in message.addressees] == [(world.person("ben"), How.CALLER)]
    assert message.local_speaker == world.session("monday") + "/voice"


async def test_an_unresolved_message_has_a_local_speaker_and_no_person(graph: Graph, world: World) -> None:
    message = await graph.read(get_message, await world.scope("ana"), world.message(3))
    assert (message.speaker_id, message.cosine, message.decision) == (None, None, "unresolved")


async def test_what_others_may_not_read_behaves_like_what_does_not_exist(graph: Graph, world: World) -> None:
    scope = await world.scope("cleo")
    assert set(await graph.read(find_messages, scope, [world.message(i) for i in range(5)])) == {
        world.message(2),
        world.message(4),
    }
    errors = []
    for id in (world.message(0), "no such message"):
        with pytest.raises(NotFound) as caught:
            await graph.read(get_message, scope, id)
        errors.append(str(caught.value).replace(id, "…"))
    assert errors[0] == errors[1]


async def test_pages_meet_without_gap_or_overlap_in_both_directions(graph: Graph, world: World) -> None:
    scope = await world.scope("ana")
    everything = await graph.read(list_messages, scope, page=Page(first=10))
    assert [m.id for m in everything.items] == [world.message(i) for i in range(5)]
    assert (everything.has_next, everything.has_previous) == (False, False)
    first = await graph.read(list_messages, scope, page=Page(first=2))
    then = await graph.read(list_messages, scope, page=Page(first=2, after=first.cursors[-1]))
    last = await graph.read(list_messages, scope, page=Page(last=2, before=then.cursors[0]))
    assert [m.id for m in (*first.items, *then.items)] == [world.message(i) for i in range(4)]
    assert last.items == first.items
    assert (then.has_next, then.has_previous, last.has_next, last.has_previous) == (True, True, True, False)
    assert [m.id for m in (await graph.read(list_messages, scope, page=Page(last=2))).items] == [
        world.message(3),
        world.message(4),
    ]


async def test_messages_of_a_session_and_of_a_speaker(graph: Graph, world: World) -> None:
    scope = await world.scope("ana")
    of_session = await graph.read(list_messages, scope, page=Page(first=9), session_id=world.session("monday"))
    assert [m.index for m in of_session.items] == [0, 1, 2, 3]
    of_cleo = await graph.read(list_messages, scope, page=Page(first=9), speaker_id=world.person("cleo"))
    assert [m.index for m in of_cleo.items] == [2, 4]
    with pytest.raises(InvalidInput):
        await graph.read(list_messages, scope, page=Page(first=9), session_id="s", speaker_id="p")


@pytest.mark.parametrize("sizes", [{}, {"first": 1, "last": 1}, {"first": 101}, {"last": -1}])
def test_a_page_has_one_size_within_the_cap(sizes: dict[str, int]) -> None:
    with pytest.raises(InvalidInput):
        Page(**sizes)


async def test_messages_of_a_merged_person_are_shown_as_of_whom_they_were_merged_into(graph: Graph, world: World) -> None:
    await world.merge("cleo", into="ben", confirmed=False)
    scope = await world.scope("ana")
    of_ben = await graph.read(list_messages, scope, page=Page(first=9), speaker_id=world.person("ben"))
    assert [m.index for m in of_ben.items] == [1, 2, 4]
    assert {m.speaker_id for m in of_ben.items} == {world.person("ben")}


async def test_a_reply_to_an_invisible_message_is_not_mentioned(graph: Graph, world: World) -> None:
    await world.replies(2, to=1)
    assert (await graph.read(get_message, await world.scope("ana"), world.message(2))).reply_to == world.message(1)
    assert (await graph.read(get_message, await world.scope("cleo"), world.message(2))).reply_to is None


async def test_the_reason_why_the_asker_sees_a_message(graph: Graph, world: World) -> None:
    ids = [world.message(i) for i in range(5)]
    await world.attended("ana", "monday")
    ana, cleo = await world.scope("ana"), await world.scope("cleo")
    assert list((await graph.read(find_reasons, ana, ids)).values()) == [
        "said_it",
        "addressed",
        "attended",
        "attended",
        "public",
    ]
    assert await graph.read(find_reasons, cleo, ids) == {ids[2]: "said_it", ids[4]: "said_it"}
    assert set((await graph.read(find_reasons, await world.scope(reads_all=True), ids)).values()) == {"reads_all"}
    assert (await graph.read(find_reasons, await world.scope("ben"), ids))[ids[2]] == "shared"


async def test_counts_are_of_what_is_visible(graph: Graph, world: World) -> None:
    counts = [await graph.read(count_messages, await world.scope(name)) for name in PEOPLE]
    assert counts == [5, 4, 2]
