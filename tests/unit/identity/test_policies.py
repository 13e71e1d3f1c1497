"""Golden traces of the paper's policies, worked by hand, and what ours promises."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.identity.policies import POLICIES, BadVoiceVector, Bounded, centroid, policy, recomputed, unit
from service.identity.router import FoldState, RouterConfig, paper_config, step
from service.identity.thresholds import TELEPHONE, TWIN, ChannelPair, constant
from service.types.audio import Samples
from service.types.people import Create, Exemplar, Link, PersonVoice
from tests.unit.identity.voices import SPACE, a_person, a_turn, an_exemplar, axis, between, one_after_another, turned

PAPER = constant("ecapa", link=0.489, update=0.58, origin="EvoSpeakerMem")
COS = (1.0, 0.60, 0.50)
"""Of the three turns of the trace with the first, all in the plane of axes 0 and 1: angles 0°, 53.13°, 60°."""


def trace(name: str) -> tuple[list[str], list[float | None], PersonVoice]:
    """Decisions, cosines and the first person after three turns."""
    state, decisions = step(FoldState(), one_after_another([between(c) for c in COS]), paper_config(name, PAPER))
    first = decisions[0]
    assert isinstance(first, Create)
    kinds = [type(d).__name__ for d in decisions]
    return kinds, [d.scores.cosine for d in decisions], state.gallery[first.person_id]


def test_fixed_compares_with_the_first_embedding_for_ever() -> None:
    kinds, cosines, voice = trace("fixed")
    assert kinds == ["Create", "Link", "Link"]
    assert cosines[1:] == pytest.approx([0.60, 0.50], abs=1e-6)
    assert np.allclose(voice.centroid, axis(0))
    assert voice.num_turns == 3


def test_update_moves_the_center_to_the_mean_of_all_links() -> None:
    kinds, cosines, voice = trace("update")
    assert kinds == ["Create", "Link", "Link"]
    # after two turns the center lies at half of 53.13° = 26.57°; the third, at 60°, is 33.43° away: cos = 0.8345
    assert cosines[2] == pytest.approx(math.cos(math.radians(60.0 - 53.1301 / 2)), abs=1e-5)
    # mean of (1, 0), (0.6, 0.8), (0.5, 0.8660): (0.7, 0.5553), at 38.42°
    assert voice.centroid[:2] == pytest.approx([0.7834, 0.6215], abs=1e-4)


def test_gated_moves_the_center_only_above_its_gate_but_counts_every_link() -> None:
    turns = one_after_another([between(1.0), between(0.5), between(0.5), between(0.6)])
    state, decisions = step(FoldState(), turns, paper_config("gated", PAPER))
    assert [type(d).__name__ for d in decisions] == ["Create", "Link", "Link", "Link"]
    assert [d.learned for d in decisions[1:] if isinstance(d, Link)] == [False, False, True]
    voice = next(iter(state.gallery.values()))
    # three accepted links held the center at (1, 0): (3·(1, 0) + (0.6, 0.8)) / 4 = (0.9, 0.2), at 12.53°
    assert voice.centroid[:2] == pytest.approx([0.97619, 0.21693], abs=1e-5)
    assert voice.num_turns == 4


def test_knn_scores_with_the_nearest_of_all_exemplars() -> None:
    kinds, cosines, voice = trace("knn")
    assert kinds == ["Create", "Link", "Link"]
    # the third turn at 60° is 6.87° from the second at 53.13°
    assert cosines[2] == pytest.approx(math.cos(math.radians(60.0 - 53.1301)), abs=1e-5)
    assert len(voice.exemplars) == 3


def test_below_the_merge_threshold_the_paper_creates_whatever_the_turn() -> None:
    turns = one_after_another([between(1.0), between(0.48)])
    _, decisions = step(FoldState(), turns, paper_config("gated", PAPER))
    assert [type(d).__name__ for d in decisions] == ["Create", "Create"]


def directions(count: int, seed: int) -> list[Samples]:
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((count, SPACE.dimension)) + 2 * axis(0)
    return [unit(v.astype(np.float32), dimension=SPACE.dimension, what="test") for v in drawn]


@settings(max_examples=40, deadline=None)
@given(count=st.integers(1, 40), seed=st.integers(0, 2**16), name=st.sampled_from(["update", "knn", "bounded"]))
def test_the_centroid_equals_a_recomputation_from_the_live_exemplars(count: int, seed: int, name: str) -> None:
    voice = a_person("ana", directions(1, seed)[0])
    for i, vector in enumerate(directions(count, seed + 1)):
        voice = policy(name).learn(voice, an_exemplar(f"e{i}", vector, net_speech=1.0 + i % 7))
    assert np.allclose(recomputed(voice, name).centroid, voice.centroid, atol=1e-6)
    shuffled = replace(voice, exemplars=tuple(reversed(voice.exemplars)))
    assert np.array_equal(recomputed(shuffled, name).centroid, recomputed(voice, name).centroid)


@settings(max_examples=25, deadline=None)
@given(count=st.integers(1, 60), seed=st.integers(0, 2**16))
def test_bounded_never_holds_more_than_twelve_exemplars(count: int, seed: int) -> None:
    voice = a_person("ana", axis(0))
    for i, vector in enumerate(directions(count, seed)):
        voice = POLICIES["bounded"].learn(voice, an_exemplar(f"e{i}", vector))
    assert len(voice.exemplars) <= 12
    assert np.linalg.norm(voice.centroid) == pytest.approx(1.0, abs=1e-5)


def test_of_two_like_exemplars_bounded_drops_the_shorter() -> None:
    voice = a_person("ana", axis(0))
    bounded = Bounded(max_exemplars=3)
    for name, vector, seconds in (("b", axis(1), 1.0), ("c", axis(2), 4.0), ("d", between(0.99, 2, 3), 2.0)):
        voice = bounded.learn(voice, an_exemplar(name, vector, net_speech=seconds))
    assert [e.id for e in voice.exemplars] == ["ana-0", "b", "c"]


def test_a_person_heard_on_both_has_one_row_for_the_telephone_and_one_for_the_rest() -> None:
    voice = POLICIES["bounded"].learn(a_person("ana", axis(0)), an_exemplar("e", axis(1), channel="telephone"))
    rows = POLICIES["bounded"].rows(voice)
    assert rows.telephone.tolist() == [False, True]
    assert np.allclose(rows.vectors, [axis(0), axis(1)])


def a_twin(name: str, vector: Samples) -> Exemplar:
    return replace(an_exemplar(name, vector, channel=TELEPHONE), twin_of="ana-0")


def test_a_twin_stands_for_its_person_on_the_telephone_and_moves_no_center() -> None:
    voice = POLICIES["bounded"].learn(a_person("ana", axis(0)), a_twin("t", axis(1)))
    assert np.allclose(voice.centroid, axis(0))
    rows = POLICIES["bounded"].rows(voice)
    assert rows.channels == ("wideband", TWIN)
    assert np.allclose(rows.vectors, [axis(0), between(math.sqrt(0.5))])
    assert np.allclose(recomputed(voice, "bounded").centroid, axis(0))


def test_a_person_heard_on_the_telephone_needs_no_twin_there() -> None:
    voice = POLICIES["bounded"].learn(a_person("ana", axis(0)), a_twin("t", axis(1)))
    voice = POLICIES["bounded"].learn(voice, an_exemplar("called", axis(2), channel=TELEPHONE))
    rows = POLICIES["bounded"].rows(voice)
    assert rows.channels == ("wideband", TELEPHONE)
    assert np.allclose(rows.vectors, [axis(0), axis(2)])


def test_a_twin_alone_is_better_than_nothing() -> None:
    voice = PersonVoice("ana", SPACE, axis(0))
    rows = POLICIES["bounded"].rows(POLICIES["bounded"].learn(voice, a_twin("t", axis(1))))
    assert rows.channels == (TELEPHONE,) and np.allclose(rows.vectors, [axis(1)])


@settings(max_examples=30, deadline=None)
@given(wide=st.integers(0, 30), narrow=st.integers(0, 30), room=st.integers(0, 30), seed=st.integers(0, 2**16))
def test_no_channel_pushes_another_out(wide: int, narrow: int, room: int, seed: int) -> None:
    voice = PersonVoice("ana", SPACE, axis(0))
    channels = ["wideband"] * wide + [TELEPHONE] * narrow + ["room"] * room
    np.random.default_rng(seed).shuffle(channels)
    for i, (channel, vector) in enumerate(zip(channels, directions(len(channels), seed), strict=True)):
        voice = POLICIES["bounded"].learn(voice, an_exemplar(f"e{i:02d}", vector, channel=channel))
    num = Counter(e.channel for e in voice.exemplars)
    given = {"wideband": wide, TELEPHONE: narrow, "room": room}
    assert sum(num.values()) == min(12, wide + narrow + room)
    for channel, many in given.items():
        assert num[channel] >= min(many, 4)


def test_a_person_keeps_three_twins_and_none_once_they_called() -> None:
    learning = POLICIES["bounded"]
    assert isinstance(learning, Bounded)
    voice = a_person("ana", axis(0))
    for i in range(5):
        exemplar = an_exemplar(f"e{i}", turned(0.8, 0.1, i + 1))
        voice = learning.twin(learning.learn(voice, exemplar), exemplar, axis(7))
    twins = [e for e in voice.exemplars if e.twin_of is not None]
    assert [t.twin_of for t in twins] == ["e0", "e1", "e2"]
    assert all(t.channel == TELEPHONE and t.message_id == f"message-of-{t.twin_of}" for t in twins)
    called = learning.learn(a_person("ben", axis(0)), an_exemplar("call", axis(2), channel=TELEPHONE))
    assert learning.twin(called, an_exemplar("e", axis(0)), axis(7)) == called


def test_once_a_channel_is_crowded_twins_go_first() -> None:
    voice = a_person("ana", axis(0))
    bounded = Bounded(max_exemplars=3)
    for exemplar in (a_twin("t1", axis(1)), a_twin("t2", axis(2)), an_exemplar("called", axis(3), channel=TELEPHONE)):
        voice = bounded.learn(voice, exemplar)
    assert [e.id for e in voice.exemplars] == ["ana-0", "t2", "called"]


@pytest.mark.parametrize("bad", [np.zeros(8), np.full(8, np.nan), np.full(8, np.inf), np.ones(7)])
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_no_nan_zero_or_misshapen_vector_is_ever_learnt(name: str, bad: Samples) -> None:
    empty = PersonVoice("ana", SPACE, axis(0))
    with pytest.raises(BadVoiceVector):
        policy(name).learn(empty, an_exemplar("e", bad.astype(np.float32)))


def test_exemplars_that_cancel_out_have_no_centroid() -> None:
    with pytest.raises(BadVoiceVector):
        centroid((an_exemplar("a", axis(0)), an_exemplar("b", -axis(0))), SPACE)


def test_a_caller_is_known_by_their_twin() -> None:
    """The turn is too far from the voice alone (0.3; across channels five people need 0.36), but near the middle of both:
    (0.3 + 0.75) / |axis 0 + twin| = 0.63, where a twin needs 0.55."""
    twin = between(0.4)
    second = (0.75 - 0.4 * 0.3) / math.sqrt(1 - 0.4**2)
    called = (0.3 * axis(0) + second * axis(1) + math.sqrt(1 - 0.3**2 - second**2) * axis(2)).astype(np.float32)
    turn = a_turn("called", called, channel=TELEPHONE)
    known, twinned = a_person("ana", axis(0)), POLICIES["bounded"].learn(a_person("ana", axis(0)), a_twin("t", twin))
    (without,) = step(FoldState(gallery={"ana": known}), [turn], RouterConfig())[1]
    (with_twin,) = step(FoldState(gallery={"ana": twinned}), [turn], RouterConfig())[1]
    assert not isinstance(without, Link)
    assert isinstance(with_twin, Link) and with_twin.person_id == "ana"
    assert with_twin.scores.cosine == pytest.approx(0.6276, abs=1e-3)
    assert with_twin.scores.channels == ChannelPair.TWIN
    assert with_twin.learned, "at 0.62 a caller's turn becomes the first of their own on the telephone"
