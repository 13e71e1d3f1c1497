"""What was said in each turn? Words heard by a recogniser, or read from a transcript."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.audio.align import words_to_turns
from service.connectors.files import words_of
from service.types.audio import Recognised, Recogniser, SpeakerTurn, Transcript, TranscriptSegment, Waveform


@dataclass(frozen=True, slots=True)
class Wording:
    """Where the text of turns comes from."""

    provenance: str
    """As on Message: recognised:<model> | transcript:<format> | none"""
    give: Callable[[Waveform, Sequence[SpeakerTurn]], tuple[SpeakerTurn, ...]]
    """The sound of some turns that no other turn reaches into, and these turns → the turns with their text. Heavy."""


def recognised(recogniser: Recogniser) -> Wording:
    return Wording(f"recognised:{recogniser.name}", aligned(recogniser))


def from_transcript(transcript: Transcript) -> Wording:
    """Of a transcript that names speakers each turn has the text of its own segment, for its boundaries were taken from it;
    of one that does not, the words are given to whoever was heard."""
    provenance = f"transcript:{transcript.format}"
    return Wording(provenance, _own(transcript) if names_speakers(transcript) else aligned(_words_in(transcript)))


def without_text() -> Wording:
    return Wording("none", lambda waveform, turns: tuple(turns))


def names_speakers(transcript: Transcript) -> bool:
    return any(part.label for part in transcript.segments)


def has_text(transcript: Transcript) -> bool:
    return any(part.text for part in transcript.segments)


def aligned(
    words_in: Callable[[Waveform], Recognised],
) -> Callable[[Waveform, Sequence[SpeakerTurn]], tuple[SpeakerTurn, ...]]:
    def give(waveform: Waveform, turns: Sequence[SpeakerTurn]) -> tuple[SpeakerTurn, ...]:
        heard = words_in(waveform)
        return words_to_turns(turns, heard.words, language=heard.language, audio=waveform.segment).turns

    return give


def _words_in(transcript: Transcript) -> Callable[[Waveform], Recognised]:
    """The words whose middle lies in a waveform, as if a recogniser had heard them."""
    words = [word for part in transcript.segments for word in words_of(part)]

    def words_in(waveform: Waveform) -> Recognised:
        span = waveform.segment
        inside = tuple(w for w in words if span.start <= (w.segment.start + w.segment.end) / 2 < span.end)
        return Recognised(inside, transcript.language)

    return words_in


def _own(transcript: Transcript) -> Callable[[Waveform, Sequence[SpeakerTurn]], tuple[SpeakerTurn, ...]]:
    beginning: defaultdict[int, list[TranscriptSegment]] = defaultdict(list)
    for part in transcript.segments:
        beginning[_milliseconds(part.segment.start)].append(part)

    def own(turn: SpeakerTurn) -> SpeakerTurn:
        parts = beginning[_milliseconds(turn.segment.start)]
        mine = [part for part in parts if part.label == turn.track] or [part for part in parts if part.label is None]
        if not mine:
            return turn
        part = min(mine, key=lambda p: abs(p.segment.end - turn.segment.end))
        language = part.language or transcript.language
        return replace(turn, text=part.text, language=language, words=words_of(part)) if part.text else turn

    return lambda waveform, turns: tuple(own(turn) for turn in turns)


def _milliseconds(seconds: float) -> int:
    """What transcript formats write."""
    return round(seconds * 1000)
