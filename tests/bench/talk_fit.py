"""Which weights tell best what a spoken turn answers? Fitted on scenarios 1 to 3 of the spoken set, checked on 4 to 6, which
somebody else wrote; printed for service/memory/talk_replies.py.

`python -m tests.bench.talk_fit`"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import minimize

from service.memory.interactions import DEFAULT, talk_turns
from service.memory.talk_replies import Candidate, all_candidates
from service.memory.vocatives import unique_names
from tests.bench.spoken.format import Scenario, load_all
from tests.bench.spoken.interactions import heard

L2 = 3.0
SEEN = ("1", "2", "3")

Example = tuple[Sequence[Candidate], int | None]
"""Candidates of a turn, and the index of what it answers."""


def main() -> None:
    scenarios = load_all()
    seen, unseen = (list(examples(s for s in scenarios if (s.id in SEEN) is wanted)) for wanted in (True, False))
    weights = fit(seen)
    for name, value in sorted(weights.items()):
        print(f'    "{name}": {value:.2f},')
    for name, given in (("seen", seen), ("unseen", unseen)):
        print(f"{name}: F1 {f1(given, weights):.3f}, n = {sum(answers is not None for _, answers in given)}", file=sys.stderr)


def examples(scenarios: Iterable[Scenario]) -> Iterable[Example]:
    for scenario in scenarios:
        for session in scenario.sessions:
            one = heard(scenario, session)
            places = {turn.id: i for i, turn in enumerate(session.turns)}
            given = talk_turns(one.turns, unique_names(one.names), DEFAULT)
            for turn, candidates in zip(session.turns, all_candidates(given, DEFAULT.talk), strict=True):
                yield candidates, places[turn.reply_to] if turn.reply_to else None


def fit(given: Sequence[Example]) -> dict[str, float]:
    names = list(dict.fromkeys(name for candidates, _ in given for c in candidates for name, _ in c.features))
    column = {name: i for i, name in enumerate(names)}
    data = []
    for candidates, answers in given:
        right = [i for i, c in enumerate(candidates) if c.index == answers]
        if right and len(candidates) > 1:
            rows = np.zeros((len(candidates), len(names)))
            for i, candidate in enumerate(candidates):
                for name, value in candidate.features:
                    rows[i, column[name]] = value
            data.append((rows, right[0]))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = 0.5 * L2 * weights @ weights, L2 * weights
        for rows, right in data:
            scores = rows @ weights
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            value -= np.log(chances[right])
            slope = slope + rows.T @ chances - rows[right]
        return value, slope

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B")
    return dict(zip(names, map(float, found.x), strict=True))


def f1(given: Sequence[Example], weights: dict[str, float]) -> float:
    right = told = gold = 0
    for candidates, answers in given:
        scores = [sum(weights.get(name, 0.0) * value for name, value in c.features) for c in candidates]
        best = candidates[int(np.argmax(scores))].index
        right += best is not None and best == answers
        told += best is not None
        gold += answers is not None
    return 2 * right / max(told + gold, 1)


if __name__ == "__main__":
    main()
