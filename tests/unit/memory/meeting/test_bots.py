"""Several bots in one meeting: each counts from its own start, and names the same people by ids of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.live.joint import told_by
from service.memory.meeting.bots import Bots
from service.memory.meeting.outcomes import Doubt
from service.types.audio import Segment, Word
from service.types.meeting import Base, Began, Ended, Joined, MeetingEvent, Spoke, Uttered
from tests.unit.memory.meeting.events import START, Told, says, who

ANA, BEN = who("100", "Ana"), who("200", "Ben")
ANA_2, BEN_2 = who("200", "Ana"), who("100", "Ben")
"""As the other bot counts them."""
LATER = 95.0
"""Seconds after the first bot that the second began to record."""


class Both(Told):
    """What two bots tell, each delivery with its bot."""

    bots = Bots()

    def hear(self, bot: str, *events: MeetingEvent) -> Both:
        for event in events:
            self.now += timedelta(seconds=self.every)
            self.bots, told = self.bots.hearing(bot, told_by([event], bot), self.now.timestamp())
            self.now -= timedelta(seconds=self.every)
            self.tell(told)
        return self


def began(bot: str, later: float = 0.0) -> Began:
    return Began(key=f"began {bot}", at=START + timedelta(seconds=later))


def ended(bot: str, **more: str) -> Ended:
    return Ended(key=f"ended {bot}", **more)


def both(*said: tuple[str, str, float], apart: float = 0.4) -> Both:
    """What is said (who, text, seconds since the first bot's start) is told by both, a word heard otherwise by the second."""
    told = Both().hear("one", began("one")).hear("two", began("two", LATER))
    for name, text, at in said:
        first, second = (ANA, ANA_2) if name == "Ana" else (BEN, BEN_2)
        told.hear("one", says(first, text, at, at + 1.5, source="platform"))
        told.hear("two", says(second, text, at - LATER + apart, at - LATER + apart + 1.5))
    return told


def test_each_line_is_told_once_also_a_short_one_and_by_one_id_of_each() -> None:
    lines = [("Ana", "Good morning, shall we start now?", 100.0), ("Ben", "Sounds good.", 104.0), ("Ana", "Yes.", 108.0)]
    meeting = both(*lines).wait()
    assert [(turn.text, turn.segment.start) for turn in meeting.turns] == [
        (text, pytest.approx(at, abs=0.5)) for _, text, at in lines
    ]
    assert len({turn.track for turn in meeting.turns}) == 2
    assert [meeting.people[turn.track].name for turn in meeting.turns] == ["Ana", "Ben", "Ana"]
    assert not any(turn.doubts for turn in meeting.turns)


def test_two_who_say_the_same_at_once_are_two_whoever_tells_it() -> None:
    meeting = both(("Ana", "Yes.", 100.0), ("Ben", "Yes.", 100.2)).wait()
    assert sorted(meeting.people[turn.track].name or "" for turn in meeting.turns) == ["Ana", "Ben"]


def test_who_has_no_name_is_told_once_too() -> None:
    one, two = says(who("7"), "Yes.", 100.0, id="u"), says(who("9"), "Yes.", 100.3 - LATER, id="u")
    meeting = Both().hear("one", began("one")).hear("two", began("two", LATER))
    assert [turn.text for turn in meeting.hear("one", one).hear("two", two).wait().turns] == ["Yes."]


def test_what_one_of_them_missed_is_told() -> None:
    meeting = both(("Ana", "Good morning.", 100.0)).hear("two", says(BEN_2, "I was late.", 10.0)).wait()
    assert [(turn.text, meeting.people[turn.track].name) for turn in meeting.turns] == [
        ("Good morning.", "Ana"),
        ("I was late.", "Ben"),
    ]


def test_the_better_copy_that_comes_later_is_still_of_the_same_participant() -> None:
    meeting = (
        Both().hear("one", began("one"), says(ANA, "shall we start", 100.0, 102.0)).hear("two", began("two", LATER)).wait(5)
    )
    (first,) = meeting.turns
    meeting.hear("two", says(ANA_2, "So, shall we start now?", 100.1 - LATER, 102.1 - LATER)).wait()
    assert [(turn.text, turn.track) for turn in meeting.turns] == [("So, shall we start now?", first.track)]


def test_who_was_known_by_one_of_them_is_still_the_same_when_the_other_goes_on_alone() -> None:
    meeting = both(("Ana", "Good morning, shall we start now?", 100.0), ("Ben", "Yes, I have three points today.", 104.0))
    meeting.hear("two", says(BEN_2, "The first one.", 20.0)).hear("one", ended("one"))
    meeting.hear("two", says(ANA_2, "Go on.", 25.0), says(BEN_2, "The second one.", 30.0)).wait()
    by_name = {name: {t.track for t in meeting.turns if meeting.people[t.track].name == name} for name in ("Ana", "Ben")}
    assert len(meeting.turns) == 5 and [len(tracks) for tracks in by_name.values()] == [1, 1]


def test_a_transcript_by_names_is_of_the_ids_that_were_told_live() -> None:
    """What the other bot's live lines show: who of the first bot a name in its transcript is."""
    sentence = "Good morning, shall we start now?"
    meeting = both(("Ana", sentence, 100.0))
    meeting.hear("one", says(who(None, "Ana"), sentence, 100.1, 101.6, source="transcript"))
    meeting.hear("one", says(who(None, "Ana"), "And nobody heard this live.", 120.0, source="transcript")).wait()
    first, second = meeting.turns
    assert first.track == second.track and not first.track.startswith("/")


def test_what_one_told_alone_is_of_the_same_participant_once_both_have_told_a_sentence() -> None:
    meeting = Both().hear("one", began("one")).hear("two", began("two", LATER), says(ANA_2, "Is anybody there?", 2.0)).wait(5)
    (alone,) = meeting.turns
    sentence = "Good morning, shall we start now?"
    meeting.hear("one", says(ANA, sentence, 110.0, 112.0)).hear("two", says(ANA_2, sentence, 15.2, 17.2)).wait()
    first, second = meeting.turns
    assert first.text == alone.text and first.track == second.track != alone.track


def test_of_two_who_share_a_name_each_stays_who_they_are() -> None:
    """Short words said at once show nothing, whoever has the name."""
    others = {"one": (who("1", "Kim"), who("2", "Kim")), "two": (who("8", "Kim"), who("9", "Kim"))}
    said = [(0, "We have to ship it on Friday.", 100.0), (1, "I would rather wait for the tests.", 104.0)]
    meeting = Both().hear("one", began("one")).hear("two", began("two", LATER))
    for number, text, at in said:
        for bot, zero in (("one", 0.0), ("two", LATER - 0.3)):
            meeting.hear(bot, says(others[bot][number], text, at - zero, at - zero + 1.0))
    for number in (0, 1):
        meeting.hear("two", says(others["two"][number], "Yes.", 13.0 + number / 10, 13.5 + number / 10))
        meeting.hear("one", says(others["one"][number], "Yes.", 108.0 + number / 10, 108.5 + number / 10))
    meeting.hear("two", says(others["two"][0], "Bye.", 20.0), says(others["two"][1], "Bye now.", 25.0)).wait()
    tracks = {turn.text: turn.track for turn in meeting.turns}
    assert tracks[said[0][1]] == tracks["Bye."] != tracks["Bye now."] == tracks[said[1][1]]
    assert len({turn.track for turn in meeting.turns}) == 2 and sum(turn.text == "Yes." for turn in meeting.turns) == 2


def test_marks_of_two_bots_are_not_two_who_speak() -> None:
    meeting = Both().hear("one", began("one")).hear("two", began("two", LATER))
    for bot, speaker, zero in (("one", ANA, 0.0), ("two", ANA_2, LATER)):
        meeting.hear(bot, Spoke(key=bot, speaker=speaker, start=99.0 - zero, end=104.0 - zero, base=Base.MEETING))
    meeting.hear("one", says(None, "Who said this?", 100.0, 102.0)).hear(
        "two", says(ANA_2, "And this, please?", 8.0, 9.0)
    ).wait()
    assert [meeting.people[turn.track].name for turn in meeting.turns] == ["Ana", "Ana"]
    assert not any(Doubt.MARKED in turn.doubts for turn in meeting.turns)


def test_one_that_leaves_does_not_end_what_the_other_tells() -> None:
    meeting = both(("Ana", "Good morning.", 100.0)).hear("one", ended("one", failed="kicked out")).wait(60)
    assert not meeting.finished
    meeting.hear("two", says(BEN_2, "We go on.", 30.0), ended("two")).wait(60)
    assert meeting.texts == ["Good morning.", "We go on."]
    assert [(done.reason, done.failed) for done in meeting.finished] == [("ended", None)]


def test_a_meeting_failed_where_all_of_them_did() -> None:
    meeting = both(("Ana", "Good morning.", 100.0))
    meeting.hear("one", ended("one", failed="a")).hear("two", ended("two", failed="b")).wait(60)
    assert [done.failed for done in meeting.finished] == ["b"]


def test_late_lines_of_one_are_taken_in_when_all_are_gone() -> None:
    meeting = both(("Ana", "Good morning.", 100.0)).hear("one", ended("one")).hear("two", ended("two")).wait(60)
    assert meeting.finished and meeting.hear("one", says(BEN, "And goodbye.", 200.0)).wait().texts[-1] == "And goodbye."


def test_one_whose_start_is_not_told_counts_from_when_its_first_words_came() -> None:
    words = (Word("Hello", Segment(3.0, 3.4)), Word("all.", Segment(3.5, 4.0)))
    line = says(ANA, "Hello all.", 3.0, 4.0, words=words)
    bots, (told,) = Bots().hearing("one", [line], START.timestamp() + 10.0)
    assert isinstance(told, Uttered) and (told.base, told.start) == (Base.EPOCH, START.timestamp() + 9.0)
    assert [word.segment.start - told.start for word in told.words] == pytest.approx([0.0, 0.5])
    _, (second,) = bots.hearing("one", [says(ANA, "Bye.", 20.0, 21.0)], START.timestamp() + 40.0)
    assert isinstance(second, Uttered) and second.start - told.start == pytest.approx(17.0)


def test_a_whole_transcript_without_its_start_keeps_its_times() -> None:
    lines = [says(ANA, f"Line {n}.", n * 10.0) for n in range(5)]
    _, told = Bots().hearing("one", lines, START.timestamp())
    starts = [event.start for event in told if isinstance(event, Uttered)]
    assert [start - starts[0] for start in starts] == pytest.approx([0.0, 10.0, 20.0, 30.0, 40.0])


def test_what_counts_from_1970_stays_whatever_it_is_said_to_count_from() -> None:
    at = START.timestamp() + 5.0
    lines = [says(ANA, "Hello.", at, base=Base.EPOCH), says(ANA, "Hello again.", at + 9.0), Joined(key="j", speaker=ANA)]
    _, told = Bots().hearing("one", [began("one"), *lines], at)
    assert [event.start for event in told if isinstance(event, Uttered)] == [at, at + 9.0]


@given(st.permutations(range(8)))
def test_in_whatever_order_two_bots_deliver_each_line_is_told_once(order: Sequence[int]) -> None:
    said = [("Ana", "Good morning, shall we start now?", 100.0), ("Ben", "Sounds good.", 104.0)]
    said += [("Ana", "I have three points today.", 108.0), ("Ben", "Fine.", 112.0)]
    events = [
        (bot, says(speaker, text, at - zero, at - zero + 1.5))
        for name, text, at in said
        for bot, speaker, zero in (
            ("one", ANA if name == "Ana" else BEN, 0.0),
            ("two", ANA_2 if name == "Ana" else BEN_2, LATER - 0.3),
        )
    ]
    meeting = Both().hear("one", began("one")).hear("two", began("two", LATER))
    for place in order:
        meeting.hear(*events[place])
    assert meeting.wait().texts == [text for _, text, _ in said]
    assert len({turn.track for turn in meeting.turns}) == 2
