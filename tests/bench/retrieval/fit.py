"""Which weights rank best, and do they carry over? A listwise linear fit on kept signals, judged on what it has not seen.

`python -m tests.bench.retrieval.fit` reports LoCoMo leaving one conversation out, QMSum train → test and validation, and
each set's weights on the other; `--ship` writes service/retrieval/weights.json from QMSum's train split (MIT). Weights
fitted on LoCoMo (CC BY-NC) are for evaluation and are never written.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from service.retrieval.features import features
from tests.bench.retrieval.metrics import interval, judge
from tests.bench.retrieval.signals import Asked, kept

Matrix = npt.NDArray[np.float64]
L2 = 1e-3
SHIPPED = Path(__file__).parents[3] / "service" / "retrieval" / "weights.json"


@dataclass(frozen=True)
class Case:
    """One question, ready to fit on or to judge."""

    asked: Asked
    matrix: Matrix
    """Shape (candidates, features)."""
    gold: npt.NDArray[np.bool_]
    """Shape (candidates,)."""


@dataclass(frozen=True)
class Fitted:
    names: tuple[str, ...]
    weights: npt.NDArray[np.float64]
    """In the features' own scale."""

    def ranked(self, case: Case) -> list[str]:
        order = np.argsort(-(case.matrix @ self.weights), kind="stable")
        return [case.asked.ids[row] for row in order]


def cases(asked: Sequence[Asked]) -> tuple[list[Case], tuple[str, ...]]:
    made, names = [], ()
    for one in asked:
        matrix, names = features(one.signals)
        gold = set(one.gold)
        made.append(Case(one, matrix, np.array([id in gold for id in one.ids], dtype=bool)))
    return made, names


def fit(train: Sequence[Case], names: tuple[str, ...], l2: float = L2) -> Fitted:
    """Softmax over the candidates of a question against its gold ones, each an equal share; L2 on standardised weights."""
    usable = [case for case in train if case.gold.any()]
    spread = np.sqrt(np.mean([case.matrix.var(axis=0) for case in usable], axis=0))
    spread[spread < 1e-9] = np.inf
    stacked = np.concatenate([case.matrix for case in usable]) / spread
    starts = np.cumsum([0, *(len(case.matrix) for case in usable)])
    wanted = np.concatenate([case.gold / case.gold.sum() for case in usable])
    of = np.repeat(np.arange(len(usable)), np.diff(starts))

    def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        scores = stacked @ weights
        top = np.maximum.reduceat(scores, starts[:-1])[of]
        shares = np.exp(scores - top)
        total = np.add.reduceat(shares, starts[:-1])[of]
        log_likely = scores - top - np.log(total)
        value = -float(wanted @ log_likely) / len(usable) + l2 * float(weights @ weights)
        slope = stacked.T @ (shares / total - wanted) / len(usable) + 2 * l2 * weights
        return value, slope

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return Fitted(names, found.x / spread)


def left_out(
    all_cases: Sequence[Case], names: tuple[str, ...], fold: Callable[[Case], str], l2: float = L2
) -> dict[str, list[str]]:
    """Question id → ranking, by weights that saw no question of its fold."""
    ranked: dict[str, list[str]] = {}
    for held in sorted({fold(case) for case in all_cases}):
        fitted = fit([case for case in all_cases if fold(case) != held], names, l2)
        ranked |= {case.asked.id: fitted.ranked(case) for case in all_cases if fold(case) == held}
    return ranked


def judged(all_cases: Sequence[Case], ranked: Mapping[str, Sequence[str]]) -> list[Mapping[str, float]]:
    return [judge(ranked[case.asked.id], case.asked.gold) for case in all_cases]


def show(title: str, all_cases: Sequence[Case], ranked: Mapping[str, Sequence[str]]) -> None:
    values = judged(all_cases, ranked)

    def mean(metric: str, rows: Sequence[int] = range(len(values))) -> float:
        return float(np.mean([values[row][metric] for row in rows]))

    low, high = interval(np.array([value["recall_at_15"] for value in values]), [case.asked.corpus for case in all_cases])
    print(f"{title:34} n={len(values)} R@5 {mean('recall_at_5'):.1%} R@15 {mean('recall_at_15'):.1%} ({low:.1%}–{high:.1%}) "
          f"R@50 {mean('recall_at_50'):.1%} MRR {mean('mrr'):.3f} nDCG {mean('ndcg_at_10'):.3f}")  # fmt: skip
    for category in sorted({case.asked.category for case in all_cases}):
        rows = [row for row, case in enumerate(all_cases) if case.asked.category == category]
        print(f"    {category:12} {len(rows):5} R@5 {mean('recall_at_5', rows):.1%} R@15 {mean('recall_at_15', rows):.1%} "
              f"R@50 {mean('recall_at_50', rows):.1%}")  # fmt: skip
