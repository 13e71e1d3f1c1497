"""The commands that ask, over a real graph: narrowed, explained, and as somebody."""

from __future__ import annotations

from service.graph.driver import Graph
from tests.graph.cli_builders import Typed
from tests.graph.graph_builders import Said, seed


async def test_searches_and_who_said_it_are_asked_as_somebody(graph: Graph, space: str, typed: Typed) -> None:
    said = [
        Said("ana", "the key is under the flower pot", ("ana", "ben"), to=("ben",)),
        Said("ben", "my own key is in the drawer", ("ben",)),
    ]
    world = await seed(graph, space, ("ana", "ben"), said)
    told = await typed("ask", "What did Ana tell me?", "--as", "Ben", "--json")
    assert [hit["message"]["id"] for hit in told["citations"]] == [world.message(0)]
    assert told["rounds"][0]["legs"] == ["people:1"] and told["by"] == "extractive"
    explained = await typed("ask", "What did Ana tell me?", "--as", "Ben", "--explain")
    assert "addressed" in explained and "people 1" in explained
    by_ben = await typed("search", "key", "--by", "Ben", "--json")
    assert [hit["message"]["id"] for hit in by_ben["hits"]] == [world.message(1)]
    assert (await typed("search", "key", "--as", "Ana", "--by", "Ben", "--json"))["hits"] == []
    assert (await typed("search", "key", "--until", "2020-01-01T00:00+00:00", "--json"))["hits"] == []
    who = await typed("who", "under the flower pot", "--to", "Ben", "--json")
    assert (who["wants"], who["people"][0]["person_id"]) == ("speaker", world.person("ana"))
    assert "interactions" in await typed("search", "key", "--layer", "cellar", code=1)
    assert (await typed("search", "key", "--since", "yesterday", code=1)).startswith("invalid_input: --since")
