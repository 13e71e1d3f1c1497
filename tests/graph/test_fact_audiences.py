"""Nobody reads a fact who may not read all that it is made from, whatever is corrected, taken back or merged meanwhile."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from service.graph.access import public_audience, read_scope
from service.graph.driver import Graph, changes, rows
from service.graph.fact_search import facts_nearest
from service.graph.write_corrections import VOICEGRAPH
from service.pipelines.correct import CorrectionConflict
from service.pipelines.revise_facts import revise_facts
from service.types.people import Assurance, Viewer
from service.types.search import Filters
from tests.graph.correction_builders import correct, message, nodes, session_id, state
from tests.graph.graph_builders import DIMENSION, TEXT_SPACE
from tests.graph.test_facts import remember
from tests.graph.test_undo import BY_ADMIN, a_household, something

AUDIENCES = """
MATCH (f:Fact {space: $space})
RETURN f.id AS id, f.audience AS noted, f.readers AS words,
       COLLECT { MATCH (f)-[:FOR]->(a:Audience) RETURN a.id } AS audiences,
       EXISTS { MATCH (f)-[:FOR]->(a:Audience) WHERE a.public } AS public,
       COLLECT { MATCH (f)-[:FOR]->(:Audience)<-[:MAY_READ]-(p:Person) RETURN p.id } AS readers,
       COLLECT { MATCH (f)-[:EVIDENCED_BY]->(m:Message)-[:FOR]->(a:Audience)
                 RETURN {public: a.public, readers: COLLECT { MATCH (p:Person)-[:MAY_READ]->(a) RETURN p.id }} } AS evidence
"""
UNUSED = "MATCH (a:Audience {space: $space}) WHERE NOT EXISTS { ()-[:FOR]->(a) } RETURN a.id AS id"
PUBLISH_ALL = """
MERGE (a:Audience {id: $public, space: $space})
SET a.public = true, a.num_readers = 0, a.created_at = datetime()
WITH a MATCH (m:Message {space: $space})-[old:FOR]->(:Audience) WHERE m.id IN $ids
DELETE old
MERGE (m)-[:FOR]->(a)
SET m.audience = a.id, m.readers = 'public'
"""
VISIBLE = """
MATCH (m:Message {space: $space})-[:FOR]->(a:Audience) WHERE a.id IN $audiences
RETURN collect(m.id) AS ids
"""


async def a_household_with_facts(graph: Graph, space: str) -> dict[str, str]:
    who = await a_household(graph, space)
    for name in ("monday", "tuesday"):
        await remember(graph)(space, session_id(space, name))
    await revise_facts(graph, space)
    return who


async def kept(graph: Graph, space: str) -> list[dict[str, Any]]:
    """Every fact, after a look that its audience is the intersection of those of its evidence, and noted so."""
    found = await graph.read(rows, AUDIENCES, space=space)
    for fact in found:
        private = [frozenset(e["readers"]) for e in fact["evidence"] if not e["public"]]
        assert fact["public"] == (not private)
        assert fact["audiences"] == [fact["noted"]]
        if private:
            common = frozenset.intersection(*private)
            assert frozenset(fact["readers"]) == common
            assert sorted(fact["words"].split()) == sorted(id.replace("-", "") for id in common)
        else:
            assert fact["words"] == "public"
    return found


async def met_by(graph: Graph, space: str, *hearers: str) -> dict[str, bool]:
    """Facts that a viewer finds, and of each whether they may read all its evidence."""
    viewer = Viewer(space, None, hearers[0] if hearers else None, hearers, False, Assurance.TOKEN)
    scope = await graph.read(read_scope, viewer)
    anything = np.full(DIMENSION, DIMENSION**-0.5, dtype=np.float32)
    leg = await graph.read(facts_nearest, scope, TEXT_SPACE, anything, Filters(), 100)
    visible = set((await graph.read(rows, VISIBLE, space=space, audiences=scope.audiences))[0]["ids"])
    return {found.id: set(found.evidence) <= visible for found in leg.found}


@pytest.mark.parametrize("seed", range(2))
async def test_a_facts_readers_are_those_of_all_its_evidence_after_any_corrections_and_undo_restores_them(
    graph: Graph, space: str, seed: int
) -> None:
    who = await a_household_with_facts(graph, space)
    before, drawn, made, people = await state(graph, space), random.Random(seed), list[str](), [*who.values()]
    assert len(await kept(graph, space)) == 8
    while len(made) < 4:
        try:
            made.append((await something(graph, space, drawn, people)).correction_id)
        except CorrectionConflict:
            continue
        assert len(await kept(graph, space)) == 8
        for hearers in [(p,) for p in people] + [tuple(people[:2])]:
            assert all((await met_by(graph, space, *hearers)).values())
    while made:
        left = []
        for correction in reversed(made):
            try:
                await correct(graph).undo(space, correction, actor=VOICEGRAPH)
            except CorrectionConflict:
                left.insert(0, correction)
            await kept(graph, space)
        assert len(left) < len(made)
        made = left
    assert not await graph.read(rows, UNUSED, space=space)
    assert await state(graph, space) == before


async def test_a_fact_follows_its_messages_to_new_readers_and_away_from_old_ones(graph: Graph, space: str) -> None:
    who = await a_household_with_facts(graph, space)
    first, bens = message(space, "monday", 0), [message(space, "monday", i) for i in (1, 3, 4)]
    of_first = await fact_of(graph, first)
    assert of_first in await met_by(graph, space, who["ana"]) and of_first not in await met_by(graph, space, who["ben"])
    done = await correct(graph).reassign(space, [first], who["ben"], **BY_ADMIN)
    assert of_first in await met_by(graph, space, who["ben"]) and of_first not in await met_by(graph, space, who["ana"])
    await correct(graph).reassign(space, bens, None, **BY_ADMIN)
    assert not set(await met_by(graph, space, who["cleo"])) & {of_first}
    assert done.num_turns == 1


async def fact_of(graph: Graph, source: str) -> str:
    query = "MATCH (f:Fact)-[:EVIDENCED_BY {role: 'source'}]->(:Message {id: $source}) RETURN f.id AS id"
    return str((await graph.read(rows, query, source=source))[0]["id"])


async def test_facts_change_nothing_about_themselves_when_turns_change_hands(graph: Graph, space: str) -> None:
    who = await a_household_with_facts(graph, space)
    before = nodes(await state(graph, space), "Fact")
    await correct(graph).reassign(space, [message(space, "monday", 3)], who["cleo"], **BY_ADMIN)
    after = nodes(await state(graph, space), "Fact")
    told = [
        {id: {k: v for k, v in f.items() if k not in ("audience", "readers", "compared_as")} for id, f in facts.items()}
        for facts in (before, after)
    ]
    assert told[0] == told[1]


async def test_a_fact_of_what_everybody_may_read_is_everybodys(graph: Graph, space: str) -> None:
    await a_household(graph, space)
    turns = [message(space, "tuesday", index) for index in range(3)]
    await graph.write(changes, PUBLISH_ALL, space=space, public=public_audience(space), ids=turns)
    await remember(graph)(space, session_id(space, "tuesday"))
    found = await kept(graph, space)
    assert len(found) == 3 and all(fact["public"] for fact in found)
    assert len(await met_by(graph, space)) == 3
