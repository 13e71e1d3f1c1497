"""What speaks for it that one typed message answers another? Gaps, names called, questions, shared rare words, who has been
talking to whom: each a named number, to be weighed in chat_weights."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Feature = tuple[str, float]
"""Name as in chat_weights, and value."""


@dataclass(frozen=True, slots=True)
class Typed:
    """One message as the features read it. `index` counts from 0 in the order of typing."""

    index: int
    at: float
    """Minutes from any moment."""
    voice: str
    words: frozenset[str]
    """Without names of people."""
    num_words: int
    called: frozenset[str]
    """Voices that it opens with, or greets: "mara: …", "hi mara"."""
    mentioned: frozenset[str]
    """Voices otherwise named."""
    asks: bool
    earlier: int | None
    """Index of the same voice's message before this one."""
    answer_word: bool
    thanks: bool
    greets: bool
    to_anybody: bool
    command: bool
    """ "!paste": for a bot."""


@dataclass(frozen=True, slots=True)
class Chat:
    """All messages, and what is the same for each of them."""

    messages: Sequence[Typed]
    by_voice: Mapping[str, Sequence[int]]
    rarity: Mapping[str, float]
    """word → ln(messages / messages with it)"""
    length: Sequence[float]
    """Of each message's words, as a vector of rarities."""
    calling: float
    """Share of messages that call somebody: where that is custom, one that calls nobody tells something."""


@dataclass(slots=True)
class Threads:
    """What was decided for the messages so far."""

    answers: dict[int, list[str]] = field(default_factory=dict)
    """index → voices that answered it"""
    to: dict[int, str] = field(default_factory=dict)
    """index → voice it speaks to"""
    last_to: dict[str, str] = field(default_factory=dict)
    """voice → voice it spoke to last"""
    thread: dict[int, int] = field(default_factory=dict)
    """index → index of the first message of its thread"""

    def take(self, message: Typed, answered: Typed | None) -> None:
        """`message` answers (or continues) `answered`, or begins something."""
        to = next(iter(message.called)) if len(message.called) == 1 else None
        self.thread[message.index] = message.index
        if answered is not None:
            self.thread[message.index] = self.thread[answered.index]
            self.answers.setdefault(answered.index, []).append(message.voice)
            to = to or (answered.voice if answered.voice != message.voice else self.to.get(answered.index))
        if to is not None:
            self.to[message.index] = self.last_to[message.voice] = to


def chat_of(messages: Sequence[Typed]) -> Chat:
    by_voice: defaultdict[str, list[int]] = defaultdict(list)
    for message in messages:
        by_voice[message.voice].append(message.index)
    holding = Counter(word for message in messages for word in message.words)
    rarity = {word: math.log(len(messages) / n) for word, n in holding.items()}
    length = [math.sqrt(sum(rarity[word] ** 2 for word in message.words)) or 1.0 for message in messages]
    calling = sum(bool(message.called) for message in messages) / max(1, len(messages))
    return Chat(messages, by_voice, rarity, length, calling)


def of_nothing(chat: Chat, message: Typed) -> Iterator[Feature]:
    """For `message` answering nothing before it."""
    yield "none", 1.0
    yield "none, log words", math.log1p(message.num_words)
    if message.earlier is None:
        yield "none, first of the voice", 1.0
    else:
        yield "none, log messages since own", math.log1p(message.index - message.earlier)
        yield "none, log minutes since own", math.log1p(message.at - chat.messages[message.earlier].at)
    if not message.called:
        yield "none, calls nobody where others do", chat.calling
    yield from _if(("none, calls", message.called), ("none, asks", message.asks), ("none, greets", message.greets))
    yield from _if(("none, asks at length", message.asks and message.num_words > 8), ("none, anybody", message.to_anybody))
    yield from _if(("none, answer word", message.answer_word))


@dataclass(slots=True)
class Between:
    """What lies between a message and the candidate: filled while candidates are walked back from the message."""

    by: Counter[str] = field(default_factory=Counter)
    own: int = 0
    others: int = 0

    def pass_by(self, candidate: Typed, voice: str) -> None:
        self.by[candidate.voice] += 1
        if candidate.voice == voice:
            self.own += 1
        else:
            self.others += 1


def of_own(chat: Chat, message: Typed, candidate: Typed, between: Between) -> Iterator[Feature]:
    """For `message` going on where the same voice's `candidate` stopped."""
    yield from _distance("own, ", message, candidate, between)
    yield from _likeness("own, ", chat, message, candidate)
    if between.own == 0:
        yield "own latest, log others since", math.log1p(between.others)
    if message.called and candidate.called:
        yield ("own, calls the same" if message.called == candidate.called else "own, calls another"), 1.0
    yield from _if(("own, answer word", message.answer_word or message.thanks), ("own, short", candidate.num_words <= 3))


def of_other(chat: Chat, message: Typed, candidate: Typed, between: Between, threads: Threads) -> Iterator[Feature]:
    """For `message` answering somebody else's `candidate`."""
    yield from _distance("", message, candidate, between)
    yield from _likeness("", chat, message, candidate)
    yield "log own since", math.log1p(between.own)
    yield from _names(message, candidate, between)
    yield from _forms(message, candidate, between)
    yield from _thread(message, candidate, between, threads)


def _distance(kind: str, message: Typed, candidate: Typed, between: Between) -> Iterator[Feature]:
    gap, minutes, nth = message.index - candidate.index, message.at - candidate.at, between.by[candidate.voice]
    yield kind + "log gap", math.log(gap)
    yield kind + "log minutes", math.log1p(minutes)
    yield kind + "log nth of its voice", math.log1p(nth)
    yield from _if((kind + "next", gap == 1), (kind + "within 2", gap <= 2), (kind + "within 13", gap <= 13))
    yield from _if((kind + "over 10 minutes", minutes > 10), (kind + "latest of its voice", nth == 0))


def _likeness(kind: str, chat: Chat, message: Typed, candidate: Typed) -> Iterator[Feature]:
    common = message.words & candidate.words
    if common:
        lengths = chat.length[message.index] * chat.length[candidate.index]
        yield kind + "likeness", sum(chat.rarity[word] ** 2 for word in common) / lengths
        yield kind + "rarest word shared", max(chat.rarity[word] for word in common) / 7  # 7: seen once in 1,100 messages


def _names(message: Typed, candidate: Typed, between: Between) -> Iterator[Feature]:
    nth = between.by[candidate.voice]
    if candidate.voice in message.called:
        yield "calls", 1.0
        yield "calls, log nth of its voice", math.log1p(nth)
        yield "calls, log gap", math.log(message.index - candidate.index)
    elif candidate.voice in message.mentioned:
        yield "mentions", 1.0
    elif message.called:
        yield "calls another", 1.0
    if message.voice in candidate.called:
        yield "is called", 1.0
        yield "is called, log own since", math.log1p(between.own)
        yield from _if(("is called, answer word", message.answer_word or message.thanks))
    elif message.voice in candidate.mentioned:
        yield "is mentioned", 1.0
    elif candidate.called:
        yield "another is called", 1.0


def _forms(message: Typed, candidate: Typed, between: Between) -> Iterator[Feature]:
    if message.num_words <= 3:
        yield "short, log gap", math.log(message.index - candidate.index)
    yield from _if(("question", candidate.asks), ("question and no question", candidate.asks and not message.asks))
    yield from _if(("question to nobody called", candidate.asks and not candidate.called and not message.called))
    yield from _if(("to a short one", candidate.num_words <= 2), ("first of the voice", message.earlier is None))
    yield from _if(
        ("command", candidate.command), ("command, next", candidate.command and message.index - candidate.index == 1)
    )
    yield from _if(("none own since", between.own == 0))


def _thread(message: Typed, candidate: Typed, between: Between, threads: Threads) -> Iterator[Feature]:
    answered, to = threads.answers.get(candidate.index, ()), threads.to.get(candidate.index)
    yield "log answers already", math.log1p(len(answered))
    yield from _if(("answered by the same", message.voice in answered))
    if to is not None:
        yield ("speaks to the voice" if to == message.voice else "speaks to another"), 1.0
        yield from _if(("speaks to the voice, none own since", to == message.voice and between.own == 0))
    partner = threads.last_to.get(message.voice)
    if partner is not None:
        yield ("spoke to it last" if partner == candidate.voice else "spoke to another last"), 1.0
    if message.earlier is not None:
        same = threads.thread[message.earlier] == threads.thread[candidate.index]
        yield ("thread of own latest" if same else "other thread than own latest"), 1.0


def _if(*features: tuple[str, object]) -> Iterator[Feature]:
    return ((name, 1.0) for name, holds in features if holds)


# ---- how a message is read

_WORD = re.compile(r"[\w'.+#/-]*\w")
_ASKS = re.compile(
    r"^(?:(?:so|and|but|ok|okay|well|um|uh)\W+)*(?:who|whom|whose|what|when|where|why|how|which|do|does|did|is|are|was|were|"
    r"can|could|will|would|should|shall|have|has|had|anyone|anybody|any)\b(?!\s+(?:a|an|the)\b)",
    re.IGNORECASE,
)
_ANSWER_WORD = re.compile(
    r"^(?:yes|yeah|yep|yup|no|nope|nah|ok|okay|k|sure|right|true|correct|exactly|well|oh|ah|hm+|lol|haha|heh|cool|great|nice|"
    r"good|thanks|thank|thx|ty|cheers|np|sorry|i see|got it)\b",
    re.IGNORECASE,
)
_THANKS = re.compile(r"\b(?:thanks|thank you|thx|ty|cheers)\b", re.IGNORECASE)
_GREETS = re.compile(r"^(?:hi|hello|hey|good (?:morning|evening|afternoon)|greetings|howdy)\b", re.IGNORECASE)
_ANYBODY = re.compile(r"\b(?:any|some)(?:one|body)\b|^(?:hi|hello|hey)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """Whom a message names, by name as the text has it."""

    called: frozenset[str]
    mentioned: frozenset[str]
    rest: str
    """The text without the name it opens with."""


def typed(index: int, at: float, voice: str, text: str, named: Named, names: Collection[str], earlier: int | None) -> Typed:
    """`at` in minutes; `names`: every name known, which are no words of the matter; `named` in voices."""
    rest = named.rest
    words = frozenset(word for found in _WORD.findall(rest) if (word := found.casefold()) not in names)
    return Typed(
        index=index,
        at=at,
        voice=voice,
        words=words,
        num_words=len(text.split()),
        called=named.called - {voice},
        mentioned=named.mentioned - named.called - {voice},
        asks="?" in rest or "？" in rest or bool(_ASKS.match(rest.strip())),
        earlier=earlier,
        answer_word=bool(_ANSWER_WORD.match(rest)),
        thanks=bool(_THANKS.search(rest)),
        greets=bool(_GREETS.match(rest)),
        to_anybody=bool(_ANYBODY.search(rest)),
        command=text.startswith("!"),
    )
