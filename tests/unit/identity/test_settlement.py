"""What the end of a session decides about turns without a track."""

from __future__ import annotations

from service.identity.router import FoldState, RouterConfig, settle, step
from service.types.people import Assigned, Create, Decision, Unresolved
from tests.unit.identity.voices import a_person, a_turn, axis, between, gallery, one_after_another, turned

DEFAULT, ALL = RouterConfig(), RouterConfig(attribute_all=True)


def people(decisions: tuple[Decision, ...]) -> dict[str, str | None]:
    return {d.message_id: None if isinstance(d, Unresolved) else d.person_id for d in decisions}


def test_a_short_turn_goes_to_the_nearest_person_of_the_session() -> None:
    turns = [*one_after_another([axis(0), axis(1)]), a_turn("short", between(0.6, 1, 5), at=20, seconds=0.5)]
    state, decisions = step(FoldState(), turns, DEFAULT)
    _, more = settle(state, DEFAULT)
    assert people(more)["short"] == people(decisions)["m1"]
    assert all(isinstance(d, Assigned) for d in more)


def test_a_short_turn_like_nobody_stays_unresolved() -> None:
    turns = [*one_after_another([axis(0)]), a_turn("short", axis(5), at=20, seconds=0.5)]
    settled, more = settle(step(FoldState(), turns, DEFAULT)[0], DEFAULT)
    assert more == () and [p.evidence.message_id for p in settled.pending] == ["short"]


def test_nobody_is_put_down_over_themselves() -> None:
    turns = [
        a_turn("m0", axis(0), seconds=6),
        a_turn("m1", axis(1), at=8),
        a_turn("over", between(0.9), at=2, seconds=1.0, net_speech=0.0, overlapped=1.0),
    ]
    state, decisions = step(FoldState(), turns, DEFAULT)
    _, more = settle(state, DEFAULT)
    assert people(more).get("over") != people(decisions)["m0"]


def test_of_two_turns_at_once_only_the_likelier_goes_to_a_person() -> None:
    turns = [
        a_turn("m0", axis(0)),
        a_turn("x", between(0.9), at=10, seconds=1.0, net_speech=0.0, overlapped=1.0),
        a_turn("y", between(0.7), at=10, seconds=1.0, net_speech=0.0, overlapped=1.0),
    ]
    state, decisions = step(FoldState(), turns, DEFAULT)
    _, more = settle(state, DEFAULT)
    assert people(more) == {"x": people(decisions)["m0"]}


def test_short_turns_alike_make_somebody_together() -> None:
    turns = [a_turn(f"m{i}", axis(0), at=5 * i, seconds=1.2) for i in range(3)]
    state, first = step(FoldState(), turns, DEFAULT)
    assert set(people(first).values()) == {None}
    settled, more = settle(state, DEFAULT)
    assert len(set(people(more).values())) == 1 and sum(isinstance(d, Create) for d in more) == 1
    assert len(settled.gallery) == 1


def test_with_attribute_all_overlapped_speech_makes_people_of_the_session_without_a_voiceprint() -> None:
    turns = [a_turn("m0", axis(0), seconds=9)] + [
        a_turn(f"over{i}", between(0.95, 2, 3), at=1 + 3 * i, seconds=1.5, net_speech=0.0, overlapped=1.5) for i in range(2)
    ]
    state, decisions = step(FoldState(), turns, ALL)
    settled, more = settle(state, ALL)
    assert len(set(people(more).values())) == 1 and set(people(more)) == {"over0", "over1"}
    assert set(settled.gallery) == {people(decisions)["m0"]}
    assert set(settled.passing) == set(people(more).values())
    assert settle(state, DEFAULT)[1] == ()


def test_settling_teaches_nobody_anything_from_a_short_turn() -> None:
    turns = [*one_after_another([axis(0)]), a_turn("short", between(0.7), at=20, seconds=0.5)]
    state, _ = step(FoldState(), turns, DEFAULT)
    settled, _ = settle(state, DEFAULT)
    (before,), (after,) = state.gallery.values(), settled.gallery.values()
    assert after.exemplars == before.exemplars and after.num_turns == before.num_turns + 1


def test_a_track_of_which_one_turn_resembled_somebody_taken_is_decided_by_its_whole_speech() -> None:
    turns = [
        a_turn("m0", axis(0), track="t1"),
        a_turn("m1", between(0.52, 0, 1), at=5, track="t2"),
        *(a_turn(f"n{i}", between(0.10, 0, 1), at=10 + 5 * i, track="t2") for i in range(3)),
    ]
    state, decisions = step(FoldState(), turns, DEFAULT)
    assert {getattr(d, "reason", None) for d in decisions[1:]} == {"exclusive"}
    settled, more = settle(state, DEFAULT)
    assert len(set(people(more).values())) == 1 and people(more)["n0"] not in {None, people(decisions)["m0"]}
    assert not settled.proposals and set(settled.bound) == {"t1", "t2"}


def test_a_turn_unlike_the_person_its_track_came_to_be_stays_unresolved() -> None:
    known = gallery(a_person("ana", axis(0)))
    turns = [
        a_turn("m0", between(0.45, 0, 1), track="t"),
        a_turn("m1", axis(2), at=5, track="t"),
        a_turn("m2", axis(2), at=10, track="t"),
    ]
    state, decisions = step(FoldState(gallery=known), turns, DEFAULT)
    assert isinstance(decisions[1], Create)
    settled, more = settle(state, DEFAULT)
    assert more == () and [p.evidence.message_id for p in settled.pending] == ["m0"]


def test_of_two_tracks_that_might_be_one_person_the_likelier_is_theirs() -> None:
    known = gallery(a_person("ana", axis(0)), a_person("bea", between(0.97, 0, 1)))
    turns = [
        a_turn("m0", between(0.53, 0, 2), track="t1", seconds=1.5),
        a_turn("m1", between(0.60, 0, 3), at=5, track="t2", seconds=1.5),
    ]
    state, decisions = step(FoldState(gallery=known), turns, DEFAULT)
    assert all(isinstance(d, Unresolved) and d.reason == "ambiguous" for d in decisions)
    alone = state.with_gallery(gallery(known["ana"]))
    settled, _ = settle(alone, DEFAULT)
    assert settled.bound == {"t2": "ana"} and set(settled.proposals) == {"t1"}


def test_what_pools_into_somebody_known_teaches_them_nothing() -> None:
    known = gallery(a_person("ana", axis(0)))
    turns = [a_turn(f"m{i}", turned(0.48, 0.4, 1 + i), at=5.0 * i, track="t") for i in range(3)]
    state, _ = step(FoldState(gallery=known), turns, DEFAULT)
    settled, _ = settle(state, DEFAULT)
    assert settled.bound == {"t": "ana"}
    assert settled.gallery["ana"].exemplars == known["ana"].exemplars


def test_on_a_telephone_turns_as_alike_as_strangers_are_there_are_not_one_voice() -> None:
    """0.5 joins two short wideband turns, and would join almost anybody's on a telephone."""
    for channel, persons in (("wideband", 1), ("telephone", 0)):
        turns = [a_turn(f"m{i}", turned(0.0, 0.71, 1 + i), at=5.0 * i, seconds=1.2, channel=channel) for i in range(2)]
        settled, _ = settle(step(FoldState(), turns, DEFAULT)[0], DEFAULT)
        assert len(settled.gallery) == persons


def test_on_a_telephone_a_short_turn_goes_to_nobody_it_is_no_more_like_than_strangers_are() -> None:
    for channel, assigned in (("wideband", True), ("telephone", False)):
        turns = [
            a_turn("m0", axis(0), channel=channel),
            a_turn("short", between(0.4, 0, 5), at=20, seconds=0.5, channel=channel),
        ]
        _, more = settle(step(FoldState(), turns, DEFAULT)[0], DEFAULT)
        assert bool(more) is assigned
