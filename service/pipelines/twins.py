"""Which turns are also heard as a telephone would carry them, so that whoever is learnt from them is known when they call?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from service.audio.narrow import narrow
from service.audio.turns import spoken
from service.identity.thresholds import TELEPHONE
from service.types.audio import Segment, SpeakerEmbedding, SpeakerEncoder, SpeakerTurn, Waveform


@dataclass(frozen=True, slots=True)
class TwinsConfig:
    each: int = 3  # turns of one voice in a session: what a person keeps (policies.Bounded)
    min_speech: float = 3.0  # seconds: shorter turns make poor exemplars of a band that tells people less well apart
    embedded_to: float = 8.0  # seconds that are embedded: 0.13 s of CPU; the gain beyond 5 s is small


class Twinned:
    """Chooses the first good turns of each track; the same for the same turns, wherever a run before this one stopped."""

    def __init__(self, config: TwinsConfig | None = None) -> None:
        self.config = config or TwinsConfig()
        self._chosen: Counter[str] = Counter()

    def __call__(self, turn: SpeakerTurn) -> bool:
        """Whether `turn`, the next of the session, is one of them."""
        if turn.channel == TELEPHONE or turn.net_speech < self.config.min_speech:
            return False
        self._chosen[turn.track] += 1
        return self._chosen[turn.track] <= self.config.each


def twins(
    encoder: SpeakerEncoder, sounds: Iterable[tuple[SpeakerTurn, Waveform]], config: TwinsConfig | None = None
) -> dict[int, SpeakerEmbedding]:
    """Index of each turn → its embedding, made narrow. A turn's waveform may reach beyond it."""
    config = config or TwinsConfig()
    turns = list(sounds)
    heard = [narrow(sound) for sound in _spoken(turns, config)]
    return {turn.index: vector for (turn, _), vector in zip(turns, encoder(heard) if heard else (), strict=True)}


def _spoken(turns: Sequence[tuple[SpeakerTurn, Waveform]], config: TwinsConfig) -> Iterator[Waveform]:
    for turn, waveform in turns:
        sound = spoken(waveform, turn.speech or (turn.segment,))
        yield sound.crop(Segment(sound.start, sound.start + config.embedded_to))
