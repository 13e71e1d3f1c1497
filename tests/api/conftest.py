"""One server for the API tests: tokens name the space, so every test has a space of its own on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from service.graph.driver import Graph
from service.settings import Settings
from service.wiring import Services
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
