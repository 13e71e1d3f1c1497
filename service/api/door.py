"""What does every answer carry, whatever it says? Headers that tell browsers to do little with it; and no error's own words.

The outermost layer: what nobody foresaw ends here as an incident, so that nothing logs words that may be what somebody said."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.errors import incident

HEADERS = {
    "cache-control": "no-store",  # what one may know must not be kept for another
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'"
"""For what is no page."""
A_PAGE = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'"
"""For GraphiQL and the form beside it, whose scripts come from a CDN, and for the description of REST: in development only."""
HTTPS_ONLY = "max-age=31536000"
"""Of Strict-Transport-Security, where the request came by https: through a proxy that the settings name."""
MAY_BE_SENT = ("authorization", "content-type", "x-voicegraph-acting-for", "x-voicegraph-voice", "x-voicegraph-heard-by",
               "x-voicegraph-heard-by-voices")  # fmt: skip


MAX_REASON = 123
"""Bytes of the reason with which a websocket is closed (RFC 6455 §5.5)."""


class Door:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            started = True
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                _add_headers(MutableHeaders(scope=message), scope)
            if message["type"] == "websocket.close":
                message["reason"] = _short(message.get("reason") or "")
            await send(message)

        try:
            await self._app(scope, receive, guarded)
        except Exception as error:  # noqa: BLE001 - logged as an incident, without its words
            number = incident(error)
            if scope["type"] == "websocket":
                with suppress(RuntimeError):  # it is closed already
                    await send({"type": "websocket.close", "code": 1011})
            elif started:
                raise BrokenOff(f"incident {number}") from None
            else:
                await _unexpected(number)(scope, receive, guarded)


def _short(reason: str) -> str:
    """As much as a close frame holds: Strawberry's quote what was sent, however long that is."""
    return reason.encode(errors="replace")[:MAX_REASON].decode(errors="ignore")


class BrokenOff(Exception):
    """An answer that had begun: the server ends the connection, and says only this."""


def with_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """`app`, where pages of `origins` may ask with a token of theirs; no cookies, which nothing here looks at."""
    return CORSMiddleware(
        app, allow_origins=origins, allow_methods=("POST",), allow_headers=MAY_BE_SENT, expose_headers=("retry-after",)
    )


def _add_headers(headers: MutableHeaders, scope: Scope) -> None:
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    page = headers.get("content-type", "").startswith("text/html")
    headers.setdefault("content-security-policy", A_PAGE if page else NOTHING_RUNS)
    if scope["scheme"] in ("https", "wss"):
        headers.setdefault("strict-transport-security", HTTPS_ONLY)


def _unexpected(number: str) -> JSONResponse:
    message = "Unexpected error. The log has more under this incident."
    extensions = {"code": "unexpected", "incident": number}
    return JSONResponse({"data": None, "errors": [{"message": message, "extensions": extensions}]}, 500)
