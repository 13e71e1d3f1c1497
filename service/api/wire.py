"""How much may somebody send before it is known what they want? The head of a request has a size and a time, and an address so
many requests that are not whole yet.

uvicorn with httptools limits none of them: one header that never ends would be kept until memory is full, and one address that
sends a thousand requests drop by drop would keep everybody else out."""

from __future__ import annotations

import asyncio
from asyncio.events import TimerHandle
from collections import Counter
from functools import cache
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from service.api.rates import network_of

MAX_HEAD_BYTES = 32 * 1024
"""Of the request line and all headers; beyond what came in one read, 256 KB at most. A token of 16 KB fits (bearers.py)."""
HEAD_SECONDS = 10.0
"""Since the connection was made, or the request begun, until its head is whole; as for `connection_init` (HttpConfig)."""
MAX_AT_ONCE = 1_000
"""Connections and requests of the whole service; above it 503. Meeting bots may have 500 (HooksConfig.connections)."""

MAX_UNFINISHED = 64
"""Requests of one address that are not whole, from the connection on: browsers open six, and who sends what they have is waited
for no longer than the network takes. Not of a trusted proxy, whose clients are many."""

MAX_OPEN = 256
"""Connections of one address, websockets not counted, which accounts and HooksConfig.connections limit: an idle one is kept for
five seconds (uvicorn), and a thousand of them would be all that there are. A meeting's backend keeps a pool of some tens."""

_CLOSED = b"content-length: 0\r\nconnection: close\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n\r\n"
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + _CLOSED
TOO_MANY = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 10\r\n" + _CLOSED

_unfinished: Counter[str] = Counter()
_open: Counter[str] = Counter()
"""By address; one a process."""


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol, for which a head that is too long or too slow, or a request too many, ends the connection."""

    _timer: TimerHandle | None = None
    _in_head = True
    _head_bytes = 0
    _address: str | None = None
    """Whose connection it is; None: it is not counted (any more)."""
    _is_unfinished = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._begin_head()
        if self.client is None or self.client[0] in _proxies(str(self.config.forwarded_allow_ips)).trusted_hosts:
            return
        self._address = network_of(self.client[0])
        _add(_open, self._address, 1)
        self._begin_request()
        if _open[self._address] > MAX_OPEN:
            self._refuse()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        self._let_go()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._let_go()
        super().handle_websocket_upgrade()

    def on_message_complete(self) -> None:
        self._end_request()
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._count(len(data))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begin_head()
        self._begin_request()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if not self._in_head:  # trailers, after the body
            self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._end_head()
        super().on_headers_complete()

    def _begin_head(self) -> None:
        self._end_head()
        self._in_head = True
        self._head_bytes = 0
        self._timer = self.loop.call_later(HEAD_SECONDS, self._abort)

    def _end_head(self) -> None:
        self._in_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin_request(self) -> None:
        if self._address is None or self._is_unfinished:
            return
        self._is_unfinished = True
        _add(_unfinished, self._address, 1)
        if _unfinished[self._address] > MAX_UNFINISHED:
            self._refuse()

    def _end_request(self) -> None:
        if self._address is not None and self._is_unfinished:
            _add(_unfinished, self._address, -1)
        self._is_unfinished = False

    def _let_go(self) -> None:
        self._end_request()
        if self._address is not None:
            _add(_open, self._address, -1)
        self._address = None

    def _refuse(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(TOO_MANY)
            self.transport.close()

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def _abort(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


class BoundedSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol, for which a handshake that it cannot read (a header of more than 8 KB, or more than 128) ends the
    connection: it was neither answered nor closed, and nothing counts it."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()


def _add(counts: Counter[str], address: str, number: int) -> None:
    counts[address] += number
    if not counts[address]:
        del counts[address]


@cache
def _proxies(trusted: str) -> ProxyHeadersMiddleware:
    """For its `trusted_hosts`, as uvicorn understands them: addresses and networks, or * for any."""
    return ProxyHeadersMiddleware(_nothing, trusted)


async def _nothing(*_: object) -> None:
    return


def server_options(trusted_proxies: str) -> dict[str, Any]:
    """What uvicorn is told beside the application: nobody's X-Forwarded-For is believed but that of `trusted_proxies`."""
    return {
        "http": BoundedHttp,
        "ws": BoundedSocket,
        "limit_concurrency": MAX_AT_ONCE,
        "server_header": False,
        "access_log": False,
        "proxy_headers": bool(trusted_proxies.strip()),
        "forwarded_allow_ips": trusted_proxies,
    }
