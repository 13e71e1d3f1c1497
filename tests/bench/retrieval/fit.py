"""Which weights rank best, and do they carry over? A listwise linear fit on kept signals, judged on what it has not seen.

`python -m tests.bench.retrieval.fit` reports, for the signals that were kept (tests.bench.retrieval.signals): LoCoMo leaving
one conversation out, the project's spoken set leaving one scenario out, and how each set's weights do on the others. With
`--ship` it writes service/retrieval/weights.json from QMSum's train split (MIT) and the spoken set. What is fitted on LoCoMo
(CC BY-NC) is for evaluation and is never written.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from service.language.embed import load_text_embedder
from service.retrieval.features import features
from service.retrieval.ranking import Ranker
from service.retrieval.weights import Weights
from service.types.audio import TextEmbedder
from service.types.candidates import Read
from tests.bench.retrieval.embedded import Embedded
from tests.bench.retrieval.metrics import interval, judge
from tests.bench.retrieval.signals import CACHE, Asked, kept, path

Matrix = npt.NDArray[np.float32]
SHIPPED = Path(__file__).parents[3] / "service" / "retrieval" / "weights.json"
HAND = {
    "words_z": 0.4, "words_context_z": 0.4, "turn_z": 0.6, "context_z": 0.3, "words_session": 0.3, "turn_session": 0.3,
    "asks": -0.4, "length_z": 0.4, "by": 0.4, "in_window": 0.7, "turn_within5": 0.3, "words_within10": 0.3,
}  # fmt: skip
"""By eye, to choose what is fitted on: not judged."""
SETS = ("spoken", "qmsum_train", "qmsum_testval", "locomo", "locomo_pooled")
PRIOR = {"in_window": 1.0, "soon_after": 0.5}
"""Where nothing speaks against it: what a question about a day asks for was said on it, or soon after. Too few questions of
the sets that weights may come from name a day."""

NEVER_AGAINST = re.compile(
    r"(words|turn|context|fact|alike)_(?:words_|turn_)?(z|context|pair_z|reply_z|context_z|share|within\d+|cover\d+|session)|words|alike|further_z"
    r"|by|to|in_window|soon_after|\w+_told|asked_before"
)
"""What can only speak for a candidate: a negative weight would be chance, and bad advice where scores spread otherwise."""


@dataclass(frozen=True, slots=True)
class FitConfig:
    l2: float = 3e-3  # on weights of features in units of their spread, off PRIOR; 1e-3 and 1e-2 within 0.3 of it everywhere
    first: int = 60  # candidates of a question fitted on: all gold, the first by HAND, and some at random
    random: int = 20
    steps: int = 100  # of L-BFGS; the loss moves in its fifth digit from 60 on


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

    def scores(self, case: Case) -> npt.NDArray[np.float64]:
        return np.asarray(case.matrix @ self.weights)

    def ranked(self, case: Case) -> list[str]:
        return [case.asked.ids[row] for row in np.argsort(-self.scores(case), kind="stable")]


def cases(asked: Sequence[Asked]) -> tuple[list[Case], tuple[str, ...]]:
    made: list[Case] = []
    names: tuple[str, ...] = ()
    for one in asked:
        matrix, names = features(one.signals)
        gold = set(one.gold)
        made.append(Case(one, matrix.astype(np.float32), np.array([id in gold for id in one.ids], dtype=bool)))
    return made, names


def further(asked: Sequence[Asked], embedder: TextEmbedder, weights: Weights) -> list[Asked]:
    """The same questions in a second round, that goes on from the best that `weights` found; candidates of the first."""
    made = []
    for one in asked:
        best = Ranker(weights)(one.signals)[:1]
        texts = {read.id: read.text for read in one.signals.read}
        query = " ".join([one.signals.question, *(texts[candidate.id] for candidate in best)])
        cosines = embedder.passages([shown(read) for read in one.signals.read]) @ embedder.queries([query])[0]
        read = tuple(
            replace(each, turn=(*each.turn[:1], float(cosine))) for each, cosine in zip(one.signals.read, cosines, strict=True)
        )
        made.append(replace(one, signals=replace(one.signals, read=read)))
    return made


def shown(read: Read) -> str:
    return f"{read.text} [shows: {read.captions}]" if read.captions else read.text or "."


def fit(train: Sequence[Case], names: tuple[str, ...], config: FitConfig = FitConfig()) -> Fitted:
    """Softmax over the candidates of a question against its gold ones, each an equal share; L2 on standardised weights."""
    usable = [case for case in train if case.gold.any()]
    spread = np.sqrt(np.mean([case.matrix.var(axis=0) for case in usable], axis=0))
    spread[spread < 1e-6] = np.inf
    hand = np.array([HAND.get(name, 0.0) for name in names], dtype=np.float32)
    rng = np.random.default_rng(0)
    chosen = [_chosen(case, hand, rng, config) for case in usable]
    stacked = np.concatenate([case.matrix[rows] for case, rows in zip(usable, chosen, strict=True)]) / spread
    wanted = np.concatenate([case.gold[rows] / case.gold.sum() for case, rows in zip(usable, chosen, strict=True)])
    starts = np.cumsum([0, *map(len, chosen)])
    of = np.repeat(np.arange(len(usable)), np.diff(starts))

    prior = np.array([PRIOR.get(name, 0.0) for name in names]) * np.where(np.isinf(spread), 0.0, spread)

    def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        scores = stacked @ weights.astype(np.float32)
        top = np.maximum.reduceat(scores, starts[:-1])[of]
        shares = np.exp(scores - top)
        total = np.add.reduceat(shares, starts[:-1])[of]
        off = weights - prior
        value = -float(wanted @ (scores - top - np.log(total))) / len(usable) + config.l2 * float(off @ off)
        slope = stacked.T @ (shares / total - wanted).astype(np.float32) / len(usable)
        return value, slope.astype(np.float64) + 2 * config.l2 * off

    bounds = [(0.0 if NEVER_AGAINST.fullmatch(name) else None, None) for name in names]
    found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": config.steps})
    weights = np.where(np.isinf(spread), [PRIOR.get(name, 0.0) for name in names], found.x / spread)
    return Fitted(names, weights)


def _chosen(case: Case, hand: npt.NDArray[np.float32], rng: np.random.Generator, config: FitConfig) -> npt.NDArray[np.intp]:
    order = np.argsort(-(case.matrix @ hand), kind="stable")
    rest = order[config.first :]
    some = rng.choice(rest, min(config.random, len(rest)), replace=False)
    return np.unique(np.concatenate([order[: config.first], np.flatnonzero(case.gold), some]))


def left_out(
    every: Sequence[Case],
    names: tuple[str, ...],
    fold: Callable[[Case], str],
    also: Sequence[Case] = (),
    config: FitConfig = FitConfig(),
) -> dict[str, list[str]]:
    """Question id → ranking, by weights that saw no question of its fold; `also` is fitted on each time."""
    ranked: dict[str, list[str]] = {}
    for held in sorted({fold(case) for case in every}):
        fitted = fit([*also, *(case for case in every if fold(case) != held)], names, config)
        ranked |= {case.asked.id: fitted.ranked(case) for case in every if fold(case) == held}
    return ranked


def calibrated(fitted: Fitted, every: Sequence[Case]) -> tuple[float, float]:
    """Scale and shift that make log-odds of a score: logistic regression over candidates (Platt, 1999)."""
    scores = np.concatenate([fitted.scores(case) for case in every])
    gold = np.concatenate([case.gold for case in every]).astype(float)

    def loss(at: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        odds = at[0] * scores + at[1]
        likely = 1 / (1 + np.exp(-odds))
        value = float(np.mean(np.logaddexp(0, odds) - gold * odds))
        return value, np.array([np.mean((likely - gold) * scores), np.mean(likely - gold)])

    scale, shift = minimize(loss, np.array([1.0, -4.0]), jac=True, method="L-BFGS-B").x
    return float(scale), float(shift)


def show(title: str, every: Sequence[Case], ranked: Mapping[str, Sequence[str]]) -> None:
    values = [judge(ranked[case.asked.id], case.asked.gold) for case in every]

    def mean(metric: str, rows: Sequence[int] = range(len(values))) -> float:
        return float(np.mean([values[row][metric] for row in rows]))

    groups = [case.asked.corpus for case in every] if len({case.asked.corpus for case in every}) > 20 else None
    low, high = interval(np.array([value["recall_at_15"] for value in values]), groups)
    print(f"{title:38} n={len(values)} R@5 {mean('recall_at_5'):.1%} R@15 {mean('recall_at_15'):.1%} ({low:.1%}–{high:.1%}) "
          f"R@50 {mean('recall_at_50'):.1%} MRR {mean('mrr'):.3f} nDCG@10 {mean('ndcg_at_10'):.3f}")  # fmt: skip
    for category in sorted({case.asked.category for case in every}):
        rows = [row for row, case in enumerate(every) if case.asked.category == category]
        print(f"    {category:18} {len(rows):5} R@5 {mean('recall_at_5', rows):.1%} R@15 {mean('recall_at_15', rows):.1%} "
              f"R@50 {mean('recall_at_50', rows):.1%}")  # fmt: skip


def carried(fitted: Fitted, every: Sequence[Case]) -> dict[str, list[str]]:
    return {case.asked.id: fitted.ranked(case) for case in every}


def corpus_of(case: Case) -> str:
    return case.asked.corpus


def main(chosen: Sequence[str], *, ship: bool) -> None:
    sets: dict[str, list[Case]] = {}
    names: tuple[str, ...] = ()
    for name in chosen or SETS:
        if path(name).is_file():
            sets[name], names = cases(kept(name))
    free = [*sets.get("qmsum_train", []), *sets.get("spoken", [])]
    first = fit(free, names)
    weights = Weights(dict(zip(names, map(float, first.weights), strict=True)), 1.0, 0.0, "first rounds")
    embedder = Embedded(load_text_embedder(cache=CACHE), CACHE)
    second, _ = cases(further([case.asked for case in free], embedder, weights))
    shipped = fit([*free, *second], names)
    print("further_z:", round(float(shipped.weights[names.index("further_z")]), 3))
    show("free sets, first round, in-sample", free, carried(shipped, free))
    show("free sets, second round, in-sample", second, carried(shipped, second))
    print("largest:", *(f"{names[i]} {shipped.weights[i]:+.2f}" for i in np.argsort(-np.abs(shipped.weights))[:20]))
    for name, every in sets.items():
        if name in ("locomo", "spoken"):
            show(f"{name}: fitted on its others", every, left_out(every, names, corpus_of))
        if name == "spoken":
            also = sets.get("qmsum_train", [])
            show("spoken: QMSum train + other scenarios", every, left_out(every, names, corpus_of, also))
        elif name != "qmsum_train":
            show(f"{name}: QMSum train + spoken", every, carried(shipped, every))
            if "qmsum_train" in sets:
                show(f"{name}: QMSum train", every, carried(fit(sets["qmsum_train"], names), every))
        if "qmsum" in name and "locomo" in sets:
            show(f"{name}: LoCoMo", every, carried(fit(sets["locomo"], names), every))
    if ship:
        scale, shift = calibrated(shipped, free)
        written = {name: round(float(weight), 4) for name, weight in zip(names, shipped.weights, strict=True)}
        source = (
            f"{len(free)} questions of QMSum's train split (MIT) and the project's spoken set, {datetime.now(UTC):%Y-%m-%d}, "
            "tests/bench/retrieval/fit.py"
        )
        document = {"source": source, "scale": round(scale, 4), "shift": round(shift, 4), "by_feature": written}
        SHIPPED.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ship", action="store_true", help="write the weights that come with the service")
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; all that were kept")
    asked_for = parser.parse_args()
    main(asked_for.sets, ship=asked_for.ship)
