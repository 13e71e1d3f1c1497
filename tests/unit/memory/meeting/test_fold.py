"""One delivery after the other: what is told, when, and in which order."""

from __future__ import annotations

from datetime import timedelta

from service.memory.meeting import Doubt, Given, MeetingState, advance, due_at, step
from service.types.meeting import Base, Began, Ended, Withdrawn
from tests.unit.memory.meeting.events import START, Told, says, who

ANA, BEN = who("1", "Ana"), who("2", "Ben")


def test_a_turn_is_told_once_it_has_waited_and_not_before() -> None:
    meeting = Told(says(ANA, "Hello.", 0.0, id="a"))
    assert meeting.texts == []
    due = due_at(meeting.state)
    assert due is not None and due - meeting.now == timedelta(seconds=2)
    assert meeting.wait(2.0).texts == ["Hello."]


def test_turns_are_told_in_the_order_in_which_they_were_said_not_delivered() -> None:
    meeting = Told(says(BEN, "Second.", 2.0, id="b"), says(ANA, "First.", 0.0, id="a"), says(ANA, "Third.", 4.0, id="c")).wait()
    given = [outcome.turn.text for outcome in meeting.outcomes if isinstance(outcome, Given)]
    assert given == ["First.", "Second.", "Third."]


def test_a_partial_is_told_only_where_no_final_comes() -> None:
    meeting = Told(says(ANA, "Hel", 0.0, id="a", final=False), says(ANA, "Hello.", 0.0, id="a")).wait()
    meeting.tell(says(BEN, "And the", 5.0, id="b", final=False)).wait()
    assert meeting.texts == ["Hello."]
    meeting.tell(Ended(key="end")).wait()
    assert meeting.texts == ["Hello.", "And the"]
    assert meeting.turns[1].doubts == (Doubt.PARTIAL,) and not meeting.turns[1].is_final
    assert [finished.reason for finished in meeting.finished] == ["ended"]


def test_what_comes_after_the_end_is_told_and_the_end_again() -> None:
    meeting = Told(says(ANA, "Hello.", 0.0, id="a"), Ended(key="end")).wait()
    meeting.tell(says(BEN, "Bye.", 5.0, id="b")).wait()
    assert meeting.texts == ["Hello.", "Bye."] and len(meeting.finished) == 2


def test_a_meeting_without_deliveries_is_over_when_it_has_been_idle() -> None:
    meeting = Told(says(ANA, "Hello.", 0.0)).wait(1_700)
    assert meeting.finished == []
    meeting.wait(200)
    assert [finished.reason for finished in meeting.finished] == ["idle"]


def test_an_empty_meeting_ends_without_a_turn() -> None:
    meeting = Told(Began(key="began", at=START), Ended(key="end")).wait()
    assert meeting.turns == [] and [finished.reason for finished in meeting.finished] == ["ended"]


def test_what_is_withdrawn_is_gone_and_does_not_come_back() -> None:
    meeting = Told(says(ANA, "Hello.", 0.0, id="a"), says(ANA, "Bye.", 3.0, id="b")).wait()
    meeting.tell(Withdrawn(key="w", id="a"), says(ANA, "Hello!", 0.0, id="a", revision=1)).wait()
    assert meeting.texts == ["Bye."]
    assert Told(Withdrawn(key="w", id="a"), says(ANA, "Hello.", 0.0, id="a")).wait().texts == []
    partial = says(ANA, "Hel", 0.0, id="p", slot="x", final=False)
    assert Told(partial, Withdrawn(key="w", id="p"), Ended(key="e")).wait().texts == []


def test_a_step_leaves_the_state_it_was_given_as_it_was() -> None:
    before, _ = step(MeetingState(), [says(ANA, "Hello.", 0.0, id="a")], START)
    one = step(before, [says(ANA, "Hello you.", 0.0, id="a", revision=1)], START)
    other = step(before, [says(BEN, "Hm.", 1.0, id="b")], START)
    assert step(before, [says(ANA, "Hello you.", 0.0, id="a", revision=1)], START) == one != other


def test_passing_time_may_be_said_or_not() -> None:
    """What is told, and its order, follows from the deliveries alone: a service that broke down goes on with the n-th."""
    events = [says(ANA, "One.", 3.0), says(BEN, "Two.", 1.0), Ended(key="end"), says(BEN, "Three.", 2.0)]
    told: list[list[object]] = []
    for pauses in ([], [0.5], [1.0, 1.5, 2.9], [2.0, 2.5]):
        state = MeetingState()
        outcomes: list[object] = []
        for number, event in enumerate(events):
            received = START + timedelta(seconds=3.0 * number)
            state, new = step(state, [event], received)
            outcomes.extend(new)
            for pause in pauses:
                state, new = advance(state, received + timedelta(seconds=pause))
                outcomes.extend(new)
        state, new = advance(state, START + timedelta(days=1))
        told.append([*outcomes, *new])
    assert told[0] == told[1] == told[2] == told[3]


def test_times_of_either_base_count_from_the_meetings_start() -> None:
    epoch = START.timestamp()
    meeting = Told(
        Began(key="began", at=START), says(ANA, "Hello.", 1.0), says(BEN, "Hi.", epoch + 2.0, base=Base.EPOCH)
    ).wait()
    assert [turn.segment.start for turn in meeting.turns] == [1.0, 2.0] and meeting.started_at == START


def test_what_was_never_final_and_nobodys_is_told_at_the_end_whatever_its_times() -> None:
    """Nothing says then when the meeting began."""
    for start in (0.0, 1e9, 1e15, float("nan")):
        for base in Base:
            meeting = Told(says(None, "Hello?", start, id="a", base=base, final=False), Ended(key="end")).wait()
            assert meeting.texts == ["Hello?"] and len(meeting.finished) == 1


def test_an_end_that_was_none_is_not_told_again_at_each_pause() -> None:
    meeting = Told(says(ANA, "First.", 1.0), Ended(key="end"))
    for number in range(20):
        meeting.wait(15.0).tell(says(ANA, f"Sentence number {number}.", 10.0 + 15.0 * number))
    meeting.wait(400.0)
    assert len(meeting.texts) == 21 and len(meeting.finished) == 2
    for number in range(20, 25):
        meeting.tell(says(ANA, f"Sentence number {number}.", 10.0 + 15.0 * number)).wait(301.0)
    assert len(meeting.finished) == 7, "it ends nevertheless"
