"""How good is the sound of a stretch of speech: level, noise, bandwidth, clipping?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.types.audio import SAMPLE_RATE, Samples, Segment, SignalQuality, Waveform

FLOOR_DBFS = -100.0
"""Level of digital silence: nothing is quieter, and no ratio of levels infinite."""


@dataclass(frozen=True, slots=True)
class QualityConfig:
    window: int = 512
    """Samples of one spectrum, 32 ms: about one pitch-synchronous stretch of speech."""
    pre_emphasis: float = 0.97
    """Speech falls by about 6 dB an octave; without this 99 % of wideband speech's energy often lies under 3 kHz."""
    share: float = 0.99
    """With both, wideband voices have 4.7–8.0 kHz, telephone-filtered 3.1–3.8, real 8 kHz speech 3.3–4.3 (n = 200 each)."""
    loud: float = 40.0
    """Percentile of a stretch's windows by energy above which they count as voiced sound rather than pauses."""
    full_scale: float = 0.995
    """Magnitude from which a sample is clipped; lossy codecs move full scale a little."""
    quiet: float = 5.0
    """Percentile of levels taken for the noise where a block has under `least_noise` seconds without speech."""
    least_noise: float = 0.5
    highest_snr: float = 60.0
    """dB; beyond it the figure says nothing about the voice."""


def level_dbfs(samples: Samples) -> float:
    """RMS in dB relative to full scale."""
    power = float(np.mean(np.square(samples), dtype=np.float64)) if len(samples) else 0.0
    return max(FLOOR_DBFS, 10.0 * np.log10(power)) if power > 0.0 else FLOOR_DBFS


def noise_dbfs(waveform: Waveform, speech: Sequence[Segment], config: QualityConfig | None = None) -> float:
    """Level of what is no speech in `waveform`; of its quietest moments where people speak all the time."""
    config = config or QualityConfig()
    quiet = np.ones(len(waveform.samples), bool)
    for segment in speech:
        first, last = (round((edge - waveform.start) * SAMPLE_RATE) for edge in (segment.start, segment.end))
        quiet[max(0, first) : max(0, last)] = False
    if quiet.sum() >= config.least_noise * SAMPLE_RATE:
        return level_dbfs(waveform.samples[quiet])
    levels = [level_dbfs(window) for window in _windows(waveform.samples, config.window)]
    return float(np.percentile(levels, config.quiet)) if levels else FLOOR_DBFS


def measure(samples: Samples, noise: float, config: QualityConfig | None = None) -> SignalQuality:
    """Quality of `samples`, which should be speech alone; `noise` in dBFS."""
    config = config or QualityConfig()
    level = level_dbfs(samples)
    clipped = float(np.mean(np.abs(samples) >= config.full_scale)) if len(samples) else 0.0
    snr = float(np.clip(level - noise, 0.0, config.highest_snr))
    return SignalQuality(level, snr, bandwidth_hz(samples, config), clipped)


def bandwidth_hz(samples: Samples, config: QualityConfig | None = None) -> float:
    """Frequency under which `share` of the pre-emphasised energy lies, each loud window counting the same; 0 for silence."""
    config = config or QualityConfig()
    if not len(samples):
        return 0.0
    flat = np.append(samples[:1], samples[1:] - config.pre_emphasis * samples[:-1])
    power = np.abs(np.fft.rfft(_windows(flat, config.window) * np.hanning(config.window), axis=1)) ** 2
    energy = power.sum(axis=1)
    loud = (energy >= np.percentile(energy, config.loud)) & (energy > 0.0)
    if not loud.any():
        return 0.0
    below = np.cumsum((power[loud] / energy[loud, None]).mean(axis=0))
    return float(np.searchsorted(below, config.share * below[-1])) * SAMPLE_RATE / config.window


def _windows(samples: Samples, length: int) -> Samples:
    """Shape (windows, length), at least one; the last is padded with silence when it is the only one, else left out."""
    count = max(1, len(samples) // length)
    return np.resize(np.pad(samples, (0, max(0, length - len(samples)))), (count, length))
