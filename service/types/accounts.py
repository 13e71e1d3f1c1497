"""What do a meeting's logins say, as they are kept? Evidence of who took part, with all that speaks against it."""

from __future__ import annotations

from dataclasses import dataclass

from service.types.audio import Segment
from service.types.meeting import AccountKey


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A participant of a session with the logins that the platform told of them."""

    accounts: tuple[AccountKey, ...]
    """E-mail addresses only where the platform verified them."""
    local_speaker: str | None = None
    """Id of the LocalSpeaker; None, or one that is not there (yet), for who has said nothing."""
    name: str | None = None
    """Display name, as sent."""
    is_bot: bool = False
    """The bot itself, or another program, whoever's login it uses."""
    several: bool = False
    """A room behind the tile: several voices, or a device that a room shares."""
    attends: tuple[Segment, ...] = ()
    """Seconds of the session."""


@dataclass(frozen=True, slots=True)
class Presence:
    """When somebody was there with this login: no program, and no room."""

    account_id: str
    intervals: tuple[Segment, ...]
    """In order and apart; none: it is not told."""
    beside: tuple[str, ...]
    """Ids of the other accounts that they came with."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose an account is."""

    account_id: str
    person_id: str
    is_bot: bool
    """The person is a program."""
    same: frozenset[str]
    """Who the person is by confirmed merges, themselves too."""
    has_voice: bool
    """Their own voice is known."""


@dataclass(frozen=True, slots=True)
class HeardAs:
    """Somebody whom a voice of the session was taken for, by the voice, or by a human who heard it."""

    person_id: str
    is_settled: bool
    """By more than their voice: by a name, an account, or as a bot."""


@dataclass(frozen=True, slots=True)
class Track:
    """A local speaker, with all that its logins and its voice say."""

    id: str
    is_bot: bool
    several: bool
    owners: tuple[Owner, ...]
    """Of its accounts that are bound, those of platforms before e-mail addresses."""
    heard: tuple[HeardAs, ...] = ()
