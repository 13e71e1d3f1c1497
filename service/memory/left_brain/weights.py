"""How much does what was said once still weigh? One when it is said, half after each half-life; two or more is strong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WeightConfig:
    half_life_days: float = 30.0  # VoiceMem's code: decay of edges when read
    strong: float = 2.0  # VoiceMem's code: strong from the weight of two mentions
    strong_share: float = 0.1  # of two themes, which are wide: and of a tenth of the lighter one's weight; by hand, 2026-11
