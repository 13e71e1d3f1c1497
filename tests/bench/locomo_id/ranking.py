"""Which turns answer a question best, among those that may be seen? The product's plan, and its legs fused by rank.

The dense legs are the service's own model over the turn and over the turn with what its readers heard just before. The
lexical leg stands for Lucene's: BM25 with its defaults over English words without endings, statistics over all that is stored.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from service.retrieval.lucene import NAME_WEIGHT
from service.retrieval.plan import Plan, plan
from service.types.audio import Samples, TextEmbedder
from service.types.search import Ranked, Ranking, Tool
from tests.bench.locomo_id.collections import Doc
from tests.bench.locomo_id.conflicts import conflicting
from tests.bench.locomo_id.corpus import Conversation, Said
from tests.bench.locomo_id.fusion import fuse

K1, B = 1.2, 0.75
"""Lucene's BM25Similarity"""
CONTEXT = 3
POOL = 60  # hits of each leg that are fused
MIN_RELEVANCE = 0.10  # fused score; what one leg of three found, past its 26th place, is chance
KEPT = 15
"""turns before, as service.memory.audience.AudienceConfig"""
SAVED = 500
"""Embeddings are kept every so many: a run broken off loses no more."""
Positions = npt.NDArray[np.intp]

_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to "
        "was will with",
    )
)
"""Of Lucene's EnglishAnalyzer."""
_ENDING = re.compile(r"(?<=\w\w\w)(?:ingly|edly|ing|ed|ies|es|s|ly|e|y)$")


@dataclass(frozen=True, slots=True)
class Scored:
    """One question against every document, shape (documents,) each."""

    lexical: npt.NDArray[np.float32]
    dense: npt.NDArray[np.float32]
    context: npt.NDArray[np.float32]
    """of the turn with the three turns before it"""
    own_context: npt.NDArray[np.float32]
    """of the turn with those of them that its speaker said: all that policy `own` leaves"""


class Library:
    """The turns of conversations, and of their parallel copies, made ready to be searched. `best` is the search."""

    def __init__(self, conversations: Sequence[Conversation], embedder: TextEmbedder, cache: Path) -> None:
        stories = [(c.id, story, told) for c in conversations for story, told in enumerate((c, conflicting(c).copy))]
        self.position: dict[Doc, int] = {}
        turns: list[str] = []
        contexts: list[str] = []
        own: list[str] = []
        for conversation, story, told in stories:
            for talk in told.sessions:
                for number, said in enumerate(talk.turns):
                    self.position[conversation, story, said.dia_id] = len(turns)
                    before = talk.turns[max(0, number - CONTEXT) : number]
                    turns.append(said.text)
                    contexts.append(_joined([*before, said]))
                    own.append(_joined([*(t for t in before if t.speaker == said.speaker), said]))
        self._embedder, self._kept = embedder, _Vectors(embedder, cache)
        self._dense, self._context, self._own = (self._kept.passages(texts) for texts in (turns, contexts, own))
        self._lexicon = Lexicon(turns)
        self._scored: dict[tuple[str, tuple[str, ...]], Scored] = {}
        self._found: dict[tuple[str, bytes, bool], tuple[int, ...]] = {}

    def prepare(self, questions: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Embed the questions not kept yet: (question, names of known people)."""
        self._kept.queries([_plan(q, names).meaning for q, names in questions])

    def best(self, question: str, names: tuple[str, ...], docs: Positions, *, own: bool, k: int = 15) -> tuple[int, ...]:
        """Indices into `docs` (positions of documents, shape (visible,)) of the best hits, best first, at most `k`.

        `own`: contexts hold the speaker's own turns only, as where only they are visible."""
        key = (question, hashlib.sha1(docs.tobytes()).digest(), own)
        if key not in self._found:
            self._found[key] = self._search(self._scores(question, names), docs, own)
        return self._found[key][:k]

    def _search(self, scored: Scored, docs: Positions, own: bool) -> tuple[int, ...]:
        context = scored.own_context if own else scored.context
        legs = {
            Tool.BM25: _leg(scored.lexical[docs], POOL, above=0.0),
            Tool.DENSE: _leg(scored.dense[docs], POOL),
            Tool.DENSE_CONTEXT: _leg(context[docs], POOL),
        }
        fused = fuse(legs)
        return tuple(int(hit.id) for hit in fused if hit.score >= MIN_RELEVANCE)[:KEPT]

    def _scores(self, question: str, names: tuple[str, ...]) -> Scored:
        if (question, names) not in self._scored:
            planned = _plan(question, names)
            vector = self._kept.queries([planned.meaning])[0]
            lexical = self._lexicon.scores(planned.words, planned.names)
            self._scored[question, names] = Scored(lexical, self._dense @ vector, self._context @ vector, self._own @ vector)
        return self._scored[question, names]


class Lexicon:
    """BM25 over texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(_terms(text)) for text in texts]
        self._column = {term: i for i, term in enumerate(sorted({t for c in counted for t in c}))}
        rows = np.repeat(np.arange(len(texts)), [len(c) for c in counted])
        columns = np.array([self._column[t] for c in counted for t in c], dtype=np.intp)
        counts = np.array([n for c in counted for n in c.values()], dtype=np.float64)
        lengths = np.array([sum(c.values()) for c in counted], dtype=np.float64)
        frequency = np.bincount(columns, minlength=len(self._column))
        rarity = np.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
        slack = K1 * (1 - B + B * lengths / lengths.mean())
        weights = rarity[columns] * counts / (counts + slack[rows])
        self._weights = sparse.csc_matrix((weights, (rows, columns)), shape=(len(texts), len(self._column)))

    def scores(self, words: str, names: str = "") -> npt.NDArray[np.float32]:
        """Shape (texts,); 0 where no word occurs. Names count NAME_WEIGHT, as in the service."""
        vector = np.zeros(len(self._column))
        for text, weight in ((words, 1.0), (names, NAME_WEIGHT)):
            for term in set(_terms(text)) & self._column.keys():
                vector[self._column[term]] += weight
        return np.asarray(self._weights @ vector, dtype=np.float32)


class _Vectors:
    """Embeddings by text, kept in `cache` between runs."""

    def __init__(self, embedder: TextEmbedder, cache: Path) -> None:
        self._embedder = embedder
        space = embedder.embedding_space
        self._path = cache / "bench" / f"text-{space.name}-{space.version}.npz"
        self._rows: dict[str, int] = {}
        self._vectors = np.zeros((0, space.dimension), np.float16)
        self._load()

    def passages(self, texts: Sequence[str]) -> Samples:
        return self._get("p", texts)

    def queries(self, texts: Sequence[str]) -> Samples:
        return self._get("q", texts)

    def _get(self, kind: str, texts: Sequence[str]) -> Samples:
        """Shape (texts, dimension), length 1 within a thousandth: kept in half precision."""
        keys = [kind + hashlib.sha1(text.encode()).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        if missing:
            self._embed(kind, missing)
        return self._vectors[[self._rows[key] for key in keys]].astype(np.float32)

    def _embed(self, kind: str, missing: Mapping[str, str]) -> None:
        from rich.console import Console
        from rich.progress import track

        embed = self._embedder.passages if kind == "p" else self._embedder.queries
        shown = track(missing.items(), "embedding texts", console=Console(stderr=True), disable=len(missing) < 50)
        made: dict[str, npt.NDArray[np.float16]] = {}
        for number, (key, text) in enumerate(shown, start=1):
            made[key] = embed([text])[0].astype(np.float16)
            if number % SAVED == 0 or number == len(missing):
                self._save(made)
                made = {}

    def _load(self) -> None:
        if self._path.is_file():
            with np.load(self._path) as kept:
                self._rows = {key: row for row, key in enumerate(kept["key"].tolist())}
                self._vectors = kept["vector"]

    def _save(self, made: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Beside what is kept by now: another process may embed too."""
        self._load()
        new = {key: vector for key, vector in made.items() if key not in self._rows}
        if not new:
            return
        self._rows |= {key: len(self._vectors) + i for i, key in enumerate(new)}
        self._vectors = np.concatenate([self._vectors, np.stack(list(new.values()))])
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._path.with_suffix(f".{os.getpid()}.tmp")
        with unfinished.open("wb") as file:
            np.savez(file, key=np.array(list(self._rows), dtype=str), vector=self._vectors)
        unfinished.replace(self._path)


def _plan(question: str, names: tuple[str, ...]) -> Plan:
    return plan(question, {name: (name,) for name in names})


def _joined(turns: Sequence[Said]) -> str:
    return "\n".join(turn.text for turn in turns)


def _leg(scores: npt.NDArray[np.float32], pool: int, above: float = -np.inf) -> Ranking:
    if len(scores) > 2 * pool:
        near = np.argpartition(-scores, pool)[:pool]
        order = near[np.lexsort((near, -scores[near]))]
    else:
        order = np.argsort(-scores, kind="stable")[:pool]
    return tuple(Ranked(str(i), float(scores[i])) for i in order.tolist() if scores[i] > above)


def _terms(text: str) -> list[str]:
    return [_ENDING.sub("", word) for word in _WORD.findall(text.lower()) if word not in _STOP]
