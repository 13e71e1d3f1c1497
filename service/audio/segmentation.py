"""When does somebody speak, when do several at once, and which of it is one voice within ten seconds?

pyannote segmentation-3.0 through onnxruntime (Plaquet and Bredin, Interspeech 2023): a window of 10 s → 589 frames × 7 classes,
the sets of at most two of three voices local to the window. Windows overlap; speech and overlap are averaged over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from service.audio import segmentation_export
from service.audio.encoders.embedding import ModelMissing
from service.audio.runs import stretches
from service.types.audio import SAMPLE_RATE, Samples, Waveform

FRAME_SAMPLES = 270
"""Samples from one frame to the next (the strides of SincNet: 10 · 3 · 3 · 3), 16.9 ms."""
FRAME_SECONDS = FRAME_SAMPLES / SAMPLE_RATE
FRAME_OFFSET = 0.031
"""Seconds from a window's start to the middle of its first frame (half the receptive field of 991 samples)."""
WINDOW_FRAMES = 589
NUM_VOICES = 3
_WINDOW_SAMPLES = segmentation_export.WINDOW_SECONDS * SAMPLE_RATE
_CLASSES = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
"""The voices that speak in each of the seven powerset classes."""
_TO_VOICES = np.array([[float(voice in members) for members in _CLASSES] for voice in range(NUM_VOICES)], np.float32)


@dataclass(frozen=True, slots=True)
class SegmentationConfig:
    step_frames: int = 90
    """From one window to the next: 1.5 s. At 60, 90, 120 frames DER of the AMI excerpts is 29.9, 30.6, 30.9 %, at 0.046, 0.037,
    0.033 CPU seconds a second of sound, embeddings included (2026-11)."""
    batch: int = 8
    """Windows in one run: 30 ms of CPU a window at 4–8, more above 16 (cache misses)."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What the segmentation says of one waveform, in frames of FRAME_SECONDS from its start."""

    speech: Samples
    """Shape (frames,): probability that anybody speaks."""
    overlap: Samples
    """Shape (frames,): probability that two speak at once."""
    starts: tuple[int, ...]
    """First frame of each window."""
    voices: Samples
    """Shape (windows, NUM_VOICES, WINDOW_FRAMES): probability that a voice speaks; voices are local to their window."""

    @property
    def frames(self) -> int:
        return len(self.speech)

    def spoken(self, least: float = 0.35) -> list[tuple[int, int]]:
        """Stretches of frames in which speech is likelier than `least`."""
        return stretches(self.speech > least)

    def until(self, frame: int) -> Activity:
        """The part before `frame`, with every window that begins in it."""
        kept = [place for place, start in enumerate(self.starts) if start < frame]
        starts = tuple(self.starts[place] for place in kept)
        return Activity(self.speech[:frame], self.overlap[:frame], starts, self.voices[kept])


class Segmenter:
    """Deterministic; cost is one run of the network a window, whatever is said."""

    def __init__(self, model: Path, *, threads: int = 1, config: SegmentationConfig | None = None) -> None:
        if not model.is_file():
            raise ModelMissing(model="pyannote segmentation-3.0", where=model, remedy="Leave it out to export it again.")
        self._config = config or SegmentationConfig()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads must not burn a shared core
        self._session: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    @classmethod
    def load(cls, *, cache: Path, threads: int = 1, config: SegmentationConfig | None = None) -> Segmenter:
        """With the model of `cache`, exported there on first use."""
        return cls(segmentation_export.exported(cache), threads=threads, config=config)

    def __call__(self, waveform: Waveform) -> Activity:
        """A waveform shorter than a window is followed by silence for the network, but gets frames only for itself."""
        frames = -(-len(waveform.samples) // FRAME_SAMPLES)
        starts = _window_starts(frames, self._config.step_frames)
        scores = self._scores(waveform.samples, starts)
        voices = np.einsum("vc,wtc->wvt", _TO_VOICES, scores)
        speech = _averaged(1.0 - scores[:, :, 0], starts, frames)
        overlap = _averaged(scores[:, :, 1 + NUM_VOICES :].sum(axis=2), starts, frames)
        return Activity(speech, overlap, starts, voices)

    def _scores(self, samples: Samples, starts: tuple[int, ...]) -> Samples:
        """Probabilities of the classes, shape (windows, WINDOW_FRAMES, 7)."""
        padded = np.pad(samples, (0, _WINDOW_SAMPLES))
        runs = []
        for first in range(0, len(starts), self._config.batch):
            places = [start * FRAME_SAMPLES for start in starts[first : first + self._config.batch]]
            windows = np.stack([padded[place : place + _WINDOW_SAMPLES] for place in places])
            runs.append(self._session.run(None, {"waveform": windows[:, None]})[0])
        scores: Samples = np.exp(np.concatenate(runs)) if runs else np.zeros((0, WINDOW_FRAMES, len(_CLASSES)), np.float32)
        return scores


def _window_starts(frames: int, step: int) -> tuple[int, ...]:
    """Every `step` frames, and one window that ends where the sound ends."""
    if not frames:
        return ()
    last = max(0, frames - WINDOW_FRAMES - 2)  # a window of 160,000 samples is 592.6 steps long
    return (*range(0, last, step), last)


def _averaged(values: Samples, starts: tuple[int, ...], frames: int) -> Samples:
    """Mean over the windows that see a frame; `values` (windows, WINDOW_FRAMES) → (frames,)."""
    length = max([frames, *(start + WINDOW_FRAMES for start in starts)])
    total, count = np.zeros(length, np.float32), np.zeros(length, np.float32)
    for start, value in zip(starts, values, strict=True):
        total[start : start + WINDOW_FRAMES] += value
        count[start : start + WINDOW_FRAMES] += 1.0
    seen = np.flatnonzero(count)
    mean: Samples = (total / np.maximum(count, 1.0)).astype(np.float32)
    if len(seen):
        mean[seen[-1] + 1 :] = mean[seen[-1]]  # the last 4 frames lie outside every window
    return mean[:frames]
