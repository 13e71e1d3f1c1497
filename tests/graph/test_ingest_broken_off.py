"""Whatever is killed, and whoever else writes: the session goes on where it stopped, and nobody is there twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from service.graph import migrate
from service.graph.driver import Graph, GraphConfig, Neo4jUnreachable, rows
from service.graph.dump import dump_space
from service.graph.forget_space import forget_space
from service.graph.server import EmbeddedServer
from service.graph.spaces import save_space
from service.pipelines.ingest import IngestRequest
from service.types.ids import fresh
from service.types.people import SpaceSettings
from tests import models
from tests.builders import write_wav
from tests.graph.ingest_process import an_ingest
from tests.unit.audio.speech import a_clip

ROOT = Path(__file__).parents[2]
RUNS = 5

STATUS = """
MATCH (s:Session {space: $space})
RETURN s.status AS status, COUNT { (s)<-[:IN_SESSION]-() } AS num_messages
"""
PEOPLE = """
MATCH (p:Person {space: $space})-[r:SPEAKS]->(:Message)
WITH p, collect(r.decision) AS decisions
RETURN p.id AS id, decisions
"""


def process(config: GraphConfig, asked: dict[str, Any]) -> subprocess.Popen[bytes]:
    address = {"NEO4J_URI": config.uri, "NEO4J_USER": config.user, "NEO4J_PASSWORD": config.password}
    command = [sys.executable, "-m", "tests.graph.ingest_process", json.dumps(asked)]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **address}, stderr=subprocess.PIPE)


async def ended(running: subprocess.Popen[bytes]) -> int:
    _, errors = await asyncio.to_thread(running.communicate)
    assert running.returncode in (0, -signal.SIGKILL), errors.decode()[-2000:]
    return running.returncode


async def begin_anew(graph: Graph, space: str) -> None:
    await forget_space(graph, space)
    await graph.write(save_space, SpaceSettings(space))


@pytest.fixture(scope="module")
def request_of() -> IngestRequest:
    return IngestRequest(models.ami_sample(), f"test-{fresh()}")


@pytest.fixture(scope="module")
async def whole(graph: Graph, request_of: IngestRequest) -> dict[str, Any]:
    """The dump of an ingest that nothing interrupted."""
    await begin_anew(graph, request_of.space)
    await an_ingest(graph, words=True)(request_of)
    return await graph.read(dump_space, request_of.space)


@pytest.mark.parametrize("killed_after", [1, 3])
async def test_a_killed_ingest_goes_on_at_its_checkpoint_and_ends_the_same(
    graph: Graph, graph_config: GraphConfig, request_of: IngestRequest, whole: dict[str, Any], killed_after: int
) -> None:
    space = request_of.space
    await begin_anew(graph, space)
    step = {"path": str(request_of.path), "space": space}
    assert await ended(process(graph_config, {"steps": [step], "words": True, "killed_after": killed_after})) == -signal.SIGKILL
    assert await graph.read(rows, STATUS, space=space) == [{"status": "open", "num_messages": 3 * killed_after}]
    report = await an_ingest(graph, words=True)(request_of)
    assert not report.already_complete
    assert await graph.read(dump_space, space) == whole


@pytest.fixture
async def own_graph(own_server: EmbeddedServer) -> AsyncIterator[Graph]:
    address = own_server.start()
    graph = await Graph.open(GraphConfig(address.uri, address.user, address.password, retry_time=2.0))
    await migrate.apply(graph)
    yield graph
    await graph.close()


@pytest.mark.timeout(600)  # two starts of a JVM, up to a minute each on a busy machine
async def test_when_neo4j_is_killed_the_error_says_so_and_the_rerun_ends_the_same(
    own_server: EmbeddedServer, own_graph: Graph, request_of: IngestRequest, whole: dict[str, Any]
) -> None:
    def kill_neo4j(share: float, stage: str) -> None:
        if stage == "hear" and (pid := own_server.status().pid) is not None and share < 0.9:
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(Neo4jUnreachable):
        await an_ingest(own_graph, words=True)(request_of, kill_neo4j)
    address = own_server.start()
    again = await Graph.open(GraphConfig(address.uri, address.user, address.password))
    try:
        (left,) = await again.read(rows, STATUS, space=request_of.space)
        assert left["status"] == "open" and 0 < left["num_messages"] < 10
        await an_ingest(again, words=True)(request_of)
        assert await again.read(dump_space, request_of.space) == whole
    finally:
        await again.close()


async def test_one_unknown_voice_in_two_files_at_once_is_one_person_every_time(
    graph: Graph, graph_config: GraphConfig, tmp_path: Path
) -> None:
    spaces = [f"test-{fresh()}" for _ in range(RUNS)]
    for space in spaces:
        await graph.write(save_space, SpaceSettings(space))
    paths = [write_wav(tmp_path / f"{number}.wav", a_clip("Nora", number).samples) for number in (0, 1)]
    began = time.perf_counter()
    both = [
        process(graph_config, {"steps": [{"path": str(path), "space": space} for space in spaces], "gate": str(tmp_path)})
        for path in paths
    ]
    assert await asyncio.gather(*(ended(each) for each in both)) == [0, 0]
    print(f"{RUNS} runs of two processes: {time.perf_counter() - began:.1f} s")
    for space in spaces:
        (person,) = await graph.read(rows, PEOPLE, space=space)
        assert sorted(person["decisions"]) == ["create", "link"]
