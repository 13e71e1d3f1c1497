"""A receiver of webhooks on loopback for tests: real HTTP, keeps what came, and answers as it is told to."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Arrived:
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def said(self) -> Any:
        return json.loads(self.body)

    def signed_with(self, secret: str) -> bool:
        """As a receiver checks it (Standard Webhooks), written apart from what signs."""
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        mac = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
        return f"v1,{base64.b64encode(mac).decode()}" in self.headers["webhook-signature"].split()


@dataclass
class Receiver:
    url: str = ""
    arrived: list[Arrived] = field(default_factory=list)
    """Also those that were not answered with success."""
    answers: list[str] = field(default_factory=list)
    """The next ones, by turn, e.g. "500 Broken" or "429 Busy\\r\\nretry-after: 7"; when there are none, `usual`. "" is none."""
    usual: str = "204 Taken"
    slow: float = 0.0
    """Seconds before each answer."""

    async def until(self, n: int, patience: float = 60.0) -> list[Arrived]:
        """What came, once there are `n`."""
        async with asyncio.timeout(patience):
            while len(self.arrived) < n:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return self.arrived

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.arrived.append(Arrived(head[0].split()[1], headers, body))
            answer = self.answers.pop(0) if self.answers else self.usual
            await asyncio.sleep(self.slow)
            if answer:
                writer.write(f"HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # who called has hung up
        finally:
            writer.close()


CERTIFICATE = Path(__file__).with_name("localhost.pem")
"""Of localhost by name, with its key; for tests alone."""


@asynccontextmanager
async def receiving(*, tls: bool = False) -> AsyncIterator[Receiver]:
    """With `tls`, at https://localhost."""
    receiver, context = Receiver(), None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=context)
    receiver.url = f"{'https://localhost' if tls else 'http://127.0.0.1'}:{server.sockets[0].getsockname()[1]}/hook"
    try:
        yield receiver
    finally:
        server.close()
