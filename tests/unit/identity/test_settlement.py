"""What the end of a session decides about turns without a track."""

from __future__ import annotations

from service.identity.router import FoldState, RouterConfig, settle, step
from service.types.people import Assigned, Create, Decision, Unresolved
from tests.unit.identity.voices import a_turn, axis, between, one_after_another

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
