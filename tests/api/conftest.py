"""One server for the API tests: tokens name the space, so every test has a space of its own on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from service.graph.driver import Graph
from service.settings import Settings
from service.wiring import Services
from tests.api.hook_builders import Backend, delivering
from tests.api.serving import Api, serving


@pytest.fixture(scope="session")
async def server(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    data: Path = tmp_path_factory.mktemp("data")
    async with serving(Services(Settings(data_dir=data, development=False, recogniser="none"), graph), space="") as api:
        yield api


@pytest.fixture
def api(server: Api, space: str) -> Api:
    """A client whose tokens are of this test's space."""
    return replace(server, space=space)


@pytest.fixture(scope="module")
async def receiving(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Backend]:
    async with delivering(graph, tmp_path_factory.mktemp("hooks")) as backend:
        yield backend


@pytest.fixture
def backend(receiving: Backend, space: str) -> Backend:
    """A meeting's backend that delivers into this test's space, where nobody takes in what it delivers."""
    return receiving.of(space)
