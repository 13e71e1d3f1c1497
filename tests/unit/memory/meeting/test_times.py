"""When it was said: CASES.md 37 to 41, as far as a meeting's events tell it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from service.memory.meeting import Described, Doubt, MeetingState, configured, due_at
from service.types.audio import Segment, Word
from service.types.meeting import Base, Began, Ended, Speaker, Uttered
from tests.unit.memory.meeting.events import START, Told, says, who

ANA, BEN = who("1", "Ana"), who("2", "Ben")
ZERO = START.timestamp()
BEGAN = Began(key="began", at=START, title="Weekly", zone="Europe/Berlin")


def in_words(event: Uttered, *starts: float) -> Uttered:
    words = zip(event.text.split(), starts, strict=True)
    return replace(event, words=tuple(Word(word, Segment(start, start + 0.2)) for word, start in words))


def test_case_37_an_end_before_its_start_and_a_start_before_the_meetings_are_mended_and_said_so() -> None:
    meeting = Told(BEGAN, says(ANA, "Early.", -0.4, 1.0), replace(says(BEN, "Back.", 5.0), end=4.5)).wait()
    assert [turn.segment for turn in meeting.turns] == [Segment(0.0, 1.0), Segment(4.5, 5.0)]
    assert all(turn.doubts == (Doubt.MENDED,) for turn in meeting.turns)


def test_case_38_words_recognised_in_two_windows_that_overlap_are_said_once() -> None:
    first = in_words(says(ANA, "and now we go to", 118.0, 122.0), 118.2, 119.0, 119.8, 120.6, 121.4)
    then = in_words(says(ANA, "We go to the budget.", 119.9, 124.0), 119.9, 120.7, 121.5, 122.2, 123.0)
    for events in ((first, then), (then, first)):
        meeting = Told(*events).wait()
        assert meeting.texts == ["and now we go to", "the budget."]
        assert meeting.turns[1].segment == Segment(122.2, 124.0)
    late = Told(then).wait().tell(first).wait()
    assert late.texts == ["and now we go to", "the budget."]


def test_case_38_the_same_words_at_other_times_or_of_another_are_said_twice() -> None:
    first = in_words(says(ANA, "no no no", 10.0, 12.0), 10.1, 10.8, 11.6)
    again = in_words(says(ANA, "no we cannot", 11.8, 14.0), 12.3, 12.9, 13.4)
    other = in_words(says(BEN, "no never", 11.5, 13.0), 11.6, 12.4)
    assert Told(first, again, other).wait().texts == ["no no no", "no never", "no we cannot"]


def test_case_39_order_is_that_of_instants_whatever_the_clocks_show() -> None:
    """02:59 in summer time comes before 02:01 in winter time of one night; without a zone nobody knows which it is."""
    summer, winter = timezone(timedelta(hours=2)), timezone(timedelta(hours=1))
    began = Began(key="b", at=datetime(2026, 10, 25, 2, 50, tzinfo=summer), zone="Europe/Berlin")
    one, two = datetime(2026, 10, 25, 2, 59, tzinfo=summer), datetime(2026, 10, 25, 2, 1, tzinfo=winter)
    meeting = Told(
        began,
        says(BEN, "Two.", two.timestamp(), base=Base.EPOCH, at=two),
        says(ANA, "One.", one.timestamp(), base=Base.EPOCH, at=one),
    ).wait()
    assert meeting.texts == ["One.", "Two."] and [turn.segment.start for turn in meeting.turns] == [540.0, 660.0]
    about = next(outcome.about for outcome in meeting.outcomes if isinstance(outcome, Described))
    assert (about.zone, about.started_at) == ("Europe/Berlin", datetime(2026, 10, 25, 0, 50, tzinfo=START.tzinfo))


def test_case_39_a_time_without_a_zone_fixes_no_start() -> None:
    naive = datetime(2026, 3, 29, 2, 30)
    meeting = Told(Began(key="b", at=naive), says(ANA, "Hello.", 3.0, 4.0, at=START + timedelta(seconds=4.5))).wait()
    about = next(outcome.about for outcome in meeting.outcomes if isinstance(outcome, Described))
    assert about.started_at == START + timedelta(seconds=0.5) and not about.is_exact


def test_case_40_each_connections_labels_are_its_own_and_its_times_count_from_one_start() -> None:
    """A socket that goes on counting, or starts over, is put right by its connector: what it tells has a scope and instants."""
    one = says(Speaker("0", scope="c1"), "Before the line dropped.", ZERO + 100.0, base=Base.EPOCH)
    two = says(Speaker("0", scope="c2"), "After it was back.", ZERO + 130.0, base=Base.EPOCH)
    meeting = Told(BEGAN, two, one).wait()
    assert [(turn.track, turn.segment.start) for turn in meeting.turns] == [("c1/0", 100.0), ("c2/0", 130.0)]


def test_case_41_seconds_since_1970_among_seconds_of_the_meeting_are_put_in_their_place() -> None:
    chat = says(BEN, "hi", ZERO + 20.0, ZERO + 20.0, source="chat")  # said to count from the start
    meeting = Told(BEGAN, says(ANA, "Hello.", 1.5, 2.5), chat, says(ANA, "Next.", 30.0)).wait()
    assert [(turn.segment.start, turn.kind) for turn in meeting.turns] == [(1.5, "speech"), (20.0, "chat"), (30.0, "speech")]


def test_case_41_without_a_start_the_two_bases_meet_by_when_words_arrived() -> None:
    def at(seconds: float) -> datetime:
        return START + timedelta(seconds=seconds)

    spoken = [says(ANA, f"Line number {n}.", n * 10.0, n * 10.0 + 2.0, at=at(n * 10.0 + 2.0 + n % 3)) for n in range(3)]
    chat = says(BEN, "hi", ZERO + 15.0, ZERO + 15.0, base=Base.EPOCH, source="chat")
    meeting = Told(chat, *spoken).wait()
    assert meeting.started_at == START and [turn.segment.start for turn in meeting.turns] == [0.0, 10.0, 15.0, 20.0]


def test_case_41_a_time_that_no_meeting_has_is_said_when_it_came() -> None:
    absurd = says(BEN, "Where am I?", 1.78e12, 1.78e12 + 1, base=Base.EPOCH, at=START + timedelta(seconds=7))
    meeting = Told(BEGAN, says(ANA, "Hello.", 1.0), absurd).wait()
    assert meeting.turns[1].segment == Segment(7.0, 7.0) and meeting.turns[1].doubts == (Doubt.MENDED,)
    assert meeting.turns[1].words == ()


def test_the_start_is_the_first_word_where_nothing_else_tells_it_and_stays() -> None:
    meeting = Told(
        says(BEN, "Two.", ZERO + 12.0, base=Base.EPOCH), says(ANA, "One.", ZERO + 10.0, base=Base.EPOCH), every=0.5
    ).wait()
    meeting.tell(Began(key="b", at=START, title="Weekly")).wait()
    assert [turn.segment.start for turn in meeting.turns] == [0.0, 2.0]
    assert meeting.started_at == START + timedelta(seconds=10)
    described = [outcome.about for outcome in meeting.outcomes if isinstance(outcome, Described)]
    assert [about.title for about in described] == [None, "Weekly"] and described[1].started_at == described[0].started_at


def test_a_source_says_when_a_meeting_without_deliveries_is_over() -> None:
    meeting = Told(says(ANA, "Hello.", 0.0), state=configured(MeetingState(), idle=60.0)).wait(30.0)
    due = due_at(meeting.state)
    assert due is not None and due - meeting.now == timedelta(seconds=30)
    assert meeting.wait(30.0).finished[0].reason == "idle" and due_at(meeting.state) is None


def test_what_comes_after_an_empty_meeting_was_taken_for_over_says_when_it_began() -> None:
    """A webhook that says nothing but that a transcript is there, which takes an hour to be fetched."""
    meeting = Told().tell([]).wait(3600.0)
    assert meeting.finished[0].reason == "idle" and not [o for o in meeting.outcomes if isinstance(o, Described)]
    meeting.tell([BEGAN, says(ANA, "Hello.", 1.0), Ended(key="e")]).wait()
    described = [o.about for o in meeting.outcomes if isinstance(o, Described)]
    assert [about.started_at for about in described] == [BEGAN.at] and [turn.segment.start for turn in meeting.turns] == [1.0]


def test_an_end_says_why_there_is_nothing_and_how_long_it_was() -> None:
    (finished,) = Told(BEGAN, Ended(key="e", failed="bot_kicked", duration=61.5)).wait().finished
    assert (finished.reason, finished.failed, finished.duration) == ("failed", "bot_kicked", 61.5)
