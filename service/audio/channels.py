"""Do the channels of a recording hold different people, the same sound, or nothing?

A call recorder puts one party on each channel, a room recorder puts everybody on all of them. Only the first may be taken
apart, else everybody would be heard twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.types.audio import SAMPLE_RATE, Samples


@dataclass(frozen=True, slots=True)
class ChannelsConfig:
    frame: float = 0.1
    """Seconds over which levels are compared: shorter than a word, longer than the delay between two microphones."""
    silence_dbfs: float = -60.0
    """A frame or channel below this holds nothing; the quietest AMI headset mixes have speech at -44 dBFS."""
    dominance_db: float = 15.0
    """A channel this much louder than every other owns the frame; two microphones in a room differ by less than 10 dB."""
    min_owned: float = 0.5
    """Channels are taken apart when this share of the active frames has an owner (calls: above 0.8, rooms: below 0.1) …"""
    min_share: float = 0.02
    """… and at least two channels own this share each: one dead channel beside a live one is no second person."""
    cancelled: float = 0.05
    """A mix with less than this share of the loudest channel's energy is of channels out of phase: take the loudest."""


def choose(pieces: Iterable[Samples], config: ChannelsConfig | None = None) -> tuple[int | None, ...]:
    """Channels to take one by one in ascending order, or (None,) for the mix; `pieces` have shape (channels, n)."""
    config = config or ChannelsConfig()
    seen: _Seen | None = None
    for piece in pieces:
        if seen is None:
            seen = _Seen(len(piece), config)
        if 1 < seen.num_channels == len(piece):  # a joined file with another layout later is judged by its first part
            seen.add(piece)
    return (None,) if seen is None else seen.verdict()


def one(samples: Samples, channel: int | None) -> Samples:
    """One channel, or the mean of all, of samples (channels, n) → (n,); silence for a channel that is not there."""
    if channel is None:
        mixed: Samples = samples[0] if len(samples) == 1 else samples.mean(axis=0, dtype=np.float32)
        return mixed
    return samples[channel] if channel < len(samples) else np.zeros(samples.shape[1], np.float32)


class _Seen:
    """What has been seen so far, in counters: memory does not grow with the recording."""

    def __init__(self, num_channels: int, config: ChannelsConfig) -> None:
        self.num_channels = num_channels
        self._config = config
        self._frame = round(config.frame * SAMPLE_RATE)
        self._rest: Samples = np.zeros((num_channels, 0), np.float32)
        self._owned: npt.NDArray[np.int64] = np.zeros(num_channels, np.int64)
        self._active = 0
        self._energy = np.zeros(num_channels)
        self._mix_energy = 0.0
        self._num_samples = 0

    def add(self, piece: Samples) -> None:
        self._energy += np.einsum("cn,cn->c", piece, piece, dtype=np.float64)
        self._mix_energy += float(np.sum(np.square(piece.mean(axis=0)), dtype=np.float64))
        self._num_samples += piece.shape[1]
        held = np.concatenate([self._rest, piece], axis=1)
        whole = held.shape[1] // self._frame
        self._rest = held[:, whole * self._frame :]
        if whole:
            frames = held[:, : whole * self._frame].reshape(self.num_channels, whole, self._frame)
            self._judge(_db(np.mean(np.square(frames), axis=2)))

    def _judge(self, levels: npt.NDArray[np.float64]) -> None:
        """`levels`: dB, shape (channels, frames)."""
        loudest, second = np.sort(levels, axis=0)[::-1][:2]
        active = loudest > self._config.silence_dbfs
        owned = active & (loudest - np.maximum(second, self._config.silence_dbfs) > self._config.dominance_db)
        self._active += int(active.sum())
        self._owned += np.bincount(levels.argmax(axis=0)[owned], minlength=self.num_channels)

    def verdict(self) -> tuple[int | None, ...]:
        config = self._config
        if not self._active:
            return (None,)
        shares = self._owned / self._active
        owners = np.flatnonzero(shares >= config.min_share)
        if len(owners) >= 2 and shares.sum() >= config.min_owned:
            return tuple(int(channel) for channel in owners)
        live = np.flatnonzero(_db(self._energy / max(1, self._num_samples)) > config.silence_dbfs)
        loudest = int(self._energy.argmax())
        if len(live) == 1 or self._mix_energy < config.cancelled * self._energy[loudest]:
            return (loudest,)
        return (None,)


def _db(power: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    return 10.0 * np.log10(np.maximum(np.asarray(power, np.float64), 1e-12))
