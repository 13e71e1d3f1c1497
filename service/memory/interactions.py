"""Who spoke to whom, and what answers what? From the caller, names called out, reply structure and who is there at all;
no language model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

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


DEFAULT = InteractionConfig()


# ---- what answers what


def replies(turns: Sequence[Spoken], config: InteractionConfig = DEFAULT) -> dict[str, str]:
    """Message id → id of the message it answers: the last turn of a different voice that one may answer, if the gap is
    short. `turns` in spoken order."""
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
    answers, by_id = replies(turns, config), {turn.message_id: turn for turn in turns}
    people = set(participants) | {t.speaker_id for t in turns if t.speaker_id}
    strangers = {turn.track for turn in turns if turn.speaker_id is None}
    called = _unique_names(names)
    found: dict[str, tuple[Addressee, ...]] = {}
    for turn in turns:
        answered = by_id.get(answers.get(turn.message_id, ""))
        others = sorted(people - {turn.speaker_id})
        unknown = strangers - {turn.track}
        found[turn.message_id] = (
            _caller(turn, config)
            or _only_other(turn, others, unknown, config)
            or _named(turn, called, config)
            or _reply(answered, config)
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


def _reply(answered: Spoken | None, config: InteractionConfig) -> tuple[Addressee, ...]:
    if answered is None or answered.speaker_id is None:
        return ()
    confidence = config.answer if is_question(answered.text) else config.reply
    return (Addressee(answered.speaker_id, confidence, How.REPLY),)


def _everybody(others: Sequence[str], config: InteractionConfig) -> tuple[Addressee, ...]:
    if len(others) > config.max_everybody:
        return ()
    return tuple(Addressee(person, config.everybody, How.ALL) for person in others)


# ---- names called out

_PIECE = re.compile(r"([^,;:!?.，、。；：！？…—–\n]+)([,;:!?.，、。；：！？…—–\n]*)")
_GREETS = r"(?:hey|hi|hello|thanks|thank you|sorry|please|dear|good (?:morning|afternoon|evening|night)|bye|goodbye)"
_GREETING = re.compile(rf"^(?:(?:ok|okay|so|well|and|but|oh|ah|yes|no|right|um|uh)\s+)*{_GREETS}\s+(?P<rest>.+)$")
_OPENER = re.compile(r"^(?:(?:ok|okay|so|well|and|but|oh|ah|yes|no|right|um|uh)\s+)+(?P<rest>.+)$")
_NOUN_BEFORE = re.compile(r"\b(?:my|our|your|his|her|their|named|called)(?:\s+\w+){0,2}$")
_AND = re.compile(r"^(?:and|or|und|et|y)\s+")
_BEFORE_AND = re.compile(r"^(?P<name>\w+(?: \w+)?) (?:and|or|und|et|y) ")
_COMMAS = (",", "，", "、")


def normal_name(name: str) -> str:
    """NFKC, case-folded, single blanks: how names are compared."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _unique_names(names: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Normal name → the one person it can mean; the first word of a name counts as one. Names of two people are left out."""
    owners: dict[str, set[str]] = {}
    for person, own in names.items():
        for name in own:
            normal = normal_name(name)
            for form in {normal, normal.partition(" ")[0]} - {""}:
                owners.setdefault(form, set()).add(person)
    return {name: next(iter(people)) for name, people in owners.items() if len(people) == 1}


def vocatives(text: str | None, known: Collection[str]) -> list[tuple[str, bool]]:
    """Names of `known` (normal forms) that `text` calls out, with whether it opens or closes the text with them.

    A name is called out when it stands alone between punctuation of which one side is a comma, when it is the whole
    "Mara?" or "Mara!", or after a greeting ("thanks Mara"). Enumerations ("Tom, Mara and Ben went"), appositions ("my
    sister, Mara, said") and one-word answers ("Who? Mara.") are not calls."""
    pieces = [(normal_name(words), marks.replace(" ", "")) for words, marks in _PIECE.findall(text or "") if words.strip()]
    found = []
    for position, (words, after) in enumerate(pieces):
        before = pieces[position - 1][1] if position else ""
        first, last = position == 0, position == len(pieces) - 1
        if (name := _greeted(words, known)) is not None:
            found.append((name, True))
        elif (name := _alone(words, known, may_open=bool(after))) is not None:
            apposed = bool(before) and before[-1] in _COMMAS and bool(_NOUN_BEFORE.search(pieces[position - 1][0]))
            comma = (bool(after) and after[0] in _COMMAS) or (bool(before) and before[-1] in _COMMAS)
            hailed = first and last and after[:1] in ("?", "!", "？", "！")
            if (comma or hailed) and not apposed and not _enumerated(position, pieces, known):
                opens = first or (bool(before) and before[-1] not in _COMMAS)
                found.append((name, opens or last))
    return found


def _enumerated(position: int, pieces: Sequence[tuple[str, str]], known: Collection[str]) -> bool:
    """The piece begins a list that ends in "and …": the next piece is "mara and ben went", "and ben" or one more name of it."""
    if position + 1 == len(pieces) or pieces[position][1][:1] not in _COMMAS:
        return False
    following = pieces[position + 1][0]
    last = _AND.sub("", following) if _AND.match(following) else _BEFORE_AND.match(following)
    ends = last if isinstance(last, str) else last["name"] if last else ""
    return any((ends + " ").startswith(name + " ") for name in known) or (
        following in known and _enumerated(position + 1, pieces, known)
    )


def _alone(words: str, known: Collection[str], *, may_open: bool) -> str | None:
    """The name that a piece of text consists of, an "okay so" before it allowed."""
    if words in known:
        return words
    opened = _OPENER.match(words) if may_open else None
    return opened["rest"] if opened and opened["rest"] in known else None


def _greeted(words: str, known: Iterable[str]) -> str | None:
    """The name right after a greeting: "hey mara can you …"."""
    greeting = _GREETING.match(words)
    if greeting is None:
        return None
    rest = greeting["rest"] + " "
    return max((name for name in known if rest.startswith(name + " ")), key=len, default=None)
