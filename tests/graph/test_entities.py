"""What is spoken of, in the graph: written once, the same again, and seen only where somebody may read it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from service.errors import NotFound
from service.graph.access import ReadScope
from service.graph.driver import Graph, changes, rows
from service.graph.dump import dump_space, without_history
from service.graph.entities import (
    EntityFilters,
    find_entities,
    find_named_entities,
    list_entities,
    list_mentions,
    list_related,
    list_themes,
)
from service.graph.forget_space import forget_space
from service.graph.paging import Page
from service.graph.write_entities import (
    AliasAlready,
    AliasesTooLong,
    AliasOfItself,
    entity_id,
    finish_entities,
    forget_alias,
    list_facts_to_read,
    list_sessions_without_entities,
    save_alias,
)
from service.language.parser import SpacyParser
from service.memory.left_brain.mentions import READER, NounReader
from service.pipelines.entities import RememberEntities
from service.types.entities import EntityType, KnownEntity, Strength
from tests.graph.entity_builders import SAID, TOLD, remembered
from tests.graph.fact_builders import fact_id, tell
from tests.graph.graph_builders import STARTED, World, seed

LATER = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
MICRO = "MATCH (a:Entity {space: $space})-[m:MICRO]->(b:Entity) RETURN a.normal_name AS a, b.normal_name AS b, m.weight AS w"

CHAIN = """
UNWIND range(0, size($names) - 1) AS i
CREATE (:Entity {id: $names[i], space: $space, created_at: datetime(), type: 'thing', normal_name: $names[i]})
WITH DISTINCT 1 AS made
UNWIND range(0, size($names) - 1) AS i
MATCH (e:Entity {id: $names[i]})
MATCH (next:Entity {id: coalesce($names[i + 1], $id)})
CREATE (e)-[:ALIAS_OF {by: 'test', why: ''}]->(next)
"""


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    return SpacyParser.load()


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    world = await seed(graph, space, ["ana", "ruth", "ben"], SAID)
    await tell(world, TOLD)
    return world


async def seen(world: World, scope: ReadScope) -> dict[str, KnownEntity]:
    page = await world.graph.read(list_entities, scope, page=Page(first=50), at=LATER, half_life_days=1.0)
    assert [e.last_at for e in page.items] == sorted((e.last_at for e in page.items), reverse=True)
    return {e.name: e for e in page.items}


async def test_a_session_is_read_once_and_again_changes_nothing(world: World, parser: SpacyParser) -> None:
    pending = [world.session("monday"), world.session("tuesday")]
    assert await world.graph.read(list_sessions_without_entities, world.space) == pending
    assert await remembered(world, parser) == [False, False]
    before = await world.graph.read(dump_space, world.space)
    assert await world.graph.read(list_sessions_without_entities, world.space) == []
    assert await remembered(world, parser) == [True, True]
    assert await remembered(world, parser, again=True, batch=2) == [False, False]
    assert await world.graph.read(dump_space, world.space) == before


async def test_in_whatever_order_sessions_come_the_graph_is_the_same(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    before = await world.graph.read(dump_space, world.space)
    await world.graph.write(changes, "MATCH (n:Entity|Schema {space: $space}) DETACH DELETE n", space=world.space)
    remember = RememberEntities(world.graph, NounReader(parser))
    for name in ("tuesday", "monday"):
        await remember(world.space, world.session(name), again=True)
    assert await world.graph.read(dump_space, world.space) == before


async def test_each_viewer_sees_what_their_own_messages_speak_of(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    ana, ben = await world.scope("ana"), await world.scope("ben")
    everybody = await world.scope(unknown_hearer=True)
    assert set(await seen(world, everybody)) == {"telescope"}
    hers, his = await seen(world, ana), await seen(world, ben)
    assert set(hers) == {"Ruth", "telescope", "attic"} and set(his) == {"telescope", "piano", "attic"}
    assert (hers["telescope"].num_mentions, his["telescope"].num_mentions) == (3, 1)
    assert his["attic"].id == hers["attic"].id, "one entity"
    assert hers["telescope"].first_at < his["telescope"].first_at
    assert hers["telescope"].weight == pytest.approx(1.0 + 2 * 0.5, abs=0.01), "halved with each half-life"
    both = await world.scope("ana", "ben")
    assert set(await seen(world, both)) == {"telescope"}
    piano = his["piano"].id
    found = await world.graph.read(find_entities, ana, [piano, "nowhere"], at=LATER, half_life_days=1.0)
    assert found == {}, "as what does not exist"
    assert (await world.graph.read(list_mentions, ana, [piano], page=Page(first=9)))[piano].items == ()


async def test_themes_and_what_goes_together_are_counted_over_what_may_be_read(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    ana, ben = await world.scope("ana"), await world.scope("ben")
    themes = {
        name: {t.label: (t.num_entities, t.num_mentions) for t in found}
        for name, scope in (("ana", ana), ("ben", ben))
        for found in [await world.graph.read(list_themes, scope, at=LATER, half_life_days=1.0)]
    }
    assert themes["ana"] == {"leisure": (1, 3), "people": (1, 1), "home": (1, 1)}
    assert themes["ben"] == {"leisure": (2, 2), "home": (1, 1)}
    attic = (await seen(world, ana))["attic"].id
    for scope, others in ((ana, {"telescope"}), (ben, {"piano"})):
        kept = await world.graph.read(list_related, scope, [attic], at=LATER, half_life_days=1.0, strong=0.9, most=5)
        assert {r.name for r in kept[attic]} == others
    assert kept[attic][0].strength is Strength.STRONG
    micro = {(row["a"], row["b"]) if row["a"] < row["b"] else (row["b"], row["a"])
             for row in await world.graph.read(rows, MICRO, space=world.space)}  # fmt: skip
    assert micro == {("ruth", "telescope"), ("attic", "telescope"), ("attic", "piano")}


async def test_a_message_that_only_points_to_it_is_found_where_a_fact_says_so(world: World, parser: SpacyParser) -> None:
    """The fact of "it stands there" rests on what Ana may not read: for her it does not tell of the piano."""
    await remembered(world, parser)
    everything = await world.scope(reads_all=True)
    piano = entity_id(world.space, EntityType.THING, "piano")
    found = await world.graph.read(list_mentions, everything, [piano], page=Page(first=9))
    assert found[piano].items == (world.message(4), world.message(3))
    edges = await world.graph.read(
        rows,
        "MATCH (e:Entity)-[:MENTIONED_IN]->(f:Fact {space: $space}) RETURN e.normal_name AS e, f.id AS f",
        space=world.space,
    )
    assert {(row["e"], row["f"]) for row in edges} == {("piano", fact_id(world, 1)), ("attic", fact_id(world, 1))}
    assert "piano" not in await seen(world, await world.scope("ana"))


async def test_what_is_said_no_more_goes_with_what_it_was_linked_by(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    change = "MATCH (m:Message {id: $id}) SET m.text = $text"
    await world.graph.write(changes, change, id=world.message(1), text="Hide it!")
    await remembered(world, parser, again=True)
    hers = await seen(world, await world.scope("ana"))
    assert set(hers) == {"Ruth", "telescope"} and hers["telescope"].num_mentions == 2 + 1, "by the fact, of message 1 still"
    await world.graph.write(changes, change, id=world.message(3), text="My piano.")
    await remembered(world, parser, again=True)
    assert {row["a"] for row in await world.graph.read(rows, MICRO, space=world.space)} <= {"ruth", "telescope"}
    count = "MATCH (n:Entity|Schema {space: $space}) RETURN coalesce(n.normal_name, n.label) AS name"
    assert {row["name"] for row in await world.graph.read(rows, count, space=world.space)} == {
        "ruth", "telescope", "piano", "people", "leisure",
    }  # fmt: skip


async def test_an_alias_joins_two_names_and_can_be_taken_away(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    graph, ben = world.graph, await world.scope("ben")
    piano, telescope = (entity_id(world.space, EntityType.THING, name) for name in ("piano", "telescope"))
    before = without_history(await graph.read(dump_space, world.space))
    await graph.write(save_alias, world.space, piano, telescope, by="admin", why="a joke")
    for id in (piano, telescope):
        found = (await graph.read(find_entities, ben, [id], at=LATER, half_life_days=1.0))[id]
        assert (found.id, found.num_mentions, {found.name, *found.aliases}) == (telescope, 2, {"piano", "telescope"})
    public = (await seen(world, await world.scope(unknown_hearer=True)))["telescope"]
    assert public.aliases == (), "a name that nobody said who may be heard"
    named = await graph.read(
        list_entities, ben, page=Page(first=9), filters=EntityFilters(name="piano"), at=LATER, half_life_days=1.0
    )  # fmt: skip
    assert [e.id for e in named.items] == [telescope]
    for one, other in ((piano, telescope), (telescope, piano)):
        with pytest.raises(AliasOfItself):
            await graph.write(save_alias, world.space, one, other, by="admin", why="")
    await graph.write(forget_alias, world.space, piano, by="admin")
    assert without_history(await graph.read(dump_space, world.space)) == before, "what is left is that it was done and undone"
    with pytest.raises(NotFound):
        await graph.write(forget_alias, world.space, piano, by="admin")
    with pytest.raises(NotFound):
        await graph.write(save_alias, world.space, "nowhere", piano, by="admin", why="")


async def test_what_a_name_was_joined_to_is_not_told_to_who_may_not_know_it(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    graph, public = world.graph, await world.scope(unknown_hearer=True)
    ruth = entity_id(world.space, EntityType.PERSON, "ruth")
    telescope = entity_id(world.space, EntityType.THING, "telescope")
    before = await seen(world, public), await graph.read(list_themes, public, at=LATER, half_life_days=1.0)
    await graph.write(save_alias, world.space, telescope, ruth, by="admin", why="hers")
    assert (await seen(world, public), await graph.read(list_themes, public, at=LATER, half_life_days=1.0)) == before
    found = await graph.read(find_entities, public, [ruth, telescope], at=LATER, half_life_days=1.0)
    assert {id: (e.id, e.type, e.theme) for id, e in found.items()} == {
        telescope: (telescope, EntityType.THING, "leisure")
    }  # fmt: skip
    (named,) = await graph.read(find_named_entities, public, ["telescope", "ruth"], 5)
    assert (named.id, named.type) == (telescope, EntityType.THING)
    assert (await graph.read(list_mentions, public, [ruth], page=Page(first=9)))[ruth].items == ()
    ben, piano = await world.scope("ben"), entity_id(world.space, EntityType.THING, "piano")
    attic = {e.name: e for e in (await seen(world, ben)).values()}["attic"].id
    await graph.write(save_alias, world.space, piano, ruth, by="admin", why="hers, too")
    for id, others in ((ruth, set()), (piano, {attic}), (telescope, {attic})):
        related = await graph.read(list_related, ben, [id], at=LATER, half_life_days=1.0, strong=1.0, most=5)
        assert {r.id for r in related.get(id, ())} == others
    (his,) = (await graph.read(list_related, ben, [attic], at=LATER, half_life_days=1.0, strong=1.0, most=5))[attic]
    assert his.id == min(piano, telescope), "each said once, of what he may read"
    hers = (await seen(world, await world.scope("ana")))["telescope"]
    assert (hers.id, hers.type, hers.num_mentions) == (ruth, EntityType.PERSON, 4), "who may know it sees what it is"


async def test_a_name_is_of_one_thing_and_not_by_way_of_too_many(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    graph, space = world.graph, world.space
    piano, telescope, attic = (
        entity_id(space, type, name)
        for type, name in ((EntityType.THING, "piano"), (EntityType.THING, "telescope"), (EntityType.PLACE, "attic"))
    )
    await graph.write(save_alias, space, piano, telescope, by="admin", why="")
    before = await graph.read(dump_space, space)
    with pytest.raises(AliasAlready, match=f"another name of {telescope}"):
        await graph.write(save_alias, space, piano, attic, by="admin", why="")
    assert await graph.read(dump_space, space) == before, "telescope is no name of the attic"
    await graph.write(changes, CHAIN, space=space, id=telescope, names=[f"{space}-{i}" for i in range(8)])
    with pytest.raises(AliasesTooLong):
        await graph.write(save_alias, space, telescope, attic, by="admin", why="")
    await graph.write(forget_alias, space, f"{space}-0", by="admin")
    await graph.write(save_alias, space, telescope, attic, by="admin", why="")


async def test_a_session_whose_facts_changed_since_is_not_said_to_be_read(world: World, parser: SpacyParser) -> None:
    session = world.session("monday")
    read = await world.graph.read(list_facts_to_read, world.space, session)
    assert read
    await world.graph.write(changes, "MATCH (f:Fact {id: $id}) DETACH DELETE f", id=read[0].id)
    assert not await world.graph.write(finish_entities, world.space, session, READER, read)
    assert session in await world.graph.read(list_sessions_without_entities, world.space)
    read = await world.graph.read(list_facts_to_read, world.space, session)
    assert await world.graph.write(finish_entities, world.space, session, READER, read)
    assert session not in await world.graph.read(list_sessions_without_entities, world.space)


async def test_it_goes_with_its_space(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    await forget_space(world.graph, world.space)
    left: list[dict[str, Any]] = await world.graph.read(
        rows, "MATCH (n:Entity|Schema {space: $space}) RETURN n.id AS id", space=world.space
    )
    assert left == [] and STARTED < LATER
