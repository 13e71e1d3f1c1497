"""Who gets to see a name that was only said somewhere? Whoever may read a turn that says it; merges change no name."""

from __future__ import annotations

from service.graph.driver import Graph, changes
from service.graph.people import find_people, list_named_people
from tests.graph.graph_builders import Said, World, seed

NAMED_BY_ITSELF = """
MATCH (p:Person {id: $person}), (m:Message {id: $message})
CREATE (n:NameProposal {id: $person + '/dana', space: p.space, created_at: datetime(), name: 'Dana', normal_name: 'dana',
                        sources: ['self_introduction'], num_claims: 2, confidence: 0.9, status: 'applied'})
CREATE (n)-[:ABOUT]->(p), (n)-[:EVIDENCED_BY {sources: ['self_introduction']}]->(m)
SET p.display_name = 'Dana', p.named_by = n.id, p.kind = 'named'
"""
NAMELESS = "MATCH (p:Person {id: $person}) SET p.display_name = null, p.named_by = null, p.kind = 'anonymous'"


async def a_world(graph: Graph, space: str) -> World:
    """Ana said her name to Ben; Cem heard another word of hers."""
    said = [
        Said("ana", "Hi, I'm Dana.", ["ana", "ben"]),
        Said("ana", "Good morning.", ["ana", "ben", "cem"], session="tuesday"),
    ]
    world = await seed(graph, space, ["ana", "ben", "cem", "dora"], said)
    await graph.write(changes, NAMED_BY_ITSELF, person=world.person("ana"), message=world.message(0))
    return world


async def shown(world: World, viewer: str, person: str) -> tuple[str | None, str]:
    scope = await world.scope(viewer)
    found = (await world.graph.read(find_people, scope, [world.person(person)]))[world.person(person)]
    return found.display_name, found.kind


async def test_a_name_that_was_said_is_known_to_those_who_heard_it(graph: Graph, space: str) -> None:
    world = await a_world(graph, space)
    assert await shown(world, "ben", "ana") == ("Dana", "named")
    assert await shown(world, "ana", "ana") == ("Dana", "named")
    assert await shown(world, "cem", "ana") == (None, "anonymous")


async def test_who_did_not_hear_a_name_cannot_ask_by_it(graph: Graph, space: str) -> None:
    world = await a_world(graph, space)
    for viewer, names in (("ben", ("Dana",)), ("cem", ())):
        found = await graph.read(list_named_people, await world.scope(viewer), "dana")
        assert found.get(world.person("ana"), ()) == names


async def test_a_name_that_a_human_gave_is_known_to_all_who_know_the_person(graph: Graph, space: str) -> None:
    world = await a_world(graph, space)
    await graph.write(changes, "MATCH (p:Person {id: $person}) SET p.named_by = 'account-1'", person=world.person("ana"))
    assert await shown(world, "cem", "ana") == ("Dana", "named")


async def test_a_nameless_person_is_called_as_whoever_is_merged_into_them(graph: Graph, space: str) -> None:
    world = await a_world(graph, space)
    await graph.write(changes, NAMELESS, person=world.person("dora"))
    await world.merge("ana", "dora", confirmed=False)
    assert await shown(world, "ben", "dora") == ("Dana", "named")
    assert await shown(world, "cem", "dora") == (None, "anonymous")
