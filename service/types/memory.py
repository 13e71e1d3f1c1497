"""Sessions and messages: as they are written, and as a viewer may read them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.types.audio import Segment


class How(StrEnum):
    """How we know to whom something was said."""

    CALLER = "caller"
    NAMED = "named"
    REPLY = "reply"
    ONLY_OTHER = "only_other"
    ALL = "all"


class SessionStatus(StrEnum):
    OPEN = "open"
    """Being written, or broken off: a rerun resumes it."""
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Addressee:
    person_id: str
    confidence: float
    """[0, 1]"""
    how: How


@dataclass(frozen=True, slots=True)
class Attendance:
    """One person was there during `intervals`; `source` is platform, roster, caller or voice."""

    person_id: str
    intervals: tuple[Segment, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    space: str
    title: str
    started_at: datetime
    """UTC; the original zone is kept beside it."""
    zone: str | None
    source: str
    external_id: str | None
    status: SessionStatus
    duration: float
    num_messages: int
    created_at: datetime
    sound_lost: bool = False
    """Of a meeting: sound of it lay where nobody looked when it was closed, and was not listened to."""
    revision: int = 1
    """How often its recording was processed, each time in place of the time before."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as a viewer may read it. `speaker_id` is None while the voice is unresolved."""

    id: str
    session_id: str
    index: int
    text: str | None
    language: str | None
    start: float
    end: float
    said_at: datetime
    """UTC: session start + `start`."""
    speaker_id: str | None
    local_speaker: str
    addressees: tuple[Addressee, ...]
    reply_to: str | None
    decision: str | None
    """link | create | assigned | corrected | unresolved"""
    cosine: float | None
    margin: float | None
    threshold: float | None
