"""How was a turn spoken: how high, how lively, how loud? Measured, not judged; what it means is not told here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.audio.quality import level_dbfs
from service.types.affect import Prosody
from service.types.audio import SAMPLE_RATE, Samples, Segment, Waveform

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ProsodyConfig:
    lowest: float = 65.0  # Hz; a low man's voice
    highest: float = 500.0  # Hz; a child's, or a shout
    frame: float = 0.046  # seconds: three periods of the lowest (Boersma 1993, §3)
    hop: float = 0.02  # seconds
    voiced: float = 0.5  # of the autocorrelation; Boersma's 0.45 with a margin for noise
    octave: float = 0.01  # taken from a candidate for each octave below the highest: Boersma's OctaveCost
    quiet: float = 0.05  # of the turn's loudest frame, amplitude; below, it is a pause
    min_voiced: int = 10  # frames, 0.2 s: below, the pitch is not known
    max_seconds: float = 20.0  # of speech looked at: more changes no median


def prosody(waveform: Waveform, speech: Sequence[Segment], config: ProsodyConfig = ProsodyConfig()) -> Prosody | None:
    """`speech`: where the speaker alone speaks, session seconds. Without the rate, which takes words. None without a frame of
    it inside `waveform`."""
    pieces, left = [], config.max_seconds
    for segment in speech:
        piece = waveform.crop(Segment(segment.start, min(segment.end, segment.start + left))).samples
        pieces.append(piece)
        left -= len(piece) / SAMPLE_RATE
        if left <= 0:
            break
    frames = [_frames(piece, config) for piece in pieces]
    framed = np.concatenate(frames) if frames else np.empty((0, 1))
    if not len(framed):
        return None
    pitches, voiced = _pitches(framed, config)
    known = len(pitches) >= config.min_voiced
    low, middle, high = np.percentile(pitches, (10, 50, 90)) if known else (0.0, 0.0, 0.0)
    return Prosody(
        pitch=round(float(middle), 1) if known else None,
        pitch_range=round(12.0 * float(np.log2(high / low)), 2) if known else None,
        level=round(level_dbfs(np.concatenate(pieces)), 1),
        rate=None,
        voiced=round(voiced, 3),
    )


def _frames(samples: Samples, config: ProsodyConfig) -> Floats:
    """Shape (frames, samples of one)."""
    size, hop = round(config.frame * SAMPLE_RATE), round(config.hop * SAMPLE_RATE)
    if len(samples) < size:
        return np.empty((0, size))
    return np.asarray(np.lib.stride_tricks.sliding_window_view(samples, size)[::hop], dtype=np.float64)


def _pitches(frames: Floats, config: ProsodyConfig) -> tuple[Floats, float]:
    """Of the voiced frames, Hz, by the autocorrelation of the windowed frame over that of the window (Boersma 1993); what lies
    an octave or more off their median is taken for a mistake and left out. And the share of the loud frames that they are."""
    size = frames.shape[1]
    frames = frames - frames.mean(axis=1, keepdims=True)
    loud = np.abs(frames).max(axis=1)
    window = np.hanning(size)
    length = 1 << (2 * size - 1).bit_length()
    of_window = _autocorrelation(window[None, :], length)[0]
    shortest, longest = round(SAMPLE_RATE / config.highest), round(SAMPLE_RATE / config.lowest)
    lags = np.arange(longest + 2)
    of_frames = _autocorrelation(frames * window, length)[:, : longest + 2] / np.maximum(of_window[: longest + 2], 1e-9)
    normal = of_frames / np.maximum(of_frames[:, :1], 1e-12)
    inner = normal[:, shortest : longest + 1]
    peak = (inner >= normal[:, shortest - 1 : longest]) & (inner > normal[:, shortest + 1 : longest + 2])
    cost = config.octave * np.log2(np.maximum(lags[shortest : longest + 1], 1) / shortest)
    strength = np.where(peak, inner - cost, -1.0)
    best = strength.argmax(axis=1)
    row = np.arange(len(frames))
    is_voiced = (inner[row, best] >= config.voiced) & peak[row, best] & (loud >= config.quiet * loud.max())
    row, lag = row[is_voiced], best[is_voiced] + shortest
    before, here, after = (normal[row, lag + step] for step in (-1, 0, 1))
    bend = before - 2 * here + after
    shift = np.where(np.abs(bend) > 1e-9, 0.5 * (before - after) / np.where(np.abs(bend) > 1e-9, bend, 1.0), 0.0)
    pitches = SAMPLE_RATE / (lag + np.clip(shift, -0.5, 0.5))
    middle = np.median(pitches) if len(pitches) else 0.0
    kept = np.asarray(pitches[(pitches > middle / 2) & (pitches < middle * 2)], dtype=np.float64)
    return kept, len(kept) / max(1, int((loud >= config.quiet * loud.max()).sum()))


def _autocorrelation(frames: Floats, length: int) -> Floats:
    spectrum = np.fft.rfft(frames, length, axis=1)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, length, axis=1), dtype=np.float64)
