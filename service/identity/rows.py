"""Which vectors stand for a person, raw and without their channel's mean? Made once for as long as their record lives."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from service.identity.channels import compensated
from service.identity.policies import BadVoiceVector, Policy
from service.identity.thresholds import TELEPHONE, TWIN
from service.types.audio import Samples
from service.types.people import ChannelMean, PersonVoice

HEARD_ON = ("", TELEPHONE, TWIN)
"""Channels that rows are told apart by; the first is every other."""


@dataclass(frozen=True, slots=True)
class VoiceRows:
    """What stands for one person, or for many one after another: shapes (k, dimension) and (k,), lengths 1."""

    vectors: Samples
    left: Samples
    """without their channel's mean; zero where it has none. Shape (0, dimension) when no channel has one."""
    heard_on: npt.NDArray[np.intp]
    """which of HEARD_ON"""
    covered: npt.NDArray[np.bool_]
    """their channel has a mean"""


class RowMaker:
    """Rows by one policy and one set of channel means.

    What it makes of a voice is kept beside the voice and goes with it: a gallery is put together for every batch of turns, and
    of its people few have changed since the last."""

    def __init__(self, policy: Policy, dimension: int, channels: Mapping[str, ChannelMean]) -> None:
        self._policy, self._dimension, self._channels = policy, dimension, channels
        means = tuple((name, channels[name].vector.tobytes()) for name in sorted(channels))
        self._key = (policy, dimension, means)

    def __call__(self, voice: PersonVoice) -> VoiceRows:
        """Raises BadVoiceVector for rows of another size, NaN or not of length 1."""
        kept = _KEPT.get(id(voice))
        if kept is not None and kept[0]() is voice and kept[1] == self._key:
            return kept[2]
        rows = self._made(voice)
        _KEPT[id(voice)] = (weakref.ref(voice, partial(_forget, id(voice))), self._key, rows)
        return rows

    def joined(self, rows: Sequence[VoiceRows]) -> VoiceRows:
        if not rows:
            none = np.zeros((0, self._dimension), dtype=np.float32)
            return VoiceRows(none, none, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=bool))
        return VoiceRows(
            np.concatenate([r.vectors for r in rows]),
            np.concatenate([r.left for r in rows]) if self._channels else rows[0].left,
            np.concatenate([r.heard_on for r in rows]),
            np.concatenate([r.covered for r in rows]),
        )

    def _made(self, voice: PersonVoice) -> VoiceRows:
        rows, channels = self._policy.rows(voice)
        if rows.shape[1:] != (self._dimension,):
            raise BadVoiceVector(what="the gallery", why="its size is another", dimension=self._dimension)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.all(np.abs(norms - 1.0) < 1e-2):  # NaN fails this too; stored vectors are rounded, hence the slack
            raise BadVoiceVector(what="the gallery", why="it is not of length 1", dimension=self._dimension)
        vectors = (rows / norms).astype(np.float32)
        left = np.zeros((len(vectors) if self._channels else 0, self._dimension), dtype=np.float32)
        covered = np.zeros(len(vectors), dtype=bool)
        for i, channel in enumerate(channels if self._channels else ()):
            rest = compensated(vectors[i], channel, self._channels)
            if rest is not None:
                left[i], covered[i] = rest, True
        heard_on = [HEARD_ON.index(channel) if channel in HEARD_ON else 0 for channel in channels]
        return VoiceRows(vectors, left, np.array(heard_on, dtype=np.intp), covered)


def spliced(rows: VoiceRows, new: VoiceRows, start: int, size: int) -> VoiceRows:
    """`rows` with `new` in place of `size` of them from `start` on; written into `rows` itself where it fits."""
    before, after = slice(None, start), slice(start + size, None)
    if size == len(new.vectors):
        rows.vectors[start : start + size] = new.vectors
        rows.left[start : start + len(new.left)] = new.left
        rows.heard_on[start : start + size] = new.heard_on
        rows.covered[start : start + size] = new.covered
        return rows
    return VoiceRows(
        np.concatenate([rows.vectors[before], new.vectors, rows.vectors[after]]),
        np.concatenate([rows.left[before], new.left, rows.left[after]]) if len(new.left) else rows.left,
        np.concatenate([rows.heard_on[before], new.heard_on, rows.heard_on[after]]),
        np.concatenate([rows.covered[before], new.covered, rows.covered[after]]),
    )


_KEPT: dict[int, tuple[weakref.ref[PersonVoice], object, VoiceRows]] = {}
"""id() of a living voice → the voice, what its rows were made by, and the rows"""


def _forget(address: int, _: object) -> None:
    _KEPT.pop(address, None)
