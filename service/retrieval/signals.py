"""What do a question's searches say together? Hits by place, what is worth reading of them, and what was read.

Everything that the ranker's features are made of, and nothing else: a benchmark keeps these, and fits on them.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from service.retrieval.inflections import forms
from service.retrieval.lucene import escaped
from service.types.candidates import Around, Place, Read, Words
from service.types.facts import TimeSpan


@dataclass(frozen=True, slots=True)
class SignalsConfig:
    max_terms: int = 12  # words of a question looked for one by one; each costs a search of a few milliseconds
    around: tuple[int, ...] = (-3, -2, -1, 1)  # turns read beside a candidate: what it answers, and what answers it
    pool: int = 300  # candidates read and ranked: 98.5 % of LoCoMo's gold, 96.9 with 200; Recall@50 +0.5, Recall@15 +0.2
    reach: int = 3  # turns from a hit to what becomes a candidate with it
    fade: float = 0.4  # of a hit's weight, a turn further on; the pool holds 97.5 % of LoCoMo's gold with 0.6, 97.7 with 0.4
    session: float = 0.3  # of the best hit of the session, for whatever stands in it: as much again


@dataclass(frozen=True, slots=True)
class Hits:
    """What the searches of one question found."""

    terms: tuple[Words, ...]
    """For each word of the question (in all its forms) where it was said, with Lucene's scores."""
    names: tuple[Words, ...]
    """The same for the names in it."""
    turn: Words
    """Raw cosines of what is nearest."""
    context: Words
    fact_words: Mapping[str, float] = field(default_factory=dict)
    """By message id: the best Lucene score of a fact taken from it."""
    fact_turn: Mapping[str, float] = field(default_factory=dict)
    """The same, raw cosines."""


@dataclass(frozen=True, slots=True)
class Signals:
    question: str
    hits: Hits
    read: tuple[Read, ...]
    around: Mapping[Place, Around]
    windows: tuple[TimeSpan, ...] = ()
    """What the question says of the time."""
    named: bool = False
    """Somebody is meant by the question."""


def term_queries(words: str, config: SignalsConfig = SignalsConfig()) -> tuple[str, ...]:
    """A Lucene query for each word of `words`, for all its forms."""
    queries = [escaped(" ".join(forms(word))) for word in dict.fromkeys(words.lower().split())]
    return tuple(query for query in dict.fromkeys(queries) if query)[: config.max_terms]


def worth_reading(hits: Hits, config: SignalsConfig = SignalsConfig(), *further: Words) -> tuple[Place, ...]:
    """At most `pool` places, the likeliest first: what was hit, and what stands up to `reach` turns from it.

    Each search counts by its scores above the least it gave, in units of their spread. `further`: cosines to the question
    with what was found before."""
    scores: dict[Place, float] = defaultdict(float)
    best: dict[str, float] = defaultdict(float)
    fading = [(step, config.fade ** abs(step)) for step in range(-1, config.reach + 1)]
    for words, weight in (
        (summed((*hits.terms, *hits.names)), 1.0),
        (hits.turn, 1.0),
        (hits.context, 0.7),
        *((words, 0.7) for words in further),
    ):
        if not words:
            continue
        least, most = min(words.values()), max(words.values())
        spread = (most - least) or 1.0
        for (session, index), score in words.items():
            height = weight * (0.05 + (score - least) / spread)
            if height > best[session]:
                best[session] = height
            for step, share in fading:
                if index + step >= 0:
                    scores[session, index + step] += height * share
    for place in scores:
        scores[place] += config.session * best[place[0]]
    return tuple(heapq.nsmallest(config.pool, scores, key=lambda place: (-scores[place], place)))


def beside(places: Sequence[Place], config: SignalsConfig = SignalsConfig()) -> tuple[Place, ...]:
    """The places around `places`, themselves included: what the features read the texts of."""
    steps = (0, *config.around)
    near = ((session, index + step) for session, index in places for step in steps if index + step >= 0)
    return tuple(dict.fromkeys(near))


def summed(found: Sequence[Words]) -> dict[Place, float]:
    """Of several searches, the sum of the scores at each place."""
    total: dict[Place, float] = defaultdict(float)
    for words in found:
        for place, score in words.items():
            total[place] += score
    return dict(total)
