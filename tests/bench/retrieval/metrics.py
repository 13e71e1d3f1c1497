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


def interval(values: Values, clusters: Sequence[str] | None = None, seed: int = 0) -> tuple[float, float]:
    """95 % of the mean of `values`, shape (questions,), resampling questions, or whole `clusters` of them.

    Of paired differences it is the interval of the gain."""
    keys, place = np.unique(np.arange(len(values)) if clusters is None else np.asarray(clusters), return_inverse=True)
    sums, counts = np.bincount(place, weights=values), np.bincount(place)
    drawn = np.random.default_rng(seed).integers(0, len(keys), (RESAMPLES, len(keys)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
