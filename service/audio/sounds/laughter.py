"""Does somebody laugh? Bursts of voice a fifth of a second apart, as regular as talk never is, with breath between them that is
far quieter: ha-ha-ha."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.signal import find_peaks

from service.audio.sounds.spectra import CONFIG, Floats, powers
from service.types.audio import SAMPLE_RATE, Segment, Waveform
from service.types.sounds import SoundLabel, Tagged


@dataclass(frozen=True, slots=True)
class LaughterConfig:
    """Chosen on acted laughs, exclamations and talk, 2026-11; what it finds of these, and what it takes for a laugh, is in
    tests/bench/README.md (Sounds). It means loud and regular laughs."""

    shortest: float = 0.11  # seconds from burst to burst: 9 a second
    longest: float = 0.36  # 3 a second
    most: float = 0.25  # mean of a run: 4 to 6 a second (Bachorowski, Smoski and Owren 2001 count 4.4 calls a second)
    bursts: int = 6  # in a run
    regular: float = 0.15  # of the distances, standard deviation over mean
    depth: float = 25.0  # dB from a burst down to the breath after it; syllables of talk have half
    alike: float = 0.3  # cosine of the spectra of bursts next to each other
    prominence: float = 4.0  # dB, of a burst at all
    window: float = 1.2  # seconds looked at together
    step: float = 0.2  # seconds
    loud: float = 12.0  # dB below the loudest, in which a window's own loudest must be
    floor: float = 35.0  # dB below the loudest, taken for silence
    smooth: int = 7  # frames
    band: tuple[int, int] = (8, 128)  # bins of 31 Hz: 250 Hz to 4 kHz


def laughter(waveform: Waveform, config: LaughterConfig = LaughterConfig()) -> Tagged | None:
    """Where it is surest; None where there is none. The score is by the number of bursts, [0.5, 1]."""
    power = powers(waveform.samples)
    per_second = SAMPLE_RATE / CONFIG.hop
    level = _level(power, config)
    size = min(len(level), round(config.window * per_second))
    if size <= config.bursts:
        return None
    best: tuple[int, int, int] | None = None
    for start in range(0, len(level) - size + 1, round(config.step * per_second)):
        part = level[start : start + size]
        if part.max() < level.max() - config.loud:
            continue
        for run in _runs(part, config, per_second):
            if (best is None or len(run) > best[0]) and _laughs(part, power[start : start + size], run, config):
                best = (len(run), start + int(run[0]), start + int(run[-1]))
    if best is None:
        return None
    count, first, last = best
    place = Segment(waveform.start + first / per_second, min(waveform.segment.end, waveform.start + (last + 10) / per_second))
    return Tagged(SoundLabel.LAUGHING, place, round(min(1.0, 0.5 + 0.1 * (count - config.bursts + 1)), 2))


def _level(power: Floats, config: LaughterConfig) -> Floats:
    """dB, frame by frame, smoothed; shape (frames,)."""
    if not len(power):
        return np.empty(0)
    first, last = config.band
    level = 10.0 * np.log10(power[:, first:last].sum(axis=1) + CONFIG.floor)
    level = np.maximum(level, np.percentile(level, 98) - config.floor)
    kernel = np.hanning(config.smooth)
    half = config.smooth // 2
    return np.convolve(np.pad(level, half, mode="edge"), kernel / kernel.sum(), "valid")


def _runs(level: Floats, config: LaughterConfig, per_second: float) -> Iterator[Floats]:
    """Frames of bursts that follow each other at a laugh's pace, the regular ones among all stretches of them."""
    peaks, _ = find_peaks(level, prominence=config.prominence, distance=round(config.shortest * per_second) - 1)
    apart = np.diff(peaks) / per_second
    for first in range(len(apart)):
        for last in range(first + config.bursts - 1, len(apart) + 1):
            steps = apart[first:last]
            if steps.min() < config.shortest or steps.max() > config.longest:
                break
            if steps.std() <= config.regular * steps.mean() and steps.mean() <= config.most:
                yield peaks[first : last + 1]


def _laughs(level: Floats, power: Floats, run: Floats, config: LaughterConfig) -> bool:
    """Whether it is quiet between the bursts, and they sound alike."""
    valleys = np.array([level[a:b].min() for a, b in pairwise(run)])
    if float(np.mean(level[run[:-1]] - valleys)) < config.depth:
        return False
    spectra = np.log(power[:, 4:160] + CONFIG.floor).reshape(len(power), -1, 4).mean(axis=2)[run]
    spectra -= spectra.mean(axis=1, keepdims=True)
    spectra /= np.maximum(np.linalg.norm(spectra, axis=1, keepdims=True), 1e-9)
    return float(np.mean((spectra[:-1] * spectra[1:]).sum(axis=1))) >= config.alike
