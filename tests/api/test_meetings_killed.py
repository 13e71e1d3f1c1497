"""Killed in the middle of a meeting, the service loses nothing that it acknowledged and has nothing twice."""

from __future__ import annotations

import asyncio
import json
import socket
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from service.connectors.live.generic_schema import message
from service.connectors.live.signatures import webhook_id_headers
from service.graph.driver import Graph, GraphConfig
from tests.api.meeting_process import a_service
from tests.graph.meeting_builders import ANA, BO, said, sources_file, turns
from tests.models import CACHE

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SENTENCES = 40


async def test_killed_in_the_middle_of_a_meeting_every_event_is_in_once(
    graph: Graph, graph_config: GraphConfig, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources_file(tmp_path / "hooks.toml", space, secrets=["env:KILLED_SECRET"])
    monkeypatch.setenv("KILLED_SECRET", SECRET)
    monkeypatch.setenv("VOICEGRAPH_CACHE_DIR", str(CACHE))
    port = a_free_port()
    said_all = asyncio.Event()
    backend = asyncio.create_task(deliver_all(f"http://127.0.0.1:{port}/v1/hooks/crm", said_all))
    async with a_service(tmp_path, port, graph_config) as service:
        await until(graph, space, SENTENCES // 4)
        assert not said_all.is_set()
        service.kill()
        await service.wait()
    at_the_kill = len(await turns(graph, space))
    async with a_service(tmp_path, port, graph_config):
        await backend
        await until(graph, space, SENTENCES)
        await asyncio.sleep(0.5)  # what would be written twice, would be now
    found = await turns(graph, space)
    assert at_the_kill < SENTENCES
    assert Counter(t["text"] for t in found) == {f"Sentence {n}.": 1 for n in range(SENTENCES)}
    assert sorted(t["index"] for t in found) == list(range(SENTENCES))


async def deliver_all(url: str, said_all: asyncio.Event) -> None:
    """A backend as they are: every delivery again, under the same id, until it is acknowledged."""
    async with httpx.AsyncClient(timeout=5.0) as client:
        for n in range(SENTENCES):
            body = json.dumps(message("m1", [said((ANA, BO)[n % 2], f"Sentence {n}.", float(n))])).encode()
            while not await acknowledged(client, url, body, f"delivery {n}"):  # noqa: ASYNC110 - as backends do
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.15)
    said_all.set()


async def acknowledged(client: httpx.AsyncClient, url: str, body: bytes, id: str) -> bool:
    headers = webhook_id_headers(SECRET, id=id, at=datetime.now(UTC), body=body)
    try:
        answer = await client.post(url, content=body, headers=dict(headers))
    except httpx.TransportError:
        return False
    assert answer.status_code in (200, 503), answer.text
    return answer.status_code == 200


async def until(graph: Graph, space: str, number: int) -> None:
    """Wait until so many turns are written."""
    async with asyncio.timeout(100.0):
        while len(await turns(graph, space)) < number:  # noqa: ASYNC110 - another process writes them
            await asyncio.sleep(0.1)


def a_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
