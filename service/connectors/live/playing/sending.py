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


@dataclass(slots=True)
class Sender:
    """Sends what is `rehearsed` to `url` as `player` puts it, signed with `secret`."""

    url: str
    player: Player
    meeting: Played
    secret: str
    config: SendingConfig = SendingConfig()

    async def send(self, sendings: Sequence[Sending], progress: Progress = lambda share, stage: None) -> Report:
        """Raises DeliveryRefused, ServiceUnreached."""
        told = [s for s in sendings if self.player.carried(self.meeting, s.event) is not None]
        left_out = Counter(type(s.event).__name__.lower() for s in sendings) - Counter(
            type(s.event).__name__.lower() for s in told
        )
        counts, statuses, acks = Counter[str](), Counter[str](), list[float]()
        began = time.monotonic()
        async with httpx.AsyncClient(timeout=self.config.timeout, follow_redirects=False) as client:
            for number, sending in enumerate(told):
                await asyncio.sleep(max(0.0, sending.after - (time.monotonic() - began)))
                body = self.player.body(self.meeting, sending.event)
                if sending.is_cut:
                    counts["cut"] += 1
                    counts["again"] += 1
                    await self._cut(body, sending)
                await self._deliver(client, number, sending, body, counts, statuses, acks)
                progress((number + 1) / len(told), f"{number + 1} of {len(told)} deliveries")
        acks.sort()
        events = {id(sending.event) for sending in told}
        return Report(
            deliveries=len(told),
            duplicates=len(told) - len(events),
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
        number: int,
        sending: Sending,
        body: bytes,
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
                answer = await client.post(self.url, content=body, headers=self._headers(body, sending))
            except httpx.TransportError as problem:
                if attempt + 1 == self.config.tries:
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
                    number=number,
                    kind=type(sending.event).__name__.lower(),
                    answer=answer.text[:300] or "nothing",
                )
            after = answer.headers.get("retry-after", "")
            await asyncio.sleep(min(float(after), self.config.longest_wait) if after.isdigit() else wait)

    async def _cut(self, body: bytes, sending: Sending) -> None:
        """The request whole, and the connection ended before anything comes back: it may have been kept, or not."""
        at = urlsplit(self.url)
        encrypted = ssl.create_default_context() if at.scheme == "https" else None
        port = at.port or (443 if encrypted else 80)
        try:
            _, writer = await asyncio.open_connection(at.hostname, port, ssl=encrypted)
        except OSError as problem:
            raise ServiceUnreached(url=self.url, why=problem) from problem
        headers = {"host": at.netloc.rpartition("@")[2], "content-length": str(len(body)), **self._headers(body, sending)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        path = f"{at.path or '/'}{'?' + at.query if at.query else ''}"
        writer.write(f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        await writer.drain()
        writer.transport.abort()

    def _headers(self, body: bytes, sending: Sending) -> dict[str, str]:
        signed = self.player.headers(body, self.secret, at=datetime.now(UTC), id=sending.id)
        return {"content-type": "application/json", **signed}


def _at(ordered: Sequence[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1) if ordered else None
