"""Does a recording come into Graphiti with its ingest, and do the product's rounds find it there?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from service.engines.mem_search import EngineConfig, MemSearch, mirror_space, open_engine
from service.graph.access import ReadScope, read_scope
from service.graph.driver import Graph, rows
from service.graph.mirrors import count_unmirrored
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.pipelines.dense import Dense
from service.pipelines.ingest import Ingest, IngestRequest
from service.pipelines.mirror import Mirror, NoMirror, forget_all_marks
from service.pipelines.one_round import OneRound
from service.pipelines.search import Search
from service.settings import Settings
from service.types.ids import fresh
from service.types.people import Assurance, Viewer
from service.wiring import Services
from tests import models
from tests.graph.graph_builders import TEXT_SPACE, HashedWords
from tests.graph.searching import differing
from tests.unit.audio.speech import HOUSEHOLD

TEXTS = HashedWords()
QUESTION = "When is the appointment at the dentist?"
COUNT_KEPT = "MATCH (n) WHERE n.group_id STARTS WITH $prefix RETURN count(n) AS n"
COUNT_FACTS = "MATCH ()-[r:RELATES_TO]->() WHERE r.group_id STARTS WITH $prefix RETURN count(r) AS n"


@dataclass(frozen=True, slots=True)
class Kitchen:
    """One recording, remembered with Graphiti as the engine."""

    graph: Graph
    space: str
    engine: MemSearch
    mirror: Mirror
    dense: Dense

    async def scope(self) -> ReadScope:
        return await self.graph.read(read_scope, Viewer(self.space, None, None, (), False, Assurance.TOKEN, True))

    async def count(self, query: str) -> int:
        return int((await self.graph.read(rows, query, prefix=f"{mirror_space(self.space)}_"))[0]["n"])


@pytest.fixture(scope="module")
async def kitchen(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kitchen]:
    folder: Path = tmp_path_factory.mktemp("graphiti")
    engine = await open_engine("graphiti", EngineConfig(graph, TEXTS.embedding_space, folder))
    mirror = Mirror(graph, "graphiti", engine, TEXT_SPACE)
    ingest = Ingest(
        graph,
        models.segmenter(),
        models.campplus(),
        router=RouterConfig(thresholds=thresholds_for("campplus")),
        text_embedder=TEXTS,
        mirror=mirror,
    )
    space = f"test-{fresh()}"
    await ingest(IngestRequest(HOUSEHOLD / "day1.ogg", space, transcript=HOUSEHOLD / "day1.vtt"))
    yield Kitchen(graph, space, engine, mirror, Dense(graph, TEXT_SPACE, engine, "graphiti"))
    await engine.forget(space)
    await engine.close()


async def test_an_ingest_leaves_nothing_for_the_engine_to_lack(kitchen: Kitchen) -> None:
    assert await kitchen.graph.read(count_unmirrored, kitchen.space, "graphiti", TEXT_SPACE) == 0
    assert await kitchen.count(COUNT_FACTS) == 15
    assert (await kitchen.mirror(kitchen.space)).messages == 0


async def test_the_search_through_graphiti_shows_what_the_search_in_the_graph_shows(kitchen: Kitchen) -> None:
    scope = await kitchen.scope()
    through = Search(kitchen.graph, TEXTS, one_round=OneRound(kitchen.graph, TEXTS, dense=kitchen.dense))
    theirs, ours = await through(scope, QUESTION), await Search(kitchen.graph, TEXTS)(scope, QUESTION)
    assert "dense:graphiti" in theirs.legs and "dense:exact" in ours.legs
    assert differing(theirs, ours) == set()
    assert "dentist" in (theirs.hits[0].message.text or "")


async def test_a_mirror_can_be_emptied_and_the_graph_keeps_what_it_has(kitchen: Kitchen) -> None:
    await kitchen.engine.forget(kitchen.space)
    await forget_all_marks(kitchen.graph, kitchen.space)
    assert await kitchen.count(COUNT_KEPT) == 0
    assert await kitchen.graph.read(count_unmirrored, kitchen.space, "graphiti", TEXT_SPACE) == 15


async def test_what_is_forgotten_is_forgotten_by_an_engine_that_is_set_no_more(kitchen: Kitchen, tmp_path: Path) -> None:
    """The last test of the file: it empties the space."""
    settings = Settings(data_dir=tmp_path, recogniser="none")
    services = Services(settings.model_copy(update={"engine": "graphiti"}), kitchen.graph)
    given = await (await services.engines.mirror())(kitchen.space)
    await services.close()
    assert given.messages == 15 and await kitchen.count(COUNT_KEPT) > 15
    later = Services(settings, kitchen.graph)
    with pytest.raises(NoMirror):
        await later.engines.mirror()
    await later.forget_space(kitchen.space)
    assert await kitchen.count(COUNT_KEPT) == 0
