"""A server on loopback that takes deliveries at /v1/hooks/mine, and answers them as a test says."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import uvicorn
from fastapi import FastAPI, Request, Response

from service.connectors.live import Delivery

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass
class Backend:
    """Takes deliveries and answers what it is told to, else 202."""

    port: int = 0
    answers: list[Response] = field(default_factory=list)
    kept: list[Delivery] = field(default_factory=list)

    async def take(self, request: Request) -> Response:
        body = await request.body()
        self.kept.append(Delivery(dict(request.headers), body, datetime.now(UTC)))
        return self.answers.pop(0) if self.answers else Response(status_code=202)


@asynccontextmanager
async def backend(*answers: Response) -> AsyncIterator[Backend]:
    taking = Backend(answers=list(answers))
    app = FastAPI()
    app.add_api_route("/v1/hooks/mine", taking.take, methods=["POST"])
    listener = socket.create_server(("127.0.0.1", 0))
    taking.port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        assert not running.done()
        await asyncio.sleep(0.01)
    yield taking
    server.should_exit = True
    await running
    listener.close()
