"""Which candidates of a round answer best? What a round found, ranked, with what spoke for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.types.search import Found


@dataclass(frozen=True, slots=True)
class Candidate:
    id: str
    score: float
    """[0, 1], comparable within one pool."""
    found: tuple[Found, ...]
    because: Mapping[str, float] = field(default_factory=dict)
    """Contribution of each feature to the score, largest first, for `explain`."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What one round found, best first, no id twice."""

    candidates: tuple[Candidate, ...]
    visible: int
    """How many messages the scope holds at all."""
    legs: tuple[str, ...]
    """Which search ran and how: e.g. `dense:exact`, `bm25:skipped(empty)`."""
