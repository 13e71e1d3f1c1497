"""How alike is a voice to everybody known, at once?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from service.identity.policies import BadVoiceVector, Policy
from service.identity.thresholds import TELEPHONE, ChannelPair
from service.types.audio import Samples
from service.types.people import PersonVoice

Cosines = npt.NDArray[np.float64]
PAIRS = tuple(ChannelPair)


class Gallery:
    """Voices of one space as one matrix, kept current while a batch is folded. Private to that fold, hence mutable.

    Raises BadVoiceVector for rows of another size, NaN or not of length 1."""

    def __init__(self, voices: Sequence[PersonVoice], policy: Policy, dimension: int) -> None:
        self.voices = list(voices)
        self._policy = policy
        self._dimension = dimension
        self._index = {voice.person_id: i for i, voice in enumerate(self.voices)}
        rows = [policy.rows(voice) for voice in self.voices]
        self._owners = np.repeat(np.arange(len(rows)), [len(r) for r in rows]).astype(np.intp)
        self._rows = self._checked(rows)
        self._heard_on = np.array([_heard_on(voice) for voice in self.voices], dtype=bool).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self.voices)

    def __contains__(self, person_id: str) -> bool:
        return person_id in self._index

    def index(self, person_id: str) -> int:
        return self._index[person_id]

    def cosines(self, vector: Samples) -> Cosines:
        """Raw cosine of `vector` (length 1) with each person, nearest row each; shape (people,)."""
        scores = np.full(len(self.voices), -1.0)
        np.maximum.at(scores, self._owners, self._rows @ vector)
        return scores.clip(-1.0, 1.0)

    def channel_pairs(self, channel: str) -> npt.NDArray[np.intp]:
        """Position in PAIRS for each person against a turn on `channel`, shape (people,); heard on both: the stricter."""
        if channel == TELEPHONE:
            return np.where(self._heard_on[:, 0], PAIRS.index(ChannelPair.TELEPHONE), PAIRS.index(ChannelPair.CROSS))
        return np.where(self._heard_on[:, 1], PAIRS.index(ChannelPair.WIDEBAND), PAIRS.index(ChannelPair.CROSS))

    def put(self, voice: PersonVoice) -> None:
        """Add a person, or replace what stands for them."""
        rows = self._checked([self._policy.rows(voice)])
        if voice.person_id not in self._index:
            self._index[voice.person_id] = len(self.voices)
            self.voices.append(voice)
            self._heard_on = np.concatenate([self._heard_on, np.zeros((1, 2), dtype=bool)])
        index = self._index[voice.person_id]
        self.voices[index], self._heard_on[index] = voice, _heard_on(voice)
        slots = np.flatnonzero(self._owners == index)
        if len(slots) == len(rows):
            self._rows[slots] = rows
            return
        keep = self._owners != index
        self._rows = np.concatenate([self._rows[keep], rows])
        self._owners = np.concatenate([self._owners[keep], np.full(len(rows), index, dtype=np.intp)])

    def _checked(self, rows: Sequence[Samples]) -> Samples:
        if not rows:
            return np.zeros((0, self._dimension), dtype=np.float32)
        if any(r.shape[1:] != (self._dimension,) for r in rows):
            raise BadVoiceVector(what="the gallery", why="its size is another", dimension=self._dimension)
        matrix = np.concatenate(rows).astype(np.float32, copy=True)
        norms = np.linalg.norm(matrix, axis=1)
        if not np.all(np.abs(norms - 1.0) < 1e-2):         # NaN fails this too; stored vectors are rounded, hence the slack
            raise BadVoiceVector(what="the gallery", why="it is not of length 1", dimension=self._dimension)
        unit_rows: Samples = matrix / norms[:, None]
        return unit_rows


def _heard_on(voice: PersonVoice) -> tuple[bool, bool]:
    """(telephone, wideband): where the exemplars come from; without any, wideband."""
    telephone = any(e.channel == TELEPHONE for e in voice.exemplars)
    return telephone, not telephone or any(e.channel != TELEPHONE for e in voice.exemplars)
