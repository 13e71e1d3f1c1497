"""Who may read a turn, and what may its context view be made of?"""

from __future__ import annotations

import pytest

from service.memory.attendance import attendances, attends
from service.memory.audience import context_of, narrow, readers
from service.types.audio import Segment
from service.types.memory import Addressee, How
from service.types.people import AccessPolicy as Policy
from tests.builders import a_conversation, a_turn, there

TURN = a_turn("mara", 10, 14, "The door code changed.", id="m0")
ROOM = (there("mara", (0, 60)), there("tom", (0, 12)), there("ben", (12.5, 60)))


def who(policy: Policy, **given: object) -> set[str]:
    return set(readers(TURN, policy=policy, attendance=ROOM, **given))  # type: ignore[arg-type]


def test_own_is_the_speaker_alone() -> None:
    assert who(Policy.OWN, addressees=[Addressee("tom", 1.0, How.CALLER)]) == {"mara"}


def test_addressed_adds_whom_the_caller_named_even_when_absent() -> None:
    assert who(Policy.ADDRESSED, addressees=[Addressee("ben", 1.0, How.CALLER)]) == {"mara", "ben"}


def test_addressed_adds_near_certainty_about_somebody_present() -> None:
    assert who(Policy.ADDRESSED, addressees=[Addressee("tom", 0.9, How.ONLY_OTHER)]) == {"mara", "tom"}


@pytest.mark.parametrize(
    "addressee",
    [
        Addressee("tom", 0.89, How.ONLY_OTHER),
        Addressee("ben", 0.95, How.ONLY_OTHER),
        Addressee("tom", 1.0, How.NAMED),
        Addressee("tom", 0.75, How.REPLY),
        Addressee("tom", 0.3, How.ALL),
    ],
)
def test_a_guess_an_absent_person_or_a_name_called_out_grants_nothing(addressee: Addressee) -> None:
    assert who(Policy.ADDRESSED, addressees=[addressee]) == {"mara"}


def test_attended_adds_who_was_there_for_half_of_the_turn() -> None:
    assert who(Policy.ATTENDED) == {"mara", "tom"}  # tom hears 2 of 4 s, ben 1.5
    assert who(Policy.SHARED) == {"mara", "tom"}


def test_half_of_the_turn_must_lie_in_one_interval() -> None:
    assert not attends(there("tom", (10, 11.9), (13, 14)), TURN.segment)


def test_a_moment_without_length_is_attended_from_within_only() -> None:
    assert attends(there("tom", (0, 20)), Segment(10, 10))
    assert not attends(there("tom", (11, 20)), Segment(10, 10))


def test_bots_read_nothing_even_when_they_spoke_attended_and_were_addressed() -> None:
    asked = [Addressee("tom", 1.0, How.CALLER)]
    assert who(Policy.ATTENDED, bots={"tom", "mara"}, addressees=asked) == set()
    assert narrow("mara", bots={"mara"}) == frozenset()


def test_an_unresolved_voice_is_read_by_who_was_there_and_under_own_by_nobody() -> None:
    turn = a_turn(None, 10, 14)
    assert readers(turn, policy=Policy.OWN, attendance=ROOM) == frozenset()
    assert readers(turn, policy=Policy.ATTENDED, attendance=ROOM) == {"mara", "tom"}


def test_from_audio_alone_one_attends_from_the_first_to_the_last_own_turn() -> None:
    turns = [a_turn("mara", 0, 2), a_turn("tom", 3, 4), a_turn("mara", 8, 9), a_turn(None, 20, 21)]
    assert attendances(turns) == (there("mara", (0, 9), source="voice"), there("tom", (3, 4), source="voice"))


def test_given_intervals_stand_as_given() -> None:
    given = there("mara", (5, 6), (0, 1))
    assert attendances([a_turn("mara", 0, 9)], [given]) == (there("mara", (0, 1), (5, 6)),)


def test_the_context_of_a_turn_is_made_of_what_all_its_readers_heard() -> None:
    turns = a_conversation(("mara", "a"), ("tom", "b"), ("mara", "c"), ("tom", "d"), ("mara", "e"))
    heard = {"m0": {"mara", "tom"}, "m1": {"tom"}, "m2": {"mara"}, "m3": {"mara", "tom"}, "m4": {"mara"}}
    audiences = {m: frozenset(r) for m, r in heard.items()}
    assert [t.text for t in context_of(4, turns, audiences)] == ["c", "d"]
    assert [t.text for t in context_of(3, turns, audiences)] == ["a"]


def test_a_turn_that_nobody_may_read_has_no_context() -> None:
    turns = a_conversation(("mara", "a"), (None, "b"))
    assert context_of(1, turns, {"m0": frozenset(), "m1": frozenset()}) == ()
