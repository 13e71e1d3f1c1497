"""Who is held to have been in a meeting by when the platform says they came: in a room one meeting follows another."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.memory.meeting import Participant
from service.types.audio import Segment
from service.types.meeting import Base, Began, Ended, Joined, Left, MeetingEvent, Spoke
from tests.unit.memory.meeting.events import START, Told, says, who

ANA, BEN = who("1", "Ana"), who("2", "Ben")
HOUR = 3600.0
BEGAN = Began(key="began", at=START)
FIRST = says(BEN, "The budget is secret.", 20.0, at=START + timedelta(seconds=21))
LAST = says(BEN, "More of it.", 100.0, at=START + timedelta(seconds=101))


def moved(kind: type[Joined] | type[Left], at: float) -> Joined | Left:
    return kind(key=f"{kind.__name__} {at}", speaker=ANA, at=START + timedelta(seconds=at))


def in_the_end(*events: MeetingEvent, told: float = 120.0) -> Participant:
    """Ana, where `events` are told so many seconds after the start of a meeting in which Ben speaks."""
    meeting = Told(BEGAN, FIRST, LAST)
    meeting.now = max(meeting.now, START + timedelta(seconds=told))
    return meeting.tell(*events, Ended(key="ended")).wait().people["1"]


@pytest.mark.parametrize("before", [1.0, 600.0, HOUR, 24 * HOUR, 30 * 24 * HOUR])
def test_of_whom_late_is_told_that_they_came_before_the_meeting_is_not_in_it(before: float) -> None:
    found = in_the_end(moved(Joined, -before))
    assert found.attends == () and found.here_since is None


def test_what_is_told_of_them_in_the_meeting_says_that_they_are_in_it() -> None:
    came, whole = moved(Joined, -60.0), (Segment(0.0, 101.0),)
    spoken = says(ANA, "And I heard it.", 30.0, 31.0)
    mark = Spoke(key="mark", speaker=ANA, start=30.0, end=31.0, base=Base.MEETING)
    for event in (spoken, mark):
        assert in_the_end(came, event).attends == in_the_end(event, came).attends == whole
    assert in_the_end(came, moved(Left, 50.0)).attends == (Segment(0.0, 50.0),)


def test_whoever_went_before_the_meeting_was_not_in_it_even_for_a_moment() -> None:
    assert in_the_end(moved(Joined, -60.0), moved(Left, -10.0)).attends == ()
    assert in_the_end(moved(Joined, -60.0), moved(Left, -10.0), told=-10.0).attends == ()
    spoken = says(ANA, "Hello.", 30.0, 31.0)
    assert in_the_end(moved(Joined, -60.0), moved(Left, -10.0), spoken).attends == ()


def test_well_before_the_meeting_is_of_another_one_whoever_speaks_in_this() -> None:
    """They are held to be there from when they came to this one."""
    spoken = says(ANA, "Hello.", 30.0, 31.0)
    assert in_the_end(moved(Joined, -HOUR), spoken).attends == ()
    assert in_the_end(moved(Joined, -HOUR), moved(Joined, 25.0), spoken).attends == (Segment(25.0, 101.0),)
    assert in_the_end(moved(Joined, -60.0), moved(Joined, 25.0), spoken).attends == (Segment(25.0, 101.0),)


def test_who_is_told_of_when_they_come_waits_for_the_meeting_to_begin() -> None:
    meeting = Told()
    meeting.now = START - timedelta(seconds=1_000)
    meeting.tell(moved(Joined, -1_000.0)).wait(995.0)
    ana = meeting.tell(BEGAN, FIRST, LAST, Ended(key="ended")).wait().people["1"]
    assert ana.attends == (Segment(0.0, 101.0),)


def test_that_it_was_told_at_once_counts_whatever_comes_first() -> None:
    late, at_once = moved(Joined, -30.0), moved(Joined, -30.0)
    meeting = Told()
    meeting.now = START - timedelta(seconds=30)
    meeting.tell(at_once, BEGAN, FIRST, LAST).wait(200).tell(Joined(key="again", speaker=ANA, at=late.at), Ended(key="ended"))
    assert meeting.wait().people["1"].attends == (Segment(0.0, 101.0),)
