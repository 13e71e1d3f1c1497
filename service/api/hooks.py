"""How do meetings' backends deliver? POST /v1/hooks/{source}, or a WebSocket at the same path.

A delivery is acknowledged (2xx) once it is in the graph's inbox; then it is taken in, once, whatever stops in between. 401: not
signed with a secret of the source; 404: no such source; 413: too long; 422: cannot be read (kept as a dead letter, since it was
signed rightly); 429 and 503, with Retry-After: to be delivered again. Where the connector says so, a token of ours with the
scope `ingest` for the source's space is taken instead of a signature. Each text message of a WebSocket is a delivery; binary
ones are mostly sound. With `?acks=1` we send {"kept": n} whenever the first n messages are durable; what was not is to be sent
again on another connection after this one broke."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from service.api.context import Runtime
from service.api.errors import incident
from service.api.tokens import PREFIX
from service.connectors.live import Delivery
from service.errors import VoicegraphError
from service.pipelines.connections import Connection, ConnectionConfig
from service.pipelines.reception import NotRead, Reception, Shown
from service.types.ids import fresh

TOKEN_SCOPES = frozenset({"ingest", "admin"})


@dataclass(frozen=True, slots=True)
class HooksConfig:
    max_body_bytes: int = 8_000_000
    """Eight hours of talk with the time of each word, as MeetingBaas v1 sends them at once, are about 5 MB."""
    bodies_bytes: int = 64_000_000
    """Of bodies that are being read, of all requests: nobody is known yet while they are."""
    bodies_of_one: int = 24_000_000
    """Of them from one address, and to one source: three of the longest, so that who sends much leaves room for others."""
    body_seconds: float = 15.0
    """For the whole body; the providers we know give up after as long."""
    slow_seconds: float = 3.0
    """That a body may take however short it is …"""
    slowest: float = 32_000.0
    """… and bytes a second that it has beyond that at least: a quarter of a slow line."""
    answer_seconds: float = 20.0
    """For the answer, and a second more …"""
    bytes_a_second: float = 250_000.0
    """… for so many bytes: with eight hours in one, others are read side by side."""
    broken_again: int = 60
    """Seconds after which to deliver again where the source's own configuration is broken: somebody must mend it."""
    connections: int = 500
    """WebSockets at once, each of one meeting."""
    messages: int = 64
    """Of a connection, that are read while those before them are written; the rest waits with the sender."""
    connection: ConnectionConfig = field(default_factory=ConnectionConfig)


class DeliveryTooLarge(VoicegraphError):
    code = "delivery_too_large"
    says = "The delivery is larger than {limit} bytes. Nothing of it was kept."
    http_status = 413


class DeliveryStalled(VoicegraphError):
    code = "delivery_stalled"
    says = "The delivery did not arrive within {seconds:g} s, or the connection broke. Nothing of it was kept."
    http_status = 408


class HooksBusy(VoicegraphError):
    code = "hooks_busy"
    says = "Too much is being delivered at this moment. Deliver this again in {seconds} s; nothing of it was kept."
    http_status = 429


class _Room:
    """Bytes of the bodies that are being read, of each address and source, and connections."""

    def __init__(self, config: HooksConfig) -> None:
        self._config = config
        self._bytes = self._connections = 0
        self._of_one: Counter[tuple[str, str]] = Counter()

    def _take(self, request: Request, source: str, count: int) -> None:
        self._bytes += count
        address = request.client.host if request.client is not None else ""
        for one in (("address", address), ("source", source)):
            self._of_one[one] += count
            if self._of_one[one] <= 0:
                del self._of_one[one]

    def _is_full(self, request: Request, source: str) -> bool:
        address = request.client.host if request.client is not None else ""
        of_one = max(self._of_one["address", address], self._of_one["source", source])
        return self._bytes > self._config.bodies_bytes or of_one > self._config.bodies_of_one

    @asynccontextmanager
    async def body(self, request: Request, source: str) -> AsyncIterator[bytes]:
        """Of a source that there is. Raises DeliveryTooLarge, DeliveryStalled, HooksBusy."""
        limit, body, taken = self._config.max_body_bytes, bytearray(), 0
        began = asyncio.get_running_loop().time()
        declared = request.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > limit:
            raise DeliveryTooLarge(limit=limit)
        try:
            async with asyncio.timeout_at(began + self._seconds(0)) as time_left:
                async for chunk in request.stream():
                    self._take(request, source, len(chunk))
                    taken += len(chunk)
                    if taken > limit:
                        raise DeliveryTooLarge(limit=limit)
                    if self._is_full(request, source):
                        raise HooksBusy(seconds=1)
                    body += chunk
                    time_left.reschedule(began + self._seconds(taken))
        except BaseException as error:
            self._take(request, source, -taken)
            if isinstance(error, TimeoutError | ClientDisconnect):
                raise DeliveryStalled(seconds=self._seconds(taken)) from None
            raise
        try:
            yield bytes(body)
        finally:
            self._take(request, source, -taken)

    def _seconds(self, taken: int) -> float:
        """After which a body of which so much came is too slow."""
        return min(self._config.body_seconds, self._config.slow_seconds + taken / self._config.slowest)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        """Raises HooksBusy."""
        if self._connections >= self._config.connections:
            raise HooksBusy(seconds=self._config.broken_again)
        self._connections += 1
        try:
            yield
        finally:
            self._connections -= 1


def hooks_router(runtime: Runtime, config: HooksConfig | None = None) -> APIRouter:
    router = APIRouter()
    config = config or HooksConfig()
    room = _Room(config)

    @router.post("/v1/hooks/{source}")
    async def deliver(source: str, request: Request) -> JSONResponse:
        """One delivery of a configured source."""
        try:
            runtime.reception.check_head(source, _delivery(request, b""), token=_shown(runtime, request))
            async with room.body(request, source) as body:
                async with asyncio.timeout(config.answer_seconds + len(body) / config.bytes_a_second):
                    return await _received(runtime, source, request, body)
        except TimeoutError:
            return _problem(HooksBusy(seconds=config.broken_again), config)
        except VoicegraphError as error:
            return _problem(error, config)

    @router.websocket("/v1/hooks/{source}")
    async def connect(source: str, socket: WebSocket) -> None:
        """A connection of a configured source."""
        opening = _delivery(socket, b"", connection=fresh())
        try:
            async with room.connection():
                proved = await runtime.reception.prove(source, opening, token=_shown(runtime, socket))
                await socket.accept()
                connection = Connection(
                    runtime.reception, proved, opening, lambda: _shown(runtime, socket), config.connection
                )  # fmt: skip
                await _Line(socket, connection, config).run()
        except VoicegraphError as error:
            await _close(socket, error, config)

    return router


async def _received(runtime: Runtime, source: str, request: Request, body: bytes) -> JSONResponse:
    delivery = _delivery(request, body)
    reception: Reception = runtime.reception
    proved = await reception.prove(source, delivery, token=_shown(runtime, request))
    received = await reception.receive(proved, delivery)
    answer = {"status": received.taken.value} if received.answer is None else received.answer
    return JSONResponse(answer)


def _delivery(asked: HTTPConnection, body: bytes, *, connection: str = "") -> Delivery:
    headers: dict[str, str] = {}
    for name, value in asked.headers.items():
        headers[name] = f"{headers[name]}, {value}" if name in headers else value  # RFC 9110 §5.2
    now = datetime.now(UTC)
    return Delivery(
        headers, body, now, connection=connection, opened_at=now if connection else None, query=dict(asked.query_params)
    )  # fmt: skip


def _shown(runtime: Runtime, asked: HTTPConnection) -> Shown | None:
    """A token of ours that may ingest, as it is now; None: there is none, and the source's own secret is asked for."""
    scheme, _, token = asked.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip().startswith(PREFIX):
        return None
    entry = runtime.tokens.find(token.strip())
    return Shown(entry.id, entry.space) if entry is not None and entry.scopes & TOKEN_SCOPES else None


class _Line:
    """The messages of one WebSocket: read while those before them are written."""

    def __init__(self, socket: WebSocket, connection: Connection, config: HooksConfig) -> None:
        self._socket, self._connection = socket, connection
        self._came: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(config.messages)
        self._acks = socket.query_params.get("acks") == "1"
        self._hears = True
        self._look_again = config.connection.look_again

    async def run(self) -> None:
        """Until the other side ends it, or what opened it holds no more."""
        reading = asyncio.create_task(self._read())
        try:
            await self._take()
        finally:
            reading.cancel()

    async def _read(self) -> None:
        while True:
            message = await self._socket.receive()
            await self._came.put(message)
            if message["type"] == "websocket.disconnect":
                return

    async def _take(self) -> None:
        kept, ended = 0, False
        while not ended:
            batch = [await self._next()]
            while not self._came.empty():
                batch.append(self._came.get_nowait())
            ended = batch[-1]["type"] == "websocket.disconnect"
            messages = [_content(message) for message in batch if message["type"] == "websocket.receive"]
            told: list[Mapping[str, object]] = list(await self._connection.take(messages)) if messages else []
            kept += len(messages)
            if self._acks and messages:
                told.append({"kept": kept})
            if not ended and self._hears:
                await self._tell(told)

    async def _next(self) -> Mapping[str, Any]:
        while True:
            try:
                return await asyncio.wait_for(self._came.get(), self._look_again)
            except TimeoutError:
                await self._connection.look_again()

    async def _tell(self, told: Sequence[Mapping[str, object]]) -> None:
        try:
            for one in told:
                await self._socket.send_json(one)
        except WebSocketDisconnect:  # what came before it is in the queue
            self._hears = False


def _content(message: Mapping[str, Any]) -> tuple[bytes, bool]:
    text = message.get("text")
    return (text.encode(errors="surrogatepass"), False) if text is not None else (message["bytes"], True)


async def _close(socket: WebSocket, error: VoicegraphError, config: HooksConfig) -> None:
    if socket.client_state is WebSocketState.DISCONNECTED:
        return
    if socket.application_state is WebSocketState.CONNECTING:  # the handshake is answered as a POST would be
        await socket.send_denial_response(_problem(error, config))
        return
    again = error.http_status in (429, 503)
    if not again and error.http_status >= 500:
        incident(error)
    await socket.close(1013 if again else 1008, error.code)  # RFC 6455 §7.4.1, and IANA's registry for 1013


def _problem(error: VoicegraphError, config: HooksConfig) -> JSONResponse:
    """What a provider's log shows. Of what is the service's own matter only the code, and its words in our log."""
    status, seconds = error.http_status, error.facts.get("seconds")
    told = error.message
    if status >= 500 and not isinstance(error, NotRead) and seconds is None:
        told = f"The service cannot take deliveries of this source now; incident {incident(error)}."
    headers = {}
    if status in (429, 503):
        again = seconds if isinstance(seconds, int | float) else config.broken_again
        headers["retry-after"] = str(math.ceil(again))
    content = {"data": None, "errors": [{"message": told, "extensions": {"code": error.code}}]}
    return JSONResponse(content, status, headers)
