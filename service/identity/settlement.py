"""Whose were the turns that nobody could tell alone, now that the session is over?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from service.identity.fold import Fold, Match
from service.identity.policies import unit
from service.identity.rules import NO_TRACK, RouterConfig
from service.identity.state import FoldState, Pending
from service.types.audio import Samples, SpeakerEmbedding
from service.types.people import Create, Decision, Link, TurnEvidence

HELD = frozenset({"contradicting", "opted_out"})
"""Reasons that the session's end does not change: the voice spoke against its track, or may not be used."""


class Settlement:
    """One run over the pending turns of a finished session."""

    def __init__(self, state: FoldState, config: RouterConfig) -> None:
        self.fold = Fold(state, config)
        self.fold.pending = []
        self.config = config
        self.pending = sorted(state.pending, key=lambda p: (p.evidence.start, p.evidence.message_id))
        self.decisions: dict[str, Decision] = {}

    def run(self) -> tuple[FoldState, tuple[Decision, ...]]:
        for track in dict.fromkeys(p.evidence.track for p in self.pending):
            turns = [p for p in self.pending if p.evidence.track == track and p.reason not in HELD]
            if track == NO_TRACK:
                self._loose(turns)
            else:
                self._track(turns, track)
        left = tuple(p for p in self.pending if p.evidence.message_id not in self.decisions)
        order = [p.evidence.message_id for p in self.pending if p.evidence.message_id in self.decisions]
        return replace(self.fold.state(), pending=left), tuple(self.decisions[m] for m in order)

    def _track(self, turns: Sequence[Pending], track: str) -> None:
        if track not in self.fold.bound:
            self._pool(turns)
        if track in self.fold.bound:
            for pending in turns:
                self._assign(pending, self.fold.bound[track])

    def _pool(self, turns: Sequence[Pending]) -> None:
        """Decide a track by all its speech together, through its longest turn; nothing if that is not enough either."""
        heard = [(p, v) for p in turns if (v := self.fold.vector(p.evidence)) is not None]
        if not heard:
            return
        longest = max(heard, key=lambda h: h[0].evidence.net_speech)[0].evidence
        total = sum(p.evidence.net_speech for p, _ in heard)
        pooled = np.sum([p.evidence.net_speech * v for p, v in heard], axis=0)
        assert longest.embedding is not None
        vector = unit(pooled, dimension=len(pooled), what=longest.message_id)
        turn = replace(longest, net_speech=total, embedding=SpeakerEmbedding(vector, longest.embedding.space))
        decision = self.fold.decide(turn)
        if isinstance(decision, Link | Create):
            learned = replace(decision, learned=False) if isinstance(decision, Link) else decision
            self.decisions[longest.message_id] = learned
            self.fold.record(longest, decision.person_id)

    def _loose(self, turns: Sequence[Pending]) -> None:
        """Turns without a track, most certain first: each to the likeliest person heard in the session who was not speaking
        meanwhile; whoever is taken by then is taken for the turns that overlap."""
        open_turns = {p.evidence.message_id: (p, v) for p in turns if (v := self.fold.any_vector(p.evidence)) is not None}
        while open_turns:
            best = max(((self._nearest(p.evidence, v), m) for m, (p, v) in open_turns.items()), key=lambda x: x[0][0])
            (cosine, index), message_id = best
            if cosine < self.config.floors.settle:
                return
            pending, _ = open_turns.pop(message_id)
            self._assign(pending, self.fold.gallery.voices[index].person_id)

    def _nearest(self, turn: TurnEvidence, vector: Samples) -> tuple[float, int]:
        match = self.fold.match(turn, vector)
        here = [self.fold.gallery.index(p) for p in self.fold.heard if p in self.fold.gallery]
        here = [i for i in here if np.isfinite(match.excess[i])]
        if not here:
            return -1.0, -1
        order = sorted(here, key=lambda i: -match.cosines[i])
        if len(order) > 1 and match.cosines[order[0]] - match.cosines[order[1]] < self.config.floors.settle_margin:
            return -1.0, -1
        return float(match.cosines[order[0]]), order[0]

    def _assign(self, pending: Pending, person_id: str) -> None:
        turn = pending.evidence
        if turn.message_id in self.decisions:
            return
        vector = self.fold.any_vector(turn)
        match: Match | None = None if vector is None else self.fold.match(turn, vector)
        self.decisions[turn.message_id] = self.fold.by_track(turn, person_id, match, pending.reason)
        self.fold.record(turn, person_id)


