"""CASES.md 23, of what is told: eight hours of a meeting are a second or two of work, and what is remembered is as much
as was said."""

from __future__ import annotations

import time
from datetime import timedelta

from service.memory.meeting import Given, MeetingState, Outcome, advance, step
from service.types.meeting import Base, Began, Ended, MeetingEvent, Spoke
from tests.unit.memory.meeting.events import START, Told, says, turns_of, who

HOURS, EVERY = 8, 10
"""The latter in seconds: how often something is said."""
MOST = 20.0
"""Seconds of CPU; it takes two to three."""
TEXTS = (
    "So what do we do about line {}?",
    "Yes.",
    "I will look at number {} after lunch.",
    "Okay.",
    "Then we leave {} as it is until Friday.",
)
PEOPLE = [who(str(n), f"Speaker {n}") for n in range(7)]
LINES = [
    (PEOPLE[n * n % 7], TEXTS[n % 5].format(n), float(start), start + 2.5)
    for n, start in enumerate(range(0, HOURS * 3600, EVERY))
]


def of_a_line(n: int) -> list[MeetingEvent]:
    """Somebody is marked, a partial, the final, now and then twice; and a partial that is late."""
    speaker, text, start, end = LINES[n]
    mark = Spoke(key=f"m{n}", speaker=speaker, start=start, end=end, base=Base.MEETING)
    partial = says(speaker, text[:5], start, start + 0.5, id=f"p{n}", slot="s", final=False)
    final = says(speaker, text, start, end, id=f"u{n}", slot="s")
    return [mark, partial, final, *((final, partial) if n % 5 == 0 else ())]


def test_case_23_eight_hours_are_told_whole_once_and_in_order_in_little_time() -> None:
    outcomes: list[Outcome] = []
    began = time.process_time()
    state, new = step(MeetingState(), [Began(key="began", at=START)], START)
    for n, (_, _, _, end) in enumerate(LINES):
        for event in of_a_line(n):
            state, new = step(state, [event], START + timedelta(seconds=end + 0.1))
            outcomes += new
        if n % 500 == 499:
            assert len(state.waiting) <= 1 and not list(state.open.items()) and not list(state.unmarked.items())
    state, new = step(state, [Ended(key="ended")], START + timedelta(hours=HOURS))
    outcomes += [*new, *advance(state, START + timedelta(hours=HOURS + 1))[1]]
    took = time.process_time() - began
    given = [outcome.turn for outcome in outcomes if isinstance(outcome, Given)]
    assert [(turn.text, turn.segment.start, turn.track) for turn in given] == [
        (t, start, who.handle) for who, t, start, _ in LINES
    ]
    assert len(turns_of(outcomes)) == len(LINES) and len(outcomes) < 1.1 * len(LINES)
    held = (state.seen, state.said, state.given, state.around.lines, state.around.near, state.around.marks)
    assert all(sum(map(len, shelf.levels)) <= 2 * (len(LINES) * 2 + 1) and len(shelf.levels) < 20 for shelf in held)
    assert took < MOST, took


def test_marks_of_eight_hours_before_the_first_word_are_kept_and_cost_no_more_each() -> None:
    """Words come at the end, of a backend that is sent for its sound: nothing says before which second of them is which."""

    def seconds(number: int) -> tuple[MeetingState, float]:
        state, began = MeetingState(), time.process_time()
        for n in range(number):
            mark = Spoke(key=f"m{n}", speaker=PEOPLE[n % 7], start=2.0 * n, end=2.0 * n + 1.5, base=Base.MEETING)
            state, _ = step(state, [mark], START + timedelta(seconds=2 * n))
        return state, time.process_time() - began

    (_, few), (state, many) = seconds(1_500), seconds(6_000)
    assert many < 12.0 * max(few, 0.02), (few, many)
    line = says(None, "So what do we do about that?", 7.0, 7.4, source="diariser")
    told = Told(state=state)
    told.now = START + timedelta(seconds=12_000)
    told.tell(Began(key="began", at=START), line, Ended(key="ended"))
    assert [turn.track for turn in told.wait().turns] == [PEOPLE[3].handle]
