"""What do tests stand on? One Neo4j a run (the server of NEO4J_URI, else an embedded one of its own), a space for each test.

`make test` runs them in two processes at once, which share that Neo4j: see `tests/sharing.py`."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Generator, Sequence
from pathlib import Path

import hypothesis
import pytest

from graph_schema.model import Property
from graph_schema.schema import EDGES, NODES
from service.graph import migrate
from service.graph.driver import Graph, GraphConfig, changes
from service.graph.server import EmbeddedServer, ServerConfig
from service.settings import load_settings
from service.types.ids import fresh
from tests.sharing import SERVER_DIRECTORY, longest_first, pytest_configure_node, pytest_xdist_make_scheduler

__all__ = ["pytest_configure_node", "pytest_xdist_make_scheduler"]  # hooks, which pytest finds here

hypothesis.settings.register_profile("any machine", deadline=None)  # a busy one takes seconds where it should take none
hypothesis.settings.load_profile("any machine")

os.environ.pop("OPENAI_BASE_URL", None)  # no test asks a model that this machine happens to know

SHARED = Path(__file__).resolve().parents[2] / "shared"

CREATE_SPACE = """
CREATE (:Space {id: $space, created_at: datetime({timezone: 'UTC'}), access: 'attended', routing: 'bounded',
                voice_access: 'narrow', anonymous_voices: 'expire', anonymous_days: 30, sound_days: 30, identity_revision: 0})
"""

GRAPHITI_NAMES = """
CREATE (:Episodic {uuid: 'x', group_id: 'x'})-[:MENTIONS {uuid: 'x', group_id: 'x'}]->
       (:Entity {uuid: 'x', group_id: 'x'})-[:RELATES_TO {uuid: 'x', group_id: 'x'}]->(:Entity)
"""
"""Of the mirror that `service/engines/graphiti.py` keeps beside the declared graph."""

A_VALUE = {
    "string": "'x'",
    "integer": "1",
    "float": "0.5",
    "boolean": "true",
    "datetime": "datetime({timezone: 'UTC'})",
    "list<string>": "['x']",
    "list<float>": "[0.5]",
}


@pytest.fixture(scope="session")
def graph_config(pytestconfig: pytest.Config) -> GraphConfig:
    """How to reach the Neo4j of this run; an embedded one is started by whichever process of the run needs it first."""
    uri = os.environ.get("NEO4J_URI")
    if uri:
        return GraphConfig(uri, os.environ.get("NEO4J_USER", "neo4j"), os.environ["NEO4J_PASSWORD"])
    address = server_in(pytestconfig.stash[SERVER_DIRECTORY]).start()
    return GraphConfig(address.uri, address.user, address.password)


def server_in(directory: Path) -> EmbeddedServer:
    cache = load_settings().cache_dir / "maven"
    return EmbeddedServer(directory, ServerConfig(cache=cache, heap="512m", short_lived=True))


def pytest_configure(config: pytest.Config) -> None:
    """Processes that share a run are told the directory by the one that started them."""
    given = getattr(config, "workerinput", {}).get("server_directory")
    config.stash[SERVER_DIRECTORY] = Path(given or tempfile.mkdtemp(prefix="voicegraph-test-"))


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        server_in(config.stash[SERVER_DIRECTORY]).stop(fast=True)
        shutil.rmtree(config.stash[SERVER_DIRECTORY])


@pytest.fixture(scope="session")
async def graph(graph_config: GraphConfig) -> AsyncIterator[Graph]:
    """The migrated database; never emptied, tests keep apart by `space`."""
    graph = await Graph.open(graph_config)
    await migrate.apply(graph)
    await know_every_name(graph)
    yield graph
    await graph.close()


async def know_every_name(graph: Graph) -> None:
    """One node and edge of every declared kind, created and rolled back: the database keeps the names, so that from now on it
    remarks on a label, edge or property only when a query has misspelt it."""
    async with graph.session() as session, await session.begin_transaction() as tx:
        for node in NODES:
            await changes(tx, f"CREATE (:{node.label} {{{_values(node.properties)}}})")
        for edge in EDGES:
            for start in edge.start:
                for end in edge.end:
                    await changes(tx, f"CREATE (:{start})-[:{edge.type} {{{_values(edge.properties)}}}]->(:{end})")
        await changes(tx, GRAPHITI_NAMES)
        await tx.rollback()


def _values(properties: Sequence[Property]) -> str:
    return ", ".join(f"{p.name}: {A_VALUE[p.type]}" for p in properties)


@pytest.fixture
async def space(graph: Graph) -> str:
    """A new tenant with the default policies."""
    space = f"test-{fresh()}"
    await graph.write(changes, CREATE_SPACE, space=space)
    return space


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this run exports and unpacks models, each once; empty at first, as a newcomer's cache is."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def shared() -> Path:
    """The workplace's folder of recordings and cases; only for tests marked `needs_shared`."""
    return SHARED


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: longest_first(item.nodeid))
    if SHARED.is_dir():
        return
    for item in items:
        if item.get_closest_marker("needs_shared"):
            item.add_marker(pytest.mark.skip(reason="needs ../shared, which is not here"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and SHARED.is_dir() and item.get_closest_marker("needs_shared"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although ../shared is here"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [r.nodeid for r in terminalreporter.stats.get("skipped", ()) if "needs_shared" in r.keywords]
    if skipped:
        terminalreporter.section(f"{len(skipped)} tests skipped for want of ../shared")
        for nodeid in skipped:
            terminalreporter.line(nodeid)
