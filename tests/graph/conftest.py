"""One embedded server of the tests' own, for what must not happen to the shared one: stops, kills and broken migrations; and
commands as they are typed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.cli.command_line import run
from service.graph.driver import GraphConfig
from service.graph.server import EmbeddedServer, ServerConfig
from service.settings import load_settings
from tests.graph.cli_builders import Typed


@pytest.fixture(scope="session")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """Started, with its usual ports taken from whatever is free."""
    cache = load_settings().cache_dir / "maven"
    config = ServerConfig(cache=cache, heap="256m", page_cache="32m", short_lived=True)
    server = EmbeddedServer(tmp_path_factory.mktemp("neo4j"), config)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def typed(
    graph_config: GraphConfig, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """What a command prints: parsed with `--json`, else its text. `code` is how it must end."""
    for name, value in {
        "NEO4J_URI": graph_config.uri,
        "NEO4J_USER": graph_config.user,
        "NEO4J_PASSWORD": graph_config.password,
        "VOICEGRAPH_DATA_DIR": str(tmp_path),
        "VOICEGRAPH_SPACE": space,
    }.items():
        monkeypatch.setenv(name, value)

    async def typed(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        ended = await asyncio.to_thread(run, list(arguments))
        printed = capsys.readouterr()
        assert ended == code, printed
        return printed.err if code else json.loads(printed.out) if "--json" in arguments else printed.out

    return typed
