"""Whatever a backend tells of one participant, or of one moment, a fold takes no more than so long for each of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from service.memory.meeting import MeetingState, step
from service.memory.meeting.state import MeetingConfig
from service.types.audio import Segment
from service.types.meeting import AccountKey, Base, Began, Ended, Joined, Left, MeetingEvent, Renamed, Spoke
from tests.unit.memory.meeting.events import START, Told, says, who

ANA = who("1", "Ana")
CONFIG = MeetingConfig()


CROWDS: dict[str, Callable[[int], MeetingEvent]] = {
    "renamed": lambda n: Renamed(key=f"r{n}", speaker=who("1", f"Name {n}")),
    "joined": lambda n: Joined(key=f"j{n}", speaker=ANA, at=START + timedelta(seconds=n)),
    "left": lambda n: Left(key=f"l{n}", speaker=ANA, at=START + timedelta(seconds=n)),
    "accounts": lambda n: Renamed(key=f"a{n}", speaker=who("1", "Ana", account=AccountKey("zoom", str(n)))),
    "marked": lambda n: Spoke(key=f"s{n}", speaker=who(f"h{n}"), start=1.0, end=1.5, base=Base.MEETING),
    "said": lambda n: says(f"h{n}", f"The same words {n}.", 1.0, 2.0),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_what_is_told_of_one_takes_as_long_for_each_of_many(crowd: str) -> None:
    """Linear: six times as many do not take more than some fifteen times as long."""

    def seconds(number: int) -> float:
        state, _ = step(MeetingState(), [Began(key="b", at=START), says(ANA, "Hello.", 0.0)], START)
        state, _ = step(state, [], START + timedelta(seconds=5))
        events = [CROWDS[crowd](n) for n in range(number)]
        began = time.process_time()
        for first in range(0, number, 200):
            state, _ = step(state, events[first : first + 200], START + timedelta(seconds=6 + first))
        return time.process_time() - began

    few, many = seconds(400), seconds(2_400)
    assert many < 15.0 * max(few, 0.02), (few, many)


def test_of_many_names_the_latest_are_kept_and_one_that_is_earned() -> None:
    earned = says(who("1", "Ana Ruiz"), "Hello.", 0.0)
    renames = [Renamed(key=f"r{n}", speaker=who("1", f"Name {n}", confidence=0.0)) for n in range(100)]
    ana = Told(earned, *renames).wait().people["1"]
    assert len(ana.names) == CONFIG.people.names and ana.name == "Ana Ruiz" and "Name 99" in ana.names


def test_whose_comings_and_goings_are_more_than_are_kept_is_there_for_none_of_the_rest() -> None:
    """That somebody went is never forgotten to their advantage."""
    most = CONFIG.people.moves
    moves: list[MeetingEvent] = []
    for n in range(most + 100):
        moves.append(Joined(key=f"j{n}", speaker=ANA, at=START + timedelta(seconds=10.0 * n)))
        moves.append(Left(key=f"l{n}", speaker=ANA, at=START + timedelta(seconds=10.0 * n + 5.0)))
    events = [Began(key="b", at=START), says(who("2"), "Hello.", 0.0), says(who("2"), "Bye.", 20.0 * most)]
    for told in (moves, moves[::-1]):
        ana = Told(*events, *told, Ended(key="e"), every=0.001).wait().people["1"]
        assert ana.attends == tuple(Segment(10.0 * n, 10.0 * n + 5.0) for n in range(most))
