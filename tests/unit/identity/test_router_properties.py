"""What must hold of the fold whatever it is fed."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from service.identity.router import FoldState, RouterConfig, settle, step
from service.types.people import Link, TurnEvidence, Unresolved
from tests.unit.identity.voices import a_person, a_turn, axis, between, gallery

_VECTORS = [axis(0), axis(1), axis(2), between(0.95, 0, 3), between(0.6, 0, 1), between(0.45, 1, 2), between(0.9, 2, 4), None]


@st.composite
def sessions(draw: st.DrawFn) -> list[TurnEvidence]:
    turns = []
    at = 0.0
    for i in range(draw(st.integers(1, 14))):
        at += draw(st.sampled_from([0.0, 1.0, 4.0]))
        seconds = draw(st.sampled_from([0.3, 1.2, 3.0, 6.0]))
        turns.append(
            a_turn(
                f"m{i:02d}",
                _VECTORS[draw(st.integers(0, len(_VECTORS) - 1))],
                at=at,
                seconds=seconds,
                track=draw(st.sampled_from(["", "t1", "t2", "t3"])),
                snr_db=draw(st.sampled_from([0.0, 25.0])),
                channel=draw(st.sampled_from(["wideband", "telephone"])),
            )
        )
    return turns


KNOWN = gallery(a_person("ana", axis(0)), a_person("ben", between(0.97, 2, 5)))
STATES = st.sampled_from([FoldState(), FoldState(gallery=KNOWN)])
CONFIGS = st.sampled_from([RouterConfig(p) for p in ("bounded", "gated", "update", "knn", "fixed")])


@settings(max_examples=80, deadline=None)
@given(turns=sessions(), start=STATES, config=CONFIGS, data=st.data())
def test_a_decision_never_depends_on_later_turns(
    turns: list[TurnEvidence], start: FoldState, config: RouterConfig, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(turns)))
    while 0 < cut < len(turns) and turns[cut].start == turns[cut - 1].start:
        cut += 1
    whole_state, whole = step(start, turns, config)
    state, early = step(start, turns[:cut], config)
    state = FoldState.from_checkpoint(json.loads(json.dumps(state.to_checkpoint()))).with_gallery(state.gallery)
    state, late = step(state, turns[cut:], config)
    assert early + late == whole
    assert state.to_checkpoint() == whole_state.to_checkpoint()


@settings(max_examples=80, deadline=None)
@given(turns=sessions(), start=STATES, config=CONFIGS, data=st.data())
def test_equal_timestamps_in_any_order_give_the_same_people(
    turns: list[TurnEvidence], start: FoldState, config: RouterConfig, data: st.DataObject
) -> None:
    assert step(start, data.draw(st.permutations(turns)), config)[1] == step(start, turns, config)[1]


@settings(max_examples=80, deadline=None)
@given(turns=sessions(), start=STATES, config=CONFIGS)
def test_no_two_tracks_of_a_session_are_ever_one_person(
    turns: list[TurnEvidence], start: FoldState, config: RouterConfig
) -> None:
    state, decisions = step(start, turns, config)
    settled, more = settle(state, config)
    assert len(set(settled.bound.values())) == len(settled.bound)
    by_track: dict[str, set[str]] = {}
    for decision in (*decisions, *more):
        if decision.track and not isinstance(decision, Unresolved):
            by_track.setdefault(decision.track, set()).add(decision.person_id)
    assert all(len(people) == 1 for people in by_track.values())


@settings(max_examples=80, deadline=None)
@given(turns=sessions(), start=STATES, name=st.sampled_from(["bounded", "gated"]))
def test_an_accepted_link_never_moves_a_center_below_the_update_threshold(
    turns: list[TurnEvidence], start: FoldState, name: str
) -> None:
    config = RouterConfig(name)
    state = start
    for turn in sorted(turns, key=lambda t: (t.start, t.message_id)):
        after, (decision,) = step(state, [turn], config)
        if not isinstance(decision, Unresolved) and decision.person_id in state.gallery:
            moved = not np.array_equal(after.gallery[decision.person_id].centroid, state.gallery[decision.person_id].centroid)
            learned = isinstance(decision, Link) and decision.learned
            assert learned or not moved
            assert not learned or (decision.scores.cosine or 0) >= config.thresholds.update
        state = after


@settings(max_examples=60, deadline=None)
@given(turns=sessions(), start=STATES, config=CONFIGS)
def test_settling_decides_each_pending_turn_once_and_only_those(
    turns: list[TurnEvidence], start: FoldState, config: RouterConfig
) -> None:
    state, _ = step(start, turns, config)
    settled, decisions = settle(state, config)
    before = [p.evidence.message_id for p in state.pending]
    decided, left = [d.message_id for d in decisions], [p.evidence.message_id for p in settled.pending]
    assert sorted(decided + left) == sorted(before)
    assert not any(isinstance(d, Unresolved) for d in decisions)
    assert settle(settled, config)[1] == ()
