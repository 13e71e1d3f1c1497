"""Which weights tell best what a typed message answers? Fitted on the dev split of the help channel (CC BY 4.0), once with
the names as typed and once with the leading names removed, in one model; printed as service/memory/chat_weights.py.

`python -m tests.bench.irc_fit > service/memory/chat_weights.py`; `--check` leaves each excerpt out once and prints F1."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from scipy.optimize import minimize

from service.memory.chat_features import Threads, chat_of
from service.memory.typed_chat import Candidate, ChatConfig, candidates_of, read
from tests.bench.irc import Excerpt, read_excerpts, score, typed_turns
from tests.bench.report import SHARED

L2 = 1.0
ROUNDS = 3
"""The first without what was decided before, each later one with what the model of the round before decides."""

HEAD = '''"""What does each sign weigh? Fitted by `python -m tests.bench.irc_fit` on {n} annotated messages (dev split of
jkkummerfeld/irc-disentanglement, CC BY 4.0; softmax over candidates and none, L2 {l2:g}, each message with and without the name
it opens with); printed, not written by hand. Figures on the test split: tests/bench/README.md."""

from __future__ import annotations

from collections.abc import Mapping

WEIGHTS: Mapping[str, float] = {{
{weights}
}}
'''


@dataclass(frozen=True, slots=True)
class Example:
    candidates: Sequence[Candidate]
    right: frozenset[int | None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="leave one excerpt out at a time instead")
    chosen = parser.parse_args()
    excerpts = read_excerpts(SHARED / "irc_replies.json", split="dev")
    if not chosen.check:
        weights = fit(excerpts)
        lines = "\n".join(f'    "{name}": {value:.3f},' for name, value in sorted(weights.items()))
        n = sum(len(excerpt.answers) for excerpt in excerpts)
        print(HEAD.format(n=n, l2=L2, weights=lines), end="")
        return
    for left_out in excerpts:
        weights = fit([excerpt for excerpt in excerpts if excerpt is not left_out])
        for shown in (left_out, left_out.without_names()):
            print(left_out.log, {k: round(v, 3) for k, v in score([shown], ChatConfig(weights=weights)).items()}, flush=True)


def fit(excerpts: Sequence[Excerpt]) -> dict[str, float]:
    both = [*excerpts, *(excerpt.without_names() for excerpt in excerpts)]
    weights: dict[str, float] = {}
    for _ in range(ROUNDS):
        config = ChatConfig(weights=weights)
        weights = _fitted([example for excerpt in both for example in examples(excerpt, config)])
        print(f"{len(weights)} weights", file=sys.stderr)
    return weights


def examples(excerpt: Excerpt, config: ChatConfig) -> list[Example]:
    """The annotated messages with their candidates, what lies before decided by `config`'s weights."""
    chat = chat_of(read(typed_turns(excerpt), excerpt.names, config))
    threads, found = Threads(), []
    for message in chat.messages:
        candidates = list(candidates_of(chat, message, threads, config))
        scores = [sum(config.weights.get(name, 0.0) * value for name, value in c.features) for c in candidates]
        best = candidates[int(np.argmax(scores))].index if config.weights else None
        threads.take(message, None if best is None else chat.messages[best])
        gold = excerpt.answers.get(message.index)
        if gold is not None:
            right = frozenset(gold) if gold else frozenset((None,))
            if any(c.index in right for c in candidates):
                found.append(Example(candidates, right))
    return found


def _fitted(given: Sequence[Example]) -> dict[str, float]:
    names: dict[str, int] = {}
    rows, columns, values, right, sizes = [], [], [], [], []
    for example in given:
        sizes.append(len(example.candidates))
        for candidate in example.candidates:
            for name, value in candidate.features:
                rows.append(len(right))
                columns.append(names.setdefault(name, len(names)))
                values.append(value)
            right.append(candidate.index in example.right)
    matrix = sparse.csr_matrix((values, (rows, columns)), shape=(len(right), len(names)))
    starts, group = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(sizes)), sizes)
    is_right = np.array(right)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = matrix @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[group])
        all_, good = np.add.reduceat(raised, starts), np.add.reduceat(raised * is_right, starts)
        value = np.sum(np.log(all_) - np.log(good)) + 0.5 * L2 * weights @ weights
        return value, matrix.T @ (raised / all_[group] - raised * is_right / good[group]) + L2 * weights

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return dict(zip(names, map(float, found.x), strict=True))


if __name__ == "__main__":
    main()
