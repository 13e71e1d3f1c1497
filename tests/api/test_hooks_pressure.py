"""Where the inbox is full, or Neo4j away, who delivers is asked to come again; what was acknowledged is there, once."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import websockets

from service.api.hooks import HooksConfig
from service.api.tokens import list_tokens, revoke
from service.graph.deliveries import list_deliveries
from service.graph.driver import Graph, GraphConfig
from service.graph.paging import Page
from service.pipelines.connections import ConnectionConfig
from service.pipelines.deliveries import InboxConfig
from tests.api.hook_builders import SENT, Backend, delivering, said


@dataclass
class Line:
    """A line to Neo4j that can be cut: connections are broken, and new ones refused until it is mended."""

    host: str
    port: int
    is_cut: bool = False
    open: set[asyncio.StreamWriter] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.close()
            return
        there, back = await asyncio.open_connection(self.host, self.port)
        self.open |= {writer, back}
        with suppress(asyncio.CancelledError):  # at the test's end
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    def cut(self) -> None:
        self.is_cut = True
        for writer in self.open:
            writer.transport.abort()
        self.open.clear()


@asynccontextmanager
async def over_a_line(config: GraphConfig) -> AsyncIterator[tuple[Graph, Line]]:
    parts = urlsplit(config.uri)
    line = Line(parts.hostname or "", parts.port or 7687)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    graph = await Graph.open(replace(config, uri=f"bolt://127.0.0.1:{port}"))
    try:
        yield graph, line
    finally:
        await graph.close()
        server.close()


async def test_a_full_inbox_asks_to_deliver_again(graph: Graph, space: str, tmp_path: Path) -> None:
    async with delivering(graph, tmp_path, deliveries=InboxConfig(queued=0)) as service:
        response = await service.of(space).post(said())
        assert (response.status_code, response.headers["retry-after"]) == (429, "5")
        assert response.json()["errors"][0]["extensions"]["code"] == "inbox_full"
        assert not await service.of(space).inbox()


async def test_what_takes_too_long_to_come_or_to_be_kept_is_asked_for_again(graph: Graph, space: str, tmp_path: Path) -> None:
    hooks = HooksConfig(body_seconds=0.3, answer_seconds=1e-6, connections=1)
    async with delivering(graph, tmp_path, hooks=hooks) as service:
        backend = service.of(space)

        async def slow() -> AsyncIterator[bytes]:
            yield b"{"
            await asyncio.sleep(1.0)
            yield b"}"

        headers = dict(backend.signed(b"{}", "evt-1"))
        response = await backend.api.http.post("/v1/hooks/crm", content=slow(), headers=headers)
        assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (408, "delivery_stalled")
        response = await backend.post(said())
        assert (response.status_code, response.headers["retry-after"]) == (429, "60")
        url, headers = f"ws://127.0.0.1:{backend.api.port}/v1/hooks/crm", {"authorization": f"Bearer {SENT}"}
        async with websockets.connect(url, additional_headers=headers):
            with pytest.raises(websockets.InvalidStatus) as refused:
                await websockets.connect(url, additional_headers=headers)
            assert refused.value.response.status_code == 429
        async with websockets.connect(url, additional_headers=headers):
            pass


async def held_back(ends: asyncio.Event, first: int) -> AsyncIterator[bytes]:
    yield b"x" * first
    await ends.wait()


@asynccontextmanager
async def from_address(backend: Backend, address: str) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.AsyncHTTPTransport(local_address=address)
    async with httpx.AsyncClient(base_url=backend.api.http.base_url, transport=transport, timeout=30) as client:
        yield client


async def status_before_the_body(backend: Backend, source: str, headers: Mapping[str, str]) -> int:
    """Of a delivery of which but the first bytes come."""
    reader, writer = await asyncio.open_connection("127.0.0.1", backend.api.port)
    head = {"host": "127.0.0.1", "content-length": "100000", **headers}
    lines = [f"POST /v1/hooks/{source} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
    writer.write("\r\n".join([*lines, "", "{"]).encode())
    try:
        return int((await asyncio.wait_for(reader.readline(), 5)).split()[1])
    finally:
        writer.close()


async def test_of_who_can_prove_nothing_no_body_is_read(graph: Graph, space: str, tmp_path: Path) -> None:
    async with delivering(graph, tmp_path, hooks=HooksConfig(body_seconds=30.0, slow_seconds=30.0)) as service:
        backend = service.of(space)
        right = dict(backend.signed(b"", "evt-1"))
        no_id = {name: value for name, value in right.items() if name != "webhook-id"}
        heads: list[tuple[str, dict[str, str], int]] = [
            ("no-such-source", right, 404),
            ("crm", {}, 401),
            ("crm", no_id, 401),
            ("crm", {**right, "webhook-timestamp": "1700000000"}, 401),
            ("crm", {"authorization": "Bearer wrong"}, 401),
        ]
        for source, headers, status in heads:
            assert await status_before_the_body(backend, source, headers) == status


async def test_a_body_that_comes_too_slowly_is_not_waited_for(graph: Graph, space: str, tmp_path: Path) -> None:
    async with delivering(graph, tmp_path, hooks=HooksConfig(slow_seconds=0.5, slowest=10_000)) as service:
        backend = service.of(space)
        assert await status_before_the_body(backend, "crm", backend.signed(b"", "evt-1")) == 408
        assert (await backend.post(said())).status_code == 200


async def test_bodies_from_one_address_or_to_one_source_leave_room_for_others(graph: Graph, space: str, tmp_path: Path) -> None:
    async with delivering(graph, tmp_path, hooks=HooksConfig(bodies_of_one=250_000)) as service:
        backend, ends = service.of(space), asyncio.Event()
        backend.configure("other")
        right = dict(backend.signed(b"", "evt-1"))
        async with from_address(backend, "127.0.0.2") as one, from_address(backend, "127.0.0.3") as another:
            held = asyncio.create_task(one.post("/v1/hooks/crm", content=held_back(ends, 249_000), headers=right))
            await asyncio.sleep(0.5)
            body = json.dumps(said("word " * 300)).encode()

            async def tried(client: httpx.AsyncClient, source: str) -> int:
                signed = dict(backend.signed(body, "evt-2"))
                return (await client.post(f"/v1/hooks/{source}", content=body, headers=signed)).status_code

            assert await tried(one, "other") == 429, "its address has no more"
            assert await tried(another, "crm") == 429, "its source has no more"
            assert await tried(another, "other") == 200
            ends.set()
            assert (await held).status_code == 401
            assert [await tried(one, "other"), await tried(another, "crm")] == [200, 200]


@pytest.mark.parametrize("speaks", [True, False])
@pytest.mark.parametrize("ends", ["token revoked", "token expired", "secret changed", "token of the source changed"])
async def test_a_connection_ends_with_what_opened_it(graph: Graph, space: str, tmp_path: Path, ends: str, speaks: bool) -> None:
    hooks = HooksConfig(connection=ConnectionConfig(look_again=0.2))
    async with delivering(graph, tmp_path, hooks=hooks) as service:
        backend = service.of(space)
        tokens = backend.api.services.settings.tokens_file
        until = datetime.now(UTC) + timedelta(seconds=2.0) if ends == "token expired" else None
        token = backend.api.token("bot", scopes=("ingest",), expires_at=until) if "token" in ends else SENT
        url, headers = f"ws://127.0.0.1:{backend.api.port}/v1/hooks/crm?acks=1", {"Authorization": f"Bearer {token}"}
        async with websockets.connect(url, additional_headers=headers) as socket:
            await asyncio.sleep(0.5)
            await socket.send(json.dumps(said("one")))
            assert json.loads(await asyncio.wait_for(socket.recv(), 10)) == {"kept": 1}, "it was looked at and holds"
            match ends:
                case "token revoked":
                    revoke(tokens, list_tokens(tokens)[0].id)
                case "secret changed":
                    (tmp_path / "sent").write_text("token:another")
                case "token of the source changed":
                    backend.lines.clear()
                    backend.configure(tokens=["another"])
            began = time.monotonic()
            while speaks and time.monotonic() - began < 10 and socket.close_code is None:
                await asyncio.sleep(0.3)
                with suppress(websockets.ConnectionClosed):
                    await socket.send(json.dumps(said("two")))
            await asyncio.wait_for(socket.wait_closed(), 10)
            reason = "no_such_source" if ends == "token of the source changed" else "signature_wrong"
            assert (socket.close_code, socket.close_reason) == (1008, reason)
        assert len(await backend.inbox()) <= (2 if ends != "token expired" else 9)


async def test_while_neo4j_is_away_nothing_is_acknowledged_and_nothing_acknowledged_is_lost(
    graph: Graph, graph_config: GraphConfig, space: str, tmp_path: Path
) -> None:
    async with over_a_line(graph_config) as (reached, line), delivering(
        reached, tmp_path, space=space, deliveries=InboxConfig(write_seconds=1.5, count_seconds=0.2)
    ) as service:  # fmt: skip
        backend = service.of(space)
        url = f"ws://127.0.0.1:{backend.api.port}/v1/hooks/crm?acks=1"
        async with websockets.connect(url, additional_headers={"Authorization": f"Bearer {SENT}"}) as socket:
            assert (await backend.post(said("before"), id="1")).status_code == 200
            await socket.send(json.dumps(said("by the socket, before")))
            assert json.loads(await asyncio.wait_for(socket.recv(), 10)) == {"kept": 1}
            line.cut()
            began = time.monotonic()
            response = await backend.post(said("meanwhile"), id="2")
            assert (response.status_code, response.headers["retry-after"]) == (503, "5"), response.text
            assert time.monotonic() - began < 5
            await socket.send(json.dumps(said("by the socket, meanwhile")))
            await asyncio.sleep(0.2)
            line.is_cut = False
            async with asyncio.timeout(20):
                while (await backend.post(said("meanwhile"), id="2")).status_code != 200:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
            assert json.loads(await asyncio.wait_for(socket.recv(), 20)) == {"kept": 2}, "the connection was kept"
    found = (await graph.read(list_deliveries, space, page=Page(first=100))).items
    assert len(found) == 4
