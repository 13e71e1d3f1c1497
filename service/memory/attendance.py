"""Who was there, and when? From audio alone: from the first to the last own turn. What a caller or platform says goes first."""

from __future__ import annotations

from collections.abc import Iterable

from service.memory.interactions import Spoken
from service.types.audio import Segment
from service.types.memory import Attendance

VOICE = "voice"
"""`Attendance.source` of what was only heard."""


def attendances(turns: Iterable[Spoken], given: Iterable[Attendance] = ()) -> tuple[Attendance, ...]:
    """One record a person, sorted by id. For a person in `given` the given intervals stand as they are: whoever
    knows when somebody came and went knows more than the turns do."""
    heard: dict[str, Segment] = {}
    for turn in turns:
        if turn.speaker_id is not None:
            before = heard.get(turn.speaker_id, turn.segment)
            heard[turn.speaker_id] = Segment(min(before.start, turn.segment.start), max(before.end, turn.segment.end))
    by_person = {person: Attendance(person, (interval,), VOICE) for person, interval in heard.items()}
    by_person |= {a.person_id: Attendance(a.person_id, tuple(sorted(a.intervals)), a.source) for a in given}
    return tuple(by_person[person] for person in sorted(by_person))


def attends(attendance: Attendance, turn: Segment) -> bool:
    """At least half of `turn` lies inside one of the intervals; a turn without length must lie in one."""
    return any(
        interval.overlap(turn) >= turn.duration / 2 and interval.start <= turn.end and turn.start <= interval.end
        for interval in attendance.intervals
    )
