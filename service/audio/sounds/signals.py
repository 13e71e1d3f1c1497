"""Which sounds can be told by signal features alone? Laughter with deep gaps, and steady tones; nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from service.audio.runs import stretches
from service.audio.sounds.laughter import LaughterConfig, laughter
from service.audio.sounds.spectra import CONFIG, Floats, powers
from service.types.audio import SAMPLE_RATE, Segment, Waveform
from service.types.sounds import SoundLabel, Tagged


@dataclass(frozen=True, slots=True)
class SignalsConfig:
    """Tones by hand, on tones that we made ourselves over recorded talk, 2026-11."""

    lowest: float = 600.0  # Hz; below lie pitch and the first formant of voices
    share: float = 0.7  # of a frame's energy above `lowest` in the strongest tone and its two neighbours on each side
    audible: float = 0.1  # of the frame's whole energy that this tone has
    steady: int = 1  # bins of 31 Hz that the tone may move from frame to frame
    least: float = 0.25  # seconds: a vowel's harmonic moves sooner
    quiet: float = 30.0  # dB below the loudest frame, not looked at
    laughter: LaughterConfig = field(default_factory=LaughterConfig)


class SignalTagger:
    """A SoundTagger without a model."""

    name = "signals-1"

    def __init__(self, config: SignalsConfig | None = None) -> None:
        self._config = config or SignalsConfig()

    @classmethod
    def load(cls, *, cache: Path, threads: int = 1) -> SignalTagger:
        return cls()

    def __call__(self, waveform: Waveform) -> list[Tagged]:
        found = (laughter(waveform, self._config.laughter), ringing(waveform, self._config))
        return [tagged for tagged in found if tagged is not None]


def ringing(waveform: Waveform, config: SignalsConfig = SignalsConfig()) -> Tagged | None:
    """The longest steady tone; the score is its share of the energy around it."""
    power = powers(waveform.samples)
    if not len(power):
        return None
    strongest, share = _tones(power, config)
    total = power.sum(axis=1)
    audible = total >= total.max() * 10.0 ** (-config.quiet / 10.0)
    tonal = (share >= config.share) & audible
    tonal[1:] &= np.abs(np.diff(strongest)) <= config.steady
    per_second = SAMPLE_RATE / CONFIG.hop
    first, last = max(stretches(tonal), key=lambda run: run[1] - run[0], default=(0, 0))
    if last - first < config.least * per_second:
        return None
    place = Segment(waveform.start + first / per_second, waveform.start + last / per_second)
    return Tagged(SoundLabel.RINGING, place, round(float(share[first:last].mean()), 2))


def _tones(power: Floats, config: SignalsConfig) -> tuple[Floats, Floats]:
    """Bin of the strongest tone above `lowest` in each frame, and its share of the energy there; 0 where it is hardly heard."""
    lowest = round(config.lowest * CONFIG.fft / SAMPLE_RATE)
    above = power[:, lowest:]
    strongest = above[:, 2:-2].argmax(axis=1) + 2
    near = sum(above[np.arange(len(above)), strongest + step] for step in (-2, -1, 0, 1, 2))
    share = near / np.maximum(above.sum(axis=1), CONFIG.floor)
    heard = near >= config.audible * np.maximum(power.sum(axis=1), CONFIG.floor)
    return strongest, np.where(heard, share, 0.0)
