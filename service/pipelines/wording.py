"""What was said in each turn? Words heard block by block or read from a transcript, given to the turns they belong to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from service.audio.align import words_to_turns
from service.connectors.files import words_of
from service.types.audio import Recognised, Segment, SpeakerTurn, Transcript, Waveform, Word


@dataclass(frozen=True, slots=True)
class WordingConfig:
    max_held: int = 12
    """Blocks kept for a turn that has not ended. No turn is that long: what nobody claims by then lies in silence."""


class Wording(Protocol):
    """Called block by block, in order, with the turns that ended in it."""

    provenance: str

    def __call__(self, block: Waveform, turns: Sequence[SpeakerTurn]) -> tuple[SpeakerTurn, ...]:
        """The turns with their text. Heavy: call it in a thread."""
        ...

    def passed(self, block: Waveform, turns: Sequence[SpeakerTurn]) -> None:
        """As above for turns that are written already: costs nothing now, and leaves what follows the same."""
        ...


class GivenWording:
    """Each turn's text is known by its boundaries, since they came from the same transcript; or there is no text at all."""

    def __init__(self, transcript: Transcript | None = None) -> None:
        self.provenance = f"transcript:{transcript.format}" if transcript else "none"
        parts = transcript.segments if transcript else ()
        self._parts = {_key(part.segment, part.label): part for part in parts}

    def __call__(self, block: Waveform, turns: Sequence[SpeakerTurn]) -> tuple[SpeakerTurn, ...]:
        return tuple(self._worded(turn) for turn in turns)

    def passed(self, block: Waveform, turns: Sequence[SpeakerTurn]) -> None:
        """Nothing carries over from one turn to the next."""

    def _worded(self, turn: SpeakerTurn) -> SpeakerTurn:
        part = self._parts.get(_key(turn.segment, turn.track or None))
        return (
            turn
            if part is None or not part.text
            else replace(turn, text=part.text, language=part.language, words=words_of(part))
        )


class AlignedWording:
    """Words with times, of a recogniser or of a transcript without speakers, aligned to the turns that were heard."""

    def __init__(
        self, words_in: Callable[[Waveform], Recognised], provenance: str, config: WordingConfig | None = None
    ) -> None:
        self.provenance = provenance
        self._words_in = words_in
        self._config = config or WordingConfig()
        self._waiting: list[tuple[Waveform, Sequence[SpeakerTurn]]] = []
        """Blocks whose words nobody asked for yet, with the turns that ended in them."""
        self._loose: list[Word] = []
        """Words that no turn has claimed and a later one may."""
        self._begun = 0.0
        """Where the last turn so far begins: none to come begins earlier."""
        self._language: str | None = None

    def passed(self, block: Waveform, turns: Sequence[SpeakerTurn]) -> None:
        self._begun = max((self._begun, *(turn.segment.start for turn in turns)))
        self._waiting.append((block, tuple(turns)))
        while self._waiting and (self._waiting[0][0].segment.end <= self._begun or len(self._waiting) > self._config.max_held):
            self._waiting.pop(0)  # later turns begin after `_begun`: its words are all somebody else's

    def __call__(self, block: Waveform, turns: Sequence[SpeakerTurn]) -> tuple[SpeakerTurn, ...]:
        if not turns:
            self.passed(block, turns)
            return ()
        for earlier, ended in self._waiting:
            self._align(earlier, ended)
        self._waiting.clear()
        return self._align(block, turns)

    def _align(self, block: Waveform, turns: Sequence[SpeakerTurn]) -> tuple[SpeakerTurn, ...]:
        heard = self._words_in(block)
        self._language = heard.language if heard.words else self._language
        aligned = words_to_turns(turns, [*self._loose, *heard.words], language=self._language)
        self._begun = max((self._begun, *(turn.segment.start for turn in turns)))
        self._loose = [word for word in aligned.dropped if word.segment.end > self._begun]
        return aligned.turns


def words_of_transcript(transcript: Transcript) -> Callable[[Waveform], Recognised]:
    """The words of a transcript whose middle lies in a block, as if a recogniser had heard them."""
    words = [word for part in transcript.segments for word in words_of(part)]

    def words_in(block: Waveform) -> Recognised:
        inside = tuple(w for w in words if block.segment.start <= (w.segment.start + w.segment.end) / 2 < block.segment.end)
        return Recognised(inside, transcript.language)

    return words_in


def _key(segment: Segment, label: str | None) -> tuple[float, float, str | None]:
    """Milliseconds: what transcript formats write."""
    return round(segment.start, 3), round(segment.end, 3), label
