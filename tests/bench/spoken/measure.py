"""How good is what was shown for a question of the spoken set, and what do many of them come to?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tests.bench.report import Report
from tests.bench.retrieval.metrics import interval, judge
from tests.bench.spoken.format import Kind, Question

RETRIEVAL = ("recall_at_5", "recall_at_10", "recall_at_15", "full_evidence_at_15", "mrr", "ndcg_at_10")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one system showed for one question."""

    question: Question
    turns: tuple[str, ...]
    """Turns that the hits hold, best first, none twice."""
    named: frozenset[str] | None = None
    """Names given for a question that asks for people; None where it asks for none, or the system names nobody."""
    named_first: frozenset[str] | None = None
    """The same by the first hit alone."""
    rounds: int = 1


def turns_of(hits: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Turns in the order of the messages that hold them."""
    return tuple(dict.fromkeys(turn for hit in hits for turn in hit))


def leaked(outcome: Outcome) -> bool:
    return bool(set(outcome.question.forbidden) & set(outcome.turns))


def named_rightly(outcome: Outcome) -> bool | None:
    """Whether those named are among those asked for, and somebody is; None where the question asks for no people."""
    return _right(outcome.named, outcome.question)


def first_hit_rightly(outcome: Outcome) -> bool | None:
    """The same of the first hit alone: what naming adds to ranking, or takes away."""
    return _right(outcome.named_first, outcome.question)


def _right(named: frozenset[str] | None, question: Question) -> bool | None:
    return None if question.who is None or named is None else bool(named) and named <= set(question.who.people)


def newest_first(outcome: Outcome) -> bool | None:
    """Whether what holds now stands above all that held before; None where nothing held before."""
    if not outcome.question.outdated or not outcome.question.evidence:
        return None
    return _best(outcome, outcome.question.evidence) < _best(outcome, outcome.question.outdated)


def add(report: Report, outcomes: Sequence[Outcome], where: str, system: str) -> None:
    """Rows by kind and of all. `where`: `spoken` or `spoken_audio`."""
    for kind in (None, *Kind):
        some = [o for o in outcomes if kind is None or o.question.kind is kind]
        condition = f"{where}/{kind.value if kind else 'all'}"
        answerable = [o for o in some if o.question.evidence]
        judged = [judge(o.turns, o.question.evidence) for o in answerable]
        for metric in RETRIEVAL:
            _mean(report, metric, condition, system, [one[metric] for one in judged])
        _share(report, "attribution_accuracy", condition, system, some, named_rightly)
        _share(report, "attribution_of_first_hit", condition, system, some, first_hit_rightly)
        _share(report, "newest_first", condition, system, some, newest_first)
        forbidding = [o for o in some if o.question.forbidden]
        if forbidding:
            value = sum(map(leaked, forbidding))
            report.add("forbidden_shown", condition, system, value, "questions", len(forbidding))
    report.add("rounds", f"{where}/all", system, float(np.mean([o.rounds for o in outcomes])), "rounds", len(outcomes))


def add_gain(report: Report, ours: Sequence[Outcome], without: Sequence[Outcome], where: str, system: str) -> None:
    """How many points of Recall@15 are lost without something: paired, over questions; by kind and of all."""
    other = {id(o.question): o for o in without}
    for kind in (None, *Kind):
        pairs = [
            judge(o.turns, o.question.evidence)["recall_at_15"]
            - judge(other[id(o.question)].turns, o.question.evidence)["recall_at_15"]
            for o in ours
            if o.question.evidence and (kind is None or o.question.kind is kind)
        ]
        _mean(report, "recall_at_15_lost", f"{where}/{kind.value if kind else 'all'}", system, pairs)


def _best(outcome: Outcome, turns: Collection[str]) -> int:
    return min((rank for rank, turn in enumerate(outcome.turns) if turn in turns), default=len(outcome.turns) + 1)


def _share(
    report: Report,
    metric: str,
    condition: str,
    system: str,
    outcomes: Sequence[Outcome],
    judged: Callable[[Outcome], bool | None],
) -> None:
    _mean(report, metric, condition, system, [float(v) for o in outcomes if (v := judged(o)) is not None])


def _mean(report: Report, metric: str, condition: str, system: str, values: Sequence[float]) -> None:
    if values:
        whole = np.asarray(values, np.float64)
        report.add(metric, condition, system, float(whole.mean()), "share", len(whole), interval(whole))
