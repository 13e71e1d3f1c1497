"""Who spoke to whom, and what answers what? From the caller, names called out, reply structure and who is there at all;
no language model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from service.memory.talk_replies import TalkConfig, TalkTurn, answered
from service.memory.typed_chat import ChatConfig, TypedTurn, Understood, understand
from service.memory.vocatives import unique_names, vocatives
from service.types.audio import Segment
from service.types.memory import Addressee, How


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn with its speaker as far as decided."""

    message_id: str
    segment: Segment
    track: str
    """Id of the LocalSpeaker; tells voices apart where persons are unresolved."""
    speaker_id: str | None
    text: str | None = None
    addressed_to: tuple[str, ...] = ()
    """Person ids, as the caller said."""
    answers: str | None = None
    """Id of the message that it answers, as the caller said."""
    captions: str | None = None
    """Of the images shown with it, one a line."""

    @property
    def voice(self) -> str:
        return self.speaker_id or self.track


@dataclass(frozen=True, slots=True)
class InteractionConfig:
    """Confidences order the evidence; only `only_other` reaches the 0.9 that opens a message (audience.py)."""

    caller: float = 1.0
    only_other: float = 0.95  # two voices in the room: the rest are asides and phone calls
    called_first: float = 0.85  # "Mara, could you …": opening and closing vocatives are hardly ever anything else
    called_within: float = 0.6  # "so, Mara, …" may be an apposition: "my neighbour, Mara, …"
    answer: float = 0.75  # a question stood before it
    reply: float = 0.6  # next after another voice, without a question
    told: float = 0.85  # the caller says what is answered: mostly said to who said that, but it opens nothing
    everybody: float = 0.3  # nothing speaks for anybody in particular
    answering: float = 0.45  # but who alone answers it was meant: in 138 turns of the spoken set 97 %, each other 63 %
    max_reply_gap: float = 2.0  # seconds of silence; longer ones mostly begin something new
    max_answer_gap: float = 5.0  # seconds; people think before they answer
    max_backchannel: float = 0.8  # seconds; "mm", "yeah": answers, but nothing that one answers
    max_everybody: int = 12  # people; in a larger room "to all" tells nothing and costs an edge each
    talk: TalkConfig = field(default_factory=TalkConfig)
    typed: ChatConfig = field(default_factory=ChatConfig)  # of messages that were typed, where several talk at once
    max_typed: float = 0.85  # what a model infers stays below the 0.9 that opens a message


DEFAULT = InteractionConfig()


@dataclass(frozen=True, slots=True)
class Interactions:
    replies: Mapping[str, str]
    """message id → id of the message it answers"""
    addressees: Mapping[str, tuple[Addressee, ...]]
    """message id → to whom"""


def interactions(
    turns: Sequence[Spoken],
    names: Mapping[str, Collection[str]],
    participants: Collection[str],
    config: InteractionConfig = DEFAULT,
) -> Interactions:
    """Of all `turns` of a session, in order. To whom a turn is said tells the first kind of evidence that says anything:
    caller, only other, named, reply, all. Nobody where even `all` would be nobody.

    `names`: person id → names and aliases of everybody known in the session. `participants`: person ids of who was there;
    voices still unresolved count too, they are somebody."""
    called = unique_names(names)
    if is_typed(turns):
        answers, named, replied = _typed(turns, called, config)
    else:
        answers = replies(turns, called, config)
        named = {turn.message_id: _named(turn, called, config) for turn in turns}
        replied = _to_who_is_answered(turns, answers, config)
    if told := _told(turns):
        answers = {**answers, **told}
        replied = {**replied, **_to_who_is_answered(turns, told, replace(config, reply=config.told, answer=config.told))}
    people = set(participants) | {t.speaker_id for t in turns if t.speaker_id}
    strangers = {turn.track for turn in turns if turn.speaker_id is None}
    found: dict[str, tuple[Addressee, ...]] = {}
    for turn in turns:
        others = sorted(people - {turn.speaker_id})
        found[turn.message_id] = (
            _caller(turn, config)
            or _only_other(turn, others, strangers - {turn.track}, config)
            or named.get(turn.message_id, ())
            or replied.get(turn.message_id, ())
            or _everybody(others, config)
        )
    return Interactions(answers, found)


def _told(turns: Sequence[Spoken]) -> dict[str, str]:
    """What the caller says is answered, where it is there."""
    there = {turn.message_id for turn in turns}
    return {
        t.message_id: t.answers for t in turns if t.answers in there and t.answers is not None and t.answers != t.message_id
    }


# ---- what answers what


def replies(
    turns: Sequence[Spoken], called: Mapping[str, str] = MappingProxyType({}), config: InteractionConfig = DEFAULT
) -> dict[str, str]:
    """Of talk: message id → id of the message it answers, of another voice. `turns` in spoken order; `called`: normal name →
    the person it can only mean."""
    found = answered(talk_turns(turns, called, config), config.talk)
    return {turn.message_id: turns[index].message_id for turn, index in zip(turns, found, strict=True) if index is not None}


def talk_turns(turns: Sequence[Spoken], called: Mapping[str, str], config: InteractionConfig) -> list[TalkTurn]:
    return [
        TalkTurn(
            voice=turn.voice,
            start=turn.segment.start,
            end=turn.segment.end,
            text=turn.text or "",
            called=frozenset(called[name] for name, _ in vocatives(turn.text, called)) - {turn.voice},
            asks=(asks := is_question(turn.text)),
            is_backchannel=turn.segment.duration <= config.max_backchannel and not asks,
            answer_within=config.max_answer_gap if asks else config.max_reply_gap,
        )
        for turn in turns
    ]


_OPENS_QUESTION = re.compile(
    r"^(?:(?:so|and|but|ok|okay|well|um|uh)\W+)*(?:who|whom|whose|what|when|where|why|how|which|do|does|did|is|are|was|were|"
    r"can|could|will|would|should|shall|have|has|had)\b(?!\s+(?:a|an|the)\b)",
    re.IGNORECASE,
)


def is_question(text: str | None) -> bool:
    """Ends with a question mark; or, where the text has no punctuation at all, opens like an English question."""
    if not text:
        return False
    bare = text.strip()
    if bare.endswith(("?", "？", "؟")):
        return True
    return not re.search(r"[.!?。！？]", bare) and bool(_OPENS_QUESTION.match(bare))


# ---- to whom


def _caller(turn: Spoken, config: InteractionConfig) -> tuple[Addressee, ...]:
    return tuple(Addressee(person, config.caller, How.CALLER) for person in turn.addressed_to if person != turn.speaker_id)


def _only_other(
    turn: Spoken, others: Sequence[str], unknown: Collection[str], config: InteractionConfig
) -> tuple[Addressee, ...]:
    """Says nothing for an unresolved speaker: then the "only other" could be the speaker themself."""
    if turn.speaker_id is None or len(others) != 1 or unknown:
        return ()
    return (Addressee(others[0], config.only_other, How.ONLY_OTHER),)


def _named(turn: Spoken, called: Mapping[str, str], config: InteractionConfig) -> tuple[Addressee, ...]:
    best: dict[str, float] = {}
    for name, first in vocatives(turn.text, called):
        person = called[name]
        if person != turn.speaker_id:
            confidence = config.called_first if first else config.called_within
            best[person] = max(best.get(person, 0.0), confidence)
    return tuple(Addressee(person, best[person], How.NAMED) for person in sorted(best))


def _to_who_is_answered(
    turns: Sequence[Spoken], answers: Mapping[str, str], config: InteractionConfig
) -> dict[str, tuple[Addressee, ...]]:
    by_id = {turn.message_id: turn for turn in turns}
    found: dict[str, tuple[Addressee, ...]] = {}
    for message, answered_id in answers.items():
        answered = by_id[answered_id]
        if answered.speaker_id is not None and answered.speaker_id != by_id[message].speaker_id:
            confidence = config.answer if is_question(answered.text) else config.reply
            found[message] = (Addressee(answered.speaker_id, confidence, How.REPLY),)
    return found


def _everybody(others: Sequence[str], config: InteractionConfig) -> tuple[Addressee, ...]:
    if len(others) > config.max_everybody:
        return ()
    return tuple(Addressee(person, config.everybody, How.ALL) for person in others)


def meant_by_answer(
    turns: Sequence[Spoken],
    told: Interactions,
    may_read: Mapping[str, Collection[str]],
    config: InteractionConfig = DEFAULT,
) -> dict[str, tuple[Addressee, ...]]:
    """The addressees of `told`; of what was said to all, who alone answers it is likelier meant than the rest.

    `may_read`: message id → its readers. An answer tells something only where all who read the turn read the answer, too: else
    the addressee's confidence would tell who missed it that there was one."""
    answering: dict[str, set[str]] = {}
    for turn in turns:
        answered = told.replies.get(turn.message_id)
        if answered is not None and set(may_read[answered]) <= set(may_read[turn.message_id]):
            answering.setdefault(answered, set()).add(turn.voice)
    return {
        message: tuple(
            replace(to, confidence=config.answering) if to.how is How.ALL and answering.get(message) == {to.person_id} else to
            for to in people
        )
        for message, people in told.addressees.items()
    }


# ---- what was typed

Addressed = Mapping[str, tuple[Addressee, ...]]


def is_typed(turns: Sequence[Spoken]) -> bool:
    """No turn takes time: nothing was said aloud."""
    return bool(turns) and all(turn.segment.duration == 0 for turn in turns)


def _typed(
    turns: Sequence[Spoken], called: Mapping[str, str], config: InteractionConfig
) -> tuple[Mapping[str, str], Addressed, Addressed]:
    """What is answered; who is called; who is answered, also where a message goes on from an own one."""
    given = [TypedTurn(turn.voice, turn.segment.start, turn.text or "") for turn in turns]
    understood = understand(given, called, config.typed)
    answers = {
        turn.message_id: turns[each.answers].message_id
        for turn, each in zip(turns, understood, strict=True)
        if each.answers is not None and turns[each.answers].voice != turn.voice
    }
    named = {
        turn.message_id: tuple(Addressee(person, config.called_first, How.NAMED) for person in sorted(each.called))
        for turn, each in zip(turns, understood, strict=True)
    }
    people = {turn.speaker_id for turn in turns}
    replied = {
        turn.message_id: _most_likely(each, people, config)
        for turn, each in zip(turns, understood, strict=True)
        if each.answers is not None
    }
    return answers, named, replied


def _most_likely(understood: Understood, people: Collection[str | None], config: InteractionConfig) -> tuple[Addressee, ...]:
    """Voices that nobody knows are nobody to write down."""
    likely = sorted((voice for voice in understood.to if voice in people), key=lambda voice: (-understood.to[voice], voice))
    return tuple(Addressee(voice, min(understood.to[voice], config.max_typed), How.REPLY) for voice in likely[:1])
