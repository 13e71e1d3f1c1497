"""What happens in a space that others may want to be told of? Ids and counts: no words, no names, and nobody's voice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class EventKind(StrEnum):
    """The values are what an outbound webhook has as `type`."""

    SESSION_READY = "session.ready"
    """A session is complete: its messages can be read, by whoever may."""
    PERSON_UNRESOLVED = "person.unresolved"
    """A session has voices of nobody known: for whoever can say whose they are."""
    IDENTITY_REVISED = "identity.revised"
    """Who is who has changed: a merge, split, reassignment or verdict, or one taken back."""
    ERASED = "erased"
    """Something is gone for good: of one person, of some, or a whole space."""


class Erased(StrEnum):
    """`what` of an event of the kind ERASED."""

    SPACE = "space"
    VOICES = "voices"
    """Pieces of voice that people are recognised by."""
    INFERRED = "inferred"
    """How people feel and what they are like."""
    SOUNDS = "sounds"
    PERSON = "person"
    """Somebody, with all that is theirs: told when they are hidden; what is stored of them goes then."""
    SESSION = "session"
    MESSAGE = "message"
    FACT = "fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """To be written in the transaction that makes it true."""

    space: str
    kind: EventKind
    occasion: str
    """What it is of (a session's id, a correction's id, …): the same occasion of a kind is one event, however often written."""
    what: str | None = None
    """Of IDENTITY_REVISED: merge | split | reassign | not_same | bot | undo, or `account`: a login became somebody's, or
    nobody's. Of ERASED: a value of Erased."""
    session_id: str | None = None
    correction_id: str | None = None
    people: tuple[str, ...] = ()
    """Of a merge, whose turns are shown as another's now comes first."""
    voices: tuple[str, ...] = ()
    """Ids of LocalSpeakers."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Only of what cannot be counted any more when it is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """As it is kept; for no eyes but those of `service.graph.events`, which tells what of it somebody may know."""

    id: str
    space: str
    kind: EventKind
    at: datetime
    """UTC"""
    what: str | None
    session_id: str | None
    correction_id: str | None
    people: tuple[str, ...]
    voices: tuple[str, ...]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldEvent:
    """What a viewer may know of an event, as things stand when it is told."""

    id: str
    kind: EventKind
    at: datetime
    what: str | None = None
    space: str | None = None
    """Only of a space that was erased."""
    session_id: str | None = None
    correction_id: str | None = None
    people: tuple[str, ...] = ()
    voices: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """Of IDENTITY_REVISED, where turns changed hands."""
    counts: Mapping[str, int] = field(default_factory=dict)
