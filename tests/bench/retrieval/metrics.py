"""How good is a ranking against gold evidence? Per question, so that systems can be compared in pairs.

Recall@k is the share of a question's gold turns among the first k, then the mean over questions (macro), as in the LoCoMo
paper: turns, not sessions, and never "any hit". Intervals are percentile bootstraps over questions, or over meetings where
the questions of one meeting share its difficulty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

CUTS = (5, 10, 15, 50)
RESAMPLES = 2_000
"""As in retrieval.md; the interval's ends then move by about a twentieth of its width between seeds."""
Values = npt.NDArray[np.float64]


def recall(ranked: Sequence[str], gold: Sequence[str], k: int) -> float:
    """Share of `gold`, which is not empty, among the first `k`."""
    wanted = set(gold)
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def full(ranked: Sequence[str], gold: Sequence[str], k: int) -> float:
    """1 when all of `gold` is among the first `k`, else 0."""
    return float(set(gold).issubset(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Sequence[str]) -> float:
    """1 / rank of the first gold turn, over all that was returned; 0 without one."""
    wanted = set(gold)
    return next((1 / rank for rank, id in enumerate(ranked, start=1) if id in wanted), 0.0)


def ndcg(ranked: Sequence[str], gold: Sequence[str], k: int) -> float:
    """Discounted gain of the first `k` over the best possible; gold turns gain 1 (Järvelin and Kekäläinen, 2002)."""
    wanted = set(gold)
    gained = sum(1 / math.log2(rank + 1) for rank, id in enumerate(ranked[:k], start=1) if id in wanted)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
    return gained / best


def judge(ranked: Sequence[str], gold: Sequence[str]) -> Mapping[str, float]:
    """All metrics of one ranking, by name; raises ValueError for a ranking that names a turn twice."""
    if len(set(ranked)) != len(ranked):
        raise ValueError("a ranking names a turn twice")
    return {
        **{f"recall_at_{k}": recall(ranked, gold, k) for k in CUTS},
        "full_evidence_at_15": full(ranked, gold, 15),
        "mrr": reciprocal_rank(ranked, gold),
        "ndcg_at_10": ndcg(ranked, gold, 10),
    }


class Resamples:
    """RESAMPLES draws of the same questions, for every metric alike: differences of two metrics are then paired."""

    def __init__(self, size: int, clusters: Sequence[str] | None = None, seed: int = 0) -> None:
        """`size` questions, or whole `clusters` of them (one name a question) drawn together."""
        keys, place = np.unique(np.arange(size) if clusters is None else np.asarray(clusters), return_inverse=True)
        drawn = np.random.default_rng(seed).integers(0, len(keys), (RESAMPLES, len(keys)))
        times = np.stack([np.bincount(row, minlength=len(keys)) for row in drawn])
        self._weights = times[:, place].astype(np.float32)
        self._total = self._weights.sum(axis=1)

    def interval(self, values: Values) -> tuple[float, float]:
        """95 % of the mean of `values`, shape (questions,); of paired differences, of the gain."""
        low, high = np.percentile((self._weights @ values.astype(np.float32)) / self._total, [2.5, 97.5])
        return float(low), float(high)


def interval(values: Values, clusters: Sequence[str] | None = None, seed: int = 0) -> tuple[float, float]:
    """The same for one metric alone."""
    return Resamples(len(values), clusters, seed).interval(values)
