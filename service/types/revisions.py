"""What newer facts do to older ones of the same person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.types.facts import FactKind


class Change(StrEnum):
    """What is kept of a comparison; a fact that changes nothing is simply added."""

    UPDATE = "update"
    DELETE = "delete"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Compared:
    """A fact as it is compared with others of the same person."""

    id: str
    statement: str
    """With {speaker} and {addressee}."""
    kind: FactKind
    attribute: str | None
    value: str | None
    said_at: datetime

    @property
    def place(self) -> tuple[datetime, str]:
        """What orders facts: the later one is the newer."""
        return self.said_at, self.id


@dataclass(frozen=True, slots=True)
class Waiting:
    """A fact that is to be compared, as it was when that was listed."""

    id: str
    speaker: str | None
    mark: str
    """What it is compared as."""
    facts: tuple[Compared, ...] = field(repr=False)
    """All that its speaker said, itself among them; none without a speaker."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a newer fact of the same person does to an older one; both may be read."""

    fact_id: str
    """Of the newer one."""
    change: Change
    said_at: datetime


def is_cancelled(revisions: Sequence[Revision]) -> bool:
    """Of a fact that these change, the newest first: said to be off, and not said again or otherwise since."""
    return bool(revisions) and revisions[0].change is Change.DELETE


@dataclass(frozen=True, slots=True)
class Lag:
    pending: int
    """Visible facts that are not compared yet."""
    oldest: datetime | None
    """When the first of them was said."""
