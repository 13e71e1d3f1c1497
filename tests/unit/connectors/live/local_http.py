"""A small HTTP server on loopback that answers as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes = b""
    location: str | None = None
    encoding: str | None = None
    slow: float = 0.0
    """Seconds before it."""


@asynccontextmanager
async def serving(answer: Callable[[Asked], Answer]) -> AsyncIterator[tuple[str, list[Asked]]]:
    """Its base URL, and what it has been asked."""
    asked: list[Asked] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, path, _ = head[0].split(" ")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:]) if name}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            asked.append(Asked(method, path, headers, body))
            given = answer(asked[-1])
            await asyncio.sleep(given.slow)
            lines = [f"HTTP/1.1 {given.status} X", f"content-length: {len(given.body)}", "connection: close"]
            lines += [f"location: {given.location}"] if given.location else []
            lines += [f"content-encoding: {given.encoding}"] if given.encoding else []
            writer.write("\r\n".join([*lines, "", ""]).encode() + given.body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
