"""What does the fold tell? Turns in an order that stays, what later changes of them, who takes part, and when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.types.audio import Segment, Word
from service.types.meeting import AccountKey, Speaker


class Kind(StrEnum):
    SPEECH = "speech"
    CHAT = "chat"


class Doubt(StrEnum):
    """Why a turn is to be believed less than others."""

    PARTIAL = "partial"
    """It never became final: no facts of it."""
    NAMELESS = "nameless"
    """Nobody said who it is."""
    MARKED = "marked_as_another"
    """The platform marked another participant as speaking, and not this one."""
    MENDED = "mended_time"
    """Its times were not possible as told: an end before its start, before the meeting's start."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The same words told otherwise, of which the turn is the better attributed."""

    key: str
    track: str
    source: str


@dataclass(frozen=True, slots=True)
class Turn:
    key: str
    """Of the utterance, the same through all its revisions; makes the message's id."""
    track: str
    """The local speaker: a Participant's `track`, or one of its own where nobody is known."""
    segment: Segment
    """Seconds since About.started_at, never negative."""
    text: str
    words: tuple[Word, ...] = ()
    language: str | None = None
    confidence: float | None = None
    kind: Kind = Kind.SPEECH
    by_bot: bool = False
    """A program's words: kept to be read, and left out of facts, of who is who, and of what is learned from voices."""
    source: str = "platform"
    """Who says whose words they are: platform | caption | diariser | chat, or "marks": whoever was marked as speaking."""
    speaker_confidence: float | None = None
    """The provider's own, [0, 1]."""
    copies: tuple[Copy, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def is_final(self) -> bool:
        return Doubt.PARTIAL not in self.doubts


@dataclass(frozen=True, slots=True)
class Participant:
    """A handle of the meeting, never somebody: anybody can type any name, and a tile may have a room behind it."""

    track: str
    handle: str
    scope: str = ""
    name: str | None = None
    """The latest that was told, as sent; one that is provisional gives way to one that is not."""
    names: tuple[str, ...] = ()
    """All it ever had, in the order in which they were told."""
    accounts: tuple[AccountKey, ...] = ()
    emails: tuple[AccountKey, ...] = ()
    is_bot: bool = False
    is_host: bool = False
    is_name: bool = False
    """The handle is a display name: whoever types it is this participant."""
    tile: str | None = None
    """The track of the tile whose sound was told apart into several, of whom this is one."""
    several: bool = False
    """Several people behind it: whose account it is has not said it all. Attribute nothing to anybody by it."""
    attends: tuple[Segment, ...] = ()
    """Between coming and going, as the platform tells it; seconds since the start, in order, apart."""
    here_since: float | None = None
    """Came and did not go yet; None also once the meeting is over."""


@dataclass(frozen=True, slots=True)
class About:
    """Of the meeting."""

    started_at: datetime | None = None
    """Of second 0, UTC. Fixed with the first turn; None before, and where nothing says when it was."""
    is_exact: bool = False
    """False: worked out from when the first words arrived."""
    title: str | None = None
    zone: str | None = None
    platform: str | None = None
    invited: tuple[Speaker, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A turn, told for the first time."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Revised:
    """A turn that was given is otherwise: its text, times, speaker or doubts."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Gone:
    """A turn that was given is none: withdrawn, blank, or a copy of one that is better attributed."""

    key: str


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a participant, new or changed; all of it."""

    participant: Participant


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of the meeting, new or changed; all of it. Comes before the first turn."""

    about: About


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing more is expected. What comes nevertheless is told all the same, and is followed by another of these."""

    reason: str
    """ended | failed | idle"""
    failed: str | None = None
    duration: float | None = None
    """Seconds, by the provider."""


Outcome = Given | Revised | Gone | Known | Described | Finished
