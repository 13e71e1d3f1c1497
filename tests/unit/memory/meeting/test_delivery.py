"""Delivered twice, in no order, under other ids: CASES.md 1 to 7."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.memory.meeting import Copy, Doubt, Gone, MeetingState, Revised, configured
from service.types.meeting import Base, Ended
from tests.unit.memory.meeting.events import START, Told, says, who

ANA, BEN = who("1", "Ana"), who("2", "Ben")
ROOM = "I will send the numbers on Friday."


def test_case_1_the_same_event_under_other_ids_is_one() -> None:
    end = Ended(key="completed")
    hello = says(ANA, "Hello.", 0.0, id="a")
    meeting = Told(hello, hello, hello, end, end, end, hello).wait()
    assert meeting.texts == ["Hello."] and len(meeting.finished) == 1


def test_case_2_two_subscriptions_tell_one_utterance_twice_without_an_id() -> None:
    """Their content key is one; and should even that differ, so are who, when and what."""
    once = says(ANA, "Guten Morgen.", 1.0, 2.14, base=Base.MEETING)
    assert Told(once, once, replace(once, key="another")).wait().texts == ["Guten Morgen."]


def test_case_4_a_segment_that_comes_again_otherwise_is_revised_where_it_stands() -> None:
    """By its id, or by who began to speak when; a pending one under another id gives way to the one confirmed in its slot."""
    meeting = Told(says(ANA, "hello word", 1.5, 2.4, id="s:1500"), says(BEN, "and den", 3.0)).wait()
    meeting.tell(says(ANA, "Hello, world.", 1.51, 2.5, id="s:1500"), says(BEN, "And then we go.", 3.0, 5.0)).wait()
    assert meeting.texts == ["Hello, world.", "And then we go."]
    assert [type(outcome) for outcome in meeting.outcomes if isinstance(outcome, Revised | Gone)] == [Revised, Revised]
    meeting.tell(says(BEN, "so if we", 6.0, 6.4, id="s:pending", slot="ch-1", final=False))
    meeting.tell(says(BEN, "So if we wait.", 6.0, 7.5, id="s:6000", slot="ch-1"), Ended(key="end")).wait()
    assert meeting.texts[2:] == ["So if we wait."]


def test_case_4_what_is_pending_beyond_the_confirmed_part_stays_pending() -> None:
    meeting = Told(says(BEN, "and the next", 7.5, 8.5, id="s:pending", slot="ch-1", final=False))
    meeting.tell(says(BEN, "So if we wait.", 6.0, 7.5, id="s:6000", slot="ch-1"), Ended(key="end")).wait()
    assert meeting.texts == ["So if we wait.", "and the next"]


def test_case_5_a_late_partial_changes_no_final() -> None:
    final = says(ANA, "We ship on Friday.", 0.0, 2.0, id="a", slot="x")
    by_id = says(ANA, "we shit", 0.0, 1.0, id="a", slot="x", final=False)
    by_slot = says(ANA, "we", 0.0, 0.4, id="b:pending", slot="x", final=False)
    meeting = Told(final, by_id, by_slot).wait()
    meeting.tell(replace(by_id, key="late"), replace(by_slot, key="later"), Ended(key="end")).wait()
    assert meeting.texts == ["We ship on Friday."] and meeting.turns[0].is_final


def test_case_5_a_lower_revision_that_comes_late_changes_nothing() -> None:
    meeting = Told(says(ANA, "Second.", 0.0, id="a", revision=2), says(ANA, "First.", 0.0, id="a", revision=1)).wait()
    assert meeting.texts == ["Second."]
    meeting.tell(says(ANA, "Third.", 0.0, id="a", revision=3)).wait()
    assert meeting.texts == ["Third."]


def test_case_5_of_equal_revisions_the_one_that_happened_later_holds() -> None:
    old = says(ANA, "Old.", 0.0, id="a", at=START)
    new = says(ANA, "New.", 0.0, id="a", at=START + timedelta(seconds=1))
    assert Told(new, old).wait().texts == Told(old, new).wait().texts == ["New."]


def test_case_5_a_second_final_of_an_id_changes_nothing_where_the_backend_has_said_that_finals_hold() -> None:
    """Another segment's words were published under it; elsewhere it is a correction."""
    right, wrong = says(ANA, "We ship on Friday.", 0.0, 2.0, id="a"), says(ANA, "Nobody knows that yet.", 0.0, 2.0, id="a")
    later = replace(wrong, key="later", revision=7, at=START + timedelta(hours=1))
    holds = configured(MeetingState(), finals_hold=True)
    meeting = Told(says(ANA, "we", 0.0, 1.0, id="a", final=False), right, wrong, state=holds).wait()
    assert meeting.tell(later).wait().texts == ["We ship on Friday."]
    assert Told(right, wrong).wait().texts == ["Nobody knows that yet."]
    without_id = [says(ANA, "We shit on Friday.", 5.0, 7.0), says(ANA, "We ship on Friday.", 5.0, 7.5)]
    assert meeting.tell(*without_id).wait().texts == ["We ship on Friday."] * 2


@pytest.mark.parametrize(
    ("first", "second", "texts"),
    [
        ("Yes.", "I will call him.", ["Yes.", "I will call him."]),
        ("Good morning.", "Guten Morgen.", ["Good morning.", "Guten Morgen."]),
        ("Yes.", "Yes, I will call him.", ["Yes, I will call him."]),
        ("um so we ship", "So we ship.", ["So we ship."]),
        ("hello word", "Hello, world.", ["Hello, world."]),
        ("and den", "And then we go.", ["And then we go."]),
    ],
)
def test_of_one_speaker_from_one_instant_on_only_what_reads_like_it_is_a_correction(
    first: str, second: str, texts: list[str]
) -> None:
    """Without ids; a recogniser may have whole seconds."""
    one, other = says(ANA, first, 12.0, 12.5), says(ANA, second, 12.0, 13.0)
    meeting = Told(one, other, one).wait()
    assert meeting.texts == texts
    assert meeting.tell(replace(other, key="again"), replace(one, key="late", final=False)).wait().texts == texts


def test_any_number_of_finals_from_one_instant_are_all_kept() -> None:
    lines = [says(ANA, word, 12.0) for word in "one two three four five six seven eight nine ten eleven twelve".split()]  # noqa: SIM905
    meeting = Told(*lines).wait()
    assert sorted(meeting.texts) == sorted(line.text for line in lines)


def test_case_6_the_copy_after_the_call_is_the_live_line_and_the_better_attributed_stays() -> None:
    live = says(who("7", "Ana Kovář"), "Thank you all for coming today.", 10.0, 12.5)
    batch = says(None, "thank you all for coming today", 10.2, 12.4, source="diariser", confidence=0.99)
    for first, then in ((live, batch), (batch, live)):
        meeting = Told(first).wait()
        meeting.tell(then).wait()
        (turn,) = meeting.turns
        assert (turn.track, turn.text) == ("7", live.text)
        assert [(copy.source, copy.track[:2]) for copy in turn.copies] == [("diariser", "?/")]


def test_case_6_a_short_line_by_id_is_that_of_the_same_name_without_one() -> None:
    """And not that of another name, nor of another id: two people say "not yet" at once."""
    live = says(who("7", "Ana Kovář"), "Not yet.", 10.0)
    for other, num_turns in ((who(None, "Ana Kovář"), 1), (who(None, "Bo"), 2), (who("8", "Ana Kovář"), 2)):
        meeting = Told(live, says(other, "Not yet.", 10.1)).wait()
        assert len(meeting.turns) == num_turns, other


def test_case_6_one_long_copy_of_several_lines_is_all_of_them() -> None:
    lines = [says(ANA, "Shall we begin with the budget?", 0.0, 2.0), says(BEN, "Yes, let us do that.", 2.2, 4.0)]
    whole = says(None, "shall we begin with the budget yes let us do that", 0.0, 4.1, source="diariser")
    assert Told(*lines, whole).wait().texts == Told(whole, *lines).wait().texts == [line.text for line in lines]


def test_case_7_a_meeting_told_again_whole_adds_nothing() -> None:
    lines = [says(ANA, "Good morning everybody.", 0.0, 2.0, id="a"), says(BEN, ROOM, 3.0, 5.0)]
    meeting = Told(*lines, Ended(key="end")).wait()
    before = list(meeting.outcomes)
    assert meeting.tell(*lines, Ended(key="end")).wait().outcomes == before


# ---- echo, two bots


LONG = "I will send the numbers to all of you on Friday."
YEAR = "We agreed that the budget for this year is 40 thousand."


def test_an_echo_on_another_track_is_heard_once_under_the_one_who_said_it() -> None:
    said = says(ANA, LONG, 10.0, 12.0, confidence=0.95)
    echo = says(BEN, "i will send the numbers to all of you on friday", 10.4, 12.3, confidence=0.6)
    for events in ((said, echo), (echo, said)):
        (turn,) = Told(*events).wait().turns
        assert (turn.track, turn.text, [copy.track for copy in turn.copies]) == ("1", LONG, ["2"])


def test_an_echo_that_comes_late_leaves_the_turn_and_is_told_beside_it() -> None:
    meeting = Told(says(ANA, LONG, 10.0, 12.0)).wait()
    meeting.tell(says(BEN, LONG, 10.4, 12.4)).wait()
    assert meeting.texts == [LONG] and isinstance(meeting.outcomes[-1], Revised)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Yes.", "Yes."),
        ("Can you hear me?", "Can you hear me?"),
        ("Thank you very much.", "Thank you very much."),
        ("Happy birthday to you!", "Happy birthday to you!"),
        ("I do not think so.", "I do think so."),
        ("Do we agree on that, and start on Monday the third?", "Start on Monday the third."),
        (YEAR, YEAR.replace("40", "14")),
        (YEAR, YEAR.replace("agreed", "never agreed")),
        (YEAR, YEAR.replace("is 40", "isn't 40")),
    ],
)
def test_what_two_people_say_at_once_is_said_by_both(first: str, second: str) -> None:
    """Nothing of it is thrown away as an echo of the other's, whichever comes first."""
    one, other = says(ANA, first, 10.0, 12.0), says(BEN, second, 10.3, 12.2)
    for events in ((one, other), (other, one)):
        assert sorted(Told(*events).wait().texts) == sorted([first, second])


def test_one_recogniser_does_not_write_down_one_yes_for_two() -> None:
    one, other = says(ANA, "Yes.", 10.0, 12.0), says(None, "Yes.", 10.3, 12.2)
    for events in ((one, other), (other, one)):
        assert Told(*events).wait().texts == ["Yes.", "Yes."]


def test_numbers_and_what_says_no_tell_two_apart_whoever_hears_them() -> None:
    said = says(ANA, YEAR, 10.0, 13.0, source="caption")
    for other in (YEAR.replace("40", "14"), YEAR.replace("agreed", "never agreed")):
        assert len(Told(said, says(BEN, other, 10.2, 13.2)).wait().turns) == 2
    assert len(Told(said, says(BEN, YEAR.replace("We agreed", "We have agreed"), 10.2, 13.2)).wait().turns) == 1


def test_two_people_who_say_yes_at_once_are_two_and_one_who_says_it_twice_says_it_twice() -> None:
    meeting = Told(says(ANA, "Yes.", 1.0, 1.4), says(BEN, "Yes.", 1.1, 1.5), says(ANA, "Yes.", 1.6, 2.0)).wait()
    assert [(turn.track, turn.text) for turn in meeting.turns] == [("1", "Yes."), ("2", "Yes."), ("1", "Yes.")]


def test_a_few_words_in_a_row_that_somebody_else_says_too_are_no_copy() -> None:
    long = says(ANA, "I am sure that we should send it before the end of the week", 10.0, 14.0)
    assert len(Told(long, says(BEN, "No, we should send it.", 11.5, 13.0)).wait().turns) == 2


def test_the_same_sentence_a_minute_later_is_said_again() -> None:
    assert len(Told(says(ANA, ROOM, 10.0, 12.0), says(BEN, ROOM, 70.0, 72.0), says(ANA, ROOM, 14.0, 16.0)).wait().turns) == 3


def test_two_bots_in_one_meeting_tell_each_line_once() -> None:
    """Each names its participants and utterances its own way, and has another clock."""
    lines = [(ANA, "Good morning, shall we start now?", 0.0), (BEN, "Yes, I have three points today.", 3.0)]
    one = [says(speaker, text, start, start + 2.0, id=f"a{start}") for speaker, text, start in lines]
    other = [
        says(replace(speaker, handle=f"x{speaker.handle}"), text, start + 0.7, start + 2.6, id=f"b{start}")
        for speaker, text, start in lines
    ]
    meeting = Told(*(event for pair in zip(one, other, strict=True) for event in pair)).wait()
    assert [turn.track for turn in meeting.turns] == ["1", "2"]
    assert [copy.track for turn in meeting.turns for copy in turn.copies] == ["x1", "x2"]


def test_chat_is_no_copy_of_speech_and_two_lines_of_one_second_stay_two() -> None:
    meeting = Told(
        says(ANA, ROOM, 10.0, 12.0),
        says(ANA, ROOM, 11.0, 11.0, source="chat"),
        says(BEN, "ok", 11.0, 11.0, source="chat"),
        says(BEN, "thanks", 11.0, 11.0, source="chat"),
    ).wait()
    assert sorted(turn.text for turn in meeting.turns if turn.kind == "chat") == sorted([ROOM, "ok", "thanks"])
    assert len(meeting.turns) == 4


def test_what_stays_partial_is_given_up_for_its_final_after_the_end() -> None:
    meeting = Told(says(ANA, "we will sh", 0.0, id="p", slot="x", final=False), Ended(key="end")).wait()
    assert meeting.turns[0].doubts == (Doubt.PARTIAL,)
    meeting.tell(says(ANA, "We will ship.", 0.0, 1.5, id="f", slot="x")).wait()
    assert meeting.texts == ["We will ship."] and not meeting.turns[0].doubts


def test_a_copy_says_whose_it_was() -> None:
    meeting = Told(says(ANA, ROOM, 10.0, 12.0, id="a"), says(BEN, ROOM, 10.4, 12.4, id="b", source="caption")).wait()
    assert meeting.turns[0].copies == (Copy("id:b", "2", "caption"),)
