"""What does a typed message answer, where many talk at once? The best of the messages before it, or none, by a linear model."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from service.memory.chat_features import (
    Between,
    Chat,
    Feature,
    Named,
    Threads,
    Typed,
    chat_of,
    of_nothing,
    of_other,
    of_own,
    typed,
)
from service.memory.chat_weights import WEIGHTS


@dataclass(frozen=True, slots=True)
class ChatConfig:
    window: int = 80  # messages looked back: 98 % of the antecedents of the dev split of the help channel lie within
    of_called: int = 3  # … and so many of everybody named in the message, however long ago
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    min_plain: int = 3  # a name used so often otherwise, and …
    plain_to_called: float = 2.0  # … so many times as often as it is called, is a word: handles like "the", "linux"


@dataclass(frozen=True, slots=True)
class TypedTurn:
    """As the caller has it."""

    voice: str
    at: float
    """Seconds."""
    text: str


@dataclass(frozen=True, slots=True)
class Understood:
    """What one message tells of its relations."""

    answers: int | None
    """Index of the message that it answers, or goes on from where it is the same voice's; None: begins something."""
    probability: float
    """Of this one among all candidates and none."""
    called: frozenset[str]
    """Voices that it opens with or greets by name."""
    to: Mapping[str, float]
    """voice → probability that the message speaks to it, over all candidates; what goes on speaks to whom it spoke to."""


@dataclass(frozen=True, slots=True)
class Candidate:
    index: int | None
    """None: answers nothing."""
    features: Sequence[Feature]


def understand(turns: Sequence[TypedTurn], names: Mapping[str, str], config: ChatConfig) -> list[Understood]:
    """For each of `turns`, in order of typing, what it answers and whom it speaks to.

    `names`: normal name → the voice it can only mean. One pass; what is decided for the earlier is evidence for the later."""
    chat = chat_of(read(turns, names, config))
    threads, to, found = Threads(), list[Mapping[str, float]](), list[Understood]()
    for message in chat.messages:
        candidates = list(candidates_of(chat, message, threads, config))
        chances = _softmax([sum(config.weights.get(name, 0.0) * value for name, value in c.features) for c in candidates])
        best = max(range(len(candidates)), key=lambda i: (chances[i], -i))
        to.append(_spoken_to(chat, message, candidates, chances, to))
        index = candidates[best].index
        found.append(Understood(index, chances[best], message.called, to[-1]))
        threads.take(message, None if index is None else chat.messages[index])
    return found


def candidates_of(chat: Chat, message: Typed, threads: Threads, config: ChatConfig) -> Iterator[Candidate]:
    """Nothing first, then messages from the nearest back, with what speaks for each."""
    yield Candidate(None, tuple(of_nothing(chat, message)))
    first = max(0, message.index - config.window)
    far = {
        index
        for voice in (message.called | message.mentioned)
        for index in _latest(chat.by_voice.get(voice, ()), message.index, config.of_called)
    } | ({message.earlier} if message.earlier is not None else set())
    between = Between()
    for index in (*range(message.index - 1, first - 1, -1), *sorted((i for i in far if i < first), reverse=True)):
        candidate = chat.messages[index]
        if candidate.voice == message.voice:
            yield Candidate(index, tuple(of_own(chat, message, candidate, between)))
        else:
            yield Candidate(index, tuple(of_other(chat, message, candidate, between, threads)))
        between.pass_by(candidate, message.voice)


def _latest(indices: Sequence[int], before: int, most: int) -> Sequence[int]:
    return [index for index in indices if index < before][-most:]


def _softmax(scores: Sequence[float]) -> list[float]:
    highest = max(scores)
    raised = [math.exp(score - highest) for score in scores]
    total = sum(raised)
    return [value / total for value in raised]


def _spoken_to(
    chat: Chat, message: Typed, candidates: Sequence[Candidate], chances: Sequence[float], to: Sequence[Mapping[str, float]]
) -> Mapping[str, float]:
    shares: defaultdict[str, float] = defaultdict(float)
    for candidate, chance in zip(candidates, chances, strict=True):
        if candidate.index is None:
            continue
        voice = chat.messages[candidate.index].voice
        if voice != message.voice:
            shares[voice] += chance
        else:
            for other, share in to[candidate.index].items():
                shares[other] += chance * share
    return {voice: share for voice, share in shares.items() if share >= 0.01}  # less is rounding, and would grow with each turn


# ---- how messages are read

_OPENS_WITH = re.compile(r"^\s*@?(?P<name>[^\s:,;][^:,;]{0,39}?)\s*[:,;]+(?:\s+|$)(?P<rest>.*)$", re.DOTALL)
_GREETED = re.compile(
    r"^\s*(?:hey|hi|hello|thanks|thank you|thx|sorry|ok|okay|yes|no|well)\s+@?(?P<name>\S+?)[:,;.!?]*(?:\s+|$)(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_AROUND = ":,;.!?()\"'@"


def read(turns: Sequence[TypedTurn], names: Mapping[str, str], config: ChatConfig) -> list[Typed]:
    named = [_named(turn.text, names) for turn in turns]
    called = Counter(name for each in named for name in each.called)
    plain = Counter(name for each in named for name in each.mentioned)
    words = {n for n, times in plain.items() if times >= config.min_plain and times > config.plain_to_called * called[n]}
    latest: dict[str, int] = {}
    messages = []
    for index, (turn, each) in enumerate(zip(turns, named, strict=True)):
        voices = Named(
            frozenset(names[name] for name in each.called),
            frozenset(names[name] for name in each.mentioned - words),
            each.rest,
        )
        messages.append(typed(index, turn.at / 60, turn.voice, turn.text, voices, names.keys(), latest.get(turn.voice)))
        latest[turn.voice] = index
    return messages


def _named(text: str, names: Mapping[str, str]) -> Named:
    """A name opens the message with a colon or comma behind it, or follows a greeting; anywhere else it is only mentioned."""
    called, rest = frozenset[str](), text
    for opening in (_OPENS_WITH, _GREETED):
        match = opening.match(text)
        if match and (name := " ".join(match["name"].casefold().split())) in names:
            called, rest = frozenset((name,)), match["rest"] if opening is _OPENS_WITH else text
            break
    tokens = {form for token in text.casefold().split() for form in (token, token.strip(_AROUND))}
    return Named(called, frozenset(token for token in tokens if token in names) - called, rest)
