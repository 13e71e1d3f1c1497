"""Which turn does a spoken one answer, or does it begin something? The best of a few before it, by a small linear model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

Feature = tuple[str, float]

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "another is called": -0.28,
        "calls": 0.19,
        "calls another": -0.61,
        "is called": 0.32,
        "is called, at once": 0.35,
        "nearest, answer word": 0.95,
        "nearest, you": 0.32,
        "none": -1.31,
        "none, after an own turn": -0.83,
        "none, calls": 0.42,
        "none, log words": 0.39,
        "none, opens a topic": 1.07,
        "none, seconds of silence": 3.51,
        "nth 0": 1.98,
        "nth 1": -0.46,
        "nth 2": -0.31,
        "nth 3": 0.11,
        "own turn between": -0.77,
        "question": 0.16,
        "question and no question": 0.69,
        "question to nobody called": 0.37,
        "rarest word shared": 1.12,
        "short": -0.73,
    }
)
"""Fitted by `python -m tests.bench.talk_fit` on scenarios 1 to 3 of the spoken set (gold replies written by hand; softmax over
candidates and none, L2 3): reply F1 there 0.884, in the others, written by somebody else, 0.887; the nearest turn: 0.782.
That people pause before they begin something else is how they talk, but also how the set is written."""


@dataclass(frozen=True, slots=True)
class TalkConfig:
    candidates: int = 4  # turns of others: 99 % of the replies of the spoken set lie within
    max_back: float = 12.0  # seconds to the end of a turn that was talked over; the nearest has limits of its own
    max_pause: float = 1.0  # seconds; longer ones tell no more, somebody may be thinking
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)


@dataclass(frozen=True, slots=True)
class TalkTurn:
    voice: str
    start: float
    end: float
    text: str
    called: frozenset[str]
    """Voices that it calls by name."""
    asks: bool
    is_backchannel: bool
    answer_within: float
    """Seconds of silence that an answer to it may take, where it is the nearest."""


@dataclass(frozen=True, slots=True)
class Candidate:
    index: int | None
    """None: answers nothing."""
    features: Sequence[Feature]


def answered(turns: Sequence[TalkTurn], config: TalkConfig) -> list[int | None]:
    """For each of `turns`, in spoken order, the index of what it answers. None also where the same voice goes on."""
    found = []
    for candidates in all_candidates(turns, config):
        scores = [sum(config.weights.get(name, 0.0) * value for name, value in c.features) for c in candidates]
        found.append(candidates[max(range(len(scores)), key=lambda i: (scores[i], -i))].index)
    return found


def all_candidates(turns: Sequence[TalkTurn], config: TalkConfig) -> Iterator[list[Candidate]]:
    """Of each turn: nothing, then what it may answer from the nearest back, each with what speaks for it."""
    words = [frozenset(_WORD.findall(turn.text.casefold())) for turn in turns]
    holding = Counter(word for each in words for word in each)
    rarity = {word: math.log(len(turns) / n) for word, n in holding.items()}
    ended = 0.0
    for position, turn in enumerate(turns):
        pause = min(config.max_pause, max(0.0, turn.start - ended)) if position else config.max_pause
        ended = max(ended, turn.end)
        candidates = [Candidate(None, tuple(_nothing(turn, pause, turns[position - 1] if position else None)))]
        for nth, (index, own) in enumerate(_before(turns, position, config)):
            shared = [rarity[word] for word in words[position] & words[index]]
            features = (*_answer(turn, turns[index], nth, own), ("rarest word shared", max(shared, default=0.0) / 4))
            candidates.append(Candidate(index, features))  # 4: a word of one turn in fifty
        yield candidates


def _before(turns: Sequence[TalkTurn], position: int, config: TalkConfig) -> Iterator[tuple[int, bool]]:
    """Turns of others that may be answered, nearest first, with whether an own turn lies between. None where the voice goes on
    from an own turn, or the nearest is over for too long."""
    turn, own, found = turns[position], False, 0
    for index in range(position - 1, -1, -1):
        earlier = turns[index]
        if earlier.is_backchannel:
            continue
        if earlier.voice == turn.voice:
            if own or not found:
                return
            own = True
            continue
        if turn.start - earlier.end > (config.max_back if found else earlier.answer_within):
            return
        yield index, own
        found += 1
        if found == config.candidates:
            return


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OPENS = re.compile(
    r"^(?:right|anyway|listen|now|okay (?:everyone|all)|by the way|and|so|oh and|one more thing|before|while|good news|evening|"
    r"morning|hello|hi)\b",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"^(?:yes|yeah|yep|no|nope|ok|okay|sure|right|true|exactly|well|oh|ah|hm+|cool|great|nice|good|thanks|thank you|cheers|"
    r"sorry|i see)\b",
    re.IGNORECASE,
)
_YOU = re.compile(r"\byou(?:r|rs)?\b", re.IGNORECASE)


def _nothing(turn: TalkTurn, pause: float, before: TalkTurn | None) -> Iterator[Feature]:
    yield "none", 1.0
    yield "none, seconds of silence", pause
    yield "none, log words", math.log1p(len(turn.text.split()))
    yield from _if(("none, opens a topic", _OPENS.match(turn.text)), ("none, calls", turn.called))
    yield from _if(("none, after an own turn", before is not None and before.voice == turn.voice))


def _answer(turn: TalkTurn, earlier: TalkTurn, nth: int, own: bool) -> Iterator[Feature]:
    yield f"nth {nth}", 1.0
    yield from _if(("own turn between", own), ("short", len(earlier.text.split()) <= 3 and not earlier.asks))
    calls, is_called = earlier.voice in turn.called, turn.voice in earlier.called
    yield from _if(("calls", calls), ("calls another", turn.called and not calls))
    yield from _if(("is called", is_called), ("is called, at once", is_called and not own))
    yield from _if(("another is called", earlier.called and not is_called))
    yield from _if(("question", earlier.asks), ("question and no question", earlier.asks and not turn.asks))
    yield from _if(("question to nobody called", earlier.asks and not earlier.called))
    yield from _if(("nearest, answer word", nth == 0 and _ANSWERS.match(turn.text)))
    yield from _if(("nearest, you", nth == 0 and _YOU.search(turn.text)))


def _if(*features: tuple[str, object]) -> Iterator[Feature]:
    return ((name, 1.0) for name, holds in features if holds)
