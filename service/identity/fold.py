"""How does one batch of turns change what is known? The decision of a single turn, and its consequences for the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from service.identity.consent import REFUSED
from service.identity.gallery import Cosines, Gallery, Likeness
from service.identity.policies import policy, same_space, unit
from service.identity.rules import NO_TRACK, RouterConfig
from service.identity.state import FoldState, Pending, Proposal, Said
from service.types.audio import Samples
from service.types.ids import derived
from service.types.people import (
    Assigned,
    Consent,
    Create,
    Decision,
    Exemplar,
    Link,
    PersonVoice,
    Scores,
    TurnEvidence,
    Unresolved,
)


@dataclass(frozen=True, slots=True)
class Match:
    """A voice against everybody. `excess` = cosine - threshold decides, since thresholds differ from person to person."""

    cosines: Cosines
    link: Cosines
    """τ_link against each"""
    excess: Cosines
    """-inf for who was speaking meanwhile"""
    blocked: bool
    """somebody is too alike for the voice to be new"""
    best: int | None
    """position of the likeliest person"""
    runner_up: float | None
    """excess of the next"""


class Fold:
    """The mutable copy of a state that one batch is folded on."""

    def __init__(self, state: FoldState, config: RouterConfig) -> None:
        self.config = config
        self.policy = policy(config.policy)
        voices = state.candidates
        self.space = next((v.space for v in voices.values()), None)
        for voice in voices.values():
            same_space(voice.space, self.space or voice.space)
        dimension = self.space.dimension if self.space else 0
        self.gallery = Gallery([voices[p] for p in sorted(voices)], self.policy, dimension)
        self.bound, self.heard = dict(state.bound), dict(state.heard)
        self.pending, self.recent = list(state.pending), list(state.recent)
        self.proposals = dict(state.proposals)
        self.passing = set(state.passing) - set(state.gallery)
        self.population = state.population
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
        )

    def take(self, turn: TurnEvidence) -> Decision:
        self.now = turn.start
        decision = self.decide(turn)
        match decision:
            case Unresolved(reason=reason):
                self.pending.append(Pending(turn, reason))
            case Link(person_id=person_id) | Create(person_id=person_id) | Assigned(person_id=person_id):
                self.record(turn, person_id)
        return decision

    def decide(self, turn: TurnEvidence) -> Decision:
        vector = self.vector(turn)
        person_id = self.bound.get(turn.track) if turn.track != NO_TRACK else None
        if vector is None:
            reason = "no_speech" if turn.net_speech <= 0 else "too_short"
            return self.by_track(turn, person_id, None, reason) if person_id else self.unresolved(turn, None, reason)
        match = self.match(turn, vector)
        return self._bound_turn(turn, vector, match, person_id) if person_id else self._free_turn(turn, vector, match)

    def _free_turn(self, turn: TurnEvidence, vector: Samples, match: Match) -> Decision:
        """A turn without a track, or the first of a track that can be told."""
        if match.best is not None and match.excess[match.best] >= 0:
            return self._known(turn, vector, match, match.best)
        if turn.track in self.proposals:
            return self.unresolved(turn, match, "exclusive")
        if match.blocked:
            return self.unresolved(turn, match, "between_thresholds")
        if reason := self.too_weak(turn, self.config.floors.create):
            return self.unresolved(turn, match, reason)
        return self.create(turn, vector, match)

    def _known(self, turn: TurnEvidence, vector: Samples, match: Match, best: int) -> Decision:
        voice = self.gallery.voices[best]
        if voice.consent in REFUSED:
            return self.unresolved(turn, match, "opted_out")
        if voice.person_id in self._taken(turn.track):
            self._propose(turn.track, voice.person_id, float(match.cosines[best]))
            return self.unresolved(turn, match, "exclusive")
        if match.runner_up is not None and match.excess[best] - match.runner_up < self._margin(turn):
            return self.unresolved(turn, match, "ambiguous")
        return self.link(turn, vector, match, best)

    def _bound_turn(self, turn: TurnEvidence, vector: Samples, match: Match, person_id: str) -> Decision:
        """A further turn of a bound track: its own voice may agree, be too weak to say, or contradict."""
        if person_id not in self.gallery:
            return self.by_track(turn, person_id, match, "between_thresholds")
        own = self.gallery.index(person_id)
        if self.gallery.voices[own].consent in REFUSED:
            return self.unresolved(turn, match, "opted_out")
        best = own if match.best is None else match.best
        lead = match.excess[best] - match.excess[own]
        if best != own and match.excess[best] >= 0 and lead >= self._margin(turn):
            return self.unresolved(turn, match, "contradicting")
        if match.excess[own] >= 0:
            return self.link(turn, vector, match, own)
        reason = self.too_weak(turn, self.config.floors.create)
        if not reason and match.cosines[own] < self.config.floors.contradicts:
            return self.unresolved(turn, match, "contradicting")
        return self.by_track(turn, person_id, match, reason or "between_thresholds")

    def link(self, turn: TurnEvidence, vector: Samples, match: Match, index: int) -> Link:
        voice, cosine = self.gallery.voices[index], float(match.cosines[index])
        learns = self.policy.learns(cosine, self.config.thresholds.update)
        learns = learns and not self.too_weak(turn, self.config.floors.learn)
        if learns and (self._keeps(voice) or voice.person_id in self.passing):
            self.gallery.put(self.policy.learn(voice, self._exemplar(turn, vector)))
        self._bind(turn.track, voice.person_id)
        return Link(turn.message_id, turn.track, voice.person_id, self.scores(match, index), learns and self._keeps(voice))

    def create(self, turn: TurnEvidence, vector: Samples, match: Match) -> Create:
        assert self.space is not None
        person_id = derived("person", turn.message_id)
        self.gallery.put(self.policy.learn(PersonVoice(person_id, self.space, vector), self._exemplar(turn, vector)))
        if not self.config.keep_voices:
            self.passing.add(person_id)
        self._bind(turn.track, person_id)
        return Create(turn.message_id, turn.track, person_id, self.scores(match, match.best))

    def create_passing(self, turn: TurnEvidence, total: Samples) -> Create:
        """Somebody of this session only, whose speech is not good enough for a voiceprint: no exemplar, not even a kept
        center."""
        assert self.space is not None
        person_id = derived("person", turn.message_id)
        vector = unit(total, dimension=self.space.dimension, what=turn.message_id)
        self.gallery.put(PersonVoice(person_id, self.space, vector))
        self.passing.add(person_id)
        return Create(turn.message_id, turn.track, person_id, self.scores(self.match(turn, vector), None))

    def by_track(self, turn: TurnEvidence, person_id: str, match: Match | None, reason: str) -> Assigned:
        index = self.gallery.index(person_id) if match and person_id in self.gallery else None
        return Assigned(turn.message_id, turn.track, person_id, self.scores(match, index), reason)

    def unresolved(self, turn: TurnEvidence, match: Match | None, reason: str) -> Unresolved:
        return Unresolved(turn.message_id, turn.track, self.scores(match, match.best if match else None), reason)

    def match(self, turn: TurnEvidence, vector: Samples) -> Match:
        size = max(len(self.gallery), self.population)
        likeness = self.gallery.likeness(vector, turn.channel, lambda pair: self.config.thresholds.link(size, pair))
        cosines = likeness.cosines
        link, create = self._thresholds(turn, likeness, size)
        excess = cosines - link
        excess[self._speaking_meanwhile(turn)] = -np.inf
        blocked = bool(np.any(cosines >= create))
        if not np.isfinite(excess).any():
            return Match(cosines, link, excess, blocked, None, None)
        best = int(np.argmax(excess))
        rest = np.delete(excess, best)
        runner_up = float(rest.max()) if len(rest) and np.isfinite(rest).any() else None
        return Match(cosines, link, excess, blocked, best, runner_up)

    def _thresholds(self, turn: TurnEvidence, likeness: Likeness, size: int) -> tuple[Cosines, Cosines]:
        """τ_link and τ_create against each person, shape (people,) each."""
        thresholds, taken = self.config.thresholds, self._taken(turn.track)
        link = likeness.thresholds(lambda pair: thresholds.link(size, pair))
        create = likeness.thresholds(lambda pair: thresholds.create(size, pair))
        if self.config.session_prior:
            here = [self.gallery.index(p) for p in self.heard if p in self.gallery and p not in taken]
            people = len(self.heard)
            link[here] = likeness.thresholds(lambda pair: thresholds.session_link(people, pair))[here]
            create[here] = likeness.thresholds(lambda pair: thresholds.create(people, pair))[here]
        there = [self.gallery.index(p) for p in taken if p in self.gallery]
        create[there] = link[there]  # the tracks say they differ: only a voice that would link speaks against it
        return link, create

    def scores(self, match: Match | None, index: int | None) -> Scores:
        """Of the person at `index`. Where thresholds differ from person to person the runner-up's cosine is shifted by that
        difference, so that the margin is the one that was judged."""
        thresholds, encoder = self.config.thresholds, self.config.thresholds.encoder
        if match is None or index is None:
            return Scores(None, None, thresholds.link(max(len(self.gallery), self.population)), self.config.policy, encoder)
        cosine, threshold = float(match.cosines[index]), float(match.link[index])
        rest = np.delete(match.excess, index)
        runner_up = threshold + float(rest.max()) if len(rest) and np.isfinite(rest).any() else None
        return Scores(cosine, runner_up, threshold, self.config.policy, encoder)

    def vector(self, turn: TurnEvidence) -> Samples | None:
        """The turn's voice, if there is enough of it to compare."""
        return None if turn.net_speech < self.config.floors.query else self.any_vector(turn)

    def any_vector(self, turn: TurnEvidence) -> Samples | None:
        """The turn's voice, however short."""
        if turn.embedding is None:
            return None
        if self.space is None:
            self.space = turn.embedding.space
            self.gallery = Gallery([], self.policy, self.space.dimension)
        same_space(turn.embedding.space, self.space)
        return unit(turn.embedding.vector, dimension=self.space.dimension, what=turn.message_id)

    def too_weak(self, turn: TurnEvidence, seconds: float) -> str | None:
        floors = self.config.floors
        if turn.net_speech < seconds:
            return "too_short"
        if turn.snr_db < floors.snr_db:
            return "noisy"
        if turn.overlapped > floors.overlapped * (turn.end - turn.start):
            return "overlapped"
        return None

    def _margin(self, turn: TurnEvidence) -> float:
        floors = self.config.floors
        return floors.margin if turn.net_speech >= floors.create else floors.short_margin

    def _taken(self, track: str) -> set[str]:
        """People bound by other tracks of this session; nobody for a turn without a track."""
        return set() if track == NO_TRACK else {p for t, p in self.bound.items() if t != track}

    def _speaking_meanwhile(self, turn: TurnEvidence) -> list[int]:
        people = {s.person_id for s in self.recent if overlap(s, turn) >= self.config.floors.simultaneous}
        return [self.gallery.index(p) for p in people if p in self.gallery and self.bound.get(turn.track) != p]

    def _keeps(self, voice: PersonVoice) -> bool:
        return voice.consent is Consent.GRANTED or (self.config.keep_voices and voice.consent is Consent.UNKNOWN)

    def _exemplar(self, turn: TurnEvidence, vector: Samples) -> Exemplar:
        identifier = derived("exemplar", turn.message_id, self.config.thresholds.encoder)
        return Exemplar(identifier, vector, turn.net_speech, turn.snr_db, turn.channel, turn.message_id)

    def _bind(self, track: str, person_id: str) -> None:
        if track != NO_TRACK:
            self.bound[track] = person_id

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
            voice = self.gallery.voices[self.gallery.index(person_id)]
            counted = replace(voice, num_turns=voice.num_turns + 1, net_speech=voice.net_speech + turn.net_speech)
            self.gallery.count(self.gallery.index(person_id), counted)


def overlap(said: Said, turn: TurnEvidence) -> float:
    return min(said.end, turn.end) - max(said.start, turn.start)
