"""How does each question score against each turn, by words and by vectors? The signals that all baselines are made of.

BM25 is bm25s (Lù, 2024) as its users run it: the Lucene variant, English stop words, Snowball stemmer. Vectors are those of
the models that the service can use. Scores are matrices, shape (questions, turns), turns in the corpus's order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from service.types.audio import Samples, TextEmbedder
from tests.bench.retrieval.gold import Corpus, Findings, Found
from tests.bench.retrieval.views import VIEWS, names_in, without_names

Scores = npt.NDArray[np.float32]
"""Shape (questions, turns)."""
DEPTH = 50
"""Turns that every system gives; MRR counts no gold below."""
RRF_K = 60
"""Cormack et al., SIGIR 2009."""


@dataclass(frozen=True, slots=True)
class Bm25Config:
    k1: float
    b: float


DEFAULT_BM25 = Bm25Config(1.5, 0.75)
"""What bm25s does when nobody says otherwise."""
TURN_BM25 = Bm25Config(0.9, 0.4)
"""Better on short turns (retrieval.md §3.2, reading 3), so what a careful user would set."""


@dataclass(frozen=True)
class Legs:
    """One corpus with its scores, each computed once."""

    corpus: Corpus
    embedders: Mapping[str, TextEmbedder]
    """`e5` and, where a system wants it, `minilm`."""
    _kept: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def text(self, view: str) -> list[str]:
        """The turns as texts."""
        made: list[str] = self._once(("text", view), lambda: VIEWS[view](self.corpus))
        return made

    def bm25(self, view: str, config: Bm25Config = TURN_BM25) -> Scores:
        scores: Scores = self._once(("bm25", view, config), lambda: self._bm25(view, config))
        return scores

    def dense(self, model: str, view: str, *, names: bool) -> Scores:
        """Cosines; with `names` the question as asked, without them less the names of those who speak in the corpus."""
        scores: Scores = self._once(("dense", model, view, names), lambda: self._dense(model, view, names))
        return scores

    @cached_property
    def named(self) -> tuple[frozenset[str], ...]:
        """Speakers that each question names."""
        return tuple(names_in(question.text, self.corpus.speakers) for question in self.corpus.questions)

    def _bm25(self, view: str, config: Bm25Config) -> Scores:
        import bm25s
        import Stemmer

        stemmer = Stemmer.Stemmer("english")

        def tokens(texts: list[str]) -> list[list[str]]:
            return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)  # type: ignore[return-value]

        index = bm25s.BM25(k1=config.k1, b=config.b, method="lucene")
        index.index(tokens(self.text(view)), show_progress=False)
        known = index.vocab_dict
        scores = np.zeros((len(self.corpus.questions), len(self.corpus.turns)), np.float32)
        for row, words in enumerate(tokens([question.text for question in self.corpus.questions])):
            if asked := [word for word in words if word in known]:
                scores[row] = index.get_scores(asked)
        return scores

    def _dense(self, model: str, view: str, names: bool) -> Scores:
        asked = [question.text for question in self.corpus.questions]
        if not names:
            asked = list(map(without_names(self.corpus.speakers), asked))
        turns: Samples = self._once(("passages", model, view), lambda: self.embedders[model].passages(self.text(view)))
        return np.asarray(self.embedders[model].queries(asked) @ turns.T, dtype=np.float32)

    def _once(self, key: tuple[object, ...], make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def rrf(*scores: Scores) -> Scores:
    """Reciprocal rank fusion over all turns of the corpus."""
    return np.asarray(sum(1 / (RRF_K + 1 + ranks(one)) for one in scores), dtype=np.float32)


def ranks(scores: Scores) -> Scores:
    """From 0; of equal scores the earlier turn is first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.arange(scores.shape[1])[None, :], axis=1)
    return places.astype(np.float32)


def z(scores: Scores) -> Scores:
    """Each question's scores less their mean, over their deviation; all 0 where they are all the same."""
    mean, deviation = scores.mean(axis=1, keepdims=True), scores.std(axis=1, keepdims=True)
    return np.asarray((scores - mean) / np.where(deviation > 0, deviation, 1), dtype=np.float32)


def findings(corpus: Corpus, scores: Scores) -> Findings:
    """The best DEPTH turns of each question."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    return {
        question.id: Found(tuple(corpus.turns[i].id for i in row.tolist()))
        for question, row in zip(corpus.questions, order, strict=True)
    }
