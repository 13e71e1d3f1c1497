"""How do tallies become the figures of the paper's tables, with their intervals?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.bench.report import Report

ROUNDS = 1_000
SEED = 0
NONE = 3.0
"""Upper 95 % bound of how often something happens that was never seen ("rule of three")."""

Sums = Mapping[str, npt.NDArray[np.float64]]
"""name → its sum in each resample, shape (resamples,)"""


@dataclass(frozen=True, slots=True)
class Figure:
    metric: str
    unit: str
    part: str
    whole: str
    """Names of a tally; the figure is their ratio, or for a `count` the part, out of the whole."""


ROUTING = (
    Figure("create_precision", "share", "right_create", "create"),
    Figure("create_recall", "share", "right_create", "new"),
    Figure("link_precision", "share", "right_link", "link"),
    Figure("known_user_resolution_recall", "share", "resolved", "returning"),
    Figure("fnur", "share", "false_new", "returning"),
    Figure("unresolved", "share", "unresolved", "turns"),
    Figure("clusters_per_gold", "ratio", "people", "speakers"),
)
ASKING = (
    Figure("wrong_authorisations", "count", "wrong", "asked"),
    Figure("rightful_refused", "share", "refused", "known"),
)
GATE = (
    Figure("foreign_turns_returned", "count", "foreign", "hits"),
    Figure("owned_turns_missing", "share", "missing", "owned"),
)
RECALL = (Figure("evidence_recall_at_15", "share", "recall", "with_gold"),)
QA = (Figure("qa_accuracy", "share", "right_answers", "answered"),)


class Tallies:
    """Counts by group: what is resampled together, conversations or, in one space, voices."""

    def __init__(self) -> None:
        self.by_group: dict[str, Counter[str]] = {}

    def add(self, group: str, tally: Counter[str]) -> None:
        self.by_group.setdefault(group, Counter()).update(tally)

    def add_all(self, by_group: Mapping[str, Counter[str]]) -> None:
        for group, tally in by_group.items():
            self.add(group, tally)

    def only(self, keep: Callable[[str], bool]) -> Tallies:
        chosen = Tallies()
        chosen.add_all({group: tally for group, tally in self.by_group.items() if keep(group)})
        return chosen

    def total(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for tally in self.by_group.values():
            total.update(tally)
        return total

    def resampled(self) -> Sums:
        """Sums over ROUNDS draws of as many groups as there are."""
        names = sorted({name for tally in self.by_group.values() for name in tally})
        table = np.array([[tally[name] for name in names] for tally in self.by_group.values()], dtype=np.float64)
        drawn = np.random.default_rng(SEED).integers(0, len(table), (ROUNDS, len(table)))
        sums = table[drawn].sum(axis=1)
        return {name: sums[:, i] for i, name in enumerate(names)}

    def interval(self, values: npt.NDArray[np.float64]) -> tuple[float, float] | None:
        """95 % of what the resamples gave; None for a single group, of which there is nothing to draw."""
        if len(self.by_group) < 2:
            return None
        low, high = np.nanpercentile(values, [2.5, 97.5])
        return float(low), float(high)


def add_figures(report: Report, tallies: Tallies, figures: Iterable[Figure], condition: str, system: str) -> None:
    if not tallies.by_group:
        return
    total, sums = tallies.total(), tallies.resampled()
    zeros = np.zeros(ROUNDS)
    for figure in figures:
        part, whole = total[figure.part], total[figure.whole]
        if not whole:
            continue
        parts, wholes = sums.get(figure.part, zeros), np.maximum(sums.get(figure.whole, zeros), 1e-9)
        if figure.unit == "count":
            interval = (0.0, NONE) if part == 0 else tallies.interval(parts)
            report.add(figure.metric, condition, system, part, "count", whole, interval)
            continue
        interval = tallies.interval(parts / wholes)
        if part == 0:
            interval = (0.0, min(1.0, NONE / whole))
        elif part == whole and figure.unit == "share":
            interval = (max(0.0, 1.0 - NONE / whole), 1.0)
        report.add(figure.metric, condition, system, part / whole, figure.unit, whole, interval)


def add_b_cubed(report: Report, tallies: Tallies, condition: str, system: str) -> None:
    """F1 of mean precision and mean recall."""
    total = {name: np.array([float(value)]) for name, value in tallies.total().items()}
    interval = tallies.interval(b_cubed_f1(tallies.resampled()))
    value = float(b_cubed_f1(total)[0])
    if value == 1.0:
        interval = (1.0 - NONE / float(total["turns"][0]), 1.0)
    report.add("b3_f1", condition, system, value, "share", int(total["turns"][0]), interval)


def b_cubed_f1(sums: Sums) -> npt.NDArray[np.float64]:
    turns = np.maximum(sums["turns"], 1e-9)
    precision, recall = sums["b3_precision"] / turns, sums["b3_recall"] / turns
    f1: npt.NDArray[np.float64] = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    return f1
