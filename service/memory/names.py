"""What is somebody called? Claims that words and labels make, and how sure they are together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NameConfig:
    apply: float = 0.8


DEFAULT = NameConfig()
