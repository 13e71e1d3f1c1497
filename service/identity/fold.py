"""How does one batch of turns change what is known? The decision of a single turn, and its consequences for the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from service.identity.consent import REFUSED
from service.identity.gallery import Cosines, Gallery, Likeness
from service.identity.match import Match
from service.identity.policies import Bounded, policy, same_space, unit
from service.identity.rules import NO_TRACK, RouterConfig
from service.identity.state import OPTED_OUT, FoldState, Pending, Proposal, Said, voiceless
from service.identity.thresholds import TELEPHONE, ChannelPair, channel_pair
from service.types.audio import Samples, SpeakerEmbedding
from service.types.ids import derived
from service.types.people import (
    Assigned,
    Consent,
    Create,
    Decision,
    Exemplar,
    Former,
    Link,
    PersonVoice,
    Scores,
    TurnEvidence,
    Unresolved,
)

POOLED = frozenset({"too_short", "between_thresholds", "ambiguous"})
"""Reasons that more speech of the same voice may remove."""

ACROSS = frozenset({ChannelPair.CROSS, ChannelPair.TWIN, ChannelPair.COMPENSATED_CROSS})
"""One side over a telephone, the other not."""

Heard = tuple[TurnEvidence, Samples]
"""a turn and its voice, length 1"""


class Fold:
    """The mutable copy of a state that one batch is folded on."""

    def __init__(self, state: FoldState, config: RouterConfig) -> None:
        self.config = config
        self.policy = policy(config.policy)
        thresholds = config.thresholds
        self._link, self._create = cache(thresholds.link), cache(thresholds.create)
        self._session_link = cache(thresholds.session_link)
        voices = state.candidates
        self.space = next((v.space for v in voices.values()), None)
        for voice in voices.values():
            if voice.space is not self.space:
                same_space(voice.space, self.space or voice.space)
        self._channels = state.channels
        self.gallery = self._gallery_of(list(voices.values()))
        self.bound, self.heard = dict(state.bound), dict(state.heard)
        self.pending, self.recent = list(state.pending), list(state.recent)
        self.proposals = dict(state.proposals)
        self.passing = set(state.passing) - set(state.gallery)
        self.population, self.refusals = state.population, state.refusals
        self.former = state.former
        self.now = 0.0

    def state(self) -> FoldState:
        voices = {v.person_id: v for v in self.gallery.voices}
        loose = [p.evidence for p in self.pending if p.evidence.track == NO_TRACK]
        recent = tuple(s for s in self.recent if s.end > self.now or any(overlap(s, t) > 0 for t in loose))
        return FoldState(
            gallery={p: v for p, v in voices.items() if p not in self.passing},
            bound=self.bound,
            pending=tuple(self.pending),
            heard=self.heard,
            recent=recent,
            proposals=self.proposals,
            passing={p: v for p, v in voices.items() if p in self.passing},
            population=self.population,
            channels=self._channels,
            refusals=self.refusals,
            former=self.former,
        )

    def _gallery_of(self, voices: Sequence[PersonVoice]) -> Gallery:
        return Gallery(
            voices, self.policy, self.space.dimension if self.space else 0, self._channels if self.config.compensate else {}
        )

    def take(self, turn: TurnEvidence) -> Decision:
        self.now = turn.start
        decision = self.decide(turn)
        if isinstance(decision, Unresolved) and decision.reason in POOLED:
            decision = self._with_earlier(turn) or decision
        match decision:
            case Unresolved(reason=reason):
                self.pending.append(Pending(voiceless(turn) if reason == OPTED_OUT else turn, reason))
            case Link(person_id=person_id) | Create(person_id=person_id) | Assigned(person_id=person_id):
                self.record(turn, person_id)
        return decision

    def _with_earlier(self, turn: TurnEvidence) -> Link | Create | None:
        """What the turn comes to together with those of its track that were left unresolved before it and sound like it; None
        if that is not enough either. Those earlier ones follow at the session's end."""
        vector = self.vector(turn)
        if turn.track == NO_TRACK or not self.config.pool_tracks or vector is None or self.too_weak(turn, 0.0):
            return None
        least = self.on(channel_pair(turn.channel, turn.channel), self.config.floors.together)
        earlier = [
            (p.evidence, v)
            for p in self.pending
            if p.evidence.track == turn.track
            and p.reason in POOLED
            and not self.too_weak(p.evidence, 0.0)
            and p.evidence.channel == turn.channel
            and (v := self.vector(p.evidence)) is not None
            and float(v @ vector) >= least
        ]
        return self.decide_together(turn, [(turn, vector), *earlier]) if earlier else None

    def decide_together(self, through: TurnEvidence, heard: Sequence[Heard]) -> Link | Create | None:
        """LINK or CREATE by all of one voice's speech, as the decision of the turn `through`. Teaches nobody known."""
        assert through.embedding is not None
        embedding = SpeakerEmbedding(together(heard), through.embedding.space)
        pooled = replace(through, net_speech=sum(turn.net_speech for turn, _ in heard), embedding=embedding)
        decision = self.decide(pooled, pooled=True)
        return decision if isinstance(decision, Link | Create) else None

    def decide(self, turn: TurnEvidence, *, pooled: bool = False) -> Decision:
        """`pooled`: the voice is that of several turns, or the session is over. It need not wait to be somebody new, and is not
        learnt as an utterance of somebody known."""
        vector = self.vector(turn)
        person_id = self.bound.get(turn.track) if turn.track != NO_TRACK else None
        if person_id in self.refusals.attribution:
            return self.unresolved(turn, None, OPTED_OUT)
        if vector is None:
            reason = "no_speech" if turn.net_speech <= 0 else "too_short"
            return self.by_track(turn, person_id, None, reason) if person_id else self.unresolved(turn, None, reason)
        match = self.match(turn, vector, pooled=pooled)
        if person_id:
            return self._bound_turn(turn, vector, match, person_id, learn=not pooled)
        return self._free_turn(turn, vector, match, learn=not pooled)

    def _free_turn(self, turn: TurnEvidence, vector: Samples, match: Match, *, learn: bool) -> Decision:
        """A turn without a track, or the first of a track that can be told. Who agreed to be known is not taken for somebody
        who refused; everybody else is."""
        known = match.best is not None and match.excess[match.best] >= 0
        agreed = known and self.gallery.voices[match.members[match.best or 0]].consent is Consent.GRANTED
        if not agreed and self.refused(turn, vector):
            return self.unresolved(turn, None, OPTED_OUT)
        if match.best is not None and known:
            return self._known(turn, vector, match, match.best, learn=learn)
        if turn.track in self.proposals:
            return self.unresolved(turn, match, "exclusive")
        if match.blocked:
            return self.unresolved(turn, match, "between_thresholds")
        if reason := self.too_weak(turn, self.config.floors.create):
            return self.unresolved(turn, match, reason)
        return self.create(turn, vector, match)

    def _known(self, turn: TurnEvidence, vector: Samples, match: Match, best: int, *, learn: bool) -> Decision:
        if self.gallery.refused(best):
            return self.unresolved(turn, None, OPTED_OUT)
        if best in self._taken(turn.track):
            self._propose(turn.track, self._named(match, best), float(match.cosines[best]))
            return self.unresolved(turn, match, "exclusive")
        if match.runner_up is not None and match.excess[best] - match.runner_up < self._margin(turn):
            return self.unresolved(turn, match, "ambiguous")
        return self.link(turn, vector, match, best, learn=learn)

    def _bound_turn(self, turn: TurnEvidence, vector: Samples, match: Match, person_id: str, *, learn: bool) -> Decision:
        """A further turn of a bound track: its own voice may agree, be too weak to say, or contradict."""
        if person_id not in self.gallery:
            return self.by_track(turn, person_id, match, "between_thresholds")
        own = self.gallery.index(person_id)
        if self.gallery.refused(own):
            return self.unresolved(turn, None, OPTED_OUT)
        best = own if match.best is None else match.best
        lead = match.excess[best] - match.excess[own]
        if best != own and match.excess[best] >= 0 and lead >= self._margin(turn):
            return self.unresolved(turn, match, "contradicting")
        if match.excess[own] >= 0:
            return self.link(turn, vector, match, own, learn=learn)
        reason = self.too_weak(turn, self.config.floors.create)
        if not reason and match.cosines[own] < self.on(match.likeness.pair(own), self.config.floors.contradicts):
            return self.unresolved(turn, match, "contradicting")
        return self.by_track(turn, person_id, match, reason or "between_thresholds")

    def link(self, turn: TurnEvidence, vector: Samples, match: Match, index: int, *, learn: bool) -> Link:
        voice, cosine = self.gallery.voices[match.members[index]], float(match.cosines[index])
        learns = learn and self.policy.learns(cosine, self.config.thresholds.update_at(match.likeness.pair(index)))
        learns = learns and not self.too_weak(turn, self.config.floors.learn)
        learns = learns and (voice.consent is Consent.GRANTED or not self.refused(turn, vector))
        if learns and (self._keeps(voice) or voice.person_id in self.passing):
            self.gallery.put(self._learnt(voice, turn, vector))
        self._bind(turn.track, voice.person_id)
        return Link(turn.message_id, turn.track, voice.person_id, self.scores(match, index), learns and self._keeps(voice))

    def create(self, turn: TurnEvidence, vector: Samples, match: Match) -> Create | Unresolved:
        if (refused := self._of_who_refused(turn)) is not None:
            return refused
        voice, scores = self._unheard(turn, vector), self.scores(match, match.best)
        self.gallery.put(self._learnt(voice, turn, vector))
        if not self._keeps(voice):
            self.passing.add(voice.person_id)
        self._bind(turn.track, voice.person_id)
        return Create(turn.message_id, turn.track, voice.person_id, scores)

    def create_passing(self, turn: TurnEvidence, total: Samples) -> Create | Unresolved:
        """Somebody of this session only, whose speech is not good enough for a voiceprint: no exemplar, not even a kept
        center."""
        assert self.space is not None
        if (refused := self._of_who_refused(turn)) is not None:
            return refused
        vector = unit(total, dimension=self.space.dimension, what=turn.message_id)
        voice = self._unheard(turn, vector)
        self.gallery.put(voice)
        self.passing.add(voice.person_id)
        return Create(turn.message_id, turn.track, voice.person_id, self.scores(self.match(turn, vector), None))

    def _unheard(self, turn: TurnEvidence, vector: Samples) -> PersonVoice:
        """Somebody whose voice nobody knows: who was held to speak then before, where no voice of theirs is left, and no other
        track is theirs; else somebody new."""
        assert self.space is not None
        former = self._former(turn)
        if former is None or former.person_id in self.gallery or former.person_id in self.bound.values():
            return PersonVoice(derived("person", turn.message_id), self.space, vector)
        return PersonVoice(
            former.person_id,
            self.space,
            vector,
            num_turns=former.num_turns,
            net_speech=former.net_speech,
            consent=former.consent,
            same_as=former.same_as,
        )

    def _former(self, turn: TurnEvidence) -> Former | None:
        return self.former.get(turn.before) if turn.before else None

    def _of_who_refused(self, turn: TurnEvidence) -> Create | Unresolved | None:
        """Where who was held to speak then before refused since to be known by voice: theirs, and nothing is learnt of it;
        nobody's where they are not to be named either, or speak on a track of their own. None where nobody refused."""
        former = self._former(turn)
        if former is None or not (former.consent in REFUSED or former.person_id in self.refusals.voices):
            return None
        elsewhere = turn.track != NO_TRACK and former.person_id in self.bound.values()
        if elsewhere or former.person_id in self.refusals.attribution:
            return self.unresolved(turn, None, OPTED_OUT)
        self._bind(turn.track, former.person_id)
        return Create(turn.message_id, turn.track, former.person_id, self.scores(None, None))

    def by_track(self, turn: TurnEvidence, person_id: str, match: Match | None, reason: str) -> Assigned:
        """By `person_id`'s track: of people merged into one it is whose own voice is nearest, if it can be compared."""
        if match is None or person_id not in self.gallery:
            return Assigned(turn.message_id, turn.track, person_id, self.scores(None, None), reason)
        index = self.gallery.index(person_id)
        return Assigned(turn.message_id, turn.track, self._named(match, index), self.scores(match, index), reason)

    def unresolved(self, turn: TurnEvidence, match: Match | None, reason: str) -> Unresolved:
        return Unresolved(turn.message_id, turn.track, self.scores(match, match.best if match else None), reason)

    def match(self, turn: TurnEvidence, vector: Samples, *, pooled: bool = False) -> Match:
        size = max(len(self.gallery), self.population)
        narrow = turn.narrow.vector if turn.narrow is not None else None
        likeness = self.gallery.likeness(vector, turn.channel, lambda pair: self._link(size, pair), narrow)
        link, create = self._thresholds(turn, likeness, size)
        excess = likeness.cosines - link
        excess[self._speaking_meanwhile(turn)] = -np.inf
        if not pooled and turn.track != NO_TRACK:
            create = create - self.config.floors.patience
        blocked = bool(np.any(likeness.cosines >= create))
        if not np.isfinite(excess).any():
            return Match(likeness, link, excess, blocked, None, None)
        best = int(np.argmax(excess))
        second = _next(excess, best)
        return Match(likeness, link, excess, blocked, best, None if second is None else float(excess[second]))

    def _thresholds(self, turn: TurnEvidence, likeness: Likeness, size: int) -> tuple[Cosines, Cosines]:
        """τ_link and τ_create against each candidate, shape (candidates,) each."""
        taken = self._taken(turn.track)
        link = likeness.thresholds(lambda pair: self._link(size, pair))
        create = likeness.thresholds(lambda pair: self._create(size, pair))
        if self.config.session_prior:
            expected = {*self.heard, *self.config.roster}
            here = sorted({self.gallery.index(p) for p in expected if p in self.gallery} - taken)
            people = len({self.gallery.root(p) for p in expected})
            link[here] = likeness.thresholds(lambda pair: self._here(people, size, pair))[here]
            create[here] = likeness.thresholds(lambda pair: self._create(people, pair))[here]
        there = sorted(taken)
        create[there] = link[there]  # the tracks say they differ: only a voice that would link speaks against it
        return link, create

    def _here(self, people: int, size: int, pair: ChannelPair) -> float:
        """τ_link against one of the `people` expected here. Nobody changes the line within a session: across channels they are
        no likelier than anybody of the space."""
        return self._link(size, pair) if pair in ACROSS else self._session_link(people, pair)

    def scores(self, match: Match | None, index: int | None) -> Scores:
        """Of the candidate at `index`. Where thresholds differ from one to the next the runner-up's cosine is shifted by that
        difference, so that the margin is the one that was judged."""
        thresholds, encoder = self.config.thresholds, self.config.thresholds.encoder
        if match is None or index is None:
            return Scores(None, None, thresholds.link(max(len(self.gallery), self.population)), self.config.policy, encoder)
        cosine, threshold = float(match.cosines[index]), float(match.link[index])
        second = _next(match.excess, index)
        return Scores(
            cosine,
            None if second is None else threshold + float(match.excess[second]),
            threshold,
            self.config.policy,
            encoder,
            None if second is None else self._named(match, second),
            match.likeness.pair(index),
        )

    def _named(self, match: Match, index: int) -> str:
        """The person of the candidate at `index` whose own row was best."""
        return self.gallery.voices[int(match.members[index])].person_id

    def refused(self, turn: TurnEvidence, vector: Samples) -> bool:
        """Whether the voice is taken for that of somebody who refused to be known."""
        assert self.space is not None
        return self.refusals.marks.matches(vector, turn.channel, self.space)

    def vector(self, turn: TurnEvidence) -> Samples | None:
        """The turn's voice, if there is enough of it to compare."""
        return None if turn.net_speech < self.config.floors.query else self.any_vector(turn)

    def any_vector(self, turn: TurnEvidence) -> Samples | None:
        """The turn's voice, however short."""
        if turn.embedding is None:
            return None
        if self.space is None:
            self.space = turn.embedding.space
            self.gallery = self._gallery_of([])
        same_space(turn.embedding.space, self.space)
        return unit(turn.embedding.vector, dimension=self.space.dimension, what=turn.message_id)

    def on(self, pair: ChannelPair, cosine: float) -> float:
        """What two voices on `pair` must reach to be as alike as `cosine` makes two on wideband: as many pairs of strangers do
        (counted at 1 in 50)."""
        pairs = self.config.thresholds.pairs
        return cosine + pairs[pair].threshold(0.02) - pairs[ChannelPair.WIDEBAND].threshold(0.02)

    def too_weak(self, turn: TurnEvidence, seconds: float) -> str | None:
        floors = self.config.floors
        if turn.net_speech < seconds:
            return "too_short"
        if turn.snr_db < floors.snr_db:
            return "noisy"
        if turn.clipped > floors.clipped:
            return "clipped"
        if turn.overlapped > floors.overlapped * (turn.end - turn.start):
            return "overlapped"
        return None

    def _margin(self, turn: TurnEvidence) -> float:
        floors = self.config.floors
        return floors.margin if turn.net_speech >= floors.create else floors.short_margin

    def _taken(self, track: str) -> set[int]:
        """Candidates bound by other tracks of this session only; none for a turn without a track."""
        if track == NO_TRACK:
            return set()
        bound = {t: self.gallery.index(p) for t, p in self.bound.items() if p in self.gallery}
        return {index for t, index in bound.items() if t != track and index != bound.get(track)}

    def _speaking_meanwhile(self, turn: TurnEvidence) -> list[int]:
        own = self.bound.get(turn.track)
        people = {s.person_id for s in self.recent if overlap(s, turn) >= self.config.floors.simultaneous}
        speaking = {self.gallery.index(p) for p in people if p in self.gallery}
        return sorted(speaking - ({self.gallery.index(own)} if own and own in self.gallery else set()))

    def _keeps(self, voice: PersonVoice) -> bool:
        return voice.consent is Consent.GRANTED or (self.config.keep_voices and voice.consent is Consent.UNKNOWN)

    def _learnt(self, voice: PersonVoice, turn: TurnEvidence, vector: Samples) -> PersonVoice:
        exemplar = self._exemplar(turn, vector)
        learnt = self.policy.learn(voice, exemplar)
        if not isinstance(self.policy, Bounded) or turn.narrow is None or turn.channel == TELEPHONE:
            return learnt
        same_space(turn.narrow.space, voice.space)
        return self.policy.twin(learnt, exemplar, turn.narrow.vector)

    def _exemplar(self, turn: TurnEvidence, vector: Samples) -> Exemplar:
        identifier = derived("exemplar", turn.message_id, self.config.thresholds.encoder)
        return Exemplar(identifier, vector, turn.net_speech, turn.snr_db, turn.channel, turn.message_id)

    def _bind(self, track: str, person_id: str) -> None:
        """For good: who is merged with the person may take further turns of the track, not the track."""
        if track != NO_TRACK:
            self.bound.setdefault(track, person_id)

    def _propose(self, track: str, person_id: str, cosine: float) -> None:
        known = self.proposals.get(track)
        if known is None or cosine > known.cosine:
            self.proposals[track] = Proposal(track, person_id, cosine, known.num_turns + 1 if known else 1)
        else:
            self.proposals[track] = replace(known, num_turns=known.num_turns + 1)

    def record(self, turn: TurnEvidence, person_id: str) -> None:
        self.heard[person_id] = self.heard.get(person_id, 0) + 1
        self.recent.append(Said(turn.start, turn.end, person_id))
        if person_id in self.gallery:
            voice = self.gallery.voice(person_id)
            counted = replace(voice, num_turns=voice.num_turns + 1, net_speech=voice.net_speech + turn.net_speech)
            self.gallery.count(counted)


def overlap(said: Said, turn: TurnEvidence) -> float:
    return min(said.end, turn.end) - max(said.start, turn.start)


def _next(excess: Cosines, index: int) -> int | None:
    """The best of all but `index`, None without one."""
    others = excess.copy()
    others[index] = -np.inf
    best = int(np.argmax(others))
    return best if np.isfinite(others[best]) else None


def together(heard: Sequence[Heard]) -> Samples:
    """One vector for turns of one voice, each weighing by its net speech."""
    total = np.sum([max(turn.net_speech, 0.1) * vector for turn, vector in heard], axis=0)
    return unit(total, dimension=len(total), what=heard[0][0].message_id)
