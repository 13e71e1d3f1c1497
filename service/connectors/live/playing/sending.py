"""How is a meeting sent to a running service, with everything that a network does to it?

Like the providers themselves: one after the other, again after a 429 or 503 as Retry-After says, again where the connection
ends before the answer, and not again after any other answer."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx

from service.connectors.live.playing import Played, Player
from service.connectors.live.playing.recorded import Sending
from service.errors import VoicegraphError

Progress = Callable[[float, str], None]


class DeliveryRefused(VoicegraphError):
    code = "delivery_refused"
    says = "{url} answered {status} to delivery {number} ({kind}): {answer}"


class ServiceUnreached(VoicegraphError):
    code = "service_unreached"
    says = "{url} could not be reached: {why}. Start it (voicegraph serve), or correct --to."


@dataclass(frozen=True, slots=True)
class SendingConfig:
    tries: int = 8  # of one delivery; with waits that double from 0.5 s some two minutes: a service that restarts is back
    first_wait: float = 0.5  # seconds
    longest_wait: float = 60.0  # seconds, also of a Retry-After
    timeout: float = 30.0  # seconds for one answer


@dataclass(frozen=True, slots=True)
class Report:
    """What was sent and what came back."""

    deliveries: int
    """Answered 2xx, each once."""
    duplicates: int
    cut: int
    """Connections cut before the answer."""
    again: int
    """Requests that had to be repeated: after a cut, a 429, a 503, a lost connection."""
    statuses: Mapping[str, int]
    """Answers by HTTP status."""
    left_out: Mapping[str, int]
    """Events by kind that this provider has no way to tell."""
    seconds: float
    ack_p50_ms: float | None
    """From sending to the 2xx, of requests that were answered; None: there were none."""
    ack_p95_ms: float | None


@dataclass(frozen=True, slots=True)
class _Request:
    number: int
    """Of its event, from 0."""
    sending: Sending
    id: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends what is `rehearsed` to `url` as `player` puts it, signed with `secret`."""

    url: str
    player: Player
    meeting: Played
    secret: str
    config: SendingConfig = SendingConfig()

    async def send(self, sendings: Sequence[Sending], progress: Progress = lambda share, stage: None) -> Report:
        """Raises DeliveryRefused, ServiceUnreached."""
        told = [(sending, self.player.bodies(self.meeting, sending.event, id=sending.id)) for sending in sendings]
        left_out = Counter(_kind(sending) for sending, bodies in told if not bodies)
        requests = [
            _Request(number, sending, f"{sending.id}-{part}" if part else sending.id, body)
            for number, (sending, bodies) in enumerate(told)
            for part, body in enumerate(bodies)
        ]
        counts, statuses, acks = Counter[str](), Counter[str](), list[float]()
        began = time.monotonic()
        async with httpx.AsyncClient(timeout=self.config.timeout, follow_redirects=False) as client:
            for done, request in enumerate(requests, start=1):
                await asyncio.sleep(max(0.0, request.sending.after - (time.monotonic() - began)))
                if request.sending.is_cut:
                    counts.update(("cut", "again"))
                    await self._cut(request)
                await self._deliver(client, request, counts, statuses, acks)
                progress(done / len(requests), f"{done} of {len(requests)} deliveries")
        acks.sort()
        return Report(
            deliveries=len(requests),
            duplicates=sum(request.sending.copy > 0 for request in requests),
            cut=counts["cut"],
            again=counts["again"],
            statuses=dict(statuses),
            left_out=dict(left_out),
            seconds=round(time.monotonic() - began, 3),
            ack_p50_ms=_at(acks, 0.50),
            ack_p95_ms=_at(acks, 0.95),
        )

    async def _deliver(
        self,
        client: httpx.AsyncClient,
        request: _Request,
        counts: Counter[str],
        statuses: Counter[str],
        acks: list[float],
    ) -> None:
        """Until it is answered 2xx."""
        for attempt in range(self.config.tries):
            counts["again"] += attempt > 0
            sent = time.monotonic()
            wait = min(self.config.first_wait * 2**attempt, self.config.longest_wait)
            try:
                answer = await client.post(self.url, content=request.body, headers=self._headers(request))
            except httpx.TransportError as problem:
                if attempt + 1 == self.config.tries or not statuses:  # a service that never answered is no outage
                    raise ServiceUnreached(url=self.url, why=f"{type(problem).__name__} {problem}".strip()) from problem
                await asyncio.sleep(wait)
                continue
            statuses[str(answer.status_code)] += 1
            if answer.is_success:
                acks.append((time.monotonic() - sent) * 1000)
                return
            if answer.status_code not in (429, 503) or attempt + 1 == self.config.tries:
                raise DeliveryRefused(
                    url=self.url,
                    status=answer.status_code,
                    number=request.number,
                    kind=_kind(request.sending),
                    answer=answer.text[:300] or "nothing",
                )
            after = answer.headers.get("retry-after", "")
            await asyncio.sleep(min(float(after), self.config.longest_wait) if after.isdigit() else wait)

    async def _cut(self, request: _Request) -> None:
        """The request whole, and the connection ended before anything comes back: it may have been kept, or not."""
        at = urlsplit(self.url)
        encrypted = ssl.create_default_context() if at.scheme == "https" else None
        port = at.port or (443 if encrypted else 80)
        try:
            _, writer = await asyncio.open_connection(at.hostname, port, ssl=encrypted)
        except OSError as problem:
            raise ServiceUnreached(url=self.url, why=problem) from problem
        headers = {"host": at.netloc.rpartition("@")[2], "content-length": str(len(request.body)), **self._headers(request)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        path = f"{at.path or '/'}{'?' + at.query if at.query else ''}"
        writer.write(f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + request.body)
        await writer.drain()
        writer.transport.abort()

    def _headers(self, request: _Request) -> dict[str, str]:
        signed = self.player.headers(request.body, self.secret, at=datetime.now(UTC), id=request.id)
        return {"content-type": "application/json", **signed}


def _kind(sending: Sending) -> str:
    return type(sending.event).__name__.lower()


def _at(ordered: Sequence[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1) if ordered else None
