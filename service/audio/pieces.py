"""Into which short stretches of one voice does speech fall?

Embeddings of ≤ 2 s tell the people of a meeting apart better than the segmentation's voices do: it merges two people with
alike voices within a window (AMI excerpt d: 20 of 40 points of DER), while such pieces find the right one of two centroids.
"Yes." and "Sure." between two others are shorter than what the segmentation tells apart: they stand between two pauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from service.audio.runs import Mask, stretches
from service.audio.segmentation import FRAME_OFFSET, FRAME_SAMPLES, FRAME_SECONDS, Activity
from service.types.audio import SAMPLE_RATE, Samples, SpeakerEncoder, Waveform


@dataclass(frozen=True, slots=True)
class PiecesConfig:
    speech: float = 0.35
    """Probability of speech from which a frame is speech: the model is shy of quiet voices, missing is its main error."""
    mixed: float = 0.5
    """Probability of two voices from which a piece is not one voice's."""
    longest: float = 2.0
    """Seconds; with 3 s a piece spans a change of speaker too often (DER of the AMI excerpts 1.6 points worse)."""
    shortest: float = 0.3
    """Seconds to be embedded at all; shorter ones go with the segmentation's voices."""
    change: float = 0.4
    """Share of a frame's voices replaced within 2 × `reach` frames from which speech is cut there."""
    reach: int = 10
    """Frames, 0.17 s."""
    pause: float = 0.07
    """Seconds of quiet between two utterances; at 0.1 s and 20 dB a third fewer of the short turns were found."""
    quiet: float = 12.0
    """dB below the speech around it that a pause is."""
    utterance: float = 1.2
    """Seconds; what is longer between two pauses seldom stands out within its piece (up to 2 s nothing more was found)."""
    around: float = 1.5
    """Seconds before and after a frame whose upper tenth is the speech around it: a sentence."""


@dataclass(frozen=True, slots=True)
class Piece:
    first: int
    last: int
    """Frames [first, last)."""
    mixed: bool
    """Several voices at once: says little about either."""
    vector: Samples
    """Shape (dimension,), L2-normalised."""

    @property
    def duration(self) -> float:
        return (self.last - self.first) * FRAME_SECONDS


def pieces(waveform: Waveform, activity: Activity, encoder: SpeakerEncoder, config: PiecesConfig) -> tuple[Piece, ...]:
    """Embedded pieces in order of their first frame; none where nobody speaks."""
    speech = activity.speech > config.speech
    mixed = speech & (activity.overlap > config.mixed)
    changes = _changes(activity, config.reach)
    places = [(first, last, False) for first, last in _cut(speech & ~mixed, changes, config)]
    places += [(first, last, True) for first, last in _cut(mixed, np.zeros_like(changes), config)]
    places = sorted(place for place in places if (place[1] - place[0]) * FRAME_SECONDS >= config.shortest)
    embeddings = encoder([_sound(waveform, first, last) for first, last, _ in places])
    return tuple(Piece(*place, embedding.vector) for place, embedding in zip(places, embeddings, strict=True))


def utterances(
    waveform: Waveform, activity: Activity, encoder: SpeakerEncoder, known: Sequence[Piece], config: PiecesConfig
) -> tuple[Piece, ...]:
    """What stands between two pauses and is no piece of `known`: of `shortest` to `utterance` seconds, one voice at a time.

    Empty where there is no sound."""
    if not activity.frames:
        return ()
    speech = (activity.speech > config.speech) & (activity.overlap <= config.mixed)
    level = np.convolve(10.0 * np.log10(frame_powers(waveform, activity.frames) + 1e-10), np.ones(3) / 3, mode="same")
    reach = round(config.around / FRAME_SECONDS)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(level, reach, mode="edge"), 2 * reach + 1)
    around = np.percentile(windows, 90, axis=1)
    least, shortest = round(config.pause / FRAME_SECONDS), round(config.shortest / FRAME_SECONDS)
    pauses = [(a + b) // 2 for a, b in stretches(level < around - config.quiet) if b - a >= least]
    seen = {(piece.first, piece.last) for piece in known}
    places = []
    for first, last in stretches(speech):
        edges = [first]
        edges += [at for at in pauses if first + shortest <= at <= last - shortest and at - edges[-1] >= shortest]
        places += [place for place in pairwise([*edges, last]) if place not in seen]
    places = [(a, b) for a, b in places if config.shortest <= (b - a) * FRAME_SECONDS <= config.utterance]
    embeddings = encoder([_sound(waveform, first, last) for first, last in places])
    return tuple(Piece(*place, False, embedding.vector) for place, embedding in zip(places, embeddings, strict=True))


def frame_powers(waveform: Waveform, frames: int) -> Samples:
    """Shape (frames,): mean square of the samples around the middle of each frame."""
    begin = round((FRAME_OFFSET - FRAME_SECONDS / 2) * SAMPLE_RATE)
    heard = waveform.samples[begin : begin + frames * FRAME_SAMPLES]
    power = np.square(np.pad(heard, (0, frames * FRAME_SAMPLES - len(heard))))
    mean: Samples = power.reshape(frames, FRAME_SAMPLES).mean(axis=1, dtype=np.float64)
    return mean


def _sound(waveform: Waveform, first: int, last: int) -> Waveform:
    offset = round((FRAME_OFFSET - FRAME_SECONDS / 2) * SAMPLE_RATE)
    begin = first * FRAME_SAMPLES + offset
    end = min(last * FRAME_SAMPLES + offset, len(waveform.samples))
    begin = min(begin, end - (last - first) * FRAME_SAMPLES)
    return Waveform(waveform.samples[max(0, begin) : end], waveform.start + max(0, begin) / SAMPLE_RATE)


def _changes(activity: Activity, reach: int) -> Samples:
    """Shape (frames,): how much of who speaks `reach` frames before a frame no longer does `reach` frames after it, [0, 1].

    Averaged over the windows that see both."""
    before, after = activity.voices[:, :, : -2 * reach], activity.voices[:, :, 2 * reach :]
    much_before, much_after = before.sum(axis=1), after.sum(axis=1)
    shares_before = before / np.maximum(much_before, 0.2)[:, None]
    shares_after = after / np.maximum(much_after, 0.2)[:, None]
    least = np.maximum(np.minimum(shares_before.sum(axis=1), shares_after.sum(axis=1)), 1e-6)
    kept = np.minimum(shares_before, shares_after).sum(axis=1) / least
    change = (1.0 - kept) * np.minimum(np.minimum(much_before, much_after), 1.0)
    length = change.shape[1]
    size = max([activity.frames, *(start + reach + length for start in activity.starts)])
    total, count = np.zeros(size, np.float32), np.zeros(size, np.float32)
    for start, row in zip(activity.starts, change, strict=True):
        total[start + reach : start + reach + length] += row
        count[start + reach : start + reach + length] += 1.0
    mean: Samples = (total / np.maximum(count, 1.0))[: activity.frames].astype(np.float32)
    return mean


def _cut(mask: Mask, changes: Samples, config: PiecesConfig) -> list[tuple[int, int]]:
    """The stretches of `mask`, cut at changes of speaker and then evenly to at most `longest`."""
    longest = max(1, int(config.longest / FRAME_SECONDS))
    found: list[tuple[int, int]] = []
    for first, last in stretches(mask):
        edges = [first, *_peaks(changes, first, last, config), last]
        for begin, end in pairwise(edges):
            cuts = np.linspace(begin, end, -(-(end - begin) // longest) + 1).astype(int)
            found += [(int(a), int(b)) for a, b in pairwise(cuts)]
    return found


def _peaks(changes: Samples, first: int, last: int, config: PiecesConfig) -> Sequence[int]:
    """Frames of (first, last) where the change is largest within `reach`, above `change`, and not at the very edge."""
    edge = config.reach // 2 + 1
    inner = changes[first + edge : max(first + edge, last - edge)]
    peaks: list[int] = []
    for frame in first + edge + np.flatnonzero(inner > config.change):
        around = changes[max(first, frame - config.reach) : min(last, frame + config.reach + 1)]
        if changes[frame] == around.max() and (not peaks or frame - peaks[-1] > edge):
            peaks.append(int(frame))
    return peaks
