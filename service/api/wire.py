"""How much may somebody send before it is known what they want? The head of a request has a size and a time.

uvicorn with httptools limits neither: one header that never ends would be kept until memory is full."""

from __future__ import annotations

import asyncio
from asyncio.events import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 32 * 1024
"""Of the request line and all headers; beyond what came in one read, 256 KB at most. A token of 16 KB fits (bearers.py)."""
HEAD_SECONDS = 10.0
"""Since the connection was made, or the request begun, until its head is whole; as for `connection_init` (HttpConfig)."""
MAX_AT_ONCE = 1_000
"""Connections and requests of the whole service; above it 503. Meeting bots may have 500 (HooksConfig.connections)."""

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n\r\n"
)


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol, for which a head that is too long or too slow ends the connection."""

    _timer: TimerHandle | None = None
    _in_head = True
    _head_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._count(len(data))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begin_head()

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

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def _abort(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def server_options(trusted_proxies: str) -> dict[str, Any]:
    """What uvicorn is told beside the application: nobody's X-Forwarded-For is believed but that of `trusted_proxies`."""
    return {
        "http": BoundedHttp,
        "limit_concurrency": MAX_AT_ONCE,
        "server_header": False,
        "access_log": False,
        "proxy_headers": bool(trusted_proxies.strip()),
        "forwarded_allow_ips": trusted_proxies,
    }
