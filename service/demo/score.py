"""How well does what was heard match what was really said?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.demo.reference import Recording, Said
from service.identity.metrics import attributed, b_cubed, one_to_one
from service.types.audio import Segment


@dataclass(frozen=True, slots=True)
class Heard:
    """One message as the service stored it."""

    segment: Segment
    speaker: str | None
    """Person id; None while unresolved."""
    decision: str
    to: tuple[str, ...]
    """Person ids; empty for nobody in particular."""


@dataclass(frozen=True, slots=True)
class Match:
    """Over the turns of the reference; every measure is a share in [0, 1]."""

    name: str
    turns: int
    attribution: float
    """Turns given to the person who said them, under the best one-to-one pairing of persons and speakers."""
    b3_precision: float
    b3_recall: float
    b3_f1: float
    addressees: float | None
    """Turns heard as said to whom they were said to; None where the reference does not say."""
    decisions: dict[str, int]
    """Messages by how their speaker was decided."""
    really: dict[str, str]
    """Person id → speaker of the reference, of that pairing."""


def match(name: str, recordings: Sequence[Recording], heard: Mapping[str, Sequence[Heard]]) -> Match:
    """`heard`: recording id → its messages. All recordings together: a person split in two across them costs."""
    pairs = [(turn, _main(turn, heard[r.id])) for r in recordings for turn in r.turns]
    gold = [turn.speaker for turn, _ in pairs]
    persons = [one.speaker if one else None for _, one in pairs]
    really = {str(person): str(speaker) for person, speaker in one_to_one(persons, gold).items()}
    b3 = b_cubed(persons, gold)
    return Match(
        name,
        turns=len(pairs),
        attribution=sum(attributed(persons, gold)) / len(pairs),
        b3_precision=b3.precision,
        b3_recall=b3.recall,
        b3_f1=b3.f1,
        addressees=_addressed(pairs, really),
        decisions=dict(Counter(one.decision for r in recordings for one in heard[r.id])),
        really=really,
    )


def _main(turn: Said, heard: Sequence[Heard]) -> Heard | None:
    """The message in which most of `turn` lies."""
    best = max(heard, key=lambda h: h.segment.overlap(turn.segment), default=None)
    return best if best and best.segment.overlap(turn.segment) > 0 else None


def _addressed(pairs: Sequence[tuple[Said, Heard | None]], really: Mapping[str, str]) -> float | None:
    """Share of the turns heard as said to whom they were said to; to several at once, naming none of them is right, too."""
    known = [(set(turn.to), {really.get(p) for p in one.to} if one else None) for turn, one in pairs if turn.to]
    if not known:
        return None
    return sum(to == heard or (len(to) > 1 and heard is not None and heard <= to) for to, heard in known) / len(known)
