"""What was said in each turn? Words heard by a recogniser, or read from a transcript."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.audio.align import words_to_turns
from service.connectors.files import words_of
from service.types.audio import Recogniser, SpeakerTurn, Transcript, TranscriptSegment, Waveform, Word


@dataclass(frozen=True, slots=True)
class Worded:
    turns: tuple[SpeakerTurn, ...]
    """With their text and words."""
    heard: int = 0
    """Words that a recogniser heard in the sound, those included that are no turn's or that it doubts itself."""


Give = Callable[[Waveform, Sequence[SpeakerTurn]], Worded]
"""The sound of some turns that no other turn reaches into, and these turns → the turns with their text. Heavy."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Where the text of turns comes from."""

    provenance: str
    """As on Message: recognised:<model> | transcript:<format> | none"""
    give: Give
    written: int = 0
    """Words that a transcript has in all; what was heard in its place is counted by `give`."""


def recognised(recogniser: Recogniser) -> Wording:
    return Wording(f"recognised:{recogniser.name}", aligned(recogniser))


def from_transcript(transcript: Transcript) -> Wording:
    """Of a transcript that names speakers each turn has the text of its own segment, for its boundaries were taken from it;
    of one that does not, the words are given to whoever was heard."""
    provenance = f"transcript:{transcript.format}"
    words = [word for part in transcript.segments for word in words_of(part)]
    give = _own(transcript) if names_speakers(transcript) else _among(words, transcript.language)
    return Wording(provenance, give, len(words))


def without_text() -> Wording:
    return Wording("none", lambda waveform, turns: Worded(tuple(turns)))


def names_speakers(transcript: Transcript) -> bool:
    return any(part.label for part in transcript.segments)


def has_text(transcript: Transcript) -> bool:
    return any(part.text for part in transcript.segments)


def aligned(recogniser: Recogniser) -> Give:
    def give(waveform: Waveform, turns: Sequence[SpeakerTurn]) -> Worded:
        heard = recogniser(waveform)
        placed = words_to_turns(turns, heard.words, language=heard.language, audio=waveform.segment)
        return Worded(placed.turns, len(heard.words) + heard.dropped)

    return give


def _among(words: Sequence[Word], language: str | None) -> Give:
    """To whoever was heard: the words whose middle lies in the sound."""

    def give(waveform: Waveform, turns: Sequence[SpeakerTurn]) -> Worded:
        span = waveform.segment
        inside = [w for w in words if span.start <= (w.segment.start + w.segment.end) / 2 < span.end]
        return Worded(words_to_turns(turns, inside, language=language, audio=span).turns)

    return give


def _own(transcript: Transcript) -> Give:
    beginning: defaultdict[int, list[TranscriptSegment]] = defaultdict(list)
    for part in transcript.segments:
        beginning[_milliseconds(part.segment.start)].append(part)

    def own(turn: SpeakerTurn, given: set[int]) -> SpeakerTurn:
        parts = [part for part in beginning[_milliseconds(turn.segment.start)] if id(part) not in given]
        mine = [part for part in parts if part.label == turn.track] or [part for part in parts if part.label is None]
        if not mine:
            return turn
        part = min(mine, key=lambda p: abs(p.segment.end - turn.segment.end))
        given.add(id(part))
        language = part.language or transcript.language
        return replace(turn, text=part.text, language=language, words=words_of(part)) if part.text else turn

    def give(waveform: Waveform, turns: Sequence[SpeakerTurn]) -> Worded:
        given: set[int] = set()
        return Worded(tuple(own(turn, given) for turn in turns))

    return give


def _milliseconds(seconds: float) -> int:
    """What transcript formats write."""
    return round(seconds * 1000)
