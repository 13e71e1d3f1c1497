"""Why does a stream end, and with which code is its client told?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from enum import IntEnum

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from service.api.bearers import TokenExpired
from service.api.context import NotAllowed, TokenNotAccepted
from service.api.errors import incident
from service.api.key_sets import IssuerUnreachable
from service.api.rates import RateLimited
from service.api.spool import StreamForgotten
from service.api.streams import ReadsTooSlowly, TooManyStreams
from service.errors import VoicegraphError


class Closing(IntEnum):
    """With which code the service closes a stream; 1009 is a message that is too long."""

    OVER = 1000
    """As asked for, or the service stops."""
    FAULT = 1011
    """The service's own; the error has an incident that its log knows."""
    NOT_UNDERSTOOD = 4400
    """No `start`, something else than JSON or sound, half a sample, a header that is none."""
    TOKEN = 4401
    """No token, or one that is unknown, revoked or expired; also while the stream is open."""
    NOT_ALLOWED = 4403
    IDLE = 4408
    """No `start` in time, or nothing sent for a minute."""
    TOO_SLOW = 4409
    """The client does not read what it is sent."""
    TOO_LONG = 4410
    TOO_MANY = 4429
    AGAIN = 4503
    """The provider of the token is away, and its key is not known: come again."""


class NotUnderstood(VoicegraphError):
    code = "stream_not_understood"
    says = "{what} on the stream; needed: {needed}."
    http_status = 422


class StreamNeedsToken(VoicegraphError):
    code = "stream_needs_token"
    says = "A stream needs a bearer token in the headers of `start`; the voice alone asks over POST, where the space lets it."
    http_status = 401


class StreamIdle(VoicegraphError):
    code = "stream_idle"
    says = "Nothing was sent for {seconds:g} s. Send sound, silence included, or close the stream with `end`."
    http_status = 408


class StreamTooLong(VoicegraphError):
    code = "stream_too_long"
    says = "The stream has lasted {seconds:g} s, the longest there is. Open another."
    http_status = 413


_CLOSINGS: tuple[tuple[type[VoicegraphError], Closing], ...] = (
    (TokenNotAccepted, Closing.TOKEN),
    (TokenExpired, Closing.TOKEN),
    (IssuerUnreachable, Closing.AGAIN),
    (StreamNeedsToken, Closing.TOKEN),
    (NotAllowed, Closing.NOT_ALLOWED),
    (StreamForgotten, Closing.NOT_ALLOWED),
    (TooManyStreams, Closing.TOO_MANY),
    (RateLimited, Closing.TOO_MANY),
    (ReadsTooSlowly, Closing.TOO_SLOW),
    (StreamIdle, Closing.IDLE),
    (StreamTooLong, Closing.TOO_LONG),
)


async def close_for(socket: WebSocket, error: BaseException) -> None:
    """Tells the client what ended its stream, unless it is gone; raises `error` again when the service itself is stopped."""
    errors = list(leaves(error))
    if not all(isinstance(one, Exception) for one in errors):
        raise error
    first = errors[0]
    if any(isinstance(one, WebSocketDisconnect) for one in errors) or socket.application_state is not WebSocketState.CONNECTED:
        return
    code = Closing.FAULT
    if isinstance(first, VoicegraphError) and (first.http_status < 500 or isinstance(first, IssuerUnreachable)):
        code = next((code for kind, code in _CLOSINGS if isinstance(first, kind)), Closing.NOT_UNDERSTOOD)
        told = {"type": "error", "code": first.code, "message": first.message}
    else:
        told = {"type": "error", "code": "unexpected", "message": f"Unexpected error; incident {incident(first)}."}
    with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):  # it may be gone by now, or not read
        async with asyncio.timeout(1.0):
            await socket.send_json(told)
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.close(code)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """What `error` is about: itself, or what a group of errors holds."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from leaves(one)
    else:
        yield error
