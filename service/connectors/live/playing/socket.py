"""How is a meeting sent over a WebSocket, so that what was not kept when a connection broke is sent again on the next?

We ask for acknowledgements (`?acks=1`, service.api.hooks): {"kept": n} says that the first n messages of this connection are
durable. The opening is signed, with an empty body; messages are not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from service.connectors.live.playing import Player
from service.connectors.live.playing.outgoing import DeliveryRefused, Outgoing, SendingConfig, ServiceUnreached, Tally
from service.types.ids import fresh

TRY_AGAIN_LATER = 1013
"""RFC 6455's registry: for now; what else the service closes with is a refusal."""
REFUSED, TOO_LONG = 1008, 1009


@dataclass(slots=True)
class Socket:
    url: str
    player: Player
    secret: str
    config: SendingConfig
    tally: Tally
    _waiting: list[tuple[Outgoing, float]] = field(default_factory=list)
    """Sent on this connection and not kept yet, with when."""
    _all_kept: asyncio.Event = field(default_factory=asyncio.Event)
    _connection: ClientConnection | None = None
    _reading: asyncio.Task[None] | None = None

    async def send(self, due: AsyncIterator[Outgoing]) -> None:
        """Raises DeliveryRefused, ServiceUnreached."""
        try:
            async for one in due:
                await self._send([one])
                if one.sending.is_cut and self._connection is not None:
                    self.tally.cut += 1
                    self._connection.transport.abort()
            await self._until_all_are_kept()
        finally:
            await self._leave()

    async def _send(self, these: list[Outgoing]) -> None:
        """On this connection, or on the next, with whatever was lost with the last."""
        for attempt in range(self.config.tries):
            try:
                if self._connection is None:
                    lost = [one for one, _ in self._waiting]
                    self.tally.again += len(lost)
                    self._waiting = []
                    self._connection = await self._opened(attempt)
                    self._reading = asyncio.create_task(self._read(self._connection))
                    these = lost + these
                for one in these:
                    self._all_kept.clear()
                    self._waiting.append((one, time.monotonic()))
                    await self._connection.send(one.body.decode())
                return
            except ConnectionClosed as problem:
                self._check(problem)
                sent = {one.id for one, _ in self._waiting}
                these = [one for one in these if one.id not in sent]
                await self._leave()
            await asyncio.sleep(self.config.wait(attempt) if attempt else 0)
        raise ServiceUnreached(url=self.url, why="connections break again and again")

    async def _until_all_are_kept(self) -> None:
        left, in_vain = len(self._waiting), 0
        while self._waiting and self._reading is not None:
            kept = asyncio.ensure_future(self._all_kept.wait())
            await asyncio.wait([kept, self._reading], timeout=self.config.timeout, return_when=asyncio.FIRST_COMPLETED)
            kept.cancel()
            if not self._waiting:
                return
            left, in_vain = len(self._waiting), 0 if len(self._waiting) < left else in_vain + 1
            if in_vain >= self.config.tries:
                raise ServiceUnreached(url=self.url, why="connections break again and again")
            await self._leave()
            await asyncio.sleep(self.config.wait(in_vain) if in_vain else 0)
            await self._send([])

    async def _read(self, connection: ClientConnection) -> None:
        """Acknowledgements, until the connection ends; the sender then finds out. Raises DeliveryRefused."""
        kept = 0
        try:
            async for message in connection:
                count = json.loads(message).get("kept", 0) - kept
                kept += count
                now = time.monotonic()
                self.tally.acks += [(now - sent) * 1000 for _, sent in self._waiting[:count]]
                self.tally.statuses["kept"] += count
                del self._waiting[:count]
                if not self._waiting:
                    self._all_kept.set()
        except ConnectionClosed as problem:
            self._check(problem)

    async def _opened(self, attempt: int) -> ClientConnection:
        url = f"{self.url}{'&' if '?' in self.url else '?'}acks=1"
        headers = self.player.headers(b"", self.secret, at=datetime.now(UTC), id=fresh())
        try:
            return await connect(url, additional_headers=headers, open_timeout=self.config.timeout)
        except InvalidStatus as problem:
            status, answer = problem.response.status_code, (problem.response.body or b"").decode(errors="replace")
            if status not in (429, 503) or attempt + 1 == self.config.tries:
                raise DeliveryRefused(
                    url=self.url, status=status, number=0, kind="the opening", answer=answer[:300]
                ) from problem
            await asyncio.sleep(self.config.wait(attempt, problem.response.headers.get("retry-after")))
            return await self._opened(attempt + 1)
        except (OSError, InvalidHandshake) as problem:
            if attempt + 1 == self.config.tries or not self.tally.statuses:
                raise ServiceUnreached(url=self.url, why=f"{type(problem).__name__} {problem}".strip()) from problem
            await asyncio.sleep(self.config.wait(attempt))
            return await self._opened(attempt + 1)

    def _check(self, problem: ConnectionClosed) -> None:
        code = None if problem.rcvd is None else problem.rcvd.code
        if problem.rcvd is not None and code in (REFUSED, TOO_LONG):
            unkept = [one for one, _ in self._waiting]
            one = max(unkept, key=lambda one: len(one.body) if code == TOO_LONG else 0, default=None)
            told = {"number": one.number if one else 0, "kind": one.kind if one else "the connection"}
            answer = problem.rcvd.reason or ("a message that is too long" if code == TOO_LONG else "")
            raise DeliveryRefused(url=self.url, status=code, **told, answer=answer)

    async def _leave(self) -> None:
        if self._connection is not None:
            with suppress(ConnectionClosed):
                await self._connection.close()
        if self._reading is not None:
            await self._reading
        self._connection = self._reading = None
