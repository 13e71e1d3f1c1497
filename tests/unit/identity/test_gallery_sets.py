"""People merged into one: one candidate while it lasts, and nothing lost of anybody when it is taken back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.identity.ask import AskConfig, verify
from service.identity.gallery import Gallery
from service.identity.policies import policy
from service.identity.router import FoldState, RouterConfig, settle, step
from service.identity.thresholds import TELEPHONE, ChannelPair
from service.types.audio import SpeakerEmbedding
from service.types.people import Assigned, Consent, Link, PersonVoice, TurnEvidence, Unresolved, VoiceOutcome
from tests.unit.identity.voices import SPACE, a_person, a_turn, axis, between, gallery, one_after_another

CONFIG = RouterConfig()
ANA, ANNA = a_person("ana", axis(0)), a_person("anna", between(0.95, 0, 1))
BEN = a_person("ben", axis(2))


def merged(voice: PersonVoice, into: str = "ana") -> PersonVoice:
    return replace(voice, same_as=into)


APART, TOGETHER = gallery(ANA, ANNA, BEN), gallery(ANA, merged(ANNA), BEN)


def test_two_too_alike_are_told_apart_by_nobody_until_they_are_merged() -> None:
    (apart,) = step(FoldState(gallery=APART), [a_turn("m", axis(0))], CONFIG)[1]
    (together,) = step(FoldState(gallery=TOGETHER), [a_turn("m", axis(0))], CONFIG)[1]
    assert isinstance(apart, Link) or apart.reason == "ambiguous"
    assert isinstance(together, Link) and together.scores.runner_up_id == "ben"


def test_a_turn_goes_to_the_member_whose_own_voice_is_nearest_and_only_they_learn() -> None:
    state, (decision,) = step(FoldState(gallery=TOGETHER), [a_turn("m", between(0.96, 0, 1))], CONFIG)
    assert isinstance(decision, Link) and decision.person_id == "anna" and decision.learned
    assert state.gallery["ana"] is TOGETHER["ana"]
    assert len(state.gallery["anna"].exemplars) == 2


def test_thresholds_count_people_merged_into_one_once() -> None:
    crowd = {f"p{i}": replace(a_person(f"p{i}", axis(3)), same_as="p0" if i else None) for i in range(400)}
    turn = a_turn("m", between(0.55))
    (many,) = step(FoldState(gallery={p: replace(v, same_as=None) for p, v in crowd.items()} | APART), [turn], CONFIG)[1]
    (few,) = step(FoldState(gallery=crowd | TOGETHER), [turn], CONFIG)[1]
    assert few.scores.threshold < many.scores.threshold


def test_a_second_track_may_not_be_another_member_of_somebody_present() -> None:
    turns = [a_turn("m0", axis(0), track="t1"), a_turn("m1", between(0.95, 0, 1), at=5, track="t2")]
    state, decisions = step(FoldState(gallery=TOGETHER), turns, CONFIG)
    assert isinstance(decisions[1], Unresolved) and decisions[1].reason == "exclusive"
    assert state.proposals["t2"].person_id == "anna"


def test_tracks_of_people_merged_while_they_speak_go_on() -> None:
    known = gallery(ANA, BEN)
    state, _ = step(FoldState(gallery=known), one_tracks_turn_each(0), CONFIG)
    state = state.with_gallery({**state.gallery, "ben": merged(state.gallery["ben"])})
    _, decisions = step(state, one_tracks_turn_each(20), CONFIG)
    assert [d.person_id for d in decisions if isinstance(d, Link)] == ["ana", "ben"]


def one_tracks_turn_each(at: float) -> list[TurnEvidence]:
    return [a_turn(f"m{at}", axis(0), at=at, track="t1"), a_turn(f"n{at}", axis(2), at=at + 5, track="t2")]


def test_a_track_stays_the_members_it_was_bound_to() -> None:
    turns = [a_turn("m0", axis(0), track="t"), a_turn("m1", between(0.95, 0, 1), at=5, track="t")]
    state, decisions = step(FoldState(gallery=TOGETHER), turns, CONFIG)
    assert [d.person_id for d in decisions if isinstance(d, Link)] == ["ana", "anna"]
    assert state.bound == {"t": "ana"}


def test_what_is_too_weak_to_tell_goes_to_the_nearest_member_of_its_tracks_person() -> None:
    turns = [a_turn("m0", axis(0), track="t"), a_turn("m1", between(0.4, 1, 6), at=5, seconds=1, track="t")]
    decision = step(FoldState(gallery=TOGETHER), turns, CONFIG)[1][1]
    assert isinstance(decision, Assigned) and decision.person_id == "anna"


def test_nobody_speaks_over_another_member_of_themselves() -> None:
    turns = [a_turn("m0", axis(0), seconds=6), a_turn("m1", between(0.95, 0, 1), at=2, seconds=3, overlapped=1.0)]
    assert isinstance(step(FoldState(gallery=TOGETHER), turns, CONFIG)[1][1], Unresolved)


@pytest.mark.parametrize("who", ["ana", "anna"])
def test_if_one_member_opted_out_none_is_used(who: str) -> None:
    known = {**TOGETHER, who: replace(TOGETHER[who], consent=Consent.OPTED_OUT)}
    for vector in (axis(0), between(0.95, 0, 1)):
        (decision,) = step(FoldState(gallery=known), [a_turn("m", vector)], CONFIG)[1]
        assert isinstance(decision, Unresolved) and decision.reason == "opted_out"
        verdict = verify(SpeakerEmbedding(vector, SPACE), 4.0, known, AskConfig())
        assert verdict.outcome is VoiceOutcome.OPTED_OUT and verdict.person_id is None


def test_asking_two_merged_people_are_no_ambiguity_and_the_nearest_is_named() -> None:
    voice = SpeakerEmbedding(between(0.97, 0, 1), SPACE)
    assert verify(voice, 4.0, APART, AskConfig()).outcome is VoiceOutcome.INCONCLUSIVE
    verdict = verify(voice, 4.0, TOGETHER, AskConfig())
    assert (verdict.outcome, verdict.person_id) == (VoiceOutcome.ACCEPT, "anna")
    assert verdict.scores.runner_up_id == "ben"


def test_settling_knows_a_member_of_somebody_heard() -> None:
    turns = [*one_after_another([axis(0), axis(2)]), a_turn("short", between(0.5, 1, 0), at=20, seconds=0.5)]
    state, _ = step(FoldState(gallery=TOGETHER), turns, CONFIG)
    (settled,) = settle(state, CONFIG)[1]
    assert set(state.heard) == {"ana", "ben"}
    assert isinstance(settled, Assigned) and settled.person_id == "anna"


def test_a_gallery_names_the_root_even_of_those_whose_root_is_not_among_them() -> None:
    known = Gallery([merged(ANNA, "elsewhere"), BEN], policy("bounded"), SPACE.dimension)
    assert len(known) == 2 and known.root("anna") == "elsewhere" and known.root("ben") == "ben"


def test_putting_people_one_by_one_gives_the_gallery_of_all_at_once() -> None:
    people = [ANA, BEN, merged(ANNA), a_person("cy", axis(4), channel=TELEPHONE)]
    grown = Gallery([], policy("bounded"), SPACE.dimension)
    for voice in (replace(ANA, exemplars=()), *people):
        grown.put(voice)
    whole = Gallery(people, policy("bounded"), SPACE.dimension)
    for vector in (axis(0), between(0.95, 0, 1), axis(4)):
        one, other = (g.likeness(vector, TELEPHONE, {p: 0.5 for p in ChannelPair}.__getitem__) for g in (grown, whole))
        assert np.array_equal(one.cosines, other.cosines) and np.array_equal(one.members, other.members)
        assert [one.pair(i) for i in range(len(grown))] == [other.pair(i) for i in range(len(whole))]


# What must hold whatever comes

VECTORS = st.sampled_from([axis(0), axis(1), axis(2), between(0.95, 0, 1), between(0.7, 0, 2), between(0.55, 1, 3)])
PEOPLE = st.lists(VECTORS, min_size=1, max_size=6).map(lambda vs: [a_person(f"p{i}", v) for i, v in enumerate(vs)])


@settings(max_examples=100, deadline=None)
@given(people=PEOPLE, vector=VECTORS, name=st.sampled_from(["bounded", "gated", "update", "knn", "fixed"]), data=st.data())
def test_who_would_be_linked_alone_is_linked_in_a_merge_too_and_learns_the_same(
    people: list[PersonVoice], vector: np.ndarray, name: str, data: st.DataObject
) -> None:
    root = data.draw(st.sampled_from(people)).person_id
    members = data.draw(st.sets(st.sampled_from([p.person_id for p in people])))
    together = gallery(*(merged(p, root) if p.person_id in members - {root} else p for p in people))
    config, turn = RouterConfig(name), a_turn("m", vector)
    alone, (apart,) = step(FoldState(gallery=gallery(*people)), [turn], config)
    after, (decision,) = step(FoldState(gallery=together), [turn], config)
    for person, voice in after.gallery.items():  # no member takes anything of another's
        if person in together and person != getattr(decision, "person_id", None):
            assert voice is together[person]
    if isinstance(apart, Link):
        assert isinstance(decision, Link)
        assert (decision.person_id, decision.scores.cosine) == (apart.person_id, apart.scores.cosine)
        taken_back = {p: replace(v, same_as=None) for p, v in after.gallery.items()}
        assert {p: e(v) for p, v in taken_back.items()} == {p: e(v) for p, v in alone.gallery.items()}


def e(voice: PersonVoice) -> tuple[object, ...]:
    return (voice.centroid.tobytes(), tuple(x.id for x in voice.exemplars), voice.num_turns, voice.same_as)
