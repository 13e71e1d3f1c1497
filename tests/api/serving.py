"""A real server on loopback for tests: uvicorn, HTTP and websockets, over the Neo4j of the run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import websockets
from websockets.asyncio.client import ClientConnection

from service.api.hooks import HooksConfig
from service.api.http import HttpConfig
from service.api.key_sets import KeysConfig
from service.api.moments import MomentsConfig
from service.api.rates import RateConfig
from service.api.stream import StreamConfig
from service.api.tokens import issue
from service.app import create_app, http_config, listening, server_of
from service.pipelines.deliveries import InboxConfig
from service.pipelines.jobs import JobsConfig
from service.pipelines.meetings import MeetingsConfig
from service.pipelines.webhook_worker import WorkerConfig
from service.wiring import Services
from tests.granting import let_at_once

AS_OFTEN_AS_ONE_LIKES = RateConfig(per_second=0, anonymous_per_second=0)
"""Tests come at once, and from one address."""
SOON = MomentsConfig(nothing=0.005, scope=0.001)
"""Tests ask for much that is not there, and most of them look at nobody's time."""


@dataclass
class Socket:
    """Messages of graphql-transport-ws as dicts; nothing is waited for longer than `patience` seconds."""

    connection: ClientConnection
    patience: float = 20.0

    async def send(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def receive(self) -> Any:
        return json.loads(await asyncio.wait_for(self.connection.recv(), self.patience))

    async def subscribe(self, id: str, query: str, /, **variables: Any) -> None:
        await self.send(id=id, type="subscribe", payload={"query": query, "variables": variables})

    async def results(self, id: str, query: str, /, **variables: Any) -> list[Any]:
        """Payloads of `next` (or of `error`) until the operation is complete."""
        await self.subscribe(id, query, **variables)
        payloads = []
        while (message := await self.receive())["type"] != "complete":
            assert message["id"] == id
            payloads.append(message["payload"])
            if message["type"] == "error":
                break
        return payloads

    async def closed(self) -> int:
        """The code with which the server closes it."""
        await asyncio.wait_for(self.connection.wait_closed(), self.patience)
        code = self.connection.close_code
        assert code is not None
        return code


@dataclass
class Api:
    """A client of one server."""

    http: httpx.AsyncClient
    port: int
    services: Services
    space: str
    tokens: dict[str, str] = field(default_factory=dict)

    def token(
        self, subject: str = "somebody", space: str | None = None, *, may_act_for: Sequence[str] = (), **entry: Any
    ) -> str:
        """A new token of `space`, by default with the scope `ask`. `may_act_for`: whom its account is let ask for."""
        if may_act_for:
            let_at_once(self.services.graph.config, space or self.space, subject, may_act_for)
        token, _ = issue(self.services.settings.tokens_file, subject=subject, space=space or self.space, **entry)
        return token

    async def post(self, query: str, token: str | None = None, headers: dict[str, str] | None = None, **variables: Any) -> Any:
        """The whole GraphQL response. Sent in ASCII, so that variables can be any text that JSON can hold."""
        sent = {
            "content-type": "application/json",
            **({"authorization": f"Bearer {token}"} if token else {}),
            **(headers or {}),
        }
        body = json.dumps({"query": query, "variables": variables})
        response = await self.http.post("/graphql", content=body, headers=sent)
        assert response.status_code == 200, response.text
        return response.json()

    async def http_text(self, query: str, token: str | None = None, headers: dict[str, str] | None = None) -> str:
        """The response as text; the query itself must be a valid one."""
        answer = await self.post(query, token, headers)
        codes = [e.get("extensions", {}).get("code") for e in answer.get("errors", [])]
        assert None not in codes and "unexpected" not in codes and "query_too_costly" not in codes, (query, answer)
        return json.dumps(answer, ensure_ascii=False)

    async def data(self, query: str, token: str | None = None, headers: dict[str, str] | None = None, **variables: Any) -> Any:
        """Its data; fails on errors."""
        answer = await self.post(query, token, headers, **variables)
        assert "errors" not in answer, answer
        return answer["data"]

    async def code(self, query: str, token: str | None = None, headers: dict[str, str] | None = None, **variables: Any) -> str:
        """The code of its first error."""
        answer = await self.post(query, token, headers, **variables)
        return str(answer["errors"][0]["extensions"]["code"])

    async def upload(self, content: bytes, token: str | None = None) -> str:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        response = await self.http.post("/v1/uploads", content=content, headers=headers)
        assert response.status_code == 201, response.text
        return str(response.json()["uploadId"])

    @asynccontextmanager
    async def socket(self, payload: dict[str, Any] | None, protocol: str = "graphql-transport-ws") -> AsyncIterator[Socket]:
        """A websocket on which `connection_init` with `payload` was sent (None: nothing was)."""
        async with websockets.connect(f"ws://127.0.0.1:{self.port}/graphql", subprotocols=[protocol]) as socket:  # type: ignore[list-item]
            if payload is not None:
                await socket.send(json.dumps({"type": "connection_init", "payload": payload}))
            yield Socket(socket)


@asynccontextmanager
async def serving(
    services: Services,
    space: str,
    *,
    http: HttpConfig | None = None,
    jobs: JobsConfig | None = None,
    stream: StreamConfig | None = None,
    webhooks: WorkerConfig | None = None,
    deliveries: InboxConfig | None = None,
    hooks: HooksConfig | None = None,
    meetings: MeetingsConfig | None = None,
    rates: RateConfig = AS_OFTEN_AS_ONE_LIKES,
    moments: MomentsConfig = SOON,
    keys: KeysConfig | None = None,
) -> AsyncIterator[Api]:
    http = http or http_config(services.settings)
    listener = listening("127.0.0.1", 0)
    app = create_app(
        services,
        http=http,
        jobs=jobs,
        stream=stream,
        webhooks=webhooks,
        deliveries=deliveries,
        hooks=hooks,
        meetings=meetings,
        rates=rates,
        moments=moments,
        keys=keys,
    )
    server = server_of(app, http, services.settings.trusted_proxies)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        if running.done():
            running.result()
        await asyncio.sleep(0.01)
    port = listener.getsockname()[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        yield Api(client, port, services, space)
    server.should_exit = True
    await running
    listener.close()
