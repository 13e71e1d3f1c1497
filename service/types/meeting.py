"""What does a meeting's backend tell while the meeting goes on? The same events, whoever sends them.

Connectors (service.connectors.live) make them of what a provider sends; service.memory.meeting folds them into turns. All of it
is evidence with a source: names are data, no label says who somebody is, and nothing here grants anybody anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.types.audio import Word


class Base(StrEnum):
    """What the seconds of an event count from."""

    MEETING = "meeting"
    """The meeting's (or the recording's) start."""
    EPOCH = "epoch"
    """1970, UTC."""


MAILTO, LOCAL = "mailto", "local"
"""Issuers of e-mail addresses that a platform verified, and of this service's own tokens."""


@dataclass(frozen=True, slots=True)
class AccountKey:
    """A login that outlives the meeting. Belongs to one Person at most once somebody bound it."""

    issuer: str
    """Who vouches for it: "zoom", "recall:zoom"; "jitsi:sales" where it is a source's own (service.connectors.live.vouched);
    "mailto" for an e-mail address that the platform verified."""
    subject: str


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who it is said to be."""

    handle: str | None
    """The provider's id of a participant, or a diariser's label; None: nobody known. Two of None are not one."""
    scope: str = ""
    """Within what `handle` means one speaker: "" the meeting, else the connection or chunk whose labels restart."""
    name: str | None = None
    """Display name as sent; None also for what only says that nobody knows ("Unknown")."""
    account: AccountKey | None = None
    email: AccountKey | None = None
    is_bot: bool = False
    """The bot itself, or another program: attends without being granted anything."""
    is_host: bool = False
    is_room: bool = False
    """One device that several people speak at, as the provider says: never one person."""
    confidence: float | None = None
    """The provider's own, [0, 1], that it is them; 0: named provisionally; None: not told."""
    bot: str = ""
    """Which of several bots in one meeting tells of them: each has ids of its own. "": there is one, as far as is known."""


NOBODY = Speaker(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingEvent:
    key: str
    """Of what is told, not of the delivery: the same thing told twice has the same key, whatever ids came with it."""
    at: datetime | None = None
    """When the provider says it happened, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Began(MeetingEvent):
    """The meeting's start, or that of a recording of it; `at` is second 0."""

    title: str | None = None
    zone: str | None = None
    platform: str | None = None
    """zoom | google_meet | teams | … as the provider writes it."""
    invited: tuple[Speaker, ...] = ()
    """The roster: a prior for who may speak, never access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(MeetingEvent):
    """Nothing more is said. Late corrections may still come."""

    failed: str | None = None
    """Why there will be nothing, by the provider's code."""
    duration: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(MeetingEvent):
    speaker: Speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Left(MeetingEvent):
    speaker: Speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed(MeetingEvent):
    """What is known of a participant has changed: name, account, e-mail."""

    speaker: Speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoke(MeetingEvent):
    """By the platform's active-speaker mark: evidence of who spoke when, without words."""

    speaker: Speaker
    start: float
    end: float | None
    """None: still speaking. `start` itself: stopped then; when it began is told before, or was not."""
    base: Base


@dataclass(frozen=True, slots=True, kw_only=True)
class Uttered(MeetingEvent):
    """Words, as far as they are recognised."""

    speaker: Speaker
    text: str
    start: float
    end: float
    """Seconds, start <= end."""
    base: Base
    id: str | None = None
    """The same from partial to final; None: the provider has none."""
    slot: str | None = None
    """Where partials have no lasting id: a later one, or the final, with the same slot replaces all partials of it."""
    final: bool = True
    revision: int = 0
    """Among events of one id with equal `final` the higher holds, of equal ones the one that came later."""
    words: tuple[Word, ...] = ()
    """With times of the same base."""
    language: str | None = None
    confidence: float | None = None
    source: str = "platform"
    """platform | transcript | caption | diariser | chat: which of two copies of a line is the better attributed (the first two
    first). A transcript tells all of it once more when the meeting is over: what of it was told live is one with that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn(MeetingEvent):
    """What was told under this id is not so, or not there any more."""

    id: str


class AudioEncoding(StrEnum):
    S16 = "s16le"
    F32 = "f32le"
    OPUS = "opus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard(MeetingEvent):
    """A piece of sound. Never in the inbox: it goes to a file."""

    data: bytes
    encoding: AudioEncoding
    sample_rate: int
    channels: int = 1
    speaker: Speaker | None = None
    """Whose own stream it is; None: all of them mixed."""
    start: float | None = None
    """Of its first sample; None: it follows on what came before on this connection."""
    base: Base = Base.EPOCH


@dataclass(frozen=True, slots=True)
class SoundFrom:
    """Whence pieces of sound come."""

    space: str
    source: str
    """Name of the configured source."""
    meeting_id: str
    """Of the Meeting node."""
    connection: str
    """Of the WebSocket; "": by webhook."""


class AudioSink(Protocol):
    @property
    def place(self) -> str:
        """Id of where it is kept: another one where a service with another data folder would not find it."""
        ...

    async def hear(self, origin: SoundFrom, pieces: Sequence[Heard], received_at: datetime) -> None:
        """Kept when it returns, in the order in which they came on their connection. Never called for a source whose sound
        is not taken in."""
        ...
