"""One server for the API tests: tokens name the space, so every test has a space of its own on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from service.graph import migrate
from service.graph.driver import Graph, GraphConfig
from service.settings import Settings
from service.wiring import Services
from tests.api.serving import Api, serving


@pytest.fixture(scope="session")
async def graph(graph_config: GraphConfig) -> AsyncIterator[Graph]:
    """As for all tests, without the server's remarks on queries: tests/graph looks at those."""
    graph = await Graph.open(replace(graph_config, notifications="OFF"))
    await migrate.apply(graph)
    yield graph
    await graph.close()


@pytest.fixture(scope="session")
async def server(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    data: Path = tmp_path_factory.mktemp("data")
    async with serving(Services(Settings(data_dir=data, development=False, recogniser="none"), graph), space="") as api:
        yield api


@pytest.fixture
def api(server: Api, space: str) -> Api:
    """A client whose tokens are of this test's space."""
    return replace(server, space=space)
