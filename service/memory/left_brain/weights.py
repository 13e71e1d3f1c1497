"""How much does what was said once still weigh? One when it is said, half after each half-life; two or more is strong."""

from __future__ import annotations

from dataclasses import dataclass

from service.types.entities import Strength


@dataclass(frozen=True, slots=True)
class WeightConfig:
    half_life_days: float = 30.0  # VoiceMem's code: decay of edges when read
    strong: float = 2.0  # VoiceMem's code: strong from the weight of two mentions


DEFAULT = WeightConfig()


def strength(weight: float, config: WeightConfig = DEFAULT) -> Strength:
    return Strength.STRONG if weight >= config.strong else Strength.WEAK
