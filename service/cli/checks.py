"""What is a check of the doctor? What was looked at, how it stands, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    OK = "ok"
    LATER = "later"
    """Not there yet; comes by itself on first use."""
    OPTIONAL = "optional"
    """Missing, and only needed for what was not chosen."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    found: str
    remedy: str = ""
