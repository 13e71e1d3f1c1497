"""How alike is a voice to everybody known, at once?

People merged into one (PersonVoice.same_as) are one candidate with the rows of all of them; which of them it was is the one
whose own row is best, so that a merge taken back leaves everybody what was theirs.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.identity.channels import compensated
from service.identity.consent import REFUSED
from service.identity.policies import Bounded, Policy, unit
from service.identity.rows import HEARD_ON, RowMaker, spliced
from service.identity.thresholds import TELEPHONE, TWIN, ChannelPair, channel_pair
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


class Gallery:
    """Voices of one space as one matrix, kept current while a batch is folded. Private to that fold, hence mutable.

    `voices` are kept in the order of their ids, and candidates are numbered by their first member, so that who is met first
    changes no tie. `channels`: means to be taken away where both sides have one. Raises BadVoiceVector for rows of another
    size, NaN or not of length 1."""

    def __init__(
        self,
        voices: Sequence[PersonVoice],
        policy: Policy,
        dimension: int,
        channels: Mapping[str, ChannelMean] | None = None,
    ) -> None:
        self.voices = sorted(voices, key=_person_id)
        self._channels = dict(channels or {})
        self._made = RowMaker(policy, dimension, self._channels)
        self._sided = isinstance(policy, Bounded)
        rows = [self._made(voice) for voice in self.voices]
        self._sizes = [len(r.vectors) for r in rows]
        self._rows = self._made.joined(rows)
        self._number()

    def __len__(self) -> int:
        """Candidates: people merged into one count once."""
        return self._count

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
        return index in self._refused

    def likeness(
        self, vector: Samples, channel: str, link: Callable[[ChannelPair], float], narrow: Samples | None = None
    ) -> Likeness:
        """`vector` (length 1), heard on `channel`, with each candidate. Rows are chosen by their distance from `link`, as one
        cosine means different things on different channels. `narrow`: the same sound as a telephone would carry it, length 1;
        who was heard on the telephone is compared with the middle of the two, as a caller is with a twin."""
        pairs = tuple(channel_pair(channel, other) for other in HEARD_ON)
        rows = self._rows
        cosines: Cosines = (rows.vectors @ vector).astype(np.float64)
        if narrow is not None and self._sided and channel != TELEPHONE:
            on_telephone = rows.heard_on == HEARD_ON.index(TELEPHONE)
            middle = unit(vector + narrow, dimension=len(vector), what="a turn")
            cosines[on_telephone] = rows.vectors[on_telephone] @ middle
            pairs = tuple(channel_pair(TELEPHONE, TWIN) if o == TELEPHONE else p for o, p in zip(HEARD_ON, pairs, strict=True))
        kinds = rows.heard_on.copy()
        left = compensated(vector, channel, self._channels)
        if left is not None and rows.covered.any():
            cosines = np.where(rows.covered, rows.left @ left, cosines)
            kinds[rows.covered] += len(pairs)
            pairs += tuple(channel_pair(channel, other, compensated=True) for other in HEARD_ON)
        cosines = cosines.clip(-1.0, 1.0)
        if len(cosines) == len(self):
            return Likeness(cosines, self._voice_of_row, kinds, pairs)
        excess = cosines - np.array([link(pair) for pair in pairs])[kinds]
        excess[self._away[channel == TELEPHONE] & (kinds < len(HEARD_ON))] = -np.inf
        best = np.full(len(self), -np.inf)
        np.maximum.at(best, self._candidate_of_row, excess)
        at_best = np.flatnonzero(excess == best[self._candidate_of_row])
        row = np.full(len(self), len(cosines))
        np.minimum.at(row, self._candidate_of_row[at_best], at_best)
        return Likeness(cosines[row], self._voice_of_row[row], kinds[row], pairs)

    def put(self, voice: PersonVoice) -> None:
        """Add a person, or replace what stands for them."""
        rows = self._made(voice)
        new = voice.person_id not in self._positions
        position = bisect(self.voices, voice.person_id, key=_person_id) if new else self._positions[voice.person_id]
        if new:
            self.voices.insert(position, voice)
            self._sizes.insert(position, 0)
        start, size = sum(self._sizes[:position]), self._sizes[position]
        self.voices[position], self._sizes[position] = voice, len(rows.vectors)
        alike = np.array_equal(self._rows.heard_on[start : start + size], rows.heard_on)
        self._rows = spliced(self._rows, rows, start, size)
        if not alike:
            self._number()

    def count(self, voice: PersonVoice) -> None:
        """Replace the record of a person whose vectors are unchanged."""
        self.voices[self._positions[voice.person_id]] = voice

    def _number(self) -> None:
        self._positions = {voice.person_id: i for i, voice in enumerate(self.voices)}
        candidates: dict[str, int] = {}
        self._of_voice = [candidates.setdefault(root(voice), len(candidates)) for voice in self.voices]
        self._count = len(candidates)
        self._refused = {self._of_voice[i] for i, voice in enumerate(self.voices) if voice.consent in REFUSED}
        self._voice_of_row: Positions = np.repeat(np.arange(len(self.voices)), self._sizes)
        self._candidate_of_row: Positions = np.array(self._of_voice, dtype=np.intp)[self._voice_of_row]
        self._away = (self._across(narrow=False), self._across(narrow=True))

    def _across(self, *, narrow: bool) -> npt.NDArray[np.bool_]:
        """Shape (rows,): rows that a turn is compared with across channels although their person has one on the turn's own side
        (of the telephone if `narrow`; a twin is one). A second, worse chance: of what it adds most are strangers."""
        if not self._sided:
            return np.zeros(len(self._rows.heard_on), dtype=bool)
        near = (self._rows.heard_on != 0) == narrow
        has_near = np.zeros(len(self.voices), dtype=bool)
        np.logical_or.at(has_near, self._voice_of_row, near)
        across: npt.NDArray[np.bool_] = ~near & has_near[self._voice_of_row]
        return across


def _person_id(voice: PersonVoice) -> str:
    return voice.person_id


def root(voice: PersonVoice) -> str:
    """Whom the person stands for: who they are merged into, or themselves."""
    return voice.same_as or voice.person_id
