"""How is a meeting sent to a running service, with everything that a network does to it?"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from service.connectors.declared import Signing
from service.connectors.live import connector
from service.connectors.live.playing import Played, Player
from service.connectors.live.playing.outgoing import (
    OnlyByHttp,
    Outgoing,
    Progress,
    Report,
    SendingConfig,
    Tally,
    kind,
    quantile,
)
from service.connectors.live.playing.posts import Posts
from service.connectors.live.playing.recorded import Sending
from service.connectors.live.playing.socket import Socket


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends what is rehearsed to `url` (http: webhooks, ws: a WebSocket) as `player` puts it, signed with `secret`."""

    url: str
    player: Player
    meeting: Played
    secret: str
    config: SendingConfig = field(default_factory=SendingConfig)

    async def send(self, sendings: Sequence[Sending], progress: Progress = lambda share, stage: None) -> Report:
        """Raises DeliveryRefused, ServiceUnreached, OnlyByHttp."""
        by_socket = urlsplit(self.url).scheme in ("ws", "wss")
        if by_socket and connector(self.player.provider).declared.signing is Signing.CANONICAL_JSON:
            raise OnlyByHttp(provider=self.player.provider, url=self.url)
        told = [(sending, self.player.bodies(self.meeting, sending.event, id=sending.id)) for sending in sendings]
        deliveries = [
            Outgoing(number, sending, f"{sending.id}-{part}" if part else sending.id, body)
            for number, (sending, bodies) in enumerate(told)
            for part, body in enumerate(bodies)
        ]
        tally, began = Tally(), time.monotonic()
        way = Socket if by_socket else Posts
        await way(self.url, self.player, self.secret, self.config, tally).send(_due(deliveries, progress))
        return Report(
            deliveries=len(deliveries),
            duplicates=sum(one.sending.copy > 0 for one in deliveries),
            cut=tally.cut,
            again=tally.again,
            statuses=dict(tally.statuses),
            left_out=dict(Counter(kind(sending) for sending, bodies in told if not bodies)),
            seconds=round(time.monotonic() - began, 3),
            ack_p50_ms=quantile(tally.acks, 0.50),
            ack_p95_ms=quantile(tally.acks, 0.95),
        )


async def _due(deliveries: Sequence[Outgoing], progress: Progress) -> AsyncIterator[Outgoing]:
    """Each when its time has come."""
    began = time.monotonic()
    for done, one in enumerate(deliveries):
        await asyncio.sleep(max(0.0, one.sending.after - (time.monotonic() - began)))
        progress(done / len(deliveries), f"{done} of {len(deliveries)} deliveries")
        yield one
    progress(1.0, f"{len(deliveries)} deliveries")
