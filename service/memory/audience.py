"""Who may read a turn? The four policies of a space, and what a turn's context view may be made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.memory.attendance import attends
from service.memory.interactions import Spoken
from service.types.memory import Addressee, Attendance, How
from service.types.people import AccessPolicy

Readers = frozenset[str]
"""Person ids. Empty: nobody reads it (yet), and only those who read everything see it."""


@dataclass(frozen=True, slots=True)
class AudienceConfig:
    min_addressed: float = 0.9  # by hand: an inferred addressee reads only at this confidence, and only when attending
    context_turns: int = 3  # turns before, as VoxPolyMem: two views of each turn


def narrow(speaker_id: str | None, bots: Collection[str] = ()) -> Readers:
    """Who may read a turn while its session is still open: its speaker, once known."""
    return frozenset() if speaker_id is None or speaker_id in bots else frozenset((speaker_id,))


def readers(
    turn: Spoken,
    *,
    policy: AccessPolicy,
    addressees: Iterable[Addressee] = (),
    attendance: Iterable[Attendance] = (),
    bots: Collection[str] = (),
    config: AudienceConfig = AudienceConfig(),
) -> Readers:
    """Who may read `turn` under `policy`; each policy adds to the one before it. Bots never read as themselves.

    A turn whose speaker is unresolved is read by nobody under `own`, else by whom the others' rules name: who was
    there heard it, whoever said it."""
    who = set(narrow(turn.speaker_id))
    present = {a.person_id for a in attendance if attends(a, turn.segment)}
    if policy is not AccessPolicy.OWN:
        who |= {a.person_id for a in addressees if _may_read(a, present, config)}
    if policy in (AccessPolicy.ATTENDED, AccessPolicy.SHARED):
        who |= present
    return frozenset(who - set(bots))


def _may_read(addressee: Addressee, present: Collection[str], config: AudienceConfig) -> bool:
    """The caller's word; or near certainty about somebody present. A name called out grants nothing: anybody can call
    anybody's name."""
    match addressee.how:
        case How.CALLER:
            return True
        case How.NAMED:
            return False
        case _:
            return addressee.confidence >= config.min_addressed and addressee.person_id in present


def context_of(
    position: int, turns: Sequence[Spoken], audiences: Mapping[str, Readers], config: AudienceConfig = AudienceConfig()
) -> tuple[Spoken, ...]:
    """Of the turns just before `turns[position]`, in spoken order, those that everybody who may read it may read too:
    a view of the turn must tell nobody what they did not hear. A turn that nobody may read has no context."""
    own = audiences[turns[position].message_id]
    before = turns[max(0, position - config.context_turns) : position]
    return tuple(t for t in before if t.text and own and own <= audiences[t.message_id])


def usable_before(position: int, audiences: Sequence[Readers | None], config: AudienceConfig = AudienceConfig()) -> int:
    """How many of the turns right before the one at `position` may be read with it, [0, context_turns], by the same rule.

    `audiences` of the turns in spoken order; None: everybody may read it."""
    own = audiences[position]
    for number in range(min(position, config.context_turns)):
        before = audiences[position - number - 1]
        if before is not None and not (own and own <= before):
            return number
    return min(position, config.context_turns)
