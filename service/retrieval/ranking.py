"""Which candidates of a round answer best? A weight for each feature, and a sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from service.retrieval.features import Kept, features
from service.retrieval.signals import Signals, summed
from service.retrieval.weights import Weights, shipped
from service.types.candidates import Earlier, Place, Read
from service.types.search import Found, Tool

NUM_REASONS = 6
"""Of a hit, shown by `explain`: more than a reader takes in."""
NUM_REASONED = 60
"""Candidates of a round with reasons: four times as many as are shown."""


@dataclass(frozen=True, slots=True)
class Candidate:
    id: str
    score: float
    """[0, 1]: how likely it is to answer, as far as the data tells that the weights come from."""
    found: tuple[Found, ...]
    because: tuple[tuple[str, float], ...] = ()
    """What the weightiest features add to its score (before it became a probability), the weightiest first; of the best
    NUM_REASONED."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What one round found, best first, no id twice."""

    candidates: tuple[Candidate, ...]
    visible: int
    """How many messages the scope holds at all."""
    legs: tuple[str, ...]
    """Which search ran and how: e.g. `dense:exact`, `bm25:skipped(empty)`."""
    earlier: tuple[Earlier, ...] = ()
    """What the asker's own earlier questions found that are much like this one."""


class Ranker:
    """A linear ranker; what it knows lies in `weights`."""

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights = weights or shipped()

    def __call__(self, signals: Signals, kept: Kept | None = None) -> tuple[Candidate, ...]:
        """All that was read, best first; ties by id, so that one question has one answer. `kept`: as for `features`."""
        matrix, names = features(signals, kept)
        added = matrix * self.weights.of(names)
        totals = added.sum(axis=1)
        ranks = _ranks(signals)
        order = sorted(range(len(totals)), key=lambda row: (-totals[row], signals.read[row].id))
        reasons = _reasons(added[order[:NUM_REASONED]], names)
        return tuple(
            Candidate(
                signals.read[row].id,
                self.weights.probability(float(totals[row])),
                _found(signals.read[row], ranks),
                reasons[place] if place < len(reasons) else (),
            )
            for place, row in enumerate(order)
        )


def _reasons(added: npt.NDArray[np.float64], names: tuple[str, ...]) -> list[tuple[tuple[str, float], ...]]:
    first = np.argsort(-np.abs(added), axis=1, kind="stable")[:, :NUM_REASONS]
    most = np.round(np.take_along_axis(added, first, axis=1), 3).tolist()
    return [
        tuple((names[i], value) for i, value in zip(which, values, strict=True) if value)
        for which, values in zip(first.tolist(), most, strict=True)
    ]


def _ranks(signals: Signals) -> tuple[dict[Place | str, Found], ...]:
    """For each tool what it found, by place or by message id."""
    hits = signals.hits
    by_tool: tuple[tuple[Tool, Mapping[Any, float]], ...] = (
        (Tool.BM25, summed((*hits.terms, *hits.names))), (Tool.DENSE, hits.turn), (Tool.DENSE_CONTEXT, hits.context),
        (Tool.FACT_BM25, hits.fact_words), (Tool.FACT_DENSE, hits.fact_turn),
    )  # fmt: skip
    read = {key for one in signals.read for key in (one.place, one.id)}
    return tuple(
        {
            key: Found(tool, rank, score)
            for rank, (key, score) in enumerate(sorted(found.items(), key=_best_first), start=1)
            if key in read
        }
        for tool, found in by_tool
    )


def _best_first(entry: tuple[Any, float]) -> tuple[float, Any]:
    return -entry[1], entry[0]


def _found(read: Read, ranks: Sequence[Mapping[Place | str, Found]]) -> tuple[Found, ...]:
    return tuple(found[key] for found in ranks for key in (read.place, read.id) if key in found)
