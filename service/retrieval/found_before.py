"""What does it tell that the asker asked much the same before? What was found likely then is held likely again.

People ask a second time in fewer words, or in worse ones: then what the better wording found counts. A wording is better where
the best it found was likelier than the best found now. Of two scores of a message the better one stands, that of before lowered
by how far apart the two questions are; so nothing scores less than it does now, and who asks better is told nothing of before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from service.retrieval.ranking import Candidate
from service.types.candidates import Earlier
from service.types.search import Found, Tool

FOUND_BEFORE = "found_before"
"""Among what speaks for a candidate."""


@dataclass(frozen=True, slots=True)
class FoundBeforeConfig:
    """Chosen on scenarios 1 to 3 of the spoken set and one conversation of LoCoMo, each question asked in three wordings
    (tests/bench/wordings.py), on kept signals."""

    alike: Mapping[str, float] = field(default_factory=lambda: {"e5_small_v2_q": 0.88})
    """By embedding space: raw cosine of two questions, names left out, from which they are much the same. Of three wordings of
    one question three in four are at 0.881 or more, of two questions one in a hundred at 0.863. A model not listed has no such
    value, and then nothing is remembered by it. With 0.91 few are found again, with 0.86 LoCoMo loses as much as it gains."""
    better: float = 0.5  # log odds by which its best was likelier; with 0 what is asked in full loses 1.5 points of Recall@5
    apart: float = 1.0  # log odds that a score loses where two questions are just alike; in the same words none
    questions: int = 400  # of one asker, the newest: 35 µs each
    kept: int = 15  # hits of a question, as many as are shown; with five, Recall@15 gains one point less


DEFAULTS = FoundBeforeConfig()


def held_again(
    ranked: Sequence[Candidate], earlier: Sequence[Earlier], least: float, config: FoundBeforeConfig = DEFAULTS
) -> tuple[Candidate, ...]:
    """`ranked` with the better of its score and that of before, in the order of these scores. `least`: of `config.alike`, that
    of the embedding space in use. What is among `earlier` only is not added: it stands among `ranked` if it may."""
    before: dict[str, tuple[float, float]] = {}
    enough = max((_odds(one.score) for one in ranked), default=0.0) + config.better
    for one in earlier:
        far = min(1.0, max(0.0, (1.0 - one.cosine) / (1.0 - least)))
        odds = _odds(one.score) - config.apart * far if _odds(one.best) > enough else -math.inf
        before[one.id] = max(before.get(one.id, (-math.inf, -1.0)), (odds, one.cosine))
    if not before:
        return tuple(ranked)
    rank = {id: place for place, id in enumerate(sorted(before, key=lambda id: (-before[id][0], id)), start=1)}
    held = [_held(one, *before[one.id], rank[one.id]) if one.id in before else one for one in ranked]
    return tuple(sorted(held, key=lambda one: (-one.score, one.id)))


def _held(candidate: Candidate, odds: float, cosine: float, rank: int) -> Candidate:
    found = (*candidate.found, Found(Tool.FOUND_BEFORE, rank, cosine))
    gain = odds - _odds(candidate.score)
    if gain <= 0:
        return replace(candidate, found=found)
    because = ((FOUND_BEFORE, round(gain, 3)), *candidate.because)
    return replace(candidate, score=1.0 / (1.0 + math.exp(-odds)), found=found, because=because)


def _odds(score: float) -> float:
    clipped = min(1 - 1e-9, max(1e-9, score))
    return math.log(clipped / (1 - clipped))
