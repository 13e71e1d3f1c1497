"""What was said in each turn? Words heard by a recogniser, or read from a transcript."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.audio.align import words_to_turns
from service.connectors.files import words_of
from service.types.audio import Recogniser, SpeakerTurn, Transcript, TranscriptSegment, Waveform, Word
from service.types.told import Image, Told


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
    if names_speakers(transcript):
        return Wording(provenance, _own(transcript), len(words))
    return with_images(transcript, Wording(provenance, _among(words, transcript.language), len(words)))


def with_images(transcript: Transcript, wording: Wording) -> Wording:
    """The images of a transcript whose boundaries are not the turns': each to the turn it overlaps most, else to the nearest
    of the turns heard together."""
    showing = [part for part in transcript.segments if part.told.images]

    def give(waveform: Waveform, turns: Sequence[SpeakerTurn]) -> Worded:
        worded, span = wording.give(waveform, turns), waveform.segment
        shown: defaultdict[int, tuple[Image, ...]] = defaultdict(tuple)
        for part in showing:
            if worded.turns and span.start <= (part.segment.start + part.segment.end) / 2 < span.end:
                shown[min(worded.turns, key=lambda turn: _apart(turn, part)).index] += part.told.images
        told = [replace(t, told=Told(images=shown[t.index])) if t.index in shown else t for t in worded.turns]
        return Worded(tuple(told), worded.heard)

    return replace(wording, give=give) if showing else wording


def _apart(turn: SpeakerTurn, part: TranscriptSegment) -> tuple[float, float]:
    middle = (part.segment.start + part.segment.end) / 2
    return -turn.segment.overlap(part.segment), max(turn.segment.start - middle, middle - turn.segment.end)


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
        told = replace(turn, told=part.told)
        return replace(told, text=part.text, language=language, words=words_of(part)) if part.text else told

    def give(waveform: Waveform, turns: Sequence[SpeakerTurn]) -> Worded:
        given: set[int] = set()
        return Worded(tuple(own(turn, given) for turn in turns))

    return give


def _milliseconds(seconds: float) -> int:
    """What transcript formats write."""
    return round(seconds * 1000)
