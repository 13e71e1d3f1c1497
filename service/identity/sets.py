"""How alike are two people, by all the turns that either is known by? People merged into one count as one set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.identity.consent import REFUSED
from service.identity.gallery import Cosines, Gallery, Likeness, root
from service.identity.policies import Policy
from service.identity.thresholds import ChannelPair, Thresholds
from service.types.audio import EmbeddingSpace, Samples
from service.types.people import ChannelMean, Exemplar, PersonVoice


@dataclass(frozen=True, slots=True)
class Likely:
    """One set against another: the mean of both directions, of each the median turn against what stands for the other."""

    cosine: float
    """raw, or compensated where both channels have a mean"""
    threshold: float
    """τ_link on the channels compared"""
    weaker: float
    """excess of the direction that is less sure: a mixed person is not carried by its center"""

    @property
    def excess(self) -> float:
        return self.cosine - self.threshold


UNKNOWN = Likely(-1.0, 1.0, -2.0)
"""Of somebody without exemplars."""


class Sets:
    """Everybody, each set under the id of who its members are merged into. What was compared is kept."""

    def __init__(
        self,
        voices: Mapping[str, PersonVoice],
        space: EmbeddingSpace,
        policy: Policy,
        thresholds: Thresholds,
        channels: Mapping[str, ChannelMean],
        *,
        size: int,
        near: int,
        band: float,
    ) -> None:
        """`size`: people to choose from at least; `near`: how many are looked at from both sides, down to `band` of excess."""
        self._space, self._policy, self._channels, self._near, self._band = space, policy, channels, near, band
        self.members: dict[str, list[PersonVoice]] = {}
        for person in sorted(voices):
            self.members.setdefault(root(voices[person]), []).append(voices[person])
        self.gallery = self._gallery([voices[person] for person in sorted(voices)])
        self.names = [""] * len(self.gallery)
        for name, members in self.members.items():
            self.names[self.gallery.index(members[0].person_id)] = name
        self.size = max(len(self.gallery), size)
        self._links = {pair: thresholds.link(self.size, pair) for pair in ChannelPair}
        self._alone: dict[str, Gallery] = {}
        self._nearest: dict[str, list[str]] = {}
        self._scores: dict[frozenset[str], Likely] = {}

    def turns(self, name: str) -> int:
        return sum(voice.num_turns for voice in self.members[name])

    def net_speech(self, name: str) -> float:
        return sum(voice.net_speech for voice in self.members[name])

    def exemplars(self, name: str) -> list[Exemplar]:
        """As heard: twins are the same sound once more."""
        return [e for voice in self.members[name] for e in voice.exemplars if e.twin_of is None]

    def usable(self, name: str) -> bool:
        """There is a voice, and nobody of the set forbade its use."""
        return bool(self.exemplars(name)) and not any(voice.consent in REFUSED for voice in self.members[name])

    def link(self, pair: ChannelPair) -> float:
        return self._links[pair]

    def nearest(self, name: str) -> list[str]:
        """Other sets whose center the median turn of this one comes near, most alike first."""
        if name not in self._nearest:
            exemplars = self.exemplars(name)
            found: list[str] = []
            if exemplars:
                excess = np.subtract(*_medians(exemplars, self.gallery, self.link))
                order = np.argsort(-excess, kind="stable")[: self._near + 1]
                found = [self.names[i] for i in order if excess[i] >= self._band and self.names[i] != name]
            self._nearest[name] = found
        return self._nearest[name]

    def score(self, name: str, other: str) -> Likely:
        pair = frozenset((name, other))
        if pair not in self._scores:
            (cosine, threshold), (back, back_threshold) = self._one_way(name, other), self._one_way(other, name)
            weaker = min(cosine - threshold, back - back_threshold)
            self._scores[pair] = Likely((cosine + back) / 2, (threshold + back_threshold) / 2, weaker)
        return self._scores[pair]

    def ranked(self, name: str) -> list[str]:
        """`nearest` by the score of both directions."""
        return sorted(self.nearest(name), key=lambda other: (-self.score(name, other).excess, other))

    def likeness(self, vector: Samples, channel: str, name: str | None = None) -> Likeness:
        """A voice against every set (of `names`, in that order), or against one."""
        return (self.gallery if name is None else self._only(name)).likeness(vector, channel, self.link)

    def _one_way(self, name: str, other: str) -> tuple[float, float]:
        if not self.exemplars(name) or not self.exemplars(other):
            return UNKNOWN.cosine, UNKNOWN.threshold
        cosines, thresholds = _medians(self.exemplars(name), self._only(other), self.link)
        return float(cosines[0]), float(thresholds[0])

    def _only(self, name: str) -> Gallery:
        if name not in self._alone:
            self._alone[name] = self._gallery(self.members[name])
        return self._alone[name]

    def _gallery(self, voices: Sequence[PersonVoice]) -> Gallery:
        return Gallery(voices, self._policy, self._space.dimension, self._channels)


def _medians(exemplars: Sequence[Exemplar], gallery: Gallery, link: Callable[[ChannelPair], float]) -> tuple[Cosines, Cosines]:
    """Against each candidate, cosine and τ_link of the turn whose excess is the median one, shape (candidates,) each."""
    likeness = [gallery.likeness(e.vector, e.channel, link) for e in exemplars]
    cosines = np.stack([like.cosines for like in likeness])
    links = np.stack([like.thresholds(link) for like in likeness])
    middle = np.argsort(cosines - links, axis=0, kind="stable")[(len(exemplars) - 1) // 2]
    columns = np.arange(cosines.shape[1])
    return cosines[middle, columns], links[middle, columns]
