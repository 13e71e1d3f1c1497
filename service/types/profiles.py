"""What is known of a person, put together from facts that the viewer may read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.types.facts import KnownFact
from service.types.people import Person


@dataclass(frozen=True, slots=True)
class Trait:
    """One thing said of oneself, as it stands and as it stood."""

    now: tuple[KnownFact, ...]
    """What was said of it last; several where they were said in one breath."""
    before: tuple[KnownFact, ...]
    """What it was said to be before, newest first: what no longer holds, or contradicts it."""
    since: datetime
    """When what holds now was first said, UTC, and not otherwise since."""
    num_said: int
    """How often what holds now was said."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Made for one viewer when asked for; nothing of it is stored."""

    person: Person
    background: tuple[Trait, ...]
    """Where they live, what they do: newest first."""
    preferences: tuple[Trait, ...]
    commitments: tuple[KnownFact, ...]
    """What they promised, newest first."""
    plans: tuple[KnownFact, ...]
    complete: bool
    """All of their facts were looked at, not only the newest."""
