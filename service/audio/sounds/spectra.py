"""What is heard of a sound besides who makes it? Energies of bands, frame by frame, and what tells two sounds apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from service.types.audio import SAMPLE_RATE, Samples

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SpectraConfig:
    window: int = 400  # samples, 25 ms
    hop: int = 160  # samples, 10 ms
    fft: int = 512
    floor: float = 1e-9  # added to power: -90 dB of full scale


CONFIG = SpectraConfig()
ACOUSTIC = "bands_1"
"""Name and version of `embedding`: equal lengths protect nothing."""
BANDS = 32
"""Mel bands of the embedding, from 60 Hz to 7.6 kHz: finer ones tell who speaks, which is not wanted here."""


def powers(samples: Samples, config: SpectraConfig = CONFIG) -> Floats:
    """Shape (frames, fft / 2 + 1); no frames where there are fewer samples than a window."""
    if len(samples) < config.window:
        return np.empty((0, config.fft // 2 + 1))
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64), config.window)[:: config.hop]
    return np.asarray(np.abs(np.fft.rfft(frames * np.hanning(config.window), config.fft, axis=1)) ** 2)


def embedding(samples: Samples) -> Samples:
    """Acoustic embedding, L2-normalised, shape (2 * BANDS,): mean and spread of log energies of mel bands, its own level taken
    away. Not the voice encoder's vector: that one tells who speaks, and two laughs are to be alike whoever laughs. Zeros for
    less than a window of sound."""
    power = powers(samples)
    if not len(power):
        return np.zeros(2 * BANDS, dtype=np.float32)
    bands = np.log(power @ mel_weights(BANDS, 60.0, 7_600.0) + CONFIG.floor)
    described = np.concatenate([bands.mean(axis=0) - bands.mean(), bands.std(axis=0)])
    return np.asarray(described / max(float(np.linalg.norm(described)), 1e-9), dtype=np.float32)


@cache
def mel_weights(bands: int, lowest: float, highest: float, fft: int = CONFIG.fft) -> Floats:
    """Triangles on the HTK mel scale (1127 ln(1 + f / 700)), shape (fft / 2 + 1, bands)."""
    bins = _mel(np.linspace(0.0, SAMPLE_RATE / 2, fft // 2 + 1))
    edges = np.linspace(_mel(np.array(lowest)), _mel(np.array(highest)), bands + 2)
    below, centre, above = edges[:-2], edges[1:-1], edges[2:]
    rising = (bins[:, None] - below) / (centre - below)
    falling = (above - bins[:, None]) / (above - centre)
    weights = np.maximum(0.0, np.minimum(rising, falling))
    weights[0] = 0.0
    return np.asarray(weights)


def _mel(hertz: Floats) -> Floats:
    return np.asarray(1127.0 * np.log1p(hertz / 700.0))
