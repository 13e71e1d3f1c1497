"""Which rows come out of rankings? Metrics by system and by kind of question, and gains over each baseline, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tests.bench.report import Report
from tests.bench.retrieval.gold import Corpus, Findings, Found, Question
from tests.bench.retrieval.legs import DEPTH
from tests.bench.retrieval.metrics import Resamples, Values, judge

KEPT = 15
"""Turns that the service shows at most; what an answer is made of."""
GAINS = ("recall_at_5", "recall_at_15", "recall_at_50", "mrr")
"""Metrics that are compared in pairs."""
OURS = ("ours", "ours_loco", "ours_from_locomo")
Groups = Mapping[str, Callable[[Question], bool]]

LOCOMO_GROUPS: Groups = {
    "all": lambda question: True,
    "cats_1_4": lambda question: question.category != "adversarial",
    **{
        name: lambda question, name=name: question.category == name
        for name in ("multi_hop", "temporal", "open", "single_hop", "adversarial")
    },
}
QMSUM_GROUPS: Groups = {
    "testval": lambda question: True,
    "committee": lambda question: question.category == "committee",
    "icsi_ami": lambda question: question.category in ("icsi", "ami"),
    "icsi": lambda question: question.category == "icsi",
    "ami": lambda question: question.category == "ami",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """What some systems are worth on the same questions."""

    condition: str
    """`locomo`, `qmsum`, …; a group's name is put behind it."""
    questions: tuple[Question, ...]
    clusters: tuple[str, ...] | None
    """One name a question where those of one meeting are drawn together."""
    systems: Mapping[str, Mapping[str, Values]]
    """system → metric → one value a question; NaN where nothing was measured."""


def judged(
    condition: str,
    corpora: Sequence[Corpus],
    found: Mapping[str, Findings],
    tokens: Mapping[str, int],
    *,
    corrected: bool = False,
    by_corpus: bool = False,
) -> Judged:
    """`tokens`: of each turn. `corrected`: against the audit's citations, without the questions it holds to be wrong.

    Raises KeyError for a system that was not asked everything."""
    pairs = [(corpus, q) for corpus in corpora for q in corpus.questions if not corrected or q.corrected is not None]
    questions = tuple(question for _, question in pairs)
    systems = {}
    for system, findings in found.items():
        rows = [_one(findings[q.id], (q.corrected if corrected else q.gold) or (), tokens) for q in questions]
        systems[system] = {metric: np.array([row[metric] for row in rows]) for metric in rows[0]}
    return Judged(condition, questions, tuple(c.id for c, _ in pairs) if by_corpus else None, systems)


def _one(found: Found, gold: Sequence[str], tokens: Mapping[str, int]) -> Mapping[str, float]:
    return {
        **judge(found.ids[:DEPTH], gold),
        "tokens_at_15": float(sum(tokens[id] for id in found.ids[:KEPT])),
        "rounds": float(found.rounds),
        "seconds": float("nan") if found.seconds is None else found.seconds,
    }


def add_rows(report: Report, of: Judged, groups: Groups) -> None:
    """All metrics of all systems for each group, and the gains of ours."""
    for group, belongs in groups.items():
        rows = np.array([i for i, question in enumerate(of.questions) if belongs(question)], dtype=np.intp)
        if len(rows):
            drawn = Resamples(len(rows), [of.clusters[i] for i in rows] if of.clusters else None)
            _add_group(report, f"{of.condition}/{group}", {s: _at(values, rows) for s, values in of.systems.items()}, drawn)


def _at(values: Mapping[str, Values], rows: np.ndarray) -> Mapping[str, Values]:
    return {metric: every[rows] for metric, every in values.items()}


def _add_group(report: Report, condition: str, systems: Mapping[str, Mapping[str, Values]], drawn: Resamples) -> None:
    for system, metrics in systems.items():
        for metric, values in metrics.items():
            if metric == "seconds":
                _add_latency(report, condition, system, values)
                continue
            unit = {"tokens_at_15": "tokens", "rounds": "rounds"}.get(metric, "share")
            report.add(metric, condition, system, values.mean(), unit, len(values), drawn.interval(values))
    for ours in (system for system in OURS if system in systems):
        for other in (system for system in systems if system not in OURS):
            for metric in GAINS:
                gain = systems[ours][metric] - systems[other][metric]
                report.add(f"{metric}_over_{other}", condition, ours, gain.mean(), "share", len(gain), drawn.interval(gain))


def _add_latency(report: Report, condition: str, system: str, seconds: Values) -> None:
    """Over the questions whose time was taken one by one."""
    taken = 1_000 * seconds[~np.isnan(seconds)]
    for percentile in (50, 95) if len(taken) else ():
        report.add(f"p{percentile}_ms", condition, system, np.percentile(taken, percentile), "ms", len(taken))
