"""Which people are fragments of one person, now that a session is over? Conservative: one wrong merge costs more than ten
fragments, and what is not sure enough becomes a proposal for somebody to decide.

A fragment is joined to whom its turns would be linked to and whose turns would be linked to it (service.identity.sets). Only
the smaller of two proposes; the surest pair is joined first, then all is compared anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from service.identity.gallery import root
from service.identity.policies import policy, unit
from service.identity.rules import NO_TRACK
from service.identity.sets import Sets
from service.identity.state import FoldState, Proposal
from service.identity.thresholds import CAMPPLUS, Thresholds
from service.types.audio import EmbeddingSpace
from service.types.people import ChannelMean, Consent, MayBe, PersonVoice, TurnEvidence

Pair = frozenset[str]
"""Ids of two people."""

ALIKE, EXCLUSIVE = "alike", "exclusive"


@dataclass(frozen=True, slots=True)
class MergeConfig:
    """When two people are one. Excess is cosine - τ_link for the gallery's size, on the channels compared."""

    policy: str = "bounded"
    thresholds: Thresholds = CAMPPLUS
    excess: float = 0.0
    """Joined from here on. Real speakers (EmoDB, AMI, LibriSpeech, VCTK; under babble, reverberation and codec too), folded in
    sessions of three: on the half of them that set it 16 of 60 fragments joined, none wrongly; on the other half 16 of 116,
    none wrongly, but at -0.02 24 with 2 wrong and at -0.04 37 with 6 wrong. What is left sounds less like its person than
    strangers do; the inbox has it."""
    weaker: float = -0.10
    """least excess of the direction that is less sure"""
    least_size: int = 20
    """Smaller galleries count as this large: two actors of EmoDB reach -0.006 of the threshold of five people."""
    margin: float = 0.05
    """ahead of anybody else whom the fragment resembles, and who is not that same person's fragment too"""
    cohesion: float = 0.30
    """least cosine of a fragment's exemplars with its own center: less, and it may be several people's"""
    large: int = 20
    """turns from which somebody is no fragment, unless a third of the other's or fewer"""
    ratio: float = 1 / 3
    proposal: float = -0.10
    """excess from which two who are not joined are proposed: of such pairs two in five were one person"""
    proposals: int = 3
    """at most for each fragment or unresolved voice: a list that somebody reads"""
    confirm: bool = False
    """in spaces where a voice alone opens (`voice_access: open`): repeated voice at τ_access confirms a merge"""
    confirm_turns: int = 3
    """of the fragment at τ_access: one is a false accept now and then"""
    confirm_sessions: int = 2
    """that those turns are of: in one session all of a voice's turns are wrong together"""
    near: int = 20
    """sets that a fragment is compared with from both sides"""


@dataclass(frozen=True, slots=True)
class SessionEvidence:
    """What a finished session tells about who may be whom."""

    people: frozenset[str]
    """Who was heard: only they, or whom they resemble, can have changed."""
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
    """`person_id` is a fragment of `into`; each stands for a whole set."""

    person_id: str
    into: str
    cosine: float
    """mean of both directions' median turns"""
    margin: float | None
    """ahead of the next likeliest, None without one"""
    threshold: float
    """what `cosine` had to reach"""
    num_turns: int
    """turns of the fragment"""


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
    channels: Mapping[str, ChannelMean] | None = None,
    population: int = 0,
) -> MergeResult:
    """Whom to join after a session, and what to propose. Pure; the same for the same voices in any order.

    `voices`: everybody known, merged ones with `same_as`. `not_same`: pairs that a human rejected: never joined, nor proposed.
    `apart`: pairs known to be two by other means than voice (two tracks of one session, speaking at once): proposed at most;
    those of `session` are added. `settled`: people who are somebody by more than their voice (a name, an account); as with
    consent given, two such are proposed at most. `population`: people in the space when `voices` is a shortlist."""
    space = next((voice.space for voice in voices.values()), None)
    if space is None:
        return MergeResult()
    rules = _rules(voices, session, not_same, config, apart, settled)
    made: list[Merge] = []
    while True:
        sets = _sets(voices, space, config, channels, population)
        merging = _Merging(sets, session, rules, {root(voices[p]) for p in session.people if p in voices})
        best = merging.best()
        if best is None:
            return MergeResult(tuple(made), merging.proposals(space))
        made.append(best)
        voices = overlaid(voices, [best])


Joined = tuple[str, str]
"""A merge that was made: who was merged, into whom."""


def confirmations(
    voices: Mapping[str, PersonVoice],
    session: SessionEvidence,
    joined: Iterable[Joined],
    not_same: Collection[Pair] = frozenset(),
    config: MergeConfig = MergeConfig(),
    *,
    sessions: Mapping[str, str],
    confirmed_as: Mapping[str, str],
    apart: Collection[Pair] = frozenset(),
    settled: Collection[str] = frozenset(),
    channels: Mapping[str, ChannelMean] | None = None,
    population: int = 0,
) -> tuple[Joined, ...]:
    """Those of `joined`, made now or earlier and never confirmed, that are sure enough to let somebody in: none without
    `confirm`. `sessions`: an exemplar's message → its session. `confirmed_as`: person → whom they are by confirmed merges, if
    not themselves; nobody else counts for a side, so that no more is opened than was compared. The rest as of `merges`."""
    space = next((voice.space for voice in voices.values()), None)
    if space is None or not config.confirm:
        return ()
    sure = {p: replace(v, same_as=confirmed_as.get(p)) for p, v in voices.items()}
    sets = _sets(sure, space, config, channels, population)
    merging = _Merging(sets, session, _rules(voices, session, not_same, config, apart, settled), set())
    found = []
    for one, other in joined:
        pair = (confirmed_as.get(one, one), confirmed_as.get(other, other))
        if all(name in sets.members for name in pair) and merging.alike_only(*pair) and merging.sure(*pair, sessions):
            found.append((one, other))
    return tuple(found)


def _sets(
    voices: Mapping[str, PersonVoice],
    space: EmbeddingSpace,
    config: MergeConfig,
    channels: Mapping[str, ChannelMean] | None,
    population: int,
) -> Sets:
    return Sets(
        voices,
        space,
        policy(config.policy),
        config.thresholds,
        channels or {},
        size=max(population, config.least_size),
        near=config.near,
        band=2 * config.proposal,  # a mean of two directions: the other may be as much above `proposal` as this is below
    )


def _rules(
    voices: Mapping[str, PersonVoice],
    session: SessionEvidence,
    not_same: Collection[Pair],
    config: MergeConfig,
    apart: Collection[Pair],
    settled: Collection[str],
) -> _Rules:
    granted = {person for person, voice in voices.items() if voice.consent is Consent.GRANTED}
    return _Rules(frozenset(not_same), session.apart.union(apart), granted.union(settled), config)


def overlaid(voices: Mapping[str, PersonVoice], made: Iterable[Merge]) -> dict[str, PersonVoice]:
    """`voices` as they are once `made` are written: whoever stood for a merged person stands for whom they were merged into."""
    after = dict(voices)
    for merge in made:
        end = root(after[merge.into]) if merge.into in after else merge.into
        after = {p: replace(v, same_as=end) if root(v) == merge.person_id else v for p, v in after.items()}
    return after


@dataclass(frozen=True, slots=True)
class _Rules:
    not_same: frozenset[Pair]
    apart: frozenset[Pair]
    settled: Collection[str]
    config: MergeConfig


@dataclass(frozen=True, slots=True)
class _Merging:
    """One look at everybody as they are merged now."""

    sets: Sets
    session: SessionEvidence
    rules: _Rules
    heard: set[str]
    """sets of the people heard in the session"""

    def best(self) -> Merge | None:
        """The surest of all joins that may be made; of two people the smaller proposes, wherever it was heard."""
        names = self.heard.union(*(self.sets.nearest(name) for name in self.heard))
        found = [join for name in sorted(names) if (join := self._join(name)) is not None]
        return min(found, key=lambda m: (m.threshold - m.cosine, m.person_id), default=None)

    def _join(self, name: str) -> Merge | None:
        sets, config = self.sets, self.rules.config
        ranked = sets.ranked(name)
        if not ranked or not self.heard & {name, ranked[0]}:
            return None
        best = ranked[0]
        score = sets.score(name, best)
        if score.excess < config.excess or score.weaker < config.weaker:
            return None
        if not (self._smaller(name, best) and self._may(name, best) and self._coherent(name)):
            return None
        rivals = [other for other in ranked[1:] if sets.score(best, other).excess < config.excess]
        margin = score.excess - sets.score(name, rivals[0]).excess if rivals else None
        if margin is not None and margin < config.margin:
            return None
        back = sets.ranked(best)
        if back and back[0] != name and not self._may(best, back[0]):
            return None  # the other resembles somebody more whom it is known not to be
        return Merge(name, best, score.cosine, margin, score.threshold + config.excess, sets.turns(name))

    def _may(self, name: str, other: str) -> bool:
        """Whether nothing but the voice keeps the two apart, and one of them is small enough for a fragment."""
        config = self.rules.config
        small, large = sorted((self.sets.turns(name), self.sets.turns(other)))
        return self.alike_only(name, other) and (small < config.large or small <= config.ratio * large)

    def alike_only(self, name: str, other: str) -> bool:
        """Whether nothing but the voice keeps the two apart."""
        if not (self.sets.usable(name) and self.sets.usable(other)):
            return False
        if self._any(self.rules.not_same, name, other) or self._any(self.rules.apart, name, other):
            return False
        return not (self._settled(name) and self._settled(other))

    def _any(self, pairs: Collection[Pair], name: str, other: str) -> bool:
        """Whether any member of the one and any of the other are such a pair."""
        return any(frozenset((one, two)) in pairs for one in self._ids(name) for two in self._ids(other))

    def _ids(self, name: str) -> set[str]:
        """Who is merged into somebody without a voice is of the set all the same."""
        return {name, *(voice.person_id for voice in self.sets.members[name])}

    def _settled(self, name: str) -> bool:
        return any(person in self.rules.settled for person in self._ids(name))

    def _smaller(self, name: str, other: str) -> bool:
        """Who is somebody by more than their voice is never the fragment; else who was heard less, then the smaller id."""

        def weight(of: str) -> tuple[bool, int, float, str]:
            return self._settled(of), self.sets.turns(of), self.sets.net_speech(of), of

        return weight(name) < weight(other)

    def _coherent(self, name: str) -> bool:
        """Each exemplar of the fragment resembles the fragment."""
        own = [self.sets.likeness(e.vector, e.channel, name) for e in self.sets.exemplars(name)]
        return all(float(like.cosines.max()) >= self.rules.config.cohesion for like in own)

    def sure(self, name: str, other: str, sessions: Mapping[str, str]) -> bool:
        """Enough turns of enough sessions, each sure enough to let somebody in."""
        config = self.rules.config
        sure = []
        for exemplar in (e for e in self.sets.exemplars(name) if e.message_id in sessions):
            like = self.sets.likeness(exemplar.vector, exemplar.channel, other)
            access = like.thresholds(lambda pair: config.thresholds.access(self.sets.size, pair))
            if np.any(like.cosines >= access):
                sure.append(sessions[exemplar.message_id])
        return len(sure) >= config.confirm_turns and len(set(sure)) >= config.confirm_sessions

    def proposals(self, space: EmbeddingSpace) -> tuple[MayBe, ...]:
        found = [*self._alike(), *self._voices_of_tracks(space)]
        return tuple(sorted(found, key=lambda m: (m.threshold - m.cosine, m.subject, m.person_id)))

    def _alike(self) -> list[MayBe]:
        """People who may be one, each pair once, the smaller as subject."""
        sets, config = self.sets, self.rules.config
        found: dict[Pair, MayBe] = {}
        for name in sorted(self.heard):
            ranked = sets.ranked(name)
            for place, other in enumerate(ranked[: config.proposals]):
                score, pair = sets.score(name, other), frozenset((name, other))
                if score.excess < config.proposal or pair in found or self._any(self.rules.not_same, name, other):
                    continue
                if not (sets.usable(name) and sets.usable(other)):
                    continue
                behind = sets.score(name, ranked[place + 1]).excess if place + 1 < len(ranked) else None
                margin = None if behind is None else score.excess - behind
                subject, person = (name, other) if self._smaller(name, other) else (other, name)
                threshold = score.threshold + config.excess
                found[pair] = MayBe(subject, person, score.cosine, margin, threshold, sets.turns(subject), ALIKE)
        return list(found.values())

    def _voices_of_tracks(self, space: EmbeddingSpace) -> list[MayBe]:
        """Voices of the session that stayed nobody's: whom all they said together resembles."""
        turns: dict[str, list[TurnEvidence]] = {}
        for turn in self.session.unresolved:
            if turn.track != NO_TRACK and turn.track not in self.session.tracks and turn.embedding is not None:
                turns.setdefault(turn.track, []).append(turn)
        exclusive = {p.track: p.person_id for p in self.session.exclusive}
        return [m for track in sorted(turns) for m in self._whose(track, turns[track], exclusive.get(track), space)]

    def _whose(self, track: str, turns: Sequence[TurnEvidence], exclusive: str | None, space: EmbeddingSpace) -> list[MayBe]:
        config, gallery = self.rules.config, self.sets.gallery
        total = np.sum([max(t.net_speech, 0.1) * t.embedding.vector for t in turns if t.embedding], axis=0)
        longest = max(turns, key=lambda t: t.net_speech)
        like = self.sets.likeness(unit(total, dimension=space.dimension, what=track), longest.channel)
        link = like.thresholds(self.sets.link)
        excess = like.cosines - link
        order = [int(i) for i in np.argsort(-excess, kind="stable") if not gallery.refused(int(i))]
        found = []
        for place, i in enumerate(order[: config.proposals]):
            is_exclusive = exclusive is not None and exclusive in gallery and gallery.index(exclusive) == i
            if excess[i] < config.proposal and not is_exclusive:
                continue
            margin = float(excess[i] - excess[order[place + 1]]) if place + 1 < len(order) else None
            person, why = gallery.voices[int(like.members[i])].person_id, EXCLUSIVE if is_exclusive else ALIKE
            found.append(MayBe(track, person, float(like.cosines[i]), margin, float(link[i]), len(turns), why))
        return found
