"""Post JSON to /v1/hooks/…, in order, each message again until it is kept. For the examples beside it; needs `httpx`."""

import asyncio
import base64
import hashlib
import hmac
import json
import sys
import time
import uuid
from collections.abc import Callable
from typing import Any

import httpx

AGAIN = (408, 429, 502, 503, 504)
"""Answers that say: not now. With any other there is nothing to send again: 500 means that it is kept, and not read yet."""

Sign = Callable[[str, bytes], dict[str, str]]
"""id of the message and body → headers. Made anew for each try: a signature is of its moment."""


def standard_webhooks(secret: str) -> Sign:
    """Our own way (standardwebhooks.com): `secret` is `whsec_…`."""
    key = base64.b64decode(secret.removeprefix("whsec_"))

    def sign(id: str, body: bytes) -> dict[str, str]:
        now = str(int(time.time()))
        signature = base64.b64encode(hmac.digest(key, f"{id}.{now}.".encode() + body, "sha256")).decode()
        return {"webhook-id": id, "webhook-timestamp": now, "webhook-signature": f"v1,{signature}"}

    return sign


def livekit_token(api_key: str, api_secret: str) -> Sign:
    """As LiveKit signs its webhooks: a JWT with the body's SHA-256."""

    def part(value: dict[str, Any]) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    def sign(id: str, body: bytes) -> dict[str, str]:
        now = int(time.time())
        sha256 = base64.b64encode(hashlib.sha256(body).digest()).decode()
        signed = (
            part({"alg": "HS256", "typ": "JWT"}) + b"." + part({"iss": api_key, "nbf": now, "exp": now + 60, "sha256": sha256})
        )
        signature = base64.urlsafe_b64encode(hmac.digest(api_secret.encode(), signed, "sha256")).rstrip(b"=")
        return {"authorization": (signed + b"." + signature).decode()}

    return sign


class Sender:
    """`put` never waits: what hears a meeting must not be slowed down by what keeps it."""

    def __init__(self, url: str, sign: Sign, *, longest_wait: float = 60.0) -> None:
        self.url, self._sign, self._longest_wait = url, sign, longest_wait
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Sender":
        self._task = asyncio.create_task(self._send_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        """When all is delivered."""
        self._messages.put_nowait(None)
        if self._task is not None:
            await self._task

    def put(self, message: dict[str, Any]) -> None:
        self._messages.put_nowait(message)

    async def _send_all(self) -> None:
        async with httpx.AsyncClient(timeout=30) as http:
            while (message := await self._messages.get()) is not None:
                body = json.dumps(message).encode()
                await self._send(http, str(uuid.uuid4()), body)

    async def _send(self, http: httpx.AsyncClient, id: str, body: bytes) -> None:
        wait = min(0.5, self._longest_wait)
        while True:
            try:
                answer = await http.post(
                    self.url, content=body, headers={"content-type": "application/json", **self._sign(id, body)}
                )
            except httpx.HTTPError:
                again = None
            else:
                if answer.status_code < 300:
                    return
                if answer.status_code not in AGAIN:
                    print(f"{answer.status_code}: {answer.text[:500]}", file=sys.stderr)  # somebody is to look at it
                    return
                again = answer.headers.get("retry-after")
            await asyncio.sleep(float(again) if again and again.isdigit() else wait)
            wait = min(wait * 2, self._longest_wait)
