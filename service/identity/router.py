"""Whose turn is this? LINK to somebody known, CREATE somebody new, ASSIGN by its track, or leave UNRESOLVED.

`step` folds batches in spoken order and never looks ahead; `settle` decides, once the session is over, what only the whole
session can tell. Neither sees a transcript. Within a session two tracks are never bound to one person: a second track that
sounds like somebody already bound is left unresolved (`exclusive`), makes nobody new and becomes a Proposal. Turns without a
track (NO_TRACK: boundaries known, nobody's label) are decided each by its own voice and may share a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.identity.consent import REFUSED
from service.identity.gallery import Cosines, Gallery, Likeness
from service.identity.policies import policy, same_space, unit
from service.identity.state import FoldState, Pending, Proposal, Said
from service.identity.thresholds import CAMPPLUS, Thresholds
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

NO_TRACK = ""
"""TurnEvidence.track of a turn of which no local speaker is known."""


@dataclass(frozen=True, slots=True)
class Floors:
    """Seconds of net speech, VAD-measured, and signal below which a voice says too little."""

    query: float = 0.8
    """may be compared: at 1 s the EER is 4.8 %, below it was not measured"""
    create: float = 2.0
    """may become somebody: no new people from under 2 s, where same-speaker cosines reach down to strangers'"""
    learn: float = 2.0
    """may become an exemplar"""
    snr_db: float = 3.0
    """to create or learn; babble at 5 dB still gives an EER of 1 %"""
    overlapped: float = 0.5
    """share of the turn under other voices above which it neither creates nor teaches"""
    margin: float = 0.04
    """link only when the runner-up is this far behind, else `ambiguous`"""
    short_margin: float = 0.08
    """the same below `create` seconds"""
    contradicts: float = 0.15
    """a turn of at least `create` seconds this unlike its track's person is not put down to it: different people score
    0.07 ± 0.11, one person in a meeting 0.54 ± 0.18, and a diariser's label is right about nine times in ten"""
    simultaneous: float = 0.2
    """seconds of overlap from which two turns cannot be one person's (annotations touch by less)"""


PAPER_FLOORS = Floors(query=0.0, create=0.0, learn=0.0, snr_db=-np.inf, overlapped=1.0, margin=0.0, short_margin=0.0,
                      contradicts=-1.0, simultaneous=np.inf)
"""None: EvoSpeakerMem links or creates, whatever the turn."""


@dataclass(frozen=True, slots=True)
class RouterConfig:
    """What a fold decides by; the same for a whole session."""

    policy: str = "bounded"
    thresholds: Thresholds = CAMPPLUS
    floors: Floors = Floors()
    keep_voices: bool = True
    """False in a space with `anonymous_voices: ephemeral`: new voices live in FoldState.passing only"""
    session_prior: bool = True
    """people already heard in the session compete as a gallery of their own: their threshold follows its small size"""


def paper_config(policy_name: str, thresholds: Thresholds) -> RouterConfig:
    """EvoSpeakerMem's router: two outcomes, one threshold, no floors, no session."""
    return RouterConfig(policy_name, thresholds, PAPER_FLOORS, session_prior=False)


def step(state: FoldState, turns: Sequence[TurnEvidence], config: RouterConfig) -> tuple[FoldState, tuple[Decision, ...]]:
    """Decide `turns` in order of (start, message_id); one decision each, in that order. Causal and pure.

    Batches must not go back in time. Raises VoiceSpacesDiffer, BadVoiceVector."""
    fold = _Fold(state, config)
    decisions = tuple(fold.take(turn) for turn in sorted(turns, key=lambda t: (t.start, t.message_id)))
    return fold.state(), decisions


@dataclass(frozen=True, slots=True)
class _Match:
    """A voice against everybody. `excess` = cosine - threshold decides, since thresholds differ from person to person."""

    cosines: Cosines
    excess: Cosines
    blocked: bool
    """somebody is too alike for the voice to be new"""
    best: int | None
    """position of the likeliest person"""
    runner_up: float | None
    """excess of the next"""


class _Fold:
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
        recent = tuple(s for s in self.recent if s.end > self.now or any(_overlap(s, t) > 0 for t in loose))
        return FoldState(
            gallery={p: v for p, v in voices.items() if p not in self.passing},
            bound=self.bound, pending=tuple(self.pending), heard=self.heard, recent=recent, proposals=self.proposals,
            passing={p: v for p, v in voices.items() if p in self.passing}, population=self.population,
        )

    def take(self, turn: TurnEvidence) -> Decision:
        self.now = turn.start
        decision = self._decide(turn)
        match decision:
            case Unresolved(reason=reason):
                self.pending.append(Pending(turn, reason))
            case Link(person_id=person_id) | Create(person_id=person_id) | Assigned(person_id=person_id):
                self._record(turn, person_id)
        return decision

    def _decide(self, turn: TurnEvidence) -> Decision:
        vector = self._vector(turn)
        person_id = self.bound.get(turn.track) if turn.track != NO_TRACK else None
        if vector is None:
            reason = "no_speech" if turn.net_speech <= 0 else "too_short"
            return self._by_track(turn, person_id, None, reason) if person_id else self._unresolved(turn, None, reason)
        match = self._match(turn, vector)
        return self._bound_turn(turn, vector, match, person_id) if person_id else self._free_turn(turn, vector, match)

    def _free_turn(self, turn: TurnEvidence, vector: Samples, match: _Match) -> Decision:
        """A turn without a track, or the first of a track that can be told."""
        if match.best is not None and match.excess[match.best] >= 0:
            return self._known(turn, vector, match, match.best)
        if turn.track in self.proposals:
            return self._unresolved(turn, match, "exclusive")
        if match.blocked:
            return self._unresolved(turn, match, "between_thresholds")
        if reason := self._too_weak(turn, self.config.floors.create):
            return self._unresolved(turn, match, reason)
        return self._create(turn, vector, match)

    def _known(self, turn: TurnEvidence, vector: Samples, match: _Match, best: int) -> Decision:
        voice = self.gallery.voices[best]
        if voice.consent in REFUSED:
            return self._unresolved(turn, match, "opted_out")
        if voice.person_id in self._taken(turn.track):
            self._propose(turn.track, voice.person_id, float(match.cosines[best]))
            return self._unresolved(turn, match, "exclusive")
        if match.runner_up is not None and match.excess[best] - match.runner_up < self._margin(turn):
            return self._unresolved(turn, match, "ambiguous")
        return self._link(turn, vector, match, best)

    def _bound_turn(self, turn: TurnEvidence, vector: Samples, match: _Match, person_id: str) -> Decision:
        """A further turn of a bound track: its own voice may agree, be too weak to say, or contradict."""
        if person_id not in self.gallery:
            return self._by_track(turn, person_id, match, "between_thresholds")
        own = self.gallery.index(person_id)
        if self.gallery.voices[own].consent in REFUSED:
            return self._unresolved(turn, match, "opted_out")
        best = own if match.best is None else match.best
        lead = match.excess[best] - match.excess[own]
        if best != own and match.excess[best] >= 0 and lead >= self._margin(turn):
            return self._unresolved(turn, match, "contradicting")
        if match.excess[own] >= 0:
            return self._link(turn, vector, match, own)
        reason = self._too_weak(turn, self.config.floors.create)
        if not reason and match.cosines[own] < self.config.floors.contradicts:
            return self._unresolved(turn, match, "contradicting")
        return self._by_track(turn, person_id, match, reason or "between_thresholds")

    def _link(self, turn: TurnEvidence, vector: Samples, match: _Match, index: int) -> Link:
        voice, cosine = self.gallery.voices[index], float(match.cosines[index])
        learns = self.policy.learns(cosine, self.config.thresholds.update)
        learns = learns and not self._too_weak(turn, self.config.floors.learn)
        if learns and (self._keeps(voice) or voice.person_id in self.passing):
            self.gallery.put(self.policy.learn(voice, self._exemplar(turn, vector)))
        self._bind(turn.track, voice.person_id)
        return Link(turn.message_id, turn.track, voice.person_id, self._scores(match, index), learns and self._keeps(voice))

    def _create(self, turn: TurnEvidence, vector: Samples, match: _Match) -> Create:
        assert self.space is not None
        person_id = derived("person", turn.message_id)
        self.gallery.put(self.policy.learn(PersonVoice(person_id, self.space, vector), self._exemplar(turn, vector)))
        if not self.config.keep_voices:
            self.passing.add(person_id)
        self._bind(turn.track, person_id)
        return Create(turn.message_id, turn.track, person_id, self._scores(match, match.best))

    def _by_track(self, turn: TurnEvidence, person_id: str, match: _Match | None, reason: str) -> Assigned:
        index = self.gallery.index(person_id) if match and person_id in self.gallery else None
        return Assigned(turn.message_id, turn.track, person_id, self._scores(match, index), reason)

    def _unresolved(self, turn: TurnEvidence, match: _Match | None, reason: str) -> Unresolved:
        return Unresolved(turn.message_id, turn.track, self._scores(match, match.best if match else None), reason)

    def _match(self, turn: TurnEvidence, vector: Samples) -> _Match:
        size = max(len(self.gallery), self.population)
        likeness = self.gallery.likeness(vector, turn.channel, lambda pair: self.config.thresholds.link(size, pair))
        cosines = likeness.cosines
        link, create = self._thresholds(turn, likeness, size)
        excess = cosines - link
        excess[self._speaking_meanwhile(turn)] = -np.inf
        blocked = bool(np.any(cosines >= create))
        if not np.isfinite(excess).any():
            return _Match(cosines, excess, blocked, None, None)
        best = int(np.argmax(excess))
        rest = np.delete(excess, best)
        runner_up = float(rest.max()) if len(rest) and np.isfinite(rest).any() else None
        return _Match(cosines, excess, blocked, best, runner_up)

    def _thresholds(self, turn: TurnEvidence, likeness: Likeness, size: int) -> tuple[Cosines, Cosines]:
        """τ_link and τ_create against each person, shape (people,) each."""
        thresholds, taken = self.config.thresholds, self._taken(turn.track)
        link = likeness.thresholds(lambda pair: thresholds.link(size, pair))
        create = likeness.thresholds(lambda pair: thresholds.create(size, pair))
        if self.config.session_prior:
            here = [self.gallery.index(p) for p in self.heard if p in self.gallery and p not in taken]
            link[here] = likeness.thresholds(lambda pair: thresholds.session_link(len(self.heard), pair))[here]
            create[here] = likeness.thresholds(lambda pair: thresholds.create(len(self.heard), pair))[here]
        there = [self.gallery.index(p) for p in taken if p in self.gallery]
        create[there] = link[there]        # the tracks say they differ: only a voice that would link speaks against it
        return link, create

    def _scores(self, match: _Match | None, index: int | None) -> Scores:
        thresholds, encoder = self.config.thresholds, self.config.thresholds.encoder
        if match is None or index is None:
            return Scores(None, None, thresholds.link(max(len(self.gallery), self.population)), self.config.policy, encoder)
        cosine = float(match.cosines[index])
        threshold = cosine - float(match.excess[index]) if np.isfinite(match.excess[index]) else thresholds.link(1)
        rest = np.delete(match.excess, index)
        runner_up = threshold + float(rest.max()) if len(rest) and np.isfinite(rest).any() else None
        return Scores(cosine, runner_up, threshold, self.config.policy, encoder)

    def _vector(self, turn: TurnEvidence) -> Samples | None:
        """The turn's voice, if there is enough of it to compare."""
        if turn.embedding is None or turn.net_speech < self.config.floors.query:
            return None
        if self.space is None:
            self.space = turn.embedding.space
            self.gallery = Gallery([], self.policy, self.space.dimension)
        same_space(turn.embedding.space, self.space)
        return unit(turn.embedding.vector, dimension=self.space.dimension, what=turn.message_id)

    def _too_weak(self, turn: TurnEvidence, seconds: float) -> str | None:
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
        people = {s.person_id for s in self.recent if _overlap(s, turn) >= self.config.floors.simultaneous}
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

    def _record(self, turn: TurnEvidence, person_id: str) -> None:
        self.heard[person_id] = self.heard.get(person_id, 0) + 1
        self.recent.append(Said(turn.start, turn.end, person_id))
        if person_id in self.gallery:
            voice = self.gallery.voices[self.gallery.index(person_id)]
            counted = replace(voice, num_turns=voice.num_turns + 1, net_speech=voice.net_speech + turn.net_speech)
            self.gallery.count(self.gallery.index(person_id), counted)


def _overlap(said: Said, turn: TurnEvidence) -> float:
    return min(said.end, turn.end) - max(said.start, turn.start)


def settle(state: FoldState, config: RouterConfig) -> tuple[FoldState, tuple[Decision, ...]]:
    """At the session's end: pending turns whose track is bound become Assigned; a track never bound may still Link or
    Create by its pooled voice; turns without a track go to the nearest person heard in the session.

    Decisions only for turns that changed, in spoken order; the rest stays `pending` in the state and unresolved."""
    fold = _Fold(state, config)
    fold.pending = []
    decisions: list[Decision] = []
    for pending in sorted(state.pending, key=lambda p: (p.evidence.start, p.evidence.message_id)):
        turn, person_id = pending.evidence, fold.bound.get(pending.evidence.track)
        if person_id is None or turn.track == NO_TRACK or pending.reason in ("contradicting", "opted_out"):
            fold.pending.append(pending)
            continue
        match = None if (vector := fold._vector(turn)) is None else fold._match(turn, vector)
        decisions.append(fold._by_track(turn, person_id, match, pending.reason))
        fold._record(turn, person_id)
    return fold.state(), tuple(decisions)
