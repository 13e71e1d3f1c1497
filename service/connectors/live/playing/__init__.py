"""How does a meeting look as a provider would have sent it? The other side of each connector, for `voicegraph replay`, the
benchmark, and tests that hold the two sides to each other."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from service import registry
from service.connectors.files.words import spread
from service.types.audio import Segment, Word
from service.types.meeting import Base, MeetingEvent, Speaker, Uttered

PLAYERS: dict[str, str] = {
    "generic": "service.connectors.live.playing.generic:PLAYER",
    "recall": "service.connectors.live.playing.recall:PLAYER",
    "vexa": "service.connectors.live.playing.vexa:PLAYER",
    "attendee": "service.connectors.live.playing.attendee:PLAYER",
    "meetingbaas": "service.connectors.live.playing.meetingbaas:PLAYER",
    "jitsi": "service.connectors.live.playing.jitsi:PLAYER",
    "livekit": "service.connectors.live.playing.livekit:PLAYER",
    "pipecat": "service.connectors.live.playing.pipecat:PLAYER",
    "daily": "service.connectors.live.playing.daily:PLAYER",
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

    def at(self, event: MeetingEvent) -> datetime:
        """When it happened; the start where nobody says."""
        return event.at or self.began_at

    def milliseconds(self, event: MeetingEvent) -> int:
        """As `at`, since 1970."""
        return round(self.at(event).timestamp() * 1000)

    def epoch(self, seconds: float, base: Base) -> float:
        """Since 1970."""
        return seconds if base is Base.EPOCH else self.began_at.timestamp() + seconds

    def since(self, seconds: float, base: Base) -> float:
        """Since the meeting's start."""
        return seconds if base is Base.MEETING else seconds - self.began_at.timestamp()


class Player(Protocol):
    provider: str

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        """What is sent of it, in order; nothing where this provider has no way to tell it. `id`: of the delivery, for those
        that write it into the body."""
        ...

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        """The signature and what goes with it. `id`: of the delivery, the same when it is sent again."""
        ...


def iso(at: datetime) -> str:
    """To the millisecond, UTC, as most providers write it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def number_of(speaker: Speaker) -> int | None:
    """A participant's number, where a provider counts them; None: nobody known."""
    if speaker.handle is None:
        return None
    if speaker.handle.isascii() and speaker.handle.isdigit() and len(speaker.handle) < 10 and not speaker.scope:
        return int(speaker.handle)
    return zlib.crc32(f"{speaker.scope}/{speaker.handle}".encode()) + 10**9


def worded(event: Uttered) -> tuple[Word, ...]:
    """Its words; where it has none that say all of it, the text's, spread over its time."""
    whole = Segment(event.start, event.end)
    return event.words if " ".join(word.text for word in event.words) == event.text else spread(event.text, whole)


def player(provider: str) -> Player:
    """Raises UnknownPlugIn."""
    found: Player = registry.load(PLAYERS, provider, kind="provider to play")
    return found
