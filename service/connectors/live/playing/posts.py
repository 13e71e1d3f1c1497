"""How is a meeting sent as webhooks? One after the other, again after a 408, 429 or 503, as Retry-After says, again where the
connection ends before the answer, and not again after any other answer: as the providers themselves do."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx

from service.connectors.live.playing import Player
from service.connectors.live.playing.outgoing import DeliveryRefused, Outgoing, SendingConfig, ServiceUnreached, Tally

AGAIN = (408, 429, 503)
"""Answers after which the same delivery is sent again: service.api.hooks."""


@dataclass(frozen=True, slots=True)
class Posts:
    url: str
    player: Player
    secret: str
    config: SendingConfig
    tally: Tally

    async def send(self, due: AsyncIterator[Outgoing]) -> None:
        """Raises DeliveryRefused, ServiceUnreached."""
        async with httpx.AsyncClient(timeout=self.config.timeout, follow_redirects=False) as client:
            async for one in due:
                if one.sending.is_cut:
                    self.tally.cut += 1
                    self.tally.again += 1
                    await self._cut(one)
                await self._deliver(client, one)

    async def _deliver(self, client: httpx.AsyncClient, one: Outgoing) -> None:
        """Until it is answered 2xx."""
        for attempt in range(self.config.tries):
            self.tally.again += attempt > 0
            sent = time.monotonic()
            try:
                answer = await client.post(self.url, content=one.body, headers=self._headers(one))
            except httpx.TransportError as problem:
                if attempt + 1 == self.config.tries or not self.tally.statuses:  # what never answered is no outage
                    raise ServiceUnreached(url=self.url, why=f"{type(problem).__name__} {problem}".strip()) from problem
                await asyncio.sleep(self.config.wait(attempt))
                continue
            self.tally.statuses[str(answer.status_code)] += 1
            if answer.is_success:
                self.tally.acks.append((time.monotonic() - sent) * 1000)
                return
            if answer.status_code not in AGAIN or attempt + 1 == self.config.tries:
                told = {"status": answer.status_code, "number": one.number, "kind": one.kind}
                raise DeliveryRefused(url=self.url, **told, answer=answer.text[:300] or "nothing")
            await asyncio.sleep(self.config.wait(attempt, answer.headers.get("retry-after")))

    async def _cut(self, one: Outgoing) -> None:
        """The request whole, and the connection ended before anything comes back: it may have been kept, or not."""
        at = urlsplit(self.url)
        path = f"{at.path or '/'}{'?' + at.query if at.query else ''}"
        told = {"host": at.netloc.rpartition("@")[2], "content-length": str(len(one.body)), **self._headers(one)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        async with self._connection(at.hostname or "", at.port, encrypted=at.scheme == "https") as writer:
            writer.write(f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + one.body)
            await writer.drain()

    @asynccontextmanager
    async def _connection(self, host: str, port: int | None, *, encrypted: bool) -> AsyncIterator[asyncio.StreamWriter]:
        context = ssl.create_default_context() if encrypted else None
        try:
            _, writer = await asyncio.open_connection(host, port or (443 if encrypted else 80), ssl=context)
        except OSError as problem:
            raise ServiceUnreached(url=self.url, why=problem) from problem
        try:
            yield writer
        finally:
            writer.transport.abort()

    def _headers(self, one: Outgoing) -> dict[str, str]:
        signed = self.player.headers(one.body, self.secret, at=datetime.now(UTC), id=one.id)
        return {"content-type": "application/json", **signed}
