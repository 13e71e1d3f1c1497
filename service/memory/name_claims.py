"""What in a session speaks for a name? Who introduces themself, who is called and answers, what the platform's label says;
and where a label and the voices or the words contradict each other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.memory.interactions import Spoken
from service.memory.introductions import Introduction, Says, introductions, name_word, unquoted
from service.memory.labels import Label, is_generic, without_badge
from service.memory.name_words import NOT_NAMES
from service.memory.names import DEFAULT, NameClaim, NameConfig, Source, contradict
from service.memory.vocatives import normal_name, vocatives

_OF_INTRODUCTION = {
    Says.IS: Source.SELF_INTRODUCTION,
    Says.MAY_BE: Source.WEAK_INTRODUCTION,
    Says.IS_NOT: Source.DENIED,
}
_HAILED = re.compile(
    r"(?:^|[.!?]\s+)(?:hey|hi|hello|thanks|thank you|bye|goodbye|sorry|welcome|good (?:morning|afternoon|evening|night)|"
    r"hallo|danke|servus|tschüss|guten (?:morgen|tag|abend)|hola|gracias|adiós|buenos días|bonjour|merci|salut),?\s+"
    r"([^\W\d_][\w'-]+)(?=[,.!?]|$)",
    re.IGNORECASE,
)
"""Hey Mel! Thanks, Mel."""


@dataclass(frozen=True, slots=True)
class NamesHeard:
    claims: tuple[NameClaim, ...]
    labels: Mapping[str, str]
    """Track → the name that its label is."""
    contradicted: frozenset[str]
    """Tracks where a voice known by name, or the words, speak against the label or likely wrong ones beside it."""


@dataclass(frozen=True, slots=True)
class _Labelled:
    """One voice on one labelled track."""

    track: str
    subject: str
    name: str
    trusted: bool
    alone: bool
    message_id: str


def claims(
    turns: Sequence[Spoken],
    labels: Mapping[str, str | None],
    known: Mapping[str, Collection[str]] | None = None,
    *,
    strangers: Collection[str] = (),
    session_id: str = "",
    config: NameConfig = DEFAULT,
) -> NamesHeard:
    """`turns` of a session in spoken order. `labels`: track → what the source calls it. `known`: person id → names that a
    human gave. `strangers`: ids of unresolved turns whose voice was heard not to be their track's."""
    known = known or {}
    introduced = [(turn, said) for turn in turns for said in introductions(turn.text)]
    labelled = list(_labelled(turns, labels, frozenset(strangers), config))
    calls = list(_calls(turns, _callable(turns, introduced, labelled, known), config))
    contradicted = _contradicted(labelled, introduced, calls, known)
    settled = _forms(name for names in known.values() for name in names)  # whoever is called so is known, whoever answers
    found = [
        *(NameClaim(t.voice, said.name, _OF_INTRODUCTION[said.says], t.message_id, session_id) for t, said in introduced),
        *(NameClaim(a.subject, a.name, _of_label(a, contradicted), a.message_id, session_id) for a in labelled),
        *(NameClaim(c.caller, c.name, Source.CALLS, c.message_id, session_id) for c in calls),
        *(
            NameClaim(c.answers, c.name, Source.ADDRESSED, c.message_id, session_id)
            for c in calls
            if c.answers and normal_name(c.name) not in settled
        ),
    ]
    return NamesHeard(tuple(dict.fromkeys(found)), {each.track: each.name for each in labelled}, contradicted)


# ---- labels


def _labelled(
    turns: Sequence[Spoken], labels: Mapping[str, str | None], strangers: frozenset[str], config: NameConfig
) -> Iterator[_Labelled]:
    """Who speaks under each label that is a name. A turn too weak to be told apart counts for nobody; one whose voice was heard
    to be another's counts as somebody else."""
    for track in dict.fromkeys(turn.track for turn in turns):
        label = _name_of(labels.get(track))
        if label is None:
            continue
        seconds: defaultdict[str, float] = defaultdict(float)
        first: dict[str, str] = {}
        for turn in turns:
            if turn.track == track and (turn.speaker_id or turn.message_id in strangers):
                voice = turn.speaker_id or turn.message_id
                seconds[voice] += turn.segment.duration
                first.setdefault(voice, turn.message_id)
        people = [voice for voice in seconds if voice not in strangers]
        if not people:
            opening = next(turn for turn in turns if turn.track == track)
            yield _Labelled(track, track, label.name, label.trusted, not seconds, opening.message_id)
        total = sum(seconds.values())
        most = max(seconds.values(), default=0.0)
        for person in people:
            alone = seconds[person] >= config.alone * total
            if alone or most < config.alone * total:
                yield _Labelled(track, person, label.name, label.trusted, alone, first[person])


def _name_of(label: str | None) -> Label | None:
    if not label:
        return None
    bare = without_badge(label)
    return None if is_generic(bare.name) else bare


def _of_label(labelled: _Labelled, contradicted: Collection[str]) -> Source:
    if not labelled.alone:
        return Source.SHARED_LABEL
    return Source.PLATFORM_LABEL if labelled.trusted and labelled.track not in contradicted else Source.DOUBTED_LABEL


# ---- who is called


@dataclass(frozen=True, slots=True)
class _Call:
    caller: str
    answers: str | None
    name: str
    message_id: str


def _callable(
    turns: Sequence[Spoken],
    introduced: Sequence[tuple[Spoken, Introduction]],
    labelled: Sequence[_Labelled],
    known: Mapping[str, Collection[str]],
) -> dict[str, str]:
    """Normal form → name as written, of every name that may be called: known, labelled, introduced, or hailed twice."""
    hailed: defaultdict[str, list[str]] = defaultdict(list)
    for turn in turns:
        for name in _HAILED.findall(unquoted(turn.text)) if turn.text else ():
            if name_word(name) and name.casefold() not in NOT_NAMES:
                hailed[normal_name(name)].append(name)
    names = [
        *(name for names in known.values() for name in names),
        *(each.name for each in labelled),
        *(said.name for _, said in introduced if said.says is not Says.IS_NOT),
        *(forms[0] for forms in hailed.values() if len(forms) > 1),
    ]
    return _forms(names)


def _forms(names: Iterable[str]) -> dict[str, str]:
    """Normal form → as written, of names and their first words."""
    found: dict[str, str] = {}
    for name in names:
        first = name.split()[0]
        found.setdefault(normal_name(name), name)
        if not is_generic(first):
            found.setdefault(normal_name(first), first)
    return found


def _calls(turns: Sequence[Spoken], names: Mapping[str, str], config: NameConfig) -> Iterator[_Call]:
    for position, turn in enumerate(turns):
        if not turn.text:
            continue
        answers = _answers(turns, position, config)
        for name in dict.fromkeys(name for name, _ in vocatives(unquoted(turn.text), names)):
            yield _Call(turn.voice, answers, names[name], turn.message_id)


def _answers(turns: Sequence[Spoken], position: int, config: NameConfig) -> str | None:
    """The voice that speaks next, soon after the call; the caller may go on before it."""
    voice, end = turns[position].voice, turns[position].segment.end
    for turn in turns[position + 1 :]:
        if turn.segment.start - end > config.max_answer_gap:
            return None
        if turn.voice != voice:
            return turn.voice
        end = max(end, turn.segment.end)
    return None


# ---- where labels are wrong


def _contradicted(
    labelled: Sequence[_Labelled],
    introduced: Sequence[tuple[Spoken, Introduction]],
    calls: Sequence[_Call],
    known: Mapping[str, Collection[str]],
) -> frozenset[str]:
    """Tracks whose label is wrong by some evidence, and those that it was likely taken from: the track labelled with the name
    that the evidence gives, or whoever answered to the label; with two labelled tracks always both."""
    own = [each for each in labelled if each.alone]
    wrong: set[str] = set()
    for each in own:
        right = list(_speaks_against(each, introduced, calls, known))
        if right:
            answered = {call.answers for call in calls if call.caller == each.subject and not contradict(call.name, each.name)}
            wrong.add(each.track)
            wrong |= {o.track for o in own if o.subject in answered or any(not contradict(o.name, name) for name in right)}
    both = {each.track for each in own}
    return frozenset(both if wrong and len(both) == 2 else wrong)


def _speaks_against(
    each: _Labelled,
    introduced: Iterable[tuple[Spoken, Introduction]],
    calls: Iterable[_Call],
    known: Mapping[str, Collection[str]],
) -> Iterator[str]:
    """Names that the voice has instead; of one that denies or calls its label, the label."""
    names = known.get(each.subject, ())
    if names and all(contradict(each.name, name) for name in names):
        yield from names
    for turn, said in introduced:
        if turn.voice == each.subject:
            if said.says is Says.IS and contradict(each.name, said.name):
                yield said.name
            elif said.says is Says.IS_NOT and not contradict(each.name, said.name):
                yield each.name
    for call in calls:
        if call.caller == each.subject and not contradict(call.name, each.name):
            yield each.name
