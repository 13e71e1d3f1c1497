"""Whose were the turns that nobody could tell alone, now that the session is over?"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.identity.fold import Fold, Heard, overlap, together
from service.identity.rules import NO_TRACK, RouterConfig
from service.identity.state import FoldState, Pending
from service.identity.thresholds import channel_pair
from service.types.audio import Samples
from service.types.people import Assigned, Decision, TurnEvidence, Unresolved

HELD = frozenset({"contradicting", "opted_out"})
"""Reasons that the session's end does not change: the voice spoke against its track, or may not be used."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Turns taken for one voice."""

    turns: list[TurnEvidence]
    person_id: str | None
    total: Samples
    """weighted sum of their vectors: each by the root of its seconds"""


class Settlement:
    """One run over the pending turns of a finished session."""

    def __init__(self, state: FoldState, config: RouterConfig) -> None:
        self.fold = Fold(state, config)
        self.fold.pending = []
        self.config = config
        self.pending = sorted(state.pending, key=lambda p: (p.evidence.start, p.evidence.message_id))
        self.reasons = {p.evidence.message_id: p.reason for p in self.pending}
        self.decisions: dict[str, Decision] = {}

    def run(self) -> tuple[FoldState, tuple[Decision, ...]]:
        by_track: dict[str, list[Pending]] = {}
        for pending in self.pending:
            if pending.reason not in HELD:
                by_track.setdefault(pending.evidence.track, []).append(pending)
        loose = by_track.pop(NO_TRACK, [])
        for track in sorted(by_track, key=lambda t: (-self._surest(by_track[t]), t)):
            self._track([p.evidence for p in by_track[track]], track)
        self._loose(loose)
        left = tuple(p for p in self.pending if p.evidence.message_id not in self.decisions)
        order = [p.evidence.message_id for p in self.pending if p.evidence.message_id in self.decisions]
        return replace(self.fold.state(), pending=left), tuple(self.decisions[m] for m in order)

    def _surest(self, pending: Sequence[Pending]) -> float:
        """Excess of the track's best turn: of two tracks that might be one person, the likelier is heard first."""
        matches = [self.fold.match(p.evidence, v) for p in pending if (v := self.fold.vector(p.evidence)) is not None]
        return max((float(m.excess[m.best]) for m in matches if m.best is not None), default=-np.inf)

    def _track(self, turns: Sequence[TurnEvidence], track: str) -> None:
        if track not in self.fold.bound:
            self._bind(turns, track)
        if track in self.fold.bound:
            for turn in turns:
                if turn.message_id not in self.decisions and not self._contradicts(turn):
                    self._assign(turn, self.fold.bound[track])

    def _bind(self, turns: Sequence[TurnEvidence], track: str) -> None:
        """By the track's whole speech. What one of its turns resembled does not hold it back if the whole does not."""
        proposal = self.fold.proposals.pop(track, None)
        self._pool(self._one_voice([(t, v) for t in turns if (v := self.fold.vector(t)) is not None]))
        if proposal and track not in self.fold.bound:
            self.fold.proposals[track] = proposal

    def _one_voice(self, heard: Sequence[Heard]) -> list[Heard]:
        """Those that sound like the longest: a diariser's label is right about nine times in ten."""
        if not heard:
            return []
        turn, longest = max(heard, key=lambda h: h[0].net_speech)
        least = self.fold.on(channel_pair(turn.channel, turn.channel), self.config.floors.together)
        return [h for h in heard if h[0].channel == turn.channel and float(h[1] @ longest) >= least]

    def _contradicts(self, turn: TurnEvidence) -> bool:
        """Whether the turn's own voice says that it is not its track's person's."""
        verdict = self.fold.decide(turn, pooled=True)
        return isinstance(verdict, Unresolved) and verdict.reason == "contradicting"

    def _pool(self, heard: Sequence[Heard]) -> str | None:
        """Decide turns of one voice by all their speech together, through the longest; the person, if that is enough."""
        if not heard:
            return None
        longest = max(heard, key=lambda h: h[0].net_speech)[0]
        decision = self.fold.decide_together(longest, heard)
        if decision is None:
            return None
        self.decisions[longest.message_id] = decision
        self.fold.record(longest, decision.person_id)
        return decision.person_id

    def _loose(self, pending: Sequence[Pending]) -> None:
        """Turns without a track: those alike make somebody together if their speech suffices; the rest goes, most certain
        first, to the likeliest person heard in the session who was not speaking meanwhile."""
        heard = [(p.evidence, v) for p in pending if (v := self.fold.any_vector(p.evidence)) is not None]
        for group in self._alike([h for h in heard if h[0].net_speech >= self.config.floors.query]):
            person_id = self._pool(group)
            for turn, _ in group:
                if person_id and turn.message_id not in self.decisions:
                    self._assign(turn, person_id)
        left = [h for h in heard if h[0].message_id not in self.decisions]
        if self.config.attribute_all:
            self._attribute_all(left)
        else:
            self._nearest_first(left)

    def _attribute_all(self, heard: Sequence[Heard]) -> None:
        """Join turns and the session's people, closest first, as long as nobody would speak over themselves."""
        fold, floors = self.fold, self.config.floors
        people = [fold.gallery.voice(p) for p in fold.heard if p in fold.gallery]
        groups = [_Group([], v.person_id, max(v.net_speech, 1.0) ** 0.5 * v.centroid) for v in people]
        longest = sorted(heard, key=lambda h: (h[0].start - h[0].end, h[0].message_id))[: floors.pool_turns]
        groups += [_Group([t], None, min(t.end - t.start, 6.0) ** 0.5 * v) for t, v in longest]
        while (pair := self._closest(groups)) is not None:
            one, other = (groups[i] for i in pair)
            groups[pair[0]] = _Group(one.turns + other.turns, one.person_id or other.person_id, one.total + other.total)
            del groups[pair[1]]
        for group in groups:
            self._put_down(group)

    def _closest(self, groups: Sequence[_Group]) -> tuple[int, int] | None:
        """The two groups most alike that may be one person's, the earlier first; None when no two are alike enough."""
        means = np.stack([g.total / np.linalg.norm(g.total) for g in groups]) if groups else np.zeros((0, 1))
        cosines = np.triu(means @ means.T, 1)
        order = np.argsort(-cosines, axis=None, kind="stable")
        for flat in order:
            one, other = divmod(int(flat), len(groups))
            if one >= other:
                continue
            if cosines[one, other] < self.config.floors.attribute:
                return None
            if self._may_join(groups[one], groups[other]):
                return one, other
        return None

    def _may_join(self, one: _Group, other: _Group) -> bool:
        if one.person_id and other.person_id:
            return False
        enough = self.config.floors.simultaneous
        if any(_overlap(x, y) >= enough for x in one.turns for y in other.turns):
            return False
        person_id, turns = one.person_id or other.person_id, [*one.turns, *other.turns]
        return not any(overlap(s, t) >= enough for s in self.fold.recent if s.person_id == person_id for t in turns)

    def _put_down(self, group: _Group) -> None:
        if group.person_id is None:
            if sum(t.end - t.start for t in group.turns) < self.config.floors.create:
                return
            first = min(group.turns, key=lambda t: (t.start, t.message_id))
            created = self.fold.create_passing(first, group.total)
            if isinstance(created, Unresolved):
                return
            self.decisions[first.message_id] = created
            self.fold.record(first, created.person_id)
            group = replace(group, person_id=created.person_id)
        for turn in sorted(group.turns, key=lambda t: (t.start, t.message_id)):
            if turn.message_id not in self.decisions and group.person_id:
                self._assign(turn, group.person_id)

    def _alike(self, heard: Sequence[Heard]) -> list[list[Heard]]:
        """Groups of simultaneous-free turns that are one voice's among themselves, by average cosine, closest first; of turns
        on one channel, since a mean of several is a voice on none."""
        channels = sorted({turn.channel for turn, _ in heard})
        return [g for channel in channels for g in self._alike_on(channel, [h for h in heard if h[0].channel == channel])]

    def _alike_on(self, channel: str, heard: Sequence[Heard]) -> list[list[Heard]]:
        floors = self.config.floors
        least = self.fold.on(channel_pair(channel, channel), floors.pool)
        groups = [[h] for h in sorted(heard, key=lambda h: (-h[0].net_speech, h[0].message_id))[: floors.pool_turns]]
        while len(groups) > 1:
            means = np.stack([together(g) for g in groups])
            cosines = np.tril(means @ means.T, -1)
            for a, b in np.argwhere(cosines >= least):
                if any(_overlap(x, y) >= floors.simultaneous for x, _ in groups[a] for y, _ in groups[b]):
                    cosines[a, b] = -1.0
            later, earlier = (int(i) for i in np.unravel_index(int(np.argmax(cosines)), cosines.shape))
            if cosines[later, earlier] < least:
                break
            groups[earlier] += groups.pop(later)
        return groups

    def _nearest_first(self, heard: Sequence[Heard]) -> None:
        queue = [(-self._nearest(turn, vector)[0], i) for i, (turn, vector) in enumerate(heard)]
        heapq.heapify(queue)
        while queue:
            believed, i = heapq.heappop(queue)
            cosine, person_id, lead = self._nearest(*heard[i])  # again: others may have been put down to that person meanwhile
            if cosine < self.config.floors.settle or person_id is None:
                continue
            if self.reasons[heard[i][0].message_id] == "ambiguous" and lead < self.config.floors.margin:
                continue  # two who are both here sound like it: only somebody who was there knows
            if cosine < -believed:
                heapq.heappush(queue, (-cosine, i))
            else:
                self._assign(heard[i][0], person_id)

    def _nearest(self, turn: TurnEvidence, vector: Samples) -> tuple[float, str | None, float]:
        """The likeliest person heard in the session, the cosine as it would be on wideband, and how far ahead of the next of
        them; (-1, None, 0) without one."""
        fold = self.fold
        match = fold.match(turn, vector)
        here = [i for p in fold.heard if p in fold.gallery and np.isfinite(match.excess[i := fold.gallery.index(p)])]
        if not here:
            return -1.0, None, 0.0
        cosines = match.cosines - match.likeness.thresholds(lambda pair: fold.on(pair, 0.0))
        best, *others = sorted(set(here), key=lambda i: -float(cosines[i]))
        lead = float(cosines[best] - cosines[others[0]]) if others else math.inf
        return float(cosines[best]), fold.gallery.voices[match.members[best]].person_id, lead

    def _assign(self, turn: TurnEvidence, person_id: str) -> None:
        vector = self.fold.any_vector(turn)
        match = None if vector is None else self.fold.match(turn, vector)
        assigned: Assigned = self.fold.by_track(turn, person_id, match, self.reasons[turn.message_id])
        self.decisions[turn.message_id] = assigned
        self.fold.record(turn, person_id)


def _overlap(one: TurnEvidence, other: TurnEvidence) -> float:
    return min(one.end, other.end) - max(one.start, other.start)
