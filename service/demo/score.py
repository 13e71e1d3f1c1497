"""How well does what was heard match what was really said?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.demo.reference import Recording, Said
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
    persons = [one.speaker if one and one.speaker else f"nobody {i}" for i, (_, one) in enumerate(pairs)]
    really = _pairing(gold, persons)
    precision, recall = b_cubed(gold, persons)
    return Match(
        name,
        turns=len(pairs),
        attribution=sum(really.get(p) == g for p, g in zip(persons, gold, strict=True)) / len(pairs),
        b3_precision=precision,
        b3_recall=recall,
        b3_f1=2 * precision * recall / (precision + recall),
        addressees=_addressed(pairs, really),
        decisions=dict(Counter(one.decision for r in recordings for one in heard[r.id])),
        really={person: speaker for person, speaker in really.items() if not person.startswith("nobody ")},
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


def _pairing(gold: Sequence[str], persons: Sequence[str]) -> dict[str, str]:
    """Person → speaker, one to one, so that most turns agree (Hungarian method)."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = sorted(set(persons)), sorted(set(gold))
    together = Counter(zip(persons, gold, strict=True))
    counts = [[together[p, g] for g in columns] for p in rows]
    return {rows[i]: columns[j] for i, j in zip(*linear_sum_assignment(counts, maximize=True), strict=True) if counts[i][j]}


def b_cubed(gold: Sequence[str], persons: Sequence[str]) -> tuple[float, float]:
    """Precision and recall, each the mean over the turns (Bagga and Baldwin 1998)."""
    together = Counter(zip(gold, persons, strict=True))
    by_person, by_speaker = Counter(persons), Counter(gold)
    pairs = list(zip(gold, persons, strict=True))
    return (
        sum(together[g, p] / by_person[p] for g, p in pairs) / len(pairs),
        sum(together[g, p] / by_speaker[g] for g, p in pairs) / len(pairs),
    )
