"""How does somebody feel, and what are they like? A turn's affect, what it shows of its speaker, and what stays of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.types.ids import derived


class Emotion(StrEnum):
    """What is told apart; close to VoiceMem's eight, without those that words hardly tell (conflicted, aggrieved)."""

    JOY = "joy"
    CALM = "calm"
    SADNESS = "sadness"
    ANGER = "anger"
    ANXIETY = "anxiety"
    TIREDNESS = "tiredness"
    LONELINESS = "loneliness"


class Aspect(StrEnum):
    """What a turn shows of its speaker."""

    FEELING = "feeling"
    """They feel so now, perhaps because of something or somebody."""
    ATTITUDE = "attitude"
    """They like or dislike something or somebody."""
    SELF = "self"
    """They say that they are so: impatient, a morning person."""


class PersonaKind(StrEnum):
    INDEPENDENT = "independent"
    """Of the person alone: often anxious, shy."""
    CROSS_ENTITY = "cross_entity"
    """Toward something or somebody: dislikes the dentist, is angry with Ben."""


@dataclass(frozen=True, slots=True)
class Prosody:
    """How a turn was spoken, measured from its sound; nothing about what that means."""

    pitch: float | None
    """Median fundamental frequency, Hz; None where too little of it is voiced."""
    pitch_range: float | None
    """From the 10th to the 90th percentile of it, semitones."""
    level: float
    """dB of full scale."""
    rate: float | None
    """Words a second of net speech; None without words."""
    voiced: float | None = None
    """Share of its loud frames that have a pitch, [0, 1]; None where that was not measured."""


@dataclass(frozen=True, slots=True)
class Affect:
    """An estimate of one turn: from words, and from the voice against the same speaker's usual where that is known."""

    valence: float
    """Unpleasant to pleasant, [-1, 1]; from words only."""
    arousal: float
    """Quiet to stirred, [0, 1]."""
    emotion: Emotion | None = None
    """The strongest that the speaker says to feel."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing that a turn shows of its speaker: what Modify adds to the memory of them (VoiceMem, short horizon)."""

    aspect: Aspect
    intensity: float
    """[0, 1]."""
    polarity: float
    """Against to for, [-1, 1]; 0 for what no longer holds without its opposite holding."""
    emotion: Emotion | None = None
    """Of a feeling."""
    target: str | None = None
    """Whom or what it concerns, as said without articles; ADDRESSEE for whom the turn is said to; of SELF what they are."""
    cause: str | None = None
    """Why, as said."""
    changed: bool = False
    """Said as a change: no longer, not any more, used to."""


@dataclass(frozen=True, slots=True)
class SaidFeelings:
    """What the words of one turn tell of its speaker."""

    valence: float
    """Unpleasant to pleasant, [-1, 1]."""
    arousal: float
    """Quiet to stirred, [0, 1], before its sound is looked at."""
    marks: tuple[Mark, ...]
    """The strongest first."""


@dataclass(frozen=True, slots=True)
class FeltTurn:
    """A turn as a reader of feelings gets it. Who its speaker is, is not told."""

    message_id: str
    text: str
    language: str | None = None
    audience: str | None = None
    """Equal for turns of one speaker that have the same readers: they may be read together. None: alone."""
    may_use: int = 0
    """Of those right before it: none."""


class FeelingReader(Protocol):
    @property
    def name(self) -> str:
        """Name and version, kept with each turn that was read: another one reads it again. `affect-1`, `model:NAME`."""
        ...

    async def __call__(self, turns: Sequence[FeltTurn], dropped: Counter[str] | None = None) -> Mapping[str, SaidFeelings]:
        """By message; one that could not be read is missing, and waits. The same turns give the same, and each what it gives
        alone or with others of its audience. Nothing of it is kept outside of the graph, where consent withdrawn would not
        reach it. `dropped` is added to: why what might have been a mark is none, and how often."""
        ...


@dataclass(frozen=True, slots=True)
class TurnAffect:
    """What Modify makes of one turn."""

    message_id: str
    affect: Affect
    marks: tuple[Mark, ...]
    prosody: Prosody | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A mark where it stands: evidence for what a person is like."""

    mark: Mark
    message_id: str
    session_id: str
    said_at: datetime
    target: str | None
    """What the mark's target is one with: "person:ID", or plain words; equal for equal targets."""


@dataclass(frozen=True, slots=True)
class Persona:
    """What stays of many turns: an attitude or trait, by what speaks for it among the turns that were looked at."""

    kind: PersonaKind
    aspect: Aspect
    target: str | None
    """As Shown.target."""
    words: str | None
    """The target as last said."""
    emotion: Emotion | None
    polarity: float
    """[-1, 1], the newer the heavier."""
    intensity: float
    """[0, 1], the newer the heavier, and fading since it was last shown."""
    support: int
    """Turns that speak for it."""
    num_sessions: int
    """Sessions that these are from."""
    since: datetime
    """When it first showed and not otherwise since, UTC."""
    last: datetime
    """When it last showed, UTC."""
    evidence: tuple[str, ...]
    """Ids of the turns, newest first."""

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it one with another; not its polarity: who comes to dislike what they liked has one attitude, changed."""
        return (self.aspect.value, self.emotion.value if self.emotion else "", self.target or "")

    def trait_of(self, person: str) -> str:
        """An id of it as `person`'s: of two people who are alike each has another one."""
        return derived("trait", person, *self.key)


def heard_on(shown: Sequence[Shown]) -> int:
    """Sessions that marks are from."""
    return len({one.session_id for one in shown})
