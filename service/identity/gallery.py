"""How alike is a voice to everybody known, at once?

People merged into one (PersonVoice.same_as) are one candidate with the rows of all of them; which of them it was is the one
whose own row is best, so that a merge taken back leaves everybody what was theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.identity.channels import compensated
from service.identity.consent import REFUSED
from service.identity.policies import BadVoiceVector, Policy
from service.identity.thresholds import TELEPHONE, ChannelPair, channel_pair
from service.types.audio import Samples
from service.types.people import ChannelMean, PersonVoice

Cosines = npt.NDArray[np.float64]
"""Shape (candidates,)."""
Positions = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Likeness:
    """One voice against everybody: each candidate by the row that speaks most for them."""

    cosines: Cosines
    members: Positions
    """shape (candidates,): whose that row is, as a position in Gallery.voices"""
    kinds: Positions
    """shape (candidates,): on which of `pairs` that row was compared"""
    pairs: tuple[ChannelPair, ...]

    def thresholds(self, of: Callable[[ChannelPair], float]) -> Cosines:
        """`of` each candidate's pair of channels."""
        each: Cosines = np.array([of(pair) for pair in self.pairs])[self.kinds]
        return each

    def pair(self, index: int) -> ChannelPair:
        return self.pairs[int(self.kinds[index])]


@dataclass(frozen=True, slots=True)
class _Rows:
    """What stands for one person, or for all of them one after another: shapes (k, dimension) and (k,)."""

    vectors: Samples
    left: Samples
    """without their channel's mean; zero where it has none"""
    telephone: npt.NDArray[np.bool_]
    covered: npt.NDArray[np.bool_]
    """their channel has a mean"""


class Gallery:
    """Voices of one space as one matrix, kept current while a batch is folded. Private to that fold, hence mutable.

    Candidates are numbered in the order of their first member in `voices`. `channels`: means to be taken away where both
    sides have one. Raises BadVoiceVector for rows of another size, NaN or not of length 1."""

    def __init__(
        self,
        voices: Sequence[PersonVoice],
        policy: Policy,
        dimension: int,
        channels: Mapping[str, ChannelMean] | None = None,
    ) -> None:
        self.voices = list(voices)
        self._policy, self._dimension, self._channels = policy, dimension, dict(channels or {})
        self._positions: dict[str, int] = {}
        self._candidates: dict[str, int] = {}
        self._of_voice: list[int] = []
        self._refused: set[str] = set()
        for voice in self.voices:
            self._enter(voice)
        rows = [self._rows_of(voice) for voice in self.voices]
        self._sizes = [len(r.vectors) for r in rows]
        self._rows = self._joined(rows)
        self._own_rows()

    def __len__(self) -> int:
        """Candidates: people merged into one count once."""
        return len(self._candidates)

    def __contains__(self, person_id: str) -> bool:
        return person_id in self._positions

    def index(self, person_id: str) -> int:
        """The candidate this person is (one of)."""
        return self._of_voice[self._positions[person_id]]

    def voice(self, person_id: str) -> PersonVoice:
        return self.voices[self._positions[person_id]]

    def root(self, person_id: str) -> str:
        """Whom the person is merged into; who is unknown stands for themselves."""
        return root(self.voice(person_id)) if person_id in self else person_id

    def refused(self, index: int) -> bool:
        """Whether any member of the candidate forbade the use of their voice."""
        return any(self.index(person) == index for person in self._refused)

    def likeness(self, vector: Samples, channel: str, link: Callable[[ChannelPair], float]) -> Likeness:
        """`vector` (length 1), heard on `channel`, with each candidate. Rows are chosen by their distance from `link`, as one
        cosine means different things on different channels."""
        pairs: tuple[ChannelPair, ...] = (channel_pair(channel, ""), channel_pair(channel, TELEPHONE))
        rows = self._rows
        cosines: Cosines = (rows.vectors @ vector).astype(np.float64)
        kinds = rows.telephone.astype(np.intp)
        left = compensated(vector, channel, self._channels)
        if left is not None and rows.covered.any():
            cosines = np.where(rows.covered, rows.left @ left, cosines)
            kinds[rows.covered], pairs = len(pairs), (*pairs, ChannelPair.COMPENSATED)
        cosines = cosines.clip(-1.0, 1.0)
        if len(cosines) == len(self):
            return Likeness(cosines, self._voice_of_row, kinds, pairs)
        excess = cosines - np.array([link(pair) for pair in pairs])[kinds]
        best = np.full(len(self), -np.inf)
        np.maximum.at(best, self._candidate_of_row, excess)
        at_best = np.flatnonzero(excess == best[self._candidate_of_row])
        row = np.full(len(self), len(cosines))
        np.minimum.at(row, self._candidate_of_row[at_best], at_best)
        return Likeness(cosines[row], self._voice_of_row[row], kinds[row], pairs)

    def put(self, voice: PersonVoice) -> None:
        """Add a person, or replace what stands for them."""
        rows = self._joined([self._rows_of(voice)])
        if voice.person_id not in self._positions:
            self.voices.append(voice)
            self._enter(voice)
            self._sizes.append(0)
        position = self._positions[voice.person_id]
        start, size = sum(self._sizes[:position]), self._sizes[position]
        self.count(voice)
        self._sizes[position] = len(rows.vectors)
        self._rows = _spliced(self._rows, rows, start, size)
        if size != len(rows.vectors):
            self._own_rows()

    def count(self, voice: PersonVoice) -> None:
        """Replace the record of a person whose vectors are unchanged."""
        self.voices[self._positions[voice.person_id]] = voice

    def _enter(self, voice: PersonVoice) -> None:
        self._positions[voice.person_id] = len(self._positions)
        self._of_voice.append(self._candidates.setdefault(root(voice), len(self._candidates)))
        if voice.consent in REFUSED:
            self._refused.add(voice.person_id)

    def _own_rows(self) -> None:
        """Note whose each row is, shape (rows,)."""
        self._voice_of_row: Positions = np.repeat(np.arange(len(self.voices)), self._sizes)
        self._candidate_of_row: Positions = np.array(self._of_voice, dtype=np.intp)[self._voice_of_row]

    def _rows_of(self, voice: PersonVoice) -> _Rows:
        vectors, channels = self._policy.rows(voice)
        if vectors.shape[1:] != (self._dimension,):
            raise BadVoiceVector(what="the gallery", why="its size is another", dimension=self._dimension)
        telephone = np.array([channel == TELEPHONE for channel in channels])
        left = np.zeros((len(vectors) if self._channels else 0, self._dimension), dtype=np.float32)
        covered = np.zeros(len(vectors), dtype=bool)
        for i, channel in enumerate(channels if self._channels else ()):
            rest = compensated(vectors[i], channel, self._channels)
            if rest is not None:
                left[i], covered[i] = rest, True
        return _Rows(vectors, left, telephone, covered)

    def _joined(self, rows: Sequence[_Rows]) -> _Rows:
        if not rows:
            none = np.zeros((0, self._dimension), dtype=np.float32)
            return _Rows(none, none, np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))
        matrix = np.concatenate([r.vectors for r in rows]).astype(np.float32)
        norms = np.linalg.norm(matrix, axis=1)
        if not np.all(np.abs(norms - 1.0) < 1e-2):  # NaN fails this too; stored vectors are rounded, hence the slack
            raise BadVoiceVector(what="the gallery", why="it is not of length 1", dimension=self._dimension)
        return _Rows(
            matrix / norms[:, None],
            np.concatenate([r.left for r in rows]),
            np.concatenate([r.telephone for r in rows]),
            np.concatenate([r.covered for r in rows]),
        )


def root(voice: PersonVoice) -> str:
    """Whom the person stands for: who they are merged into, or themselves."""
    return voice.same_as or voice.person_id


def _spliced(rows: _Rows, new: _Rows, start: int, size: int) -> _Rows:
    """`rows` with `new` in place of `size` of them from `start` on."""

    def put(all_of: npt.NDArray[np.generic], some: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        return np.concatenate([all_of[:start], some, all_of[start + size :]])

    left = put(rows.left, new.left) if len(new.left) else rows.left
    return _Rows(
        put(rows.vectors, new.vectors),  # type: ignore[arg-type]
        left,  # type: ignore[arg-type]
        put(rows.telephone, new.telephone),  # type: ignore[arg-type]
        put(rows.covered, new.covered),  # type: ignore[arg-type]
    )
