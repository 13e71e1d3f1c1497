"""What somebody said about being known, heard or read, as it was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.types.people import Consent, ConsentPurpose


@dataclass(frozen=True, slots=True)
class Said:
    """What a person said to one purpose, and what shows that they said it."""

    state: Consent
    purpose: ConsentPurpose
    text_version: str
    channel: str
    """How they said so: spoken, form, paper, …"""
    at: datetime
    """When they said it, which may be before it was recorded."""
    evidence: str | None = None
    """A reference, or `sha256:` and the hash of an upload; the thing itself is kept by whoever recorded it."""
    recorded_by: str | None = None
    """Account."""


@dataclass(frozen=True, slots=True)
class ConsentRecord:
    """One of the history of a person, never changed once it is written."""

    id: str
    person_id: str
    """Of who said it: of people merged into one, each has their own."""
    said: Said
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class KnownOptOut:
    """A mark of somebody who refused, for who looks after the service: not whose it is, once they are erased."""

    id: str
    kind: str
    """voice | account"""
    channel: str | None
    key: str
    created_at: datetime
    """Of somebody who was erased, the month."""
    person_id: str | None
    """None: of somebody who was erased, or opted out before."""


@dataclass(frozen=True, slots=True)
class VoiceMark:
    """What is kept of a voice that must not be known (service.identity.opt_outs)."""

    channel: str
    """wideband | telephone | twin: with what it can be compared."""
    signs: bytes
    key: str
    """Id of the key it was made with."""
