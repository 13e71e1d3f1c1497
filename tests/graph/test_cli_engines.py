"""The commands about engines beside the graph, over a real graph."""

from __future__ import annotations

import pytest

from service.engines.mem_search import EngineConfig, mirror_space, open_engine
from service.graph.driver import Graph, rows
from service.pipelines.mirror import Mirror
from tests.graph.cli_builders import Typed
from tests.graph.graph_builders import TEXT_SPACE, HashedWords, Said, seed

COUNT_KEPT = "MATCH (n) WHERE n.group_id STARTS WITH $prefix RETURN count(n) AS n"
LIST_MARKS = "MATCH (m:Message {space: $space}) UNWIND m.mirrored AS mark RETURN mark"
TEXTS = HashedWords()


async def test_engines_that_are_set_no_more_are_cleared_with_every_mark(
    graph: Graph, space: str, typed: Typed, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "The bicycle is in the shed."
    await seed(graph, space, ["ana"], [Said("ana", text, ["ana"], vector=TEXTS.passages([text])[0])])
    config = EngineConfig(graph, TEXTS.embedding_space, tmp_path_factory.mktemp("graphiti"))
    engine = await open_engine("graphiti", config)
    await Mirror(graph, "graphiti", engine, TEXT_SPACE)(space)
    await engine.close()
    assert len(await graph.read(rows, LIST_MARKS, space=space)) == 1

    assert "no_mirror" in await typed("engine", "sync", code=1)  # the setting is the graph itself
    assert await typed("engine", "forget", "--json") == {"forgotten": True}
    kept = await graph.read(rows, COUNT_KEPT, prefix=f"{mirror_space(space)}_")
    assert kept[0]["n"] == 0 and await graph.read(rows, LIST_MARKS, space=space) == []
