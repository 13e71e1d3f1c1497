"""What becomes of the messages of a connection? Each is a delivery; those that came meanwhile are kept together, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from service.connectors.live import Delivery
from service.connectors.live.sources import NoSuchSource
from service.errors import VoicegraphError
from service.pipelines.deliveries import InboxFull, NotKept
from service.pipelines.reception import Proved, Reception, Shown, Sorted, SoundAmongOthers


@dataclass(frozen=True, slots=True)
class ConnectionConfig:
    patience: float = 60.0
    """Seconds that messages wait in memory for room in the inbox, or for the graph, while no more are read: a restart of
    Neo4j takes some 20."""
    pause: float = 0.5
    """Seconds between two tries of it."""
    look_again: float = 20.0
    """Seconds until it is looked again whether the token or secret that opened it still holds, also where nothing comes."""
    unreadable: int = 25
    """In a row, after which it ends: half a second of sound that nobody said how to read. Each of them becomes a dead letter,
    and a mistake in one message is no reason to end."""


class Unreadable(VoicegraphError):
    code = "connection_unreadable"
    says = "{count} messages in a row could not be read. The connection ends; the dead letters say why."
    http_status = 422


class Connection:
    """One, opened by whoever `proved` says."""

    def __init__(
        self,
        reception: Reception,
        proved: Proved,
        opening: Delivery,
        token: Callable[[], Shown | None],
        config: ConnectionConfig | None = None,
    ) -> None:
        """`opening` has the headers, and `connection` and `opened_at`; `token` looks anew at what was shown with it."""
        self._reception, self._proved, self._opening, self._token = reception, proved, opening, token
        self._looked_at = asyncio.get_running_loop().time()
        self._config = config or ConnectionConfig()
        self._carried: Mapping[str, str] | None = None
        self._unreadable = 0

    async def take(self, messages: Sequence[tuple[bytes, bool]]) -> list[Mapping[str, object]]:
        """Messages (body, whether binary) as they came; all are kept when this returns what the provider wants told back, as a
        bridge that asks whether somebody is there. One that cannot be read becomes a dead
        letter and does not end the connection, but many in a row do. Raises InboxFull and NotKept once `patience` is over,
        SoundAmongOthers, Unreadable, and what `look_again` does."""
        await self.look_again()
        found = []
        for body, binary in messages:
            found.append(await self._sort(body, binary))
            self._unreadable = self._unreadable + 1 if found[-1][1].dead is not None else 0
            if self._unreadable >= self._config.unreadable:
                break
        await self._keep(found)
        if self._unreadable >= self._config.unreadable:
            raise Unreadable(count=self._unreadable)
        for _, one in found:
            if isinstance(one.problem, SoundAmongOthers):
                raise one.problem
        told = [delivery for delivery, one in found if one.read is not None and not delivery.binary]
        answers = [self._proved.connector.answer(delivery, self._proved.secrets) for delivery in told]
        return [answer for answer in answers if answer is not None]

    async def look_again(self) -> None:
        """Whether the source is configured as it was, and, where that was not looked at for a while, whether what opened the
        connection would open it now. Raises NoSuchSource, SourcesUnreadable, SecretMissing, SecretUnusable, SignatureWrong."""
        source, now = self._proved.source, asyncio.get_running_loop().time()
        if self._reception.sources.all().get(source.name) != source:
            raise NoSuchSource(name=source.name)
        if now - self._looked_at >= self._config.look_again:
            self._proved = await self._reception.prove(source.name, self._opening, token=self._token())
            self._looked_at = now

    async def _sort(self, body: bytes, binary: bool) -> tuple[Delivery, Sorted]:
        delivery = replace(
            self._opening, body=body, binary=binary, received_at=datetime.now(UTC), carried=self._carried
        )  # fmt: skip
        found = await self._reception.sort(self._proved, delivery)
        if found.read is not None and found.read.carried is not None:
            self._carried = found.read.carried
        return delivery, found

    async def _keep(self, found: Sequence[tuple[Delivery, Sorted]]) -> None:
        source, now = self._proved.source, asyncio.get_running_loop().time
        until = now() + self._config.patience
        while True:
            try:
                await self._reception.check_room(source)
                await self._reception.keep(self._proved, found)
                return
            except (InboxFull, NotKept):
                if now() >= until:
                    raise
            await asyncio.sleep(self._config.pause)
