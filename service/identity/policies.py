"""What does a person's voice look like after another turn of theirs, and which vectors stand for it?

EvoSpeakerMem's four: `fixed` (first embedding for ever), `update` (online mean), `gated` (the mean moves only at
τ_update, every accepted link counts), `knn` (all exemplars, nearest one scores). Ours: `bounded`, at most twelve
exemplars kept for coverage and quality, gated, the centroid a pure function of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from service.errors import VoicegraphError
from service.identity.thresholds import TELEPHONE, TWIN, WIDEBAND
from service.types.audio import EmbeddingSpace, Samples
from service.types.ids import derived
from service.types.people import Exemplar, PersonVoice


class BadVoiceVector(VoicegraphError):
    code = "bad_voice_vector"
    says = "A voice vector of {what} cannot be used: {why}. Needed: {dimension} finite numbers, not all zero."


class VoiceSpacesDiffer(VoicegraphError):
    code = "voice_spaces_differ"
    says = "A vector of {given} cannot be compared with voices of {needed}. Re-embed with one encoder."


def unit(vector: Samples, *, dimension: int, what: str) -> Samples:
    """`vector` as float32 of length 1; raises BadVoiceVector for a wrong shape, NaN, infinity or (nearly) zero."""
    vector = np.asarray(vector, dtype=np.float32)
    if vector.shape != (dimension,):
        raise BadVoiceVector(what=what, why=f"its shape is {vector.shape}", dimension=dimension)
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if not np.isfinite(norm) or norm < 1e-6:
        raise BadVoiceVector(what=what, why="it is zero" if norm < 1e-6 else "it holds NaN or infinity", dimension=dimension)
    return (vector / np.float32(norm)).astype(np.float32)


def same_space(given: EmbeddingSpace, needed: EmbeddingSpace) -> None:
    """Raises VoiceSpacesDiffer unless name, version and dimension all agree."""
    if given != needed:
        raise VoiceSpacesDiffer(given=f"{given.name} {given.version}", needed=f"{needed.name} {needed.version}")


class Rows(NamedTuple):
    """Unit vectors, shape (k, dimension), k >= 1, and the channel each was heard on."""

    vectors: Samples
    channels: tuple[str, ...]

    @property
    def telephone(self) -> npt.NDArray[np.bool_]:
        """Which of them were heard over the telephone, shape (k,)."""
        return np.array([channel == TELEPHONE for channel in self.channels])


class Policy(Protocol):
    """How a person's voice is represented and learnt."""

    def rows(self, voice: PersonVoice) -> Rows:
        """What stands for the person; they score with the row that speaks most for them."""
        ...

    def learns(self, cosine: float, update: float) -> bool:
        """Whether a link at `cosine` may become an exemplar, given τ_update."""
        ...

    def learn(self, voice: PersonVoice, exemplar: Exemplar) -> PersonVoice:
        """`voice` with one more exemplar; counts are the caller's. Raises BadVoiceVector."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """The center is the first embedding; nothing is learnt afterwards."""

    def rows(self, voice: PersonVoice) -> Rows:
        return _one_row(voice)

    def learns(self, cosine: float, update: float) -> bool:
        return False

    def learn(self, voice: PersonVoice, exemplar: Exemplar) -> PersonVoice:
        """Only the first is taken."""
        return voice if voice.exemplars else _added(voice, exemplar)


@dataclass(frozen=True, slots=True)
class Update:
    """Online mean c ← (n·c + v) / (n + 1) over every accepted link, which is the mean of all its exemplars."""

    def rows(self, voice: PersonVoice) -> Rows:
        return _one_row(voice)

    def learns(self, cosine: float, update: float) -> bool:
        return True

    def learn(self, voice: PersonVoice, exemplar: Exemplar) -> PersonVoice:
        return _added(voice, exemplar)


@dataclass(frozen=True, slots=True)
class Gated:
    """Online mean that only links at τ_update or above move; n counts every accepted link, so a center that was often
    met without being moved moves less. Kept at length 1 between turns. Not a function of the exemplars alone."""

    def rows(self, voice: PersonVoice) -> Rows:
        return _one_row(voice)

    def learns(self, cosine: float, update: float) -> bool:
        return cosine >= update

    def learn(self, voice: PersonVoice, exemplar: Exemplar) -> PersonVoice:
        """`voice.num_turns` is n: the accepted links before this one."""
        added = _added(voice, exemplar)
        mean = voice.num_turns * voice.centroid + added.exemplars[-1].vector
        return replace(added, centroid=unit(mean, dimension=voice.space.dimension, what=voice.person_id))


@dataclass(frozen=True, slots=True)
class Knn:
    """Every accepted exemplar is kept, without bound, and the nearest one scores."""

    def rows(self, voice: PersonVoice) -> Rows:
        if not voice.exemplars:
            return _one_row(voice)
        return Rows(np.stack([e.vector for e in voice.exemplars]), tuple(e.channel for e in voice.exemplars))

    def learns(self, cosine: float, update: float) -> bool:
        return True

    def learn(self, voice: PersonVoice, exemplar: Exemplar) -> PersonVoice:
        return _added(voice, exemplar)


@dataclass(frozen=True, slots=True)
class Bounded:
    """The default: few, good and different exemplars; gated; one weighted centroid for each channel, since telephone and
    wideband are as far apart as two people."""

    max_exemplars: int = 12
    """Of all channels: enough for four channels or moods of three utterances each, as more than three gain little on
    read and acted speech."""
    full_weight: float = 6.0
    """seconds of net speech from which an exemplar weighs fully; embeddings hardly improve beyond (speech 3.4)"""
    max_twins: int = 3
    """exemplars kept as a telephone would carry them too: more gain little"""

    def rows(self, voice: PersonVoice) -> Rows:
        """One for each channel, and a twin for the telephone of somebody never heard there: the middle between their voice
        and their voice made narrow is nearer to them on a telephone than either."""
        heard = [e for e in voice.exemplars if e.twin_of is None]
        twins = [e for e in voice.exemplars if e.twin_of is not None]
        channels = sorted({e.channel for e in heard}, key=lambda c: (c == TELEPHONE, c))
        twinned = bool(twins) and bool(heard) and TELEPHONE not in channels
        if len(channels) < 2 and not twinned:
            return _one_row(voice)
        rows = {c: centroid([e for e in heard if e.channel == c], voice.space, full_weight=self.full_weight) for c in channels}
        if twinned:
            middle = voice.centroid + centroid(twins, voice.space, full_weight=self.full_weight)
            rows[TWIN] = unit(middle, dimension=voice.space.dimension, what=voice.person_id)
        return Rows(np.stack(list(rows.values())), tuple(rows))

    def learns(self, cosine: float, update: float) -> bool:
        return cosine >= update

    def learn(self, voice: PersonVoice, exemplar: Exemplar) -> PersonVoice:
        exemplars = [*voice.exemplars, _checked(exemplar, voice.space)]
        while len(exemplars) > self.max_exemplars:
            dropped = self._least_missed(exemplars)
            exemplars = [e for e in exemplars if e is not dropped]
        kept = tuple(exemplars)
        return replace(voice, exemplars=kept, centroid=center(kept, voice.space, full_weight=self.full_weight))

    def twin(self, voice: PersonVoice, exemplar: Exemplar, narrow: Samples) -> PersonVoice:
        """`voice` with `narrow` kept as the telephone twin of `exemplar`; as it is where the person was heard over a telephone,
        or has twins enough. Raises BadVoiceVector."""
        twins = sum(e.twin_of is not None for e in voice.exemplars)
        if twins >= self.max_twins or any(e.channel == TELEPHONE and e.twin_of is None for e in voice.exemplars):
            return voice
        twin_id = derived("twin", exemplar.id, TELEPHONE)
        return self.learn(voice, replace(exemplar, id=twin_id, vector=narrow, channel=TELEPHONE, twin_of=exemplar.id))

    def _least_missed(self, exemplars: Sequence[Exemplar]) -> Exemplar:
        """On the channel with most of them, so that none pushes another out: a twin if the person was heard there too, else
        of the two most alike the one of less worth. Does not depend on their order."""
        num = Counter(e.channel for e in exemplars)
        crowded = min(num, key=lambda c: (-num[c], c))
        there = sorted((e for e in exemplars if e.channel == crowded), key=lambda e: e.id)
        twins = [e for e in there if e.twin_of is not None]
        if twins and len(twins) < len(there):
            return min(twins, key=self._worth)
        if len(there) == 1:
            return min(exemplars, key=self._worth)
        matrix = np.stack([e.vector for e in there])
        alike = matrix @ matrix.T
        np.fill_diagonal(alike, -np.inf)
        pair = np.unravel_index(int(np.argmax(alike)), alike.shape)
        return min((there[int(i)] for i in pair), key=self._worth)

    def _worth(self, exemplar: Exemplar) -> tuple[float, float, float, str]:
        """Speech as far as it helps, then signal, then speech beyond; last the id, so that there is one answer."""
        return min(exemplar.net_speech, self.full_weight), exemplar.snr_db, exemplar.net_speech, exemplar.id


def _heard(exemplars: Sequence[Exemplar]) -> Sequence[Exemplar]:
    """Without twins, unless there is nothing else."""
    return [e for e in exemplars if e.twin_of is None] or exemplars


def _one_row(voice: PersonVoice) -> Rows:
    """The center, under the channel most of it was heard on; the telephone only if all of it was."""
    num = Counter(e.channel for e in _heard(voice.exemplars))
    channel = min(num, key=lambda c: (c == TELEPHONE, -num[c], c), default=WIDEBAND)
    return Rows(voice.centroid[None], (channel,))


def _checked(exemplar: Exemplar, space: EmbeddingSpace) -> Exemplar:
    return replace(exemplar, vector=unit(exemplar.vector, dimension=space.dimension, what=exemplar.id))


def _added(voice: PersonVoice, exemplar: Exemplar) -> PersonVoice:
    exemplars = (*voice.exemplars, _checked(exemplar, voice.space))
    return replace(voice, exemplars=exemplars, centroid=centroid(exemplars, voice.space))


def center(exemplars: Sequence[Exemplar], space: EmbeddingSpace, *, full_weight: float | None = None) -> Samples:
    """`centroid` of what was heard: a twin is no further evidence of a voice. Raises BadVoiceVector."""
    return centroid(_heard(exemplars), space, full_weight=full_weight)


def centroid(exemplars: Sequence[Exemplar], space: EmbeddingSpace, *, full_weight: float | None = None) -> Samples:
    """Mean of the exemplars, length 1, the same in any order of them. With `full_weight` (seconds) each weighs by the
    root of its net speech, up to that much: the error of an embedding falls about so. Raises BadVoiceVector when they
    cancel out or there is none."""
    ordered = sorted(exemplars, key=lambda e: e.id)
    total = np.zeros(space.dimension, dtype=np.float64)
    for exemplar in ordered:
        weight = 1.0 if full_weight is None else max(0.1, min(exemplar.net_speech, full_weight) / full_weight) ** 0.5
        total += weight * exemplar.vector
    return unit(total.astype(np.float32), dimension=space.dimension, what="a centroid")


POLICIES: Mapping[str, Policy] = {"fixed": Fixed(), "update": Update(), "gated": Gated(), "knn": Knn(), "bounded": Bounded()}


class UnknownPolicy(VoicegraphError):
    code = "unknown_policy"
    says = "{name!r} is not a routing policy. Known: {known}."


def policy(name: str) -> Policy:
    """By the name stored in SpaceSettings.routing; raises UnknownPolicy."""
    try:
        return POLICIES[name]
    except KeyError:
        raise UnknownPolicy(name=name, known=", ".join(sorted(POLICIES))) from None


def recomputed(voice: PersonVoice, policy_name: str) -> PersonVoice:
    """`voice` with its centroid made again from its live exemplars, as after erasing or moving some of them.

    The same as what was learnt, for every policy but `gated`, whose links without an exemplar left a trace in the center:
    there it is the mean of the live ones. Raises BadVoiceVector without any exemplar: drop such a person from the gallery."""
    kept = policy(policy_name)
    full_weight = kept.full_weight if isinstance(kept, Bounded) else None
    return replace(voice, centroid=center(voice.exemplars, voice.space, full_weight=full_weight))
