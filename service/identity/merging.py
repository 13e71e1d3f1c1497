"""Which people are fragments of one person, now that a session is over? Conservative: one wrong merge costs more than ten
fragments, and what is not sure enough becomes a proposal for somebody to decide.

A fragment is joined to whom its turns would be linked to *and* whose turns would be linked to it: the median excess over the
threshold, of each side's turns against what stands for the other, and of the two the smaller one, so that a mixed person is
not carried by its center. Only the smaller of two proposes; the best pair is joined first, then all is compared anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from service.identity.consent import REFUSED
from service.identity.gallery import Cosines, Gallery, root
from service.identity.policies import policy, unit
from service.identity.rules import NO_TRACK
from service.identity.state import FoldState, Proposal
from service.identity.thresholds import CAMPPLUS, ChannelPair, Thresholds
from service.types.audio import Samples
from service.types.people import ChannelMean, Consent, Exemplar, PersonVoice, TurnEvidence

Pair = frozenset[str]
"""Ids of two people."""


@dataclass(frozen=True, slots=True)
class MergeConfig:
    """When two people are one. Excess is cosine - τ_link of the gallery's size, on the channels compared."""

    policy: str = "bounded"
    thresholds: Thresholds = CAMPPLUS
    excess: float = 0.05
    """joined from here on: the median turn is surer than a link needs to be"""
    excess_single: float = 0.10
    """the same where one side is known by fewer than `few` exemplars"""
    few: int = 3
    margin: float = 0.05
    """ahead of anybody else whom the fragment resembles, and who is not that same person's fragment too"""
    cohesion: float = 0.30
    """least cosine of a fragment's exemplars with their own center: less, and it may be several people's"""
    large: int = 20
    """turns from which somebody is no fragment, unless a third of the other's or fewer"""
    ratio: float = 1 / 3
    proposal: float = -0.10
    """excess from which two who are not joined are proposed"""
    proposals: int = 3
    """at most for each fragment or unresolved voice: a list that somebody reads"""
    confirm: bool = False
    """in spaces where a voice alone opens (`voice_access: open`): repeated voice at τ_access confirms a merge"""
    confirm_turns: int = 3
    confirm_sessions: int = 2
    nearest: int = 20
    """candidates of a fragment looked at from both sides; the rest by its own turns only"""


@dataclass(frozen=True, slots=True)
class SessionEvidence:
    """What a finished session tells about who may be whom."""

    people: frozenset[str]
    """Who was heard: only they, or what resembles them, can have changed."""
    tracks: Mapping[str, str] = field(default_factory=dict)
    """track → the person it was bound to"""
    unresolved: tuple[TurnEvidence, ...] = ()
    exclusive: tuple[Proposal, ...] = ()
    """tracks that sounded like somebody whom another track is"""

    @classmethod
    def of(cls, state: FoldState) -> SessionEvidence:
        """From the settled state of the session's fold."""
        return cls(
            frozenset(state.heard), dict(state.bound), tuple(p.evidence for p in state.pending), tuple(state.proposals.values())
        )

    @property
    def apart(self) -> frozenset[Pair]:
        """Who were two tracks of this session: told apart by where they sat or logged in, not by voice."""
        people = sorted(set(self.tracks.values()))
        return frozenset(frozenset(pair) for pair in combinations(people, 2))


@dataclass(frozen=True, slots=True)
class Merge:
    """`person_id` is a fragment of `into`; both stand for their whole sets."""

    person_id: str
    into: str
    cosine: float
    """raw, or compensated where both channels have means: median over the turns of the less sure side"""
    margin: float | None
    """ahead of the next likeliest, None without one"""
    threshold: float
    """what `cosine` had to reach"""
    num_turns: int
    """turns of the fragment"""
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class MayBe:
    """For somebody to decide: `subject` (a person, or a track of the session) may be `person_id`."""

    subject: str
    person_id: str
    cosine: float
    margin: float | None
    threshold: float
    num_turns: int
    why: str
    """alike | exclusive"""


@dataclass(frozen=True, slots=True)
class MergeResult:
    merges: tuple[Merge, ...] = ()
    """In the order in which they are to be made."""
    proposals: tuple[MayBe, ...] = ()
    """Most alike first; none between people that `merges` joins, or that were said not to be the same."""


def merges(
    voices: Mapping[str, PersonVoice],
    session: SessionEvidence,
    not_same: Collection[Pair] = frozenset(),
    config: MergeConfig = MergeConfig(),
    *,
    apart: Collection[Pair] = frozenset(),
    settled: Collection[str] = frozenset(),
    sessions: Mapping[str, int] | None = None,
    channels: Mapping[str, ChannelMean] | None = None,
    population: int = 0,
) -> MergeResult:
    """Whom to join after a session, and what to propose. Pure; the same for the same voices in any order.

    `voices`: everybody known, merged ones with `same_as`. `not_same`: pairs that a human rejected: never joined, nor proposed.
    `apart`: pairs known to be two by other means than voice (two tracks of one session, speaking at once): proposed at most;
    those of `session` are added. `settled`: people who are somebody by more than their voice (named or bound to an account by
    a human); as with consent given, two such are proposed at most. `sessions`: person → sessions heard in, for `confirm`.
    `population`: people in the space when `voices` is a shortlist."""
    return _Merging(
        voices,
        session,
        not_same,
        config,
        frozenset((*apart, *session.apart)),
        settled,
        sessions or {},
        channels or {},
        population,
    ).run()


def overlaid(voices: Mapping[str, PersonVoice], made: Iterable[Merge]) -> dict[str, PersonVoice]:
    """`voices` as they are once `made` are written: whoever stood for a merged person stands for whom they were merged into."""
    after = dict(voices)
    for merge in made:
        gone, into = merge.person_id, merge.into
        end = root(after[into]) if into in after else into
        after = {p: replace(v, same_as=end) if root(v) == gone else v for p, v in after.items()}
    return after


@dataclass(frozen=True, slots=True)
class _Likely:
    """One set against another."""

    cosine: float
    threshold: float
    """τ_link, without what merging asks beyond it"""

    @property
    def excess(self) -> float:
        return self.cosine - self.threshold


class _Merging:
    def __init__(
        self,
        voices: Mapping[str, PersonVoice],
        session: SessionEvidence,
        not_same: Collection[Pair],
        config: MergeConfig,
        apart: Collection[Pair],
        settled: Collection[str],
        sessions: Mapping[str, int],
        channels: Mapping[str, ChannelMean],
        population: int,
    ) -> None:
        self.voices = {p: voices[p] for p in sorted(voices)}
        self.session, self.config, self.population = session, config, population
        self.not_same, self.apart, self.sessions, self.channels = not_same, apart, sessions, channels
        granted = {p for p, v in voices.items() if v.consent is Consent.GRANTED}
        self.settled = granted.union(settled)
        self.policy = policy(config.policy)
        self.space = next((v.space for v in self.voices.values()), None)

    def run(self) -> MergeResult:
        if self.space is None:
            return MergeResult()
        made: list[Merge] = []
        self._compare()
        while (best := self._best()) is not None:
            made.append(best)
            self.voices = overlaid(self.voices, [best])
            self._compare()
        return MergeResult(tuple(made), self._proposals())

    def _compare(self) -> None:
        """Begin anew with who is whom now."""
        self.members: dict[str, list[PersonVoice]] = {}
        for voice in self.voices.values():
            self.members.setdefault(root(voice), []).append(voice)
        self.gallery = self._gallery(list(self.voices.values()))
        self.roots = [""] * len(self.gallery)
        for name, members in self.members.items():
            self.roots[self.gallery.index(members[0].person_id)] = name
        self.size = max(len(self.gallery), self.population)
        self.forward: dict[str, tuple[Cosines, Cosines]] = {}
        self.scores: dict[Pair, _Likely] = {}

    def _gallery(self, voices: Sequence[PersonVoice]) -> Gallery:
        assert self.space is not None
        return Gallery(voices, self.policy, self.space.dimension, self.channels)

    def _best(self) -> Merge | None:
        """The surest of all joins that may be made."""
        found = [m for name in self._heard() for m in [self._join(name)] if m is not None]
        return min(found, key=lambda m: (m.threshold - m.cosine, m.person_id), default=None)

    def _heard(self) -> list[str]:
        """Sets of the people heard, and those whom they resemble: of two, the smaller proposes, wherever it was heard."""
        heard = {root(self.voices[p]) for p in self.session.people if p in self.voices}
        near = {other for name in heard for other in self._nearest(name)[: self.config.nearest]}
        return sorted(heard | near)

    def _join(self, name: str) -> Merge | None:
        others = self._nearest(name)[: self.config.nearest]
        if not others or not self._usable(name):
            return None
        ranked = sorted(others, key=lambda o: (-self._score(name, o).excess, o))
        best = ranked[0]
        score, heard = self._score(name, best), {root(self.voices[p]) for p in self.session.people if p in self.voices}
        if name not in heard and best not in heard:
            return None
        if not self._smaller(name, best) or not self._may(name, best) or not self._usable(best):
            return None
        needed = self._needed(name, best)
        if score.excess < needed or not self._coherent(name):
            return None
        rivals = [o for o in ranked[1:] if self._score(best, o).excess < self._needed(best, o)]
        margin = score.excess - self._score(name, rivals[0]).excess if rivals else None
        if margin is not None and margin < self.config.margin:
            return None
        back = max(self._nearest(best)[: self.config.nearest], key=lambda o: self._score(best, o).excess)
        if back != name and self._score(best, back).excess > score.excess and not self._may(best, back):
            return None
        return Merge(
            name,
            best,
            score.cosine,
            margin,
            score.threshold + needed,
            self._turns(name),
            self.config.confirm and self._confirmed(name, best),
        )

    def _may(self, name: str, other: str) -> bool:
        """Whether nothing but the voice keeps the two apart."""
        if self._kept(self.not_same, name, other) or self._kept(self.apart, name, other):
            return False
        if self._is_settled(name) and self._is_settled(other):
            return False
        small, large = sorted((self._turns(name), self._turns(other)))
        return small < self.config.large or small <= self.config.ratio * large

    def _kept(self, pairs: Collection[Pair], name: str, other: str) -> bool:
        return (
            any(frozenset((one.person_id, two.person_id)) in pairs for one in self.members[name] for two in self.members[other])
            or frozenset((name, other)) in pairs
        )

    def _usable(self, name: str) -> bool:
        members = self.members[name]
        return not any(v.consent in REFUSED for v in members) and bool(self._exemplars(name))

    def _is_settled(self, name: str) -> bool:
        return name in self.settled or any(v.person_id in self.settled for v in self.members[name])

    def _smaller(self, name: str, other: str) -> bool:
        """Who is somebody by more than their voice is never the fragment; else who said less, then the later id."""

        def weight(of: str) -> tuple[bool, int, float, str]:
            return self._is_settled(of), self._turns(of), sum(v.net_speech for v in self.members[of]), of

        return weight(name) < weight(other)

    def _turns(self, name: str) -> int:
        return sum(v.num_turns for v in self.members[name])

    def _exemplars(self, name: str) -> list[Exemplar]:
        return [e for v in self.members[name] for e in v.exemplars if e.twin_of is None]

    def _needed(self, name: str, other: str) -> float:
        fewest = min(len(self._exemplars(name)), len(self._exemplars(other)))
        return self.config.excess_single if fewest < self.config.few else self.config.excess

    def _coherent(self, name: str) -> bool:
        """Each exemplar of the fragment resembles the fragment."""
        own = self._gallery(self.members[name])
        return all(
            float(own.likeness(e.vector, e.channel, self._link).cosines.max()) >= self.config.cohesion
            for e in self._exemplars(name)
        )

    def _link(self, pair: ChannelPair) -> float:
        return self.config.thresholds.link(self.size, pair)

    def _toward(self, name: str) -> tuple[Cosines, Cosines]:
        """Median cosine and threshold of the set's turns against every candidate of the gallery, shape (candidates,) each."""
        if name not in self.forward:
            self.forward[name] = _medians(self._exemplars(name), self.gallery, self.config.thresholds, self.size)
        return self.forward[name]

    def _nearest(self, name: str) -> list[str]:
        """Everybody else, most alike first by the set's own turns."""
        if not self._exemplars(name):
            return []
        cosines, thresholds = self._toward(name)
        order = np.argsort(thresholds - cosines, kind="stable")[: self.config.nearest + 1]
        return [self.roots[i] for i in order if self.roots[i] != name]

    def _score(self, name: str, other: str) -> _Likely:
        """The less sure of both directions."""
        pair = frozenset((name, other))
        if pair not in self.scores:
            self.scores[pair] = min((self._one_way(name, other), self._one_way(other, name)), key=lambda s: s.excess)
        return self.scores[pair]

    def _one_way(self, name: str, other: str) -> _Likely:
        exemplars = self._exemplars(name)
        if not exemplars or not self._exemplars(other):
            return _Likely(-1.0, 1.0)
        cosines, thresholds = _medians(exemplars, self._gallery(self.members[other]), self.config.thresholds, self.size)
        best = int(np.argmax(cosines - thresholds))
        return _Likely(float(cosines[best]), float(thresholds[best]))

    def _confirmed(self, name: str, other: str) -> bool:
        """Enough turns of enough sessions, each sure enough to let somebody in."""
        heard = max((self.sessions.get(v.person_id, 0) for v in self.members[name]), default=0)
        if self._turns(name) < self.config.confirm_turns or heard < self.config.confirm_sessions:
            return False
        theirs = self._gallery(self.members[other])
        sure = 0
        for exemplar in self._exemplars(name):
            like = theirs.likeness(exemplar.vector, exemplar.channel, self._link)
            access = like.thresholds(lambda pair: self.config.thresholds.access(self.size, pair))
            sure += bool(np.any(like.cosines >= access))
        return sure >= self.config.confirm_turns

    def _proposals(self) -> tuple[MayBe, ...]:
        found = [*self._alike(), *self._voices_of_tracks()]
        return tuple(sorted(found, key=lambda m: (m.threshold - m.cosine, m.subject, m.person_id)))

    def _alike(self) -> list[MayBe]:
        """People who may be one, each pair once, the smaller as subject."""
        found: dict[Pair, MayBe] = {}
        for name in sorted({root(self.voices[p]) for p in self.session.people if p in self.voices}):
            ranked = sorted(self._nearest(name), key=lambda o: (-self._score(name, o).excess, o))
            for place, other in enumerate(ranked[: self.config.proposals]):
                score, pair = self._score(name, other), frozenset((name, other))
                if score.excess < self.config.proposal or pair in found or self._kept(self.not_same, name, other):
                    continue
                if not (self._usable(name) and self._usable(other)):
                    continue
                behind = ranked[place + 1] if place + 1 < len(ranked) else None
                subject, person = (name, other) if self._smaller(name, other) else (other, name)
                found[pair] = MayBe(
                    subject,
                    person,
                    score.cosine,
                    None if behind is None else max(0.0, score.excess - self._score(name, behind).excess),
                    score.threshold + self._needed(name, other),
                    self._turns(subject),
                    "alike",
                )
        return list(found.values())

    def _voices_of_tracks(self) -> list[MayBe]:
        """Voices of the session that stayed nobody's: whom all they said together resembles."""
        exclusive = {p.track: p.person_id for p in self.session.exclusive}
        turns: dict[str, list[TurnEvidence]] = {}
        for turn in self.session.unresolved:
            if turn.track != NO_TRACK and turn.track not in self.session.tracks and turn.embedding is not None:
                turns.setdefault(turn.track, []).append(turn)
        return [m for track in sorted(turns) for m in self._whose(track, turns[track], exclusive.get(track))]

    def _whose(self, track: str, turns: Sequence[TurnEvidence], exclusive: str | None) -> list[MayBe]:
        assert self.space is not None
        total = np.sum([max(t.net_speech, 0.1) * t.embedding.vector for t in turns if t.embedding], axis=0)
        vector: Samples = unit(total, dimension=self.space.dimension, what=track)
        like = self.gallery.likeness(vector, max(turns, key=lambda t: t.net_speech).channel, self._link)
        link = like.thresholds(self._link)
        order = [int(i) for i in np.argsort(link - like.cosines, kind="stable")]
        order = [i for i in order if not self.gallery.refused(i)]
        found = []
        for place, i in enumerate(order[: self.config.proposals]):
            excess = float(like.cosines[i] - link[i])
            person = self.gallery.voices[int(like.members[i])].person_id
            is_exclusive = exclusive is not None and exclusive in self.gallery and self.gallery.index(exclusive) == i
            if excess < self.config.proposal and not is_exclusive:
                continue
            behind = order[place + 1] if place + 1 < len(order) else None
            margin = None if behind is None else excess - float(like.cosines[behind] - link[behind])
            why = "exclusive" if is_exclusive else "alike"
            found.append(MayBe(track, person, float(like.cosines[i]), margin, float(link[i]), len(turns), why))
        return found


def _medians(exemplars: Sequence[Exemplar], gallery: Gallery, thresholds: Thresholds, size: int) -> tuple[Cosines, Cosines]:
    """Of the turns of one set against each candidate: cosine and τ_link of the turn whose excess is the median one."""

    def link(pair: ChannelPair) -> float:
        return thresholds.link(size, pair)

    likeness = [gallery.likeness(e.vector, e.channel, link) for e in exemplars]
    cosines = np.stack([like.cosines for like in likeness])
    links = np.stack([like.thresholds(link) for like in likeness])
    order = np.argsort(cosines - links, axis=0, kind="stable")
    middle = order[(len(exemplars) - 1) // 2]
    columns = np.arange(cosines.shape[1])
    return cosines[middle, columns], links[middle, columns]
