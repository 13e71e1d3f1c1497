"""What is somebody called, and how sure is that? What speaks for a name is weighed against what speaks for another one; only
a name that is sure and uncontradicted is used without asking anybody. A name never grants access."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from service.memory.vocatives import normal_name


class Source(StrEnum):
    """What kind of evidence a claim is."""

    SELF_INTRODUCTION = "self_introduction"
    """I'm Dana."""
    WEAK_INTRODUCTION = "weak_introduction"
    """Ich bin Dana; Hi, this is Dana: mostly one's own name."""
    ADDRESSED = "addressed"
    """Somebody called the name and this voice answered."""
    PLATFORM_LABEL = "platform_label"
    """A platform, a transcript or a bot calls the track so, and one voice alone speaks on it."""
    DOUBTED_LABEL = "doubted_label"
    """The same, where the platform says itself that the name is unverified, or something speaks against its labels."""
    SHARED_LABEL = "shared_label"
    """The same, where several voices speak on the track: a room, or two people of one name."""
    DENIED = "denied"
    """I'm not Dana."""
    CALLS = "calls"
    """This voice calls somebody by the name: hardly itself."""


AGAINST = frozenset({Source.DENIED, Source.CALLS})

_WEIGHTS: Mapping[Source, float] = MappingProxyType(
    {
        Source.SELF_INTRODUCTION: 0.75,
        Source.WEAK_INTRODUCTION: 0.35,
        Source.ADDRESSED: 0.4,
        Source.PLATFORM_LABEL: 0.75,
        Source.DOUBTED_LABEL: 0.2,
        Source.SHARED_LABEL: 0.2,
        Source.DENIED: 0.95,
        Source.CALLS: 0.8,
    }
)


@dataclass(frozen=True, slots=True)
class NameConfig:
    """How evidence is weighed. A weight is the share of such claims that are right, taken low on purpose; claims add up as
    independent ones do (1 - Π (1 - weight))."""

    weights: Mapping[Source, float] = field(default_factory=lambda: _WEIGHTS)
    """self_introduction: of 74 heard in 129,177 turns of meetings (QMSum) 71 are the speaker's name (one is a film's, one a
    product's, one was broken off), and the voice behind a turn is right nine times in ten: 0.86, taken as 0.75 so that no
    single sentence names anybody. weak_introduction: half of them are trades, rooms or other people. addressed: where two
    talk, 1,128 of 1,131 are right (LoCoMo, tests/unit/memory/test_names.py); where more do, the next to speak is often
    another. platform_label: right in most meetings, wrong for all of one when a platform's clock slips: one session's
    labels are one claim, and not enough. doubted, shared: one in the five voices of a room. denied, calls: 2 of 1,201
    calls in LoCoMo are of one's own name; sooner a turn of somebody else was put to the voice."""
    most: int = 3
    """claims of one kind counted in a session: further ones repeat the same mistake or the same truth"""
    apply: float = 0.8
    """used without asking from this confidence on: two self-introductions (0.94), a label with one address (0.85), labels of
    two sessions (0.94); not one label or one introduction (0.75), nor a session full of addresses (0.78)"""
    contradicted: float = 0.2
    """share of all evidence that speaks for another name or against this one, from which it is held: 1 of 5 claims"""
    own: float = 0.5
    """confidence from its own claims that a full name needs before those for its first word count for it too"""
    given: float = 3.0
    """evidence (in nats, as -ln(1 - weight)) that a name given by a human counts against any other: 0.95"""
    alone: float = 0.8
    """share of a track's speech that one voice needs for the label to be its own: diarisation errs in 10 to 20 %"""
    max_answer_gap: float = 5.0
    """seconds after which whoever speaks no longer answers a call (interactions.py)"""


DEFAULT = NameConfig()


@dataclass(frozen=True, slots=True)
class NameClaim:
    subject: str
    """Person id, or LocalSpeaker id where the voice is nobody's yet."""
    name: str
    source: Source
    message_id: str
    """The turn that says so; of a label the subject's first turn under it."""
    session_id: str = ""

    @property
    def normal_name(self) -> str:
        return normal_name(self.name)


@dataclass(frozen=True, slots=True)
class NameProposal:
    subject: str
    name: str
    """As most often written."""
    normal_name: str
    sources: tuple[Source, ...]
    """Kinds of evidence for and against it."""
    messages: tuple[str, ...]
    num_claims: int
    """In favour."""
    confidence: float
    """[0, 1]"""
    held: str | None
    """contradicted | taken | unsure; None: may be used without asking"""


@dataclass(frozen=True, slots=True)
class Known:
    """What is settled about somebody's name already."""

    given: tuple[str, ...] = ()
    """Names and aliases that a human gave."""
    rejected: frozenset[str] = frozenset()
    """Normal forms that a human rejected."""


def proposals(
    claims: Iterable[NameClaim],
    known: Mapping[str, Known],
    taken: Mapping[str, Collection[frozenset[str]]],
    config: NameConfig = DEFAULT,
) -> tuple[NameProposal, ...]:
    """All names claimed for each subject, most confident first. `known` by subject; `taken`: normal name → those called so,
    each with whom they are merged with. What is claimed against only is no proposal."""
    by_subject: defaultdict[str, list[NameClaim]] = defaultdict(list)
    for claim in dict.fromkeys(claims):
        by_subject[claim.subject].append(claim)
    found = []
    for subject, own in sorted(by_subject.items()):
        judged = [
            _judged(subject, name, own, known.get(subject, Known()), taken, config)
            for name in sorted({c.normal_name for c in own if c.source not in AGAINST})
        ]
        found += sorted(judged, key=lambda p: (-p.confidence, -len(p.normal_name), p.normal_name))
    return tuple(found)


def chosen(of_subject: Sequence[NameProposal]) -> NameProposal | None:
    """The one to be used without asking: the surest, of equally sure ones the fullest."""
    free = [p for p in of_subject if p.held is None]
    return min(free, key=lambda p: (-round(p.confidence, 6), -len(p.normal_name), p.normal_name), default=None)


def _judged(
    subject: str,
    name: str,
    claims: Sequence[NameClaim],
    known: Known,
    taken: Mapping[str, Collection[frozenset[str]]],
    config: NameConfig,
) -> NameProposal:
    mine = [c for c in claims if c.normal_name == name]
    pro = [c for c in mine if c.source not in AGAINST]
    evidence, against = _mass(pro, config), _mass([c for c in mine if c.source in AGAINST], config)
    others = {c.normal_name for c in claims if c.source not in AGAINST} - {name} - known.rejected
    for other in others:
        mass = _mass([c for c in claims if c.normal_name == other and c.source not in AGAINST], config)
        if contradict(name, other):
            against += mass
        elif part_of(name, other) or (part_of(other, name) and 1 - math.exp(-evidence) >= config.own):
            evidence += mass
    if known.given and all(contradict(name, given) for given in known.given):
        against += config.given
    share = evidence / (evidence + against)
    confidence = (1 - math.exp(-evidence)) * share
    held = None
    if 1 - share >= config.contradicted:
        held = "contradicted"
    elif any(subject not in same for same in taken.get(name, ())):
        held = "taken"
    elif confidence < config.apply or name in known.rejected:
        held = "unsure"
    return NameProposal(
        subject,
        _as_written(pro),
        name,
        tuple(sorted({c.source for c in mine})),
        tuple(dict.fromkeys(c.message_id for c in mine)),
        len(pro),
        confidence,
        held,
    )


def _mass(claims: Iterable[NameClaim], config: NameConfig) -> float:
    """Evidence in nats: sum of -ln(1 - weight), at most `most` of a kind in one session."""
    counted = Counter((c.session_id, c.source) for c in claims)
    return sum(-math.log(1 - config.weights[source]) * min(n, config.most) for (_, source), n in sorted(counted.items()))


def _as_written(claims: Iterable[NameClaim]) -> str:
    forms = Counter(claim.name for claim in claims)
    return min(forms, key=lambda form: (-forms[form], form))


# ---- when two names are one person's

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_HAN = re.compile(r"^[\u3400-\u9fff]+$")
_NICKNAME = 3  # letters: Mel and Melanie, Alex and Alexander


def contradict(one: str, other: str) -> bool:
    """Whether one person is hardly called both: neither is part of the other nor may be short for it."""
    if part_of(one, other) or part_of(other, one):
        return False
    firsts = [_WORD.findall(normal_name(name))[:1] for name in (one, other)]
    if not all(firsts):
        return True
    short, long = sorted((firsts[0][0], firsts[1][0]), key=len)
    rest_differs = min(len(_WORD.findall(name)) for name in (one, other)) > 1
    return rest_differs or len(short) < _NICKNAME or not long.startswith(short)


def part_of(short: str, long: str) -> bool:
    """Whether every word of `short` stands in `long`, an initial for a word that begins with it: Dana, Smith and D. Smith are
    parts of Dana Smith, 佳琪 of 王佳琪."""
    words, whole = (_WORD.findall(normal_name(name)) for name in (short, long))
    if not words or len(words) > len(whole):
        return False
    if len(words) == len(whole) == 1 and _HAN.match(words[0]) and _HAN.match(whole[0]):
        return len(words[0]) > 1 and words[0] in whole[0]
    left = list(whole)
    for word in words:
        match = next((w for w in left if w == word), None)
        match = match or next((w for w in left if len(word) == 1 and w.startswith(word)), None)
        if match is None:
            return False
        left.remove(match)
    return True
