"""How does a meeting look as a provider would have sent it? The other side of each connector, for `voicegraph replay`, the
benchmark, and tests that hold the two sides to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from service import registry
from service.types.meeting import Base, MeetingEvent

PLAYERS: dict[str, str] = {
    "generic": "service.connectors.live.playing.generic:PLAYER",
}
"""provider → "module:PLAYER", a Player."""


@dataclass(frozen=True, slots=True)
class Played:
    """The meeting that is played."""

    id: str
    began_at: datetime
    """Second 0, UTC."""

    def moment(self, seconds: float, base: Base) -> datetime:
        """When that is, to the microsecond."""
        if base is Base.EPOCH:
            return datetime.fromtimestamp(seconds, self.began_at.tzinfo)
        return self.began_at + timedelta(seconds=seconds)

    def epoch(self, seconds: float, base: Base) -> float:
        """Since 1970."""
        return seconds if base is Base.EPOCH else self.began_at.timestamp() + seconds

    def since(self, seconds: float, base: Base) -> float:
        """Since the meeting's start."""
        return seconds if base is Base.MEETING else seconds - self.began_at.timestamp()


class Player(Protocol):
    provider: str

    def carried(self, meeting: Played, event: MeetingEvent) -> MeetingEvent | None:
        """What the connector makes of it when it has gone through this provider, whatever its key; None: it is not told."""
        ...

    def body(self, meeting: Played, event: MeetingEvent) -> bytes:
        """Of an event that is carried."""
        ...

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        """The signature and what goes with it. `id`: of the delivery, the same when it is sent again."""
        ...


def player(provider: str) -> Player:
    """Raises UnknownPlugIn."""
    found: Player = registry.load(PLAYERS, provider, kind="provider to play")
    return found
