from __future__ import annotations

import pytest

from service.graph.driver import Graph
from service.graph.names import find_names, list_names, list_names_of
from service.graph.paging import Page
from tests.graph.graph_builders import Said, World, seed
from tests.graph.identity_builders import bound, proposed, voice_of


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    return await seed(
        graph,
        space,
        ("ana", "ben", "cleo"),
        [
            Said("ana", "I am Ana", ("ana", "ben")),
            Said("ben", "thanks Ana", ("ana", "ben")),
            Said("ana", "a secret", ("ana",), session="tuesday"),
            Said("cleo", "I am Cleo", ("cleo",), session="attic"),
            Said(None, "somebody else", ("cleo",), session="attic"),
        ],
    )


async def test_proposals_come_newest_first_by_status_to_who_may_read_their_evidence(graph: Graph, world: World) -> None:
    ids = {
        "Ana": await proposed(world, "ana", "Ana", [0, 1], status="applied", sources=("self_introduction", "addressed")),
        "Anna": await proposed(world, "ana", "Anna", [0]),
        "Annie": await proposed(world, "ana", "Annie", [2]),
        "Clea": await proposed(world, "cleo", "Clea", [3]),
    }

    async def names(status: str, *asker: str, reads_all: bool = False) -> list[str]:
        scope = await world.scope(*asker, reads_all=reads_all)
        return [n.name for n in (await graph.read(list_names, scope, status=status, page=Page(first=9))).items]

    assert await names("open", "ana") == ["Annie", "Anna"]
    assert await names("open", "ben") == ["Anna"]
    assert await names("open", "cleo") == ["Clea"]
    assert await names("open", "ana", "cleo") == await names("open") == []
    assert await names("open", reads_all=True) == ["Clea", "Annie", "Anna"]
    assert await names("applied", "ben") == ["Ana"]
    found = await graph.read(find_names, await world.scope("ben"), [*ids.values(), "no such proposal"])
    assert set(found) == {ids["Ana"], ids["Anna"]}
    ana = found[ids["Ana"]]
    assert (ana.sources, ana.num_evidence, ana.status) == (("self_introduction", "addressed"), 2, "applied")
    assert ana.person is not None and ana.person.display_name == "Ana" and ana.local_speaker is None


async def test_a_proposal_for_a_voice_is_one_for_its_person_once_that_is_known(graph: Graph, world: World) -> None:
    id = await proposed(world, "attic", "Clea", [4])
    scope = await world.scope("cleo")
    assert (await graph.read(find_names, scope, [id]))[id].local_speaker == voice_of(world, "attic")
    await bound(world, "attic", "cleo")
    found = (await graph.read(find_names, scope, [id]))[id]
    assert found.local_speaker is None and found.person is not None and found.person.id == world.person("cleo")


async def test_who_a_proposal_is_about_must_be_known_too(graph: Graph, world: World) -> None:
    """Cleo answers to a name in a turn that Ben does not hear: what he did hear does not tell him of her."""
    id = await proposed(world, "cleo", "Cleo", [1], sources=("addressed",))
    voice = await proposed(world, "attic", "Cloe", [1], sources=("addressed",))
    assert await graph.read(find_names, await world.scope("ben"), [id, voice]) == {}
    assert set(await graph.read(find_names, await world.scope(reads_all=True), [id, voice])) == {id, voice}
    assert await graph.read(list_names_of, await world.scope("ben"), [world.person("cleo")]) in ({}, {world.person("cleo"): ()})
