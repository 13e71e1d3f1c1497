"""Whatever way the same deliveries come, the same is said: nothing lost, nothing twice, nothing invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from service.memory.meeting import MeetingState, Outcome, advance, step
from service.memory.meeting.utterances import uid_of
from service.types.audio import Segment, Word
from service.types.meeting import NOBODY, Base, Began, Ended, Joined, MeetingEvent, Speaker, Spoke, Uttered, Withdrawn
from tests.unit.memory.meeting.events import START, Told, says, turns_of, who

WORDS = ["we", "ship", "the", "plan", "on", "friday", "and", "nobody", "knows", "about", "that", "budget", "yet", "so", "yes"]
SPEAKERS = [who("1", "Ana"), who("2", "Ben"), Speaker("0", scope="c1"), who("bot", "Bot", is_bot=True), NOBODY]


def in_time(event: Uttered) -> Uttered:
    """With times of its words, evenly."""
    words = event.text.split()
    each = (event.end - event.start) / len(words)
    times = [Segment(event.start + n * each, event.start + (n + 1) * each) for n in range(len(words))]
    return replace(event, words=tuple(Word(word, time) for word, time in zip(words, times, strict=True)))


def spoke(speaker: Speaker, start: float, end: float | None) -> Spoke:
    return Spoke(key=f"{speaker.handle} {start} {end}", speaker=speaker, start=start, end=end, base=Base.MEETING)


DATES = st.none() | st.datetimes(timezones=st.just(UTC))
Delivery = tuple[float, MeetingEvent]
"""When it is sent, seconds from the start; and what."""


@st.composite
def meetings(draw: st.DrawFn) -> list[Delivery]:
    """With partials and corrections, by id or by slot or by neither, echoes, withdrawals, an end."""
    sent: list[Delivery] = [(0.0, Began(key="began", at=START))]
    start = 1.0
    for number in range(draw(st.integers(1, 7))):
        start = round(start + draw(st.floats(0.3, 6.0)), 2)
        end = round(start + draw(st.floats(0.3, 4.0)), 2)
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)))
        speaker = draw(st.sampled_from(SPEAKERS))
        how = draw(st.sampled_from(["id", "slot", "none"]))
        names = {"id": {"id": f"u{number}"}, "slot": {"id": f"u{number}", "slot": f"s{number}"}, "none": {}}[how]
        for part in range(draw(st.integers(0, 2))) if how != "none" else ():
            piece = text[: (part + 1) * 4]
            partly = {**names, "id": f"u{number}:pending"} if how == "slot" else names
            sent.append((start + 0.1 * part, says(speaker, piece, start, end, final=False, revision=part, **partly)))
        final = says(speaker, text, start, end, source=draw(st.sampled_from(["platform", "caption", "transcript"])), **names)
        sent.append((end, in_time(final) if draw(st.booleans()) else final))
        if draw(st.booleans()):
            sent.append((end, spoke(draw(st.sampled_from(SPEAKERS)), round(start + draw(st.floats(-1.0, 2.0)), 2), end)))
        if how != "none" and draw(st.booleans()):
            sent.append((end + 0.5, says(draw(st.sampled_from(SPEAKERS)), text + " now", start, end, revision=1, **names)))
        if draw(st.booleans()):
            echo = says(draw(st.sampled_from(SPEAKERS)), text, round(start + 0.3, 2), end, confidence=draw(st.floats(0, 1)))
            sent.append((end + 0.2, echo))
        if how != "none" and draw(st.integers(0, 5)) == 0:
            sent.append((end + 0.8, Withdrawn(key=f"w{number}", id=f"u{number}")))
    return [*sorted(sent, key=lambda delivery: delivery[0]), (start + 30.0, Ended(key="ended"))]


def delivered(draw: st.DrawFn, sent: Sequence[Delivery], *, late: float) -> list[Delivery]:
    """Each once or more, each up to `late` seconds after it was sent."""
    times = [(at + draw(st.floats(0.0, late)), event) for at, event in sent for _ in range(draw(st.integers(1, 2)))]
    return sorted(times, key=lambda delivery: delivery[0])


def folded(deliveries: Sequence[Delivery]) -> list[Outcome]:
    state = MeetingState()
    outcomes: list[Outcome] = []
    for at, event in deliveries:
        state, new = step(state, [event], START + timedelta(seconds=at))
        outcomes += new
    return [*outcomes, *advance(state, START + timedelta(days=1))[1]]


class TestAnyOrder:
    @settings(max_examples=40, deadline=None)
    @given(st.data(), meetings())
    def test_the_turns_are_those_of_an_orderly_delivery(self, data: st.DataObject, sent: list[Delivery]) -> None:
        mixed = st.composite(delivered)(sent, late=1.9)
        assert turns_of(folded(data.draw(mixed))) == turns_of(folded(sent))

    @settings(max_examples=50, deadline=None)
    @given(st.data(), meetings())
    def test_any_lateness_at_all_leaves_the_same_turns(self, data: st.DataObject, sent: list[Delivery]) -> None:
        """Beyond the wait turns are revised, or told out of order; in the end the same is said."""
        mixed = st.composite(delivered)(sent, late=200.0)
        assert turns_of(folded(data.draw(mixed))) == turns_of(folded(sent))

    @settings(max_examples=40, deadline=None)
    @given(st.data(), meetings())
    def test_folding_again_tells_the_same_however_often_time_passed_in_between(
        self, data: st.DataObject, sent: list[Delivery]
    ) -> None:
        """So whoever wrote the first n outcomes before a crash goes on with the next one."""
        deliveries = data.draw(st.composite(delivered)(sent, late=5.0))
        state = MeetingState()
        outcomes: list[Outcome] = []
        for number, (at, event) in enumerate(deliveries):
            state, new = step(state, [event], START + timedelta(seconds=at))
            outcomes += new
            following = deliveries[number + 1][0] if number + 1 < len(deliveries) else at + 100.0
            for share in sorted(data.draw(st.lists(st.floats(0.0, 1.0), max_size=2))):
                state, new = advance(state, START + timedelta(seconds=min(following, at + share * (following - at))))
                outcomes += new
        assert [*outcomes, *advance(state, START + timedelta(days=1))[1]] == folded(deliveries)

    @settings(max_examples=50, deadline=None)
    @given(meetings())
    def test_nothing_is_invented_and_no_final_is_lost(self, sent: list[Delivery]) -> None:
        events = [event for _, event in sent if isinstance(event, Uttered)]
        withdrawn = {event.id for _, event in sent if isinstance(event, Withdrawn)}
        turns = turns_of(folded(sent))
        told = {turn.key for turn in turns} | {copy.key for turn in turns for copy in turn.copies}
        texts = [event.text for event in events]
        assert all(any(turn.text in text for text in texts) for turn in turns)
        finals = {event.id for event in events if event.final and event.id is not None} - withdrawn
        assert {f"id:{id}" for id in finals} <= told
        assert not {f"id:{id}" for id in withdrawn} & told
        assert {uid_of(event) for event in events if event.final and event.id is None} <= told

    @settings(max_examples=40, deadline=None)
    @given(st.data(), meetings())
    def test_one_delivery_or_many_is_the_same(self, data: st.DataObject, sent: list[Delivery]) -> None:
        state = MeetingState()
        outcomes: list[Outcome] = []
        for at in sorted({at for at, _ in sent}):
            state, new = step(state, [event for when, event in sent if when == at], START + timedelta(seconds=at))
            outcomes += new
        assert turns_of([*outcomes, *advance(state, START + timedelta(days=1))[1]]) == turns_of(folded(sent))


def test_what_a_delivery_changes_is_told_in_its_order_whether_time_was_told_before_it_or_not() -> None:
    """Of two that waited, and were told when it came: what it changes of the second is not told before the first."""
    text = "we ship it all on Friday then"
    echo, said = says("2", text, 2.3, confidence=0.0), says("1", text, 2.0, id="a")
    told = []
    for seconds in (0.0, 2.5):
        meeting = Told(Began(key="b", at=START), echo, said)
        if seconds:
            meeting.wait(seconds)
        meeting.now = START + timedelta(seconds=3.0)
        told.append(meeting.tell(says("1", f"{text} now", 2.0, id="a", revision=1)).wait().outcomes)
    assert told[0] == told[1]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(), st.floats(), st.sampled_from(Base), DATES), max_size=6))
def test_any_times_at_all_are_a_meetings(times: list[tuple[float, float, Base, datetime | None]]) -> None:
    events: list[MeetingEvent] = []
    for number, (start, end, base, at) in enumerate(times):
        events.append(says(str(number), f"Line {number}.", start, end, base=base, at=at))
        events.append(Spoke(key=f"s{number}", speaker=who(str(number)), start=start, end=end, base=base, at=at))
        events.append(Joined(key=f"j{number}", speaker=who(str(number)), at=at))
    for turn in Told(*events, Ended(key="e")).wait().turns:
        assert 0.0 <= turn.segment.start <= turn.segment.end <= 31 * 86_400.0


def test_a_partial_after_the_final_is_dropped_in_every_order_of_the_three() -> None:
    early = says("1", "we", 0.0, 1.0, id="a", final=False)
    final = says("1", "We ship.", 0.0, 1.0, id="a")
    late = replace(early, key="late", text="we sh", revision=9)
    for events in ([early, final, late], [final, early, late], [late, final, early], [late, early, final]):
        assert Told(*events, Ended(key="e")).wait().texts == ["We ship."]


def test_received_times_that_go_back_change_nothing_that_was_told() -> None:
    """Two services of one inbox have two clocks."""
    state = MeetingState()
    outcomes: list[Outcome] = []
    clocks: list[datetime] = [START + timedelta(seconds=s) for s in (0.0, 3.0, 1.0, 6.0, 5.0)]
    for number, clock in enumerate(clocks):
        state, new = step(state, [says("1", f"Line number {number} of it.", 4.0 * number)], clock)
        outcomes += new
    assert len(turns_of([*outcomes, *advance(state, START + timedelta(hours=1))[1]])) == 5
