"""Which themes go together: kept as MACRO over all turns, told over what somebody may read, growing with turns and fading."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from service.graph.access import ReadScope
from service.graph.driver import Graph, changes, rows
from service.graph.dump import dump_space
from service.graph.entities import list_related
from service.graph.themes import list_related_themes
from service.graph.write_entities import entity_id, save_alias
from service.language.parser import SpacyParser
from service.memory.left_brain.mentions import NounReader
from service.pipelines.entities import RememberEntities
from service.types.entities import EntityType, Strength
from tests.graph.entity_builders import remembered
from tests.graph.fact_builders import Told, tell
from tests.graph.graph_builders import STARTED, Said, World, seed

SAID = [
    Said("ana", "The telescope is in the attic.", ["*"]),
    Said("ana", "Put the telescope in the attic!", ["ana", "ruth"]),
    Said("ben", "The telescope is in the attic.", ["ben"], session="tuesday"),
    Said("ben", "My dentist plays chess.", ["ben"], session="tuesday"),
]
LATER = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
MACRO = """
MATCH (a:Schema {space: $space})-[m:MACRO]->(b:Schema)
RETURN a.label AS a, b.label AS b, m.weight AS weight, m.at AS at, a.id < b.id AS ordered
"""
SCHEMAS_OF = "MATCH (e:Entity {space: $space}) RETURN e.id AS id, COUNT { (e)-[:IN_SCHEMA]->(:Schema) } AS n"
OLD_THEME = """
CREATE (old:Schema {id: $id, space: $space, created_at: datetime(), label: 'hobbies'})
WITH old
MATCH (e:Entity {space: $space, normal_name: 'telescope'})
CREATE (e)-[:IN_SCHEMA]->(old)
"""


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    return SpacyParser.load()


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    return await seed(graph, space, ["ana", "ruth", "ben"], SAID)


async def kept(world: World) -> dict[frozenset[str], float]:
    found = await world.graph.read(rows, MACRO, space=world.space)
    assert all(row["ordered"] for row in found)
    return {frozenset((row["a"], row["b"])): row["weight"] for row in found}


async def told(world: World, scope: ReadScope, at: datetime = LATER, half_life: float = 1.0) -> dict[str, dict[str, float]]:
    found = await world.graph.read(
        list_related_themes, scope, at=at, half_life_days=half_life, strong=0.5, strong_share=0.1, most=5
    )
    return {label: {one.label: one.weight for one in related} for label, related in found.items()}


async def test_themes_of_the_same_turns_are_linked_once_and_again_changes_nothing(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    links = await kept(world)
    assert set(links) == {frozenset({"leisure", "home"}), frozenset({"leisure", "health"})}
    day = 0.5 ** (1 / 30)
    assert links[frozenset({"leisure", "home"})] == pytest.approx(1.0 + 2 * day, abs=0.01), "three turns, two a day older"
    before = await world.graph.read(dump_space, world.space)
    await remembered(world, parser, again=True, batch=2)
    assert await world.graph.read(dump_space, world.space) == before
    await world.graph.write(changes, "MATCH (n:Entity|Schema {space: $space}) DETACH DELETE n", space=world.space)
    remember = RememberEntities(world.graph, NounReader(parser))
    for name in ("tuesday", "monday"):
        await remember(world.space, world.session(name), again=True)
    assert await world.graph.read(dump_space, world.space) == before, "in whatever order sessions come"


async def test_what_is_said_no_more_links_no_themes(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    await world.graph.write(changes, "MATCH (m:Message {id: $id}) SET m.text = 'The attic.'", id=world.message(3))
    await remembered(world, parser, again=True)
    assert set(await kept(world)) == {frozenset({"leisure", "home"})}


async def test_each_viewer_is_told_of_what_their_own_turns_link(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    ana, ben, public = await world.scope("ana"), await world.scope("ben"), await world.scope(unknown_hearer=True)
    hers, his, all_ = await told(world, ana), await told(world, ben), await told(world, public)
    assert {label: set(related) for label, related in hers.items()} == {"home": {"leisure"}, "leisure": {"home"}}
    assert {label: set(related) for label, related in his.items()} == {
        "home": {"leisure"}, "leisure": {"home", "health"}, "health": {"leisure"},
    }  # fmt: skip
    assert hers["home"]["leisure"] == pytest.approx(2 * all_["home"]["leisure"], rel=1e-3)
    both = await told(world, await world.scope("ana", "ben"))
    assert both == all_, "with the other listening, only what is public"


async def test_it_grows_with_each_turn_and_fades_with_time(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    ana, public = await world.scope("ana"), await world.scope(unknown_hearer=True)
    now = (await told(world, ana, STARTED, 30.0))["home"]["leisure"]
    once = (await told(world, public, STARTED, 30.0))["home"]["leisure"]
    month = (await told(world, ana, STARTED + timedelta(days=30), 30.0))["home"]["leisure"]
    assert now > once and month == pytest.approx(now / 2, rel=1e-3)

    async def strength(at: datetime, strong: float, share: float = 0.0) -> Strength:
        found = await world.graph.read(
            list_related_themes, ana, at=at, half_life_days=30.0, strong=strong, strong_share=share, most=5
        )
        return found["home"][0].strength

    assert await strength(STARTED, 1.5) is Strength.STRONG
    assert await strength(STARTED + timedelta(days=30), 1.5) is Strength.WEAK, "it has faded"
    assert await strength(STARTED, 1.5, 1.1) is Strength.WEAK, "not in a share of the turns that is enough"


async def test_each_entity_is_in_exactly_one_theme_also_after_later_facts_and_of_another_list(
    world: World, parser: SpacyParser
) -> None:
    await remembered(world, parser)
    before = await world.graph.read(dump_space, world.space)
    await world.graph.write(changes, OLD_THEME, space=world.space, id=f"{world.space}-hobbies")
    assert {row["n"] for row in await world.graph.read(rows, SCHEMAS_OF, space=world.space)} == {1, 2}
    await remembered(world, parser, again=True)
    assert await world.graph.read(dump_space, world.space) == before, "a theme of a list that is no more goes with what it held"
    await tell(world, [Told("The telescope and the piano of the dentist stand in the attic", [3, 2])])
    await remembered(world, parser, again=True)
    assert {row["n"] for row in await world.graph.read(rows, SCHEMAS_OF, space=world.space)} == {1}


async def test_what_goes_together_grows_and_fades_too(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    ana, public = await world.scope("ana"), await world.scope(unknown_hearer=True)
    telescope = entity_id(world.space, EntityType.THING, "telescope")

    async def attic(scope: ReadScope, days: int) -> tuple[float, Strength]:
        at = STARTED + timedelta(days=days)
        found = await world.graph.read(list_related, scope, [telescope], at=at, half_life_days=30.0, strong=1.5, most=5)
        return found[telescope][0].weight, found[telescope][0].strength

    now, strength = await attic(ana, 0)
    assert now > (await attic(public, 0))[0] and strength is Strength.STRONG
    later, strength = await attic(ana, 30)
    assert later == pytest.approx(now / 2, rel=1e-3) and strength is Strength.WEAK


async def test_names_held_to_be_one_are_of_one_theme_for_who_may_know_both(world: World, parser: SpacyParser) -> None:
    await remembered(world, parser)
    attic, dentist = entity_id(world.space, EntityType.PLACE, "attic"), entity_id(world.space, EntityType.THING, "dentist")
    ben, ana = await world.scope("ben"), await world.scope("ana")
    before = await told(world, ana)
    await world.graph.write(save_alias, world.space, attic, dentist, by="admin", why="a joke")
    his = await told(world, ben)
    assert set(his) == {"leisure", "health"} and set(his["health"]) == {"leisure"}
    assert await told(world, ana) == before, "who may not know the dentist is told of the attic"
