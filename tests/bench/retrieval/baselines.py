"""What do others reach on the same turns? Plain and fused rankings, and one that is learned, each a name and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tests.bench.retrieval.fusion13 import LearnedConfig, candidates, leaving_one_out
from tests.bench.retrieval.gold import Findings, Found
from tests.bench.retrieval.legs import DEFAULT_BM25, Legs, Scores, findings, rrf

Baseline = Callable[[Legs], Scores]

LOCOMO: Mapping[str, Baseline] = {
    "bm25": lambda legs: legs.bm25("raw", DEFAULT_BM25),
    "minilm": lambda legs: legs.dense("minilm", "raw", names=True),
    "e5": lambda legs: legs.dense("e5", "said", names=True),
    "rrf2": lambda legs: rrf(legs.bm25("raw", DEFAULT_BM25), legs.dense("minilm", "raw", names=True)),
    "rrf4": lambda legs: rrf(
        legs.bm25("said", DEFAULT_BM25),
        legs.bm25("after3", DEFAULT_BM25),
        legs.dense("e5", "said", names=True),
        legs.dense("e5", "after3", names=True),
    ),
    "rrf4_no_names": lambda legs: rrf(
        legs.bm25("said"),
        legs.bm25("after3"),
        legs.dense("e5", "said", names=False),
        legs.dense("e5", "after3", names=False),
    ),
}
"""`rrf4_no_names`: with BM25 set for short turns and the speakers' names taken out of the question's vector, which no baseline
does by itself: the best that was found without learning (retrieval.md §7)."""

QMSUM: Mapping[str, Baseline] = {
    "bm25": lambda legs: legs.bm25("raw"),
    "bm25_after3": lambda legs: legs.bm25("after3"),
    "e5": lambda legs: legs.dense("e5", "raw", names=True),
    "rrf3": lambda legs: rrf(legs.bm25("said"), legs.bm25("after3"), legs.dense("e5", "raw", names=True)),
}
"""`rrf3`: the two best lexical views and the meaning of the words alone, whose vectors the service has too."""

LEARNED = "fusion13"


def measured(baselines: Mapping[str, Baseline], every: Sequence[Legs]) -> Mapping[str, Findings]:
    """By system, over the questions of all corpora."""
    return {name: _together(findings(legs.corpus, ranking(legs)) for legs in every) for name, ranking in baselines.items()}


def learned(every: Sequence[Legs], config: LearnedConfig | None = None) -> Findings:
    """The 13-feature fusion, each conversation left out when its weights are learned."""
    config = config or LearnedConfig()
    return leaving_one_out([candidates(legs, config) for legs in every], config)


def _together(each: Iterable[Findings]) -> Findings:
    found: dict[str, Found] = {}
    for one in each:
        found |= one
    return found
