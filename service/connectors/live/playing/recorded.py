"""What is a recorded meeting, and when is each of its events told again?

JSON lines, each a message of our own protocol (service.connectors.live.generic_schema): a text editor makes one. An event is
told when its `at` says, else when what it tells is over, and never before the one on the line above: so lines can stand in the
order in which a careless network brought them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from service.connectors.live import EventUnreadable
from service.connectors.live.generic_schema import message, read_text
from service.types.audio import Segment
from service.types.ids import derived
from service.types.meeting import Base, Began, Heard, Joined, Left, MeetingEvent, Renamed, Speaker, Spoke, Uttered


@dataclass(frozen=True, slots=True)
class Step:
    after: float
    """Seconds since the first event, never less than those of the step before."""
    event: MeetingEvent


@dataclass(frozen=True, slots=True)
class Recorded:
    meeting: str
    began_at: datetime | None
    """Second 0, UTC; None: the recording has no date."""
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Manner:
    """How badly it is delivered."""

    speed: float = 1.0
    """Meeting seconds in one of ours, > 0."""
    shuffle: float = 0.0
    """Each delivery comes up to this many meeting seconds late, >= 0."""
    duplicate: float = 0.0
    """Share of the deliveries that come once more under another id, [0, 1]."""
    drop: float = 0.0
    """Share of the deliveries whose connection is cut before the answer is read, and which are sent again, [0, 1]."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Sending:
    after: float
    """Our seconds since the first."""
    event: MeetingEvent
    id: str
    """Of the delivery: the same whenever this recording is played."""
    copy: int = 0
    """0: the first; above: once more."""
    is_cut: bool = False


def read_recorded(path: Path) -> Recorded:
    """Raises EventUnreadable with the line; of a file that is not there, OSError."""
    with path.open("rb") as lines:
        return recorded(lines)


def recorded(lines: Iterable[bytes]) -> Recorded:
    """Raises EventUnreadable."""
    meeting: str | None = None
    events: list[MeetingEvent] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            told = read_text(line)
        except EventUnreadable as problem:
            raise EventUnreadable(**{**problem.facts, "place": f"line {number}, {problem.facts['place']}"}) from problem
        if told.meeting != (meeting := meeting or told.meeting):
            raise EventUnreadable(provider="generic", place=f"line {number}, meeting", what="another than on the first line.")
        events.extend(told.events)
    if meeting is None:
        raise EventUnreadable(provider="generic", place="the whole file", what="there is no event in it.")
    dated = [event for event in events if event.at is not None]
    began_at = next((event.at for event in dated if isinstance(event, Began)), dated[0].at if dated else None)
    return Recorded(meeting, began_at, _steps(events, began_at))


def lines_of(recording: Recorded) -> Iterator[str]:
    """The recording as it is written."""
    for step in recording.steps:
        yield json.dumps(message(recording.meeting, [step.event]), ensure_ascii=False) + "\n"


def moved(recording: Recorded, began_at: datetime) -> Recorded:
    """The same meeting at another date: every time that counts from 1970 moves with it."""
    delta = began_at - (recording.began_at or began_at)
    steps = tuple(replace(step, event=_moved(step.event, delta)) for step in recording.steps)
    return replace(recording, began_at=began_at, steps=steps)


def with_names(recording: Recorded) -> Recorded:
    """Each speaker with all that was told of them before, each event with a date: most providers say so much with each."""
    known: dict[tuple[str, str], Speaker] = {}
    steps = []
    for step in recording.steps:
        event = step.event
        if isinstance(event, Joined | Left | Renamed | Spoke | Uttered | Heard) and event.speaker and event.speaker.handle:
            key = (event.speaker.scope, event.speaker.handle)
            known[key] = _both(known.get(key, event.speaker), event.speaker)
            event = replace(event, speaker=replace(known[key], confidence=event.speaker.confidence))
        if event.at is None and recording.began_at is not None:
            event = replace(event, at=recording.began_at + timedelta(seconds=step.after))
        steps.append(replace(step, event=event))
    return replace(recording, steps=tuple(steps))


def rehearsed(recording: Recorded, manner: Manner) -> list[Sending]:
    """What is sent when, in that order: pure, and by its seed the same each time. A recording has ids of its own, so that of
    another one of the same meeting nothing is taken for a repeat."""
    chance = random.Random(manner.seed)
    sendings = []
    for number, step in enumerate(recording.steps):
        for copy in range(1 + (chance.random() < manner.duplicate)):
            late = chance.uniform(0, manner.shuffle)
            id = derived("replayed", recording.meeting, str(number), repr(step.event), str(copy))
            sendings.append(Sending((step.after + late) / manner.speed, step.event, id, copy, chance.random() < manner.drop))
    return sorted(sendings, key=lambda sending: sending.after)


def _steps(events: Iterable[MeetingEvent], began_at: datetime | None) -> tuple[Step, ...]:
    events = tuple(events)
    dues = [_due(event, began_at) for event in events]
    first = next((due for due in dues if due is not None), 0.0)
    steps, reached = [], 0.0
    for event, due in zip(events, dues, strict=True):
        reached = reached if due is None else max(reached, due - first)
        steps.append(Step(reached, event))
    return tuple(steps)


def _due(event: MeetingEvent, began_at: datetime | None) -> float | None:
    """Seconds since the meeting's start; None where it does not tell."""
    if event.at is not None and began_at is not None:
        return (event.at - began_at).total_seconds()
    match event:
        case Uttered(end=seconds, base=base) | Spoke(start=seconds, base=base) | Heard(start=float(seconds), base=base):
            if base is Base.MEETING:
                return seconds
            return None if began_at is None else seconds - began_at.timestamp()
    return None


def _both(before: Speaker, now: Speaker) -> Speaker:
    """What is told now, and before where now nothing is."""
    defaults = {field.name: field.default for field in fields(Speaker)}
    return replace(before, **{name: getattr(now, name) for name in defaults if getattr(now, name) != defaults[name]})


def _moved(event: MeetingEvent, delta: timedelta) -> MeetingEvent:
    event = replace(event, at=event.at.astimezone(UTC) + delta) if event.at else event
    if not isinstance(event, Uttered | Spoke | Heard) or event.base is not Base.EPOCH:
        return event
    by = delta.total_seconds()
    if isinstance(event, Heard):
        return replace(event, start=None if event.start is None else event.start + by)
    if isinstance(event, Spoke):
        return replace(event, start=event.start + by, end=None if event.end is None else event.end + by)
    words = tuple(replace(w, segment=Segment(w.segment.start + by, w.segment.end + by)) for w in event.words)
    return replace(event, start=event.start + by, end=event.end + by, words=words)
