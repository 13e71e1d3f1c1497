"""What does the ranker know? Weights from weights.json, fitted by tests/bench/retrieval/fit.py."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Weights:
    by_feature: Mapping[str, float]
    scale: float
    """Of the sum of weighted features, to make log-odds of it (Platt, 1999)."""
    shift: float
    source: str
    """What they were fitted on, and when."""

    def of(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Shape (features,); a feature without a weight counts for nothing."""
        return np.array([self.by_feature.get(name, 0.0) for name in names])

    def probability(self, total: float) -> float:
        """[0, 1], of a sum of weighted features."""
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, self.scale * total + self.shift))))


@lru_cache(maxsize=1)
def shipped() -> Weights:
    """The weights that come with the service."""
    kept = json.loads(files("service.retrieval").joinpath("weights.json").read_text())
    return Weights(kept["by_feature"], kept["scale"], kept["shift"], kept["source"])
