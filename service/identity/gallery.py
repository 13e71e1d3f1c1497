"""How alike is a voice to everybody known, at once?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.identity.policies import BadVoiceVector, Policy, Rows
from service.identity.thresholds import TELEPHONE, ChannelPair, channel_pair
from service.types.audio import Samples
from service.types.people import PersonVoice

Cosines = npt.NDArray[np.float64]
"""Shape (people,), in the order of Gallery.voices."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """One voice against everybody: each person by the row that speaks most for them."""

    cosines: Cosines
    pairs: npt.NDArray[np.bool_]
    """True where that row and the voice were heard on the channel pair `narrow`, False for `wide`"""
    narrow: ChannelPair
    wide: ChannelPair

    def thresholds(self, of: Callable[[ChannelPair], float]) -> Cosines:
        """`of` each person's pair of channels."""
        return np.where(self.pairs, of(self.narrow), of(self.wide))


class Gallery:
    """Voices of one space as one matrix, kept current while a batch is folded. Private to that fold, hence mutable.

    Raises BadVoiceVector for rows of another size, NaN or not of length 1."""

    def __init__(self, voices: Sequence[PersonVoice], policy: Policy, dimension: int) -> None:
        self.voices = list(voices)
        self._policy = policy
        self._dimension = dimension
        self._index = {voice.person_id: i for i, voice in enumerate(self.voices)}
        rows = [policy.rows(voice) for voice in self.voices]
        self._sizes = [len(r.vectors) for r in rows]
        self._vectors = self._checked(rows)
        self._telephone = np.concatenate([r.telephone for r in rows]) if rows else np.zeros(0, dtype=bool)

    def __len__(self) -> int:
        return len(self.voices)

    def __contains__(self, person_id: str) -> bool:
        return person_id in self._index

    def index(self, person_id: str) -> int:
        return self._index[person_id]

    def likeness(self, vector: Samples, channel: str, link: Callable[[ChannelPair], float]) -> Likeness:
        """`vector` (length 1), heard on `channel`, with each person. Rows are chosen by their distance from `link`, as one
        cosine means different things on different channels."""
        narrow, wide = channel_pair(channel, TELEPHONE), channel_pair(channel, "")
        cosines: Cosines = (self._vectors @ vector).astype(np.float64).clip(-1.0, 1.0)
        if len(cosines) == len(self.voices):
            return Likeness(cosines, self._telephone, narrow, wide)
        excess = cosines - np.where(self._telephone, link(narrow), link(wide))
        owners = np.repeat(np.arange(len(self.voices)), self._sizes)
        best = np.maximum.reduceat(excess, np.cumsum([0, *self._sizes[:-1]]))
        at_best = np.flatnonzero(excess == best[owners])
        rows = at_best[np.unique(owners[at_best], return_index=True)[1]]
        return Likeness(cosines[rows], self._telephone[rows], narrow, wide)

    def put(self, voice: PersonVoice) -> None:
        """Add a person, or replace what stands for them."""
        rows = self._policy.rows(voice)
        vectors = self._checked([rows])
        if voice.person_id not in self._index:
            self._index[voice.person_id] = len(self.voices)
            self.voices.append(voice)
            self._sizes.append(0)
        index = self._index[voice.person_id]
        start, size = sum(self._sizes[:index]), self._sizes[index]
        self.voices[index] = voice
        self._sizes[index] = len(vectors)
        if size == len(vectors):
            self._vectors[start : start + size], self._telephone[start : start + size] = vectors, rows.telephone
            return
        self._vectors = np.concatenate([self._vectors[:start], vectors, self._vectors[start + size :]])
        self._telephone = np.concatenate([self._telephone[:start], rows.telephone, self._telephone[start + size :]])

    def count(self, index: int, voice: PersonVoice) -> None:
        """Replace the record of a person whose vectors are unchanged."""
        self.voices[index] = voice

    def _checked(self, rows: Sequence[Rows]) -> Samples:
        if not rows:
            return np.zeros((0, self._dimension), dtype=np.float32)
        if any(r.vectors.shape[1:] != (self._dimension,) for r in rows):
            raise BadVoiceVector(what="the gallery", why="its size is another", dimension=self._dimension)
        matrix = np.concatenate([r.vectors for r in rows]).astype(np.float32)
        norms = np.linalg.norm(matrix, axis=1)
        if not np.all(np.abs(norms - 1.0) < 1e-2):  # NaN fails this too; stored vectors are rounded, hence the slack
            raise BadVoiceVector(what="the gallery", why="it is not of length 1", dimension=self._dimension)
        unit_rows: Samples = matrix / norms[:, None]
        return unit_rows
