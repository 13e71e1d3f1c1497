"""What must hold of the fold whatever it is fed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.identity.policies import BadVoiceVector, recomputed
from service.identity.router import FoldState, RouterConfig, settle, step
from service.identity.thresholds import TELEPHONE, WIDEBAND, ChannelPair
from service.types.people import ChannelMean, Link, TurnEvidence, Unresolved
from tests.unit.identity.voices import a_person, a_turn, axis, between, gallery

POLICIES = ("bounded", "gated", "update", "knn", "fixed")
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
MERGED = {**KNOWN, "anna": replace(a_person("anna", between(0.9, 0, 3)), same_as="ana")}
MEANS = {c: ChannelMean(c, 0.4 * axis(7) + 0.1 * axis(i), 40, 20) for i, c in enumerate((WIDEBAND, TELEPHONE))}
STATES = st.sampled_from(
    [FoldState(), FoldState(gallery=KNOWN), FoldState(gallery=MERGED), FoldState(gallery=MERGED, channels=MEANS)]
)
CONFIGS = st.sampled_from([RouterConfig(p) for p in POLICIES] + [RouterConfig(roster=frozenset({"ana", "nobody-known"}))])


def root(state: FoldState, person_id: str) -> str:
    voice = state.candidates.get(person_id)
    return voice.same_as or person_id if voice else person_id


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
    state = FoldState.from_checkpoint(json.loads(json.dumps(state.to_checkpoint()))).with_gallery(
        state.gallery, channels=start.channels
    )
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
    assert len({root(settled, p) for p in settled.bound.values()}) == len(settled.bound)
    by_track: dict[str, set[str]] = {}
    for decision in (*decisions, *more):
        if decision.track and not isinstance(decision, Unresolved):
            by_track.setdefault(decision.track, set()).add(root(settled, decision.person_id))
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
            if learned:
                assert (decision.scores.cosine or 0) >= config.thresholds.update_at(pair_of(decision))
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


@settings(max_examples=80, deadline=None)
@given(turns=sessions(), start=STATES, name=st.sampled_from(["bounded", "update", "knn", "fixed"]))
def test_a_center_is_what_its_live_exemplars_make(turns: list[TurnEvidence], start: FoldState, name: str) -> None:
    """`gated` alone cannot: a link without an exemplar leaves a trace in its center."""
    config = RouterConfig(name)
    for state in (step(start, turns, config)[0], settle(step(start, turns, config)[0], config)[0]):
        for voice in state.gallery.values():
            assert np.allclose(recomputed(voice, name).centroid, voice.centroid, atol=1e-6)


@settings(max_examples=80, deadline=None)
@given(turns=sessions(), start=STATES, config=CONFIGS)
def test_every_vector_kept_is_finite_and_of_length_one(
    turns: list[TurnEvidence], start: FoldState, config: RouterConfig
) -> None:
    state, decisions = step(start, turns, config)
    for voice in settle(state, config)[0].candidates.values():
        for vector in (voice.centroid, *(e.vector for e in voice.exemplars)):
            assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-4
    for decision in decisions:
        assert decision.scores.cosine is None or -1.0 <= decision.scores.cosine <= 1.0


@settings(max_examples=60, deadline=None)
@given(turns=sessions(), start=STATES, config=CONFIGS, data=st.data())
def test_a_vector_of_nan_infinity_or_nothing_stops_the_batch_and_changes_nothing(
    turns: list[TurnEvidence], start: FoldState, config: RouterConfig, data: st.DataObject
) -> None:
    bad = np.where(axis(1) > 0, np.float32(data.draw(st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e-30]))), np.float32(0))
    broken = a_turn("bad", bad, at=data.draw(st.sampled_from([0.0, 3.0, 99.0])), track=data.draw(st.sampled_from(["", "t1"])))
    before = {p: v.centroid.tobytes() for p, v in start.gallery.items()}
    with pytest.raises(BadVoiceVector):
        step(start, [*turns, broken], config)
    assert {p: v.centroid.tobytes() for p, v in start.gallery.items()} == before


@pytest.mark.parametrize("name", POLICIES)
def test_what_a_long_session_remembers_does_not_grow_with_it(name: str) -> None:
    """But for `knn` and `update`, which keep every exemplar: the reason that neither is the default."""
    sizes = []
    for count in (60, 240):
        turns = [a_turn(f"m{i:03d}", between(0.99, i % 4, 4 + i % 3), at=5.0 * i, track=f"t{i % 4}") for i in range(count)]
        state, _ = step(FoldState(), turns, RouterConfig(name))
        sizes.append(sum(len(v.exemplars) for v in state.gallery.values()))
        assert len(state.gallery) == 4 and len(state.recent) <= 4 and not state.pending
        assert len(json.dumps(state.to_checkpoint())) < 2_000
    if name in ("bounded", "fixed"):
        assert sizes[0] == sizes[1] <= 4 * 12


@settings(max_examples=80, deadline=None)
@given(turns=sessions(), people=st.sets(st.sampled_from(["ana", "ben", "x", "y", "z"])))
def test_a_roster_never_links_below_the_threshold_of_its_session(turns: list[TurnEvidence], people: set[str]) -> None:
    config, state = RouterConfig(roster=frozenset(people)), FoldState(gallery=KNOWN)
    for turn in sorted(turns, key=lambda t: (t.start, t.message_id)):
        here = people | set(state.heard)
        state, (decision,) = step(state, [turn], config)
        if isinstance(decision, Link):
            assert decision.scores.cosine is not None
            assert decision.scores.cosine >= config.thresholds.session_link(len(here), pair_of(decision))


def pair_of(decision: Link) -> ChannelPair:
    assert decision.scores.channels is not None
    return ChannelPair(decision.scores.channels)
