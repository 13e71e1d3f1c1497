"""A space can be begun afresh, and its neighbours do not notice."""

from __future__ import annotations

from service.graph.driver import Graph, changes, rows
from service.graph.forget_space import forget_some, forget_space
from service.graph.spaces import ensure_space, find_space
from service.types.ids import fresh
from service.types.people import SpaceSettings

FILL = """
UNWIND range(1, 2500) AS i
CREATE (:Person {id: $space + '-' + i, space: $space})-[:SPEAKS]->(:Message {id: $space + '-m' + i, space: $space})
"""
FILL_HUB = """
CREATE (p:Person {id: $space + '-hub', space: $space})
WITH p UNWIND range(1, 30) AS i
CREATE (p)-[:SPEAKS]->(:Message {id: $space + '-m' + i, space: $space})
"""
HELD = "MATCH (p:Person {id: $space + '-hub'}) RETURN count {(p)-[:SPEAKS]->()} AS n"
COUNT = "MATCH (n) WHERE n.space = $space RETURN count(n) AS n"


async def test_everything_of_a_space_goes_and_nothing_of_another(graph: Graph, space: str) -> None:
    other = f"test-{fresh()}"
    await graph.write(ensure_space, SpaceSettings(other))
    for one in (space, other):
        await graph.write(changes, FILL, space=one)
    assert await forget_space(graph, space) == 5_001
    assert await graph.read(find_space, space) is None
    assert await graph.read(rows, COUNT, space=space) == [{"n": 0}]
    assert await graph.read(rows, COUNT, space=other) == [{"n": 5_000}]
    assert await graph.read(find_space, other) is not None
    await forget_space(graph, other)


async def test_no_transaction_deletes_more_than_a_batch_with_its_own_edges(graph: Graph, space: str) -> None:
    await graph.write(changes, FILL_HUB, space=space)
    assert await graph.write(forget_some, space, leaves=True, limit=10) == 10
    assert await graph.read(rows, HELD, space=space) == [{"n": 20}], "who has edges to all of them does not go with them"
    assert await forget_space(graph, space, batch=10) == 22
    assert await graph.read(rows, COUNT, space=space) == [{"n": 0}]


async def test_a_space_that_is_not_there_is_no_error(graph: Graph) -> None:
    assert await forget_space(graph, f"test-{fresh()}") == 0
