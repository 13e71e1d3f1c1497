"""One embedded server of the tests' own, for what must not happen to the shared one: stops, kills and broken migrations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.graph.server import EmbeddedServer, ServerConfig
from service.settings import load_settings


@pytest.fixture(scope="session")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """Started, with its usual ports taken from whatever is free."""
    cache = load_settings().cache_dir / "maven"
    config = ServerConfig(cache=cache, heap="256m", page_cache="32m", short_lived=True)
    server = EmbeddedServer(tmp_path_factory.mktemp("neo4j"), config)
    server.start()
    yield server
    server.stop()
