"""What is reached by weights learned on other conversations over 13 features? The learned baseline of retrieval.md §7.

Features: BM25 of the turn, of it with one and with three turns before; e5 of the turn and of its words without names; the best
BM25 and e5 in its session; whether the speaker named said it, whether its day is one the question names, whether it or the turn
before it is a question, its length, whether it speaks of time. One linear layer, softmax over the candidates, L2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from tests.bench.retrieval.gold import Corpus, Findings, Found
from tests.bench.retrieval.legs import DEPTH, Legs, Scores, z

FEATURES = (
    "bm25", "bm25_after1", "bm25_after3", "e5", "e5_neutral", "bm25_session", "e5_session", "speaker", "date", "is_question",
    "after_question", "length", "time_words",
)  # fmt: skip
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NAMES = "|".join(MONTHS)
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?: ((?:19|20)\d\d))?"
_DAY = re.compile(rf"\b(?:{_NTH}(?: of)? ({_NAMES})|({_NAMES}) {_NTH})\b,?{_YEAR}", re.I)
_MONTH = re.compile(rf"\b(?:in|of|during|early|mid|late|by)[ -](?:the )?({_NAMES}),?{_YEAR}\b", re.I)
_TIME = re.compile(
    rf"\b(?:{_NAMES}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{{4}}|"
    "yesterday|today|tomorrow|tonight|ago|last|next|week|weekend|month|year)\\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class LearnedConfig:
    pool: int = 150
    """Candidates: 60 hold only 93 % of the gold, 150 97 % (retrieval.md §10.2)"""
    l2: float = 1e-3
    """as there; on standardised features"""
    before: timedelta = timedelta(days=3)
    """a day named may be told of shortly before"""
    after: timedelta = timedelta(days=21)
    """or within three weeks; with `before` about a fifth of LoCoMo's turns, as there"""


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one corpus's questions, the hand fusion's best first."""

    corpus: Corpus
    places: npt.NDArray[np.intp]
    """Shape (questions, pool): turns."""
    features: npt.NDArray[np.float32]
    """Shape (questions, pool, features)."""
    gold: npt.NDArray[np.float32]
    """Shape (questions, pool): 1 where the turn is gold."""


def candidates(legs: Legs, config: LearnedConfig) -> Pool:
    every = _features(legs, config)
    hand = _hand(every)
    places = np.argsort(-hand, axis=1, kind="stable")[:, : config.pool]
    features = np.stack([np.take_along_axis(every[name], places, axis=1) for name in FEATURES], axis=2)
    row = {turn.id: i for i, turn in enumerate(legs.corpus.turns)}
    gold = np.zeros(hand.shape, np.float32)
    for i, question in enumerate(legs.corpus.questions):
        gold[i, [row[id] for id in question.gold]] = 1
    return Pool(legs.corpus, places, features, np.take_along_axis(gold, places, axis=1))


def _hand(every: Mapping[str, Scores]) -> Scores:
    """Weights of retrieval.md §7, set by eye there; only the candidates are taken from it."""
    words = sum(every[name] for name in ("bm25", "bm25_after1", "bm25_after3"))
    return np.asarray(z(words) + 1.5 * every["e5_neutral"] + 0.5 * every["speaker"] + every["date"], dtype=np.float32)


def _features(legs: Legs, config: LearnedConfig) -> Mapping[str, Scores]:
    """By name, shape (questions, turns) each."""
    corpus = legs.corpus
    words, meaning = z(legs.bm25("said")), z(legs.dense("e5", "said", names=False))
    asks = np.array([turn.text.rstrip().endswith("?") for turn in corpus.turns], np.float32)
    follows = np.array([False, *(a.session == b.session for a, b in pairwise(corpus.turns))]) * np.roll(asks, 1)
    length = np.log([1 + len(turn.text.split()) for turn in corpus.turns])
    timely = np.array([bool(_TIME.search(turn.text)) for turn in corpus.turns], np.float32)
    everywhere = np.ones((len(corpus.questions), 1), np.float32)
    return {
        "bm25": words,
        "bm25_after1": z(legs.bm25("after1")),
        "bm25_after3": z(legs.bm25("after3")),
        "e5": meaning,
        "e5_neutral": z(legs.dense("e5", "neutral", names=False)),
        "bm25_session": _best_of_session(corpus, words),
        "e5_session": _best_of_session(corpus, meaning),
        "speaker": _speaker(legs),
        "date": _dates(corpus, config),
        "is_question": everywhere * asks,
        "after_question": everywhere * follows,
        "length": everywhere * ((length - length.mean()) / length.std()),
        "time_words": everywhere * timely,
    }


def _best_of_session(corpus: Corpus, scores: Scores) -> Scores:
    of = {session: i for i, session in enumerate(dict.fromkeys(turn.session for turn in corpus.turns))}
    session = np.array([of[turn.session] for turn in corpus.turns])
    best = np.stack([scores[:, session == i].max(axis=1) for i in range(len(of))], axis=1)
    return best[:, session]


def _speaker(legs: Legs) -> Scores:
    """1 for what the one person named said, -1 for what others did; 0 where nobody or several are named."""
    turns = np.array([turn.speaker for turn in legs.corpus.turns])
    return np.stack([_sign(turns, named) for named in legs.named])


def _sign(speakers: npt.NDArray[np.str_], named: frozenset[str]) -> npt.NDArray[np.float32]:
    if len(named) != 1:
        return np.zeros(len(speakers), np.float32)
    return np.where(speakers == next(iter(named)), 1, -1).astype(np.float32)


def _dates(corpus: Corpus, config: LearnedConfig) -> Scores:
    days = [turn.at.date() if turn.at else None for turn in corpus.turns]
    years = sorted({day.year for day in days if day})
    rows = []
    for question in corpus.questions:
        windows = [(start - config.before, end + config.after) for start, end in dates_in(question.text, years)]
        rows.append([any(low <= day <= high for low, high in windows) if day else False for day in days])
    return np.array(rows, np.float32)


def dates_in(question: str, years: Sequence[int]) -> list[tuple[date, date]]:
    """First and last day of each date or month that `question` names; without a year, one for each of `years`."""
    days = []
    for match in _DAY.finditer(question):
        day, month, month_first, day_second, year = match.groups()
        number = _number(month or month_first)
        days += [_date(of, number, int(day or day_second)) for of in ([int(year)] if year else years)]
    exact = [(day, day) for day in days if day is not None]
    months = [(_number(m[1]), of) for m in _MONTH.finditer(question) for of in ([int(m[2])] if m[2] else years)]
    return exact or [(date(of, n, 1), date(of + n // 12, n % 12 + 1, 1) - timedelta(days=1)) for n, of in months]


def _number(month: str) -> int:
    return MONTHS.index(month.lower()) + 1


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:  # 31 June
        return None


def fit(pools: Sequence[Pool], l2: float) -> npt.NDArray[np.float64]:
    """Weights, shape (features,), that make the gold turns likeliest among the candidates of their question.

    All pools have the same number of candidates; questions without gold among theirs teach nothing."""
    features = np.concatenate([pool.features[pool.gold.any(axis=1)] for pool in pools]).astype(np.float64)
    gold = np.concatenate([pool.gold[pool.gold.any(axis=1)] for pool in pools]).astype(np.float64)
    scale = features.std(axis=(0, 1)) + 1e-9
    flat = (features / scale).reshape(-1, features.shape[2])
    share = gold / gold.sum(axis=1, keepdims=True)

    def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        scores = (flat @ weights).reshape(gold.shape)
        scores -= scores.max(axis=1, keepdims=True)
        likely = np.exp(scores)
        total = likely.sum(axis=1, keepdims=True)
        value = -float((share * (scores - np.log(total))).sum()) / len(gold)
        slope = flat.T @ (likely / total - share).ravel() / len(gold)
        return value + l2 * float(weights @ weights), slope + 2 * l2 * weights

    result = minimize(loss, np.zeros(flat.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(result.x / scale)


def ranked(pool: Pool, weights: npt.NDArray[np.float64], rows: Sequence[int] | None = None) -> Findings:
    """The candidates of the questions `rows` (all unless said), best first."""
    found = {}
    for i in range(len(pool.corpus.questions)) if rows is None else rows:
        order = np.argsort(-(pool.features[i] @ weights), kind="stable")[:DEPTH]
        found[pool.corpus.questions[i].id] = Found(tuple(pool.corpus.turns[k].id for k in pool.places[i][order].tolist()))
    return found


def leaving_one_out(pools: Sequence[Pool], config: LearnedConfig) -> Findings:
    """Each corpus (of a pooled one: each fold) ranked by weights learned on all others."""
    parts = [part for pool in pools for part in _by_fold(pool)]
    found: dict[str, Found] = {}
    for held_out, (pool, rows) in enumerate(parts):
        others = [_only(p, r) for i, (p, r) in enumerate(parts) if i != held_out]
        found |= ranked(pool, fit(others, config.l2), rows)
    return found


def _by_fold(pool: Pool) -> list[tuple[Pool, list[int]]]:
    """With the questions of each fold, told by where their gold lies."""
    corpus, rows = pool.corpus, dict[str, list[int]]()
    for i, question in enumerate(corpus.questions):
        session = corpus.by_id[question.gold[0]].session
        rows.setdefault(corpus.folds.get(session, corpus.id), []).append(i)
    return [(pool, of) for of in rows.values()]


def _only(pool: Pool, rows: Sequence[int]) -> Pool:
    return Pool(pool.corpus, pool.places[rows], pool.features[rows], pool.gold[rows])
