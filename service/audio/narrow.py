"""What would this sound be over a telephone?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from service.types.audio import SAMPLE_RATE, Samples, Waveform


@dataclass(frozen=True, slots=True)
class NarrowConfig:
    low: float = 300.0
    """Hz, of the telephone's band (ITU-T G.712)"""
    high: float = 3_400.0
    edge: float = 100.0
    """Hz over which it fades at either end: a brick wall rings, and no line has one"""


def narrow(waveform: Waveform, config: NarrowConfig | None = None) -> Waveform:
    """`waveform` with the telephone's band alone, of the same length, without delay; no codec."""
    config = config or NarrowConfig()
    spectrum = np.fft.rfft(waveform.samples)
    frequency = np.fft.rfftfreq(len(waveform.samples), 1 / SAMPLE_RATE)
    into = np.clip((frequency - config.low) / config.edge + 1, 0.0, 1.0)
    out = np.clip((config.high - frequency) / config.edge + 1, 0.0, 1.0)
    heard: Samples = np.fft.irfft(spectrum * np.sin(np.pi / 2 * into * out) ** 2, len(waveform.samples)).astype(np.float32)
    return Waveform(heard, waveform.start)
