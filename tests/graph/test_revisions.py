"""What newer facts change, in the graph: compared once, again where a speaker was put right, told to who may read both."""

from __future__ import annotations

import pytest

from service.graph.access import ReadScope
from service.graph.driver import Graph, changes
from service.graph.dump import dump_space
from service.graph.revisions import find_lag, list_revisions
from service.graph.write_revisions import list_waiting, save_compared
from service.memory.updater import REVISER
from service.pipelines.correct import Correct
from service.pipelines.revise_facts import ReviseConfig, revise_facts, revisions_of
from service.types.revisions import Change, Revision, is_cancelled
from tests.graph.fact_builders import Told, fact_id, tell
from tests.graph.graph_builders import STARTED, Said, World, seed

SAID = [
    Said("ana", "I live in Graz.", ["ana", "ben"]),
    Said("ana", "I moved to Linz.", ["ana"]),
    Said("ben", "I moved to Wels.", ["ana", "ben"]),
    Said(None, "I moved to Rome.", ["ana", "ben"]),
    Said("ana", "I live in Graz, as I said.", ["ana", "ben"]),
]
TOLD = [
    Told("{speaker} lives in Graz.", [0], attribute="lives in", value="Graz"),
    Told("{speaker} moved to Linz.", [1], attribute="lives in", value="Linz"),
    Told("{speaker} moved to Wels.", [2], attribute="lives in", value="Wels"),
    Told("{speaker} moved to Rome.", [3], attribute="lives in", value="Rome"),
    Told("{speaker} lives in Graz!", [4], attribute="lives in", value="Graz"),
]
PUT_RIGHT = """
MATCH (:Person)-[wrong:SPEAKS]->(m:Message {id: $message})
MATCH (p:Person {id: $person})
DELETE wrong
CREATE (p)-[:SPEAKS {decision: 'corrected'}]->(m)
SET m.speaker_id = p.id
"""


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    world = await seed(graph, space, ["ana", "ben"], SAID)
    await tell(world, TOLD)
    return world


async def told(world: World, scope: ReadScope, index: int) -> list[tuple[int, Change]]:
    """(index of the newer fact, what it does), newest first."""
    ids = [fact_id(world, i) for i in range(len(TOLD))]
    found = await world.graph.read(list_revisions, scope, ids)
    return [(ids.index(r.fact_id), r.change) for r in found.get(ids[index], ())]


async def test_facts_are_compared_once_and_the_lag_is_seen(world: World) -> None:
    ana, ben = await world.scope("ana"), await world.scope("ben")
    for scope, pending in ((ana, 5), (ben, 4)):
        lag = await world.graph.read(find_lag, scope, REVISER)
        assert lag.pending == pending and lag.oldest is not None
    assert await revise_facts(world.graph, world.space, config=ReviseConfig(batch=2)) == 5
    before = await world.graph.read(dump_space, world.space)
    assert await revise_facts(world.graph, world.space) == 0
    assert await world.graph.read(dump_space, world.space) == before
    assert (await world.graph.read(find_lag, ana, REVISER)) == type(lag)(0, None)
    assert await told(world, ana, 0) == [(4, Change.KEEP), (1, Change.UPDATE)]
    assert await told(world, ana, 1) == [(4, Change.UPDATE)]
    assert await told(world, ben, 0) == [(4, Change.KEEP)], "Linz was not for him"
    assert await told(world, ana, 2) == await told(world, ana, 3) == [], "nobody changes what somebody else said"


async def test_broken_off_and_in_any_batches_it_ends_the_same(world: World) -> None:
    some = await world.graph.read(list_waiting, world.space, None, REVISER, 2)
    assert await world.graph.write(save_compared, world.space, REVISER, some, revisions_of(some)) == 2
    await revise_facts(world.graph, world.space)
    before = await world.graph.read(dump_space, world.space)
    forget = "MATCH (f:Fact {space: $space}) REMOVE f.compared_as"
    await world.graph.write(changes, forget, space=world.space)
    await revise_facts(world.graph, world.space, config=ReviseConfig(batch=1))
    assert await world.graph.read(dump_space, world.space) == before


async def test_what_somebody_else_said_after_all_changes_nothing(world: World) -> None:
    await revise_facts(world.graph, world.space)
    ana = await world.scope("ana")
    await world.graph.write(changes, PUT_RIGHT, message=world.message(4), person=world.person("ben"))
    assert await told(world, ana, 1) == [], "at once"
    assert (await world.graph.read(find_lag, ana, REVISER)).pending == 1
    assert await revise_facts(world.graph, world.space) == 1
    assert await told(world, ana, 2) == [(4, Change.UPDATE)] and await told(world, ana, 0) == [(1, Change.UPDATE)]
    await world.merge("ben", "ana", confirmed=False)
    assert await revise_facts(world.graph, world.space) == 2, "whom merges make one"
    assert (2, Change.UPDATE) in await told(world, ana, 0)


async def test_nothing_is_kept_of_a_comparison_with_what_has_changed_meanwhile(world: World) -> None:
    seen = await world.graph.read(list_waiting, world.space, None, REVISER, 10)
    await world.graph.write(changes, PUT_RIGHT, message=world.message(4), person=world.person("ben"))
    found = revisions_of(seen)
    assert await world.graph.write(save_compared, world.space, REVISER, seen, found) == 1, "of whom nobody knows"
    assert await revise_facts(world.graph, world.space) == 4
    ana, before = await world.scope("ana"), await world.graph.read(dump_space, world.space)
    assert await told(world, ana, 2) == [(4, Change.UPDATE)] and await told(world, ana, 0) == [(1, Change.UPDATE)]
    assert await world.graph.write(save_compared, world.space, REVISER, seen, found) == 0, "somebody was faster"
    assert await world.graph.read(dump_space, world.space) == before


async def test_a_correction_leaves_nothing_to_compare(world: World) -> None:
    await revise_facts(world.graph, world.space)
    ana, correct = await world.scope("ana"), Correct(world.graph)
    ben_is_ana = await correct.merge(world.space, world.person("ben"), world.person("ana"), actor="admin", why="one voice")
    assert (await world.graph.read(find_lag, ana, REVISER)).pending == 0
    assert (2, Change.UPDATE) in await told(world, ana, 0)
    await correct.undo(world.space, ben_is_ana.correction_id, actor="admin")
    assert (await world.graph.read(find_lag, ana, REVISER)).pending == 0
    assert await told(world, ana, 0) == [(4, Change.KEEP), (1, Change.UPDATE)]


def test_what_is_off_is_so_until_it_is_said_again() -> None:
    off, again = Revision("b", Change.DELETE, STARTED), Revision("c", Change.KEEP, STARTED)
    assert is_cancelled([off]) and is_cancelled([off, again])
    assert not is_cancelled([again, off]) and not is_cancelled([])
