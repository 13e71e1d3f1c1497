"""Who spoke to whom, and what answers what? From the caller, names called out, reply structure and who is there at all;
no language model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from service.memory.typed_chat import Antecedent, ChatConfig, TypedTurn, antecedents
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
    everybody: float = 0.3  # nothing speaks for anybody in particular
    max_reply_gap: float = 2.0  # seconds of silence; longer ones mostly begin something new
    max_answer_gap: float = 5.0  # seconds; people think before they answer
    max_backchannel: float = 0.8  # seconds; "mm", "yeah": answers, but nothing that one answers
    max_everybody: int = 12  # people; in a larger room "to all" tells nothing and costs an edge each
    typed: ChatConfig = field(default_factory=ChatConfig)  # of messages that were typed, where several talk at once
    max_typed: float = 0.85  # what a model infers stays below the 0.9 that opens a message


DEFAULT = InteractionConfig()


# ---- what answers what


def replies(
    turns: Sequence[Spoken], names: Mapping[str, Collection[str]] | None = None, config: InteractionConfig = DEFAULT
) -> dict[str, str]:
    """Message id → id of the message it answers. Spoken: the last turn of a different voice that one may answer, if the gap
    is short. Typed: what typed_chat finds, of a different voice. `turns` in order, `names` as in addressees."""
    if is_typed(turns):
        return {
            turns[i].message_id: turns[a.index].message_id
            for i, a in enumerate(_typed(turns, names or {}, config))
            if a is not None and turns[a.index].voice != turns[i].voice
        }
    found = {}
    for position, turn in enumerate(turns):
        answered = _answered(turn, turns[:position][-8:], config)
        if answered is not None:
            found[turn.message_id] = answered.message_id
    return found


def _answered(turn: Spoken, before: Sequence[Spoken], config: InteractionConfig) -> Spoken | None:
    """None also when the same voice goes on: then the turn continues its own."""
    for earlier in reversed(before):
        if _is_backchannel(earlier, config):
            continue
        if earlier.voice == turn.voice:
            return None
        gap = turn.segment.start - earlier.segment.end
        longest = config.max_answer_gap if is_question(earlier.text) else config.max_reply_gap
        return earlier if gap <= longest else None
    return None


def is_typed(turns: Sequence[Spoken]) -> bool:
    """No turn takes time: nothing was said aloud."""
    return bool(turns) and all(turn.segment.duration == 0 for turn in turns)


def _typed(turns: Sequence[Spoken], names: Mapping[str, Collection[str]], config: InteractionConfig) -> list[Antecedent | None]:
    given = [TypedTurn(turn.voice, turn.segment.start, turn.text or "") for turn in turns]
    return antecedents(given, unique_names(names), config.typed)


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


def _is_backchannel(turn: Spoken, config: InteractionConfig) -> bool:
    return turn.segment.duration <= config.max_backchannel and not is_question(turn.text)


# ---- to whom


def addressees(
    turns: Sequence[Spoken],
    names: Mapping[str, Collection[str]],
    participants: Collection[str],
    config: InteractionConfig = DEFAULT,
) -> dict[str, tuple[Addressee, ...]]:
    """Message id → whom it was said to, by the first kind of evidence that says anything: caller, only other, named,
    reply, all. Nobody where even `all` would be nobody.

    `names`: person id → names and aliases of everybody known in the session. `participants`: person ids of who was there;
    voices still unresolved count too, they are somebody."""
    people = set(participants) | {t.speaker_id for t in turns if t.speaker_id}
    strangers = {turn.track for turn in turns if turn.speaker_id is None}
    called = unique_names(names)
    replied = _typed_replies(turns, names, config) if is_typed(turns) else _spoken_replies(turns, config)
    found: dict[str, tuple[Addressee, ...]] = {}
    for turn in turns:
        others = sorted(people - {turn.speaker_id})
        unknown = strangers - {turn.track}
        found[turn.message_id] = (
            _caller(turn, config)
            or _only_other(turn, others, unknown, config)
            or _named(turn, called, config)
            or replied.get(turn.message_id, ())
            or _everybody(others, config)
        )
    return found


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


def _spoken_replies(turns: Sequence[Spoken], config: InteractionConfig) -> dict[str, tuple[Addressee, ...]]:
    by_id = {turn.message_id: turn for turn in turns}
    found = {}
    for message, answered_id in replies(turns, config=config).items():
        answered = by_id[answered_id]
        if answered.speaker_id is not None:
            confidence = config.answer if is_question(answered.text) else config.reply
            found[message] = (Addressee(answered.speaker_id, confidence, How.REPLY),)
    return found


def _typed_replies(
    turns: Sequence[Spoken], names: Mapping[str, Collection[str]], config: InteractionConfig
) -> dict[str, tuple[Addressee, ...]]:
    """Also where a message goes on from an own one: to whom that one was."""
    people = {turn.speaker_id for turn in turns}
    found = {}
    for turn, antecedent in zip(turns, _typed(turns, names, config), strict=True):
        likely = {voice: share for voice, share in (antecedent.to if antecedent else {}).items() if voice in people}
        if likely:
            best = max(sorted(likely), key=lambda voice: likely[voice])
            found[turn.message_id] = (Addressee(best, min(likely[best], config.max_typed), How.REPLY),)
    return found


def _everybody(others: Sequence[str], config: InteractionConfig) -> tuple[Addressee, ...]:
    if len(others) > config.max_everybody:
        return ()
    return tuple(Addressee(person, config.everybody, How.ALL) for person in others)
