"""What does a stream tell whoever listens to it? Each as it happens; times are seconds of the stream."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from service.streaming.prompt import MemoryPrompt
from service.streaming.work import Stage
from service.types.entities import NamedEntity


@dataclass(frozen=True, slots=True)
class StageEntered:
    at: float
    utterance: int
    stage: Stage


@dataclass(frozen=True, slots=True)
class WordsHeard:
    at: float
    utterance: int
    text: str
    """All of the utterance so far; replaces what was told of it before."""
    whole: bool
    """Speech had stopped."""


@dataclass(frozen=True, slots=True)
class SpeakerHeard:
    at: float
    utterance: int
    person_id: str | None
    """None: not recognised, or somebody that the asker need not know of."""
    name: str | None
    linked: bool
    """Taken for somebody known; how near it came is not told: it would teach an impostor."""


@dataclass(frozen=True, slots=True)
class TermsMatched:
    """Of what is being said, that of which the asker may know something."""

    at: float
    utterance: int
    people: tuple[tuple[str, str], ...]
    """Id and name."""
    entities: tuple[NamedEntity, ...]
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of the clock, from the end of speech: when the last frame with speech came in."""

    transcribed: float
    """When the words were there."""
    found: float
    """When what may answer was found."""
    ready: float
    """When the memory was."""
    hidden: float
    """Share of the work for this utterance that was done before its pause had lasted 400 ms, [0, 1]."""


@dataclass(frozen=True, slots=True)
class MemoryReady:
    at: float
    utterance: int
    question: str
    prompt: MemoryPrompt
    timing: Timing


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """Why who speaks is told nothing."""

    at: float
    utterance: int
    code: str
    reason: str


class Shown(StrEnum):
    """What is only shown while somebody speaks."""

    WORDS = "words"
    VOICE = "voice"
    MATCHES = "matches"


@dataclass(frozen=True, slots=True)
class ShownLater:
    """The service is busy with answers: it comes later than usual, or not. Told once an utterance of each."""

    at: float
    utterance: int
    what: Shown


Told: TypeAlias = StageEntered | WordsHeard | SpeakerHeard | TermsMatched | MemoryReady | NotAnswered | ShownLater
