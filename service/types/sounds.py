"""What is heard in a turn besides its words: how it is spoken, and what else sounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.errors import InvalidInput
from service.types.audio import Samples, Segment, Waveform
from service.types.candidates import Place
from service.types.memory import Message


class SoundLabel(StrEnum):
    """Of a voice, then of what is around it."""

    LAUGHING = "laughing"
    WHISPERING = "whispering"
    SHOUTING = "shouting"
    SLOW = "slow"
    """Against how the same person usually speaks, as is FAST."""
    FAST = "fast"
    COUGHING = "coughing"
    CRYING = "crying"
    SINGING = "singing"
    APPLAUSE = "applause"
    MUSIC = "music"
    RINGING = "ringing"
    """A telephone, a doorbell, an alarm: a steady tone."""
    KNOCKING = "knocking"
    SIREN = "siren"
    DOG = "dog"
    CAT = "cat"
    TYPING = "typing"


OF_VOICE = frozenset(
    {
        SoundLabel.LAUGHING,
        SoundLabel.WHISPERING,
        SoundLabel.SHOUTING,
        SoundLabel.SLOW,
        SoundLabel.FAST,
        SoundLabel.COUGHING,
        SoundLabel.CRYING,
        SoundLabel.SINGING,
    }
)
"""Labels that say how somebody sounds; the others say what is around them."""


@dataclass(frozen=True, slots=True)
class Tagged:
    """One sound where it was heard."""

    label: SoundLabel
    segment: Segment
    """Session seconds."""
    score: float
    """How sure, [0, 1], in the tagger's own scale."""


class SoundTagger(Protocol):
    """Which sounds are in a piece of sound in which one person alone is heard? Numbers: TAGGERS in service.audio.sounds."""

    @property
    def name(self) -> str:
        """With its version: what was tagged by another is tagged again."""
        ...

    def __call__(self, waveform: Waveform) -> list[Tagged]:
        """Each label once, where it is surest."""
        ...


@dataclass(frozen=True, slots=True)
class Manner:
    """How loud, high, fast and voiced a turn is: measured, not judged. None where it could not be."""

    level: float | None
    """dB of full scale."""
    pitch: float | None
    """Hz, median."""
    rate: float | None
    """Words a second of net speech."""
    voiced: float | None
    """Share of its loud frames that have a pitch, [0, 1]."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of sound; made and kept only where the space keeps such."""

    content: bytes
    """Ogg Opus."""
    vector: Samples
    """Acoustic embedding of it, L2-normalised."""


@dataclass(frozen=True, slots=True)
class HeardSound:
    """A sound of one turn, to be kept."""

    message_id: str
    tagged: Tagged
    piece: Piece | None


@dataclass(frozen=True, slots=True)
class KeptSound:
    """A sound as a viewer may know of it, who may read its message."""

    id: str
    message_id: str
    place: Place
    label: SoundLabel
    segment: Segment
    score: float
    has_piece: bool
    """The piece of sound itself is kept, for whoever spoke."""
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SoundHit:
    """A sound with the message that it is heard in."""

    sound: KeptSound
    message: Message
    visible_because: str
    """As of a Hit: of the message."""
    score: float
    """How near its message is to what was asked about, [0, 1], or the cosine to the sound that it is to be like, [-1, 1]; 1
    where neither was asked."""


@dataclass(frozen=True, slots=True)
class SoundsAsked:
    """What sounds are looked for by."""

    labels: Sequence[SoundLabel] = ()
    """One of these; empty: any."""
    about: str | None = None
    """What was spoken of then."""
    like: str | None = None
    """Id of a sound of the asker's own: their others that sound like it, among those whose piece is kept."""

    def __post_init__(self) -> None:
        if self.about is not None and self.like is not None:
            raise InvalidInput(what="what sounds are looked for by", given="words and a sound", needed="one of the two")
