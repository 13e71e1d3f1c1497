"""Events of meetings as tests write them, and what the fold makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from service.memory.meeting import (
    Described,
    Finished,
    Given,
    Gone,
    Known,
    MeetingState,
    Outcome,
    Participant,
    Revised,
    Turn,
    advance,
    step,
)
from service.types.meeting import NOBODY, Base, MeetingEvent, Speaker, Uttered

START = datetime(2026, 3, 27, 10, 0, tzinfo=UTC)


def who(handle: str | None, name: str | None = None, **more: Any) -> Speaker:
    return Speaker(handle, name=name, **more)


def says(speaker: Speaker | str | None, text: str, start: float, end: float | None = None, **more: Any) -> Uttered:
    """Keyed by its content, as connectors do."""
    speaker = speaker if isinstance(speaker, Speaker) else who(speaker) if speaker else NOBODY
    end = start + 1.0 if end is None else end
    key = sha256(repr((speaker, text, start, end, sorted(more.items(), key=lambda item: item[0]))).encode()).hexdigest()
    return Uttered(key=key, speaker=speaker, text=text, start=start, end=end, **({"base": Base.MEETING} | more))


class Told:
    """A meeting whose deliveries, one event each unless told otherwise, come one after the other."""

    def __init__(self, *events: MeetingEvent, every: float = 0.1, state: MeetingState | None = None) -> None:
        self.state = state or MeetingState()
        self.outcomes: list[Outcome] = []
        self.now = START
        self.every = every
        self.tell(*events)

    def tell(self, *events: MeetingEvent | Sequence[MeetingEvent]) -> Told:
        for event in events:
            self.now += timedelta(seconds=self.every)
            self.state, outcomes = step(self.state, [event] if isinstance(event, MeetingEvent) else event, self.now)
            self.outcomes.extend(outcomes)
        return self

    def wait(self, seconds: float = 60.0) -> Told:
        self.now += timedelta(seconds=seconds)
        self.state, outcomes = advance(self.state, self.now)
        self.outcomes.extend(outcomes)
        return self

    @property
    def turns(self) -> list[Turn]:
        return turns_of(self.outcomes)

    @property
    def texts(self) -> list[str]:
        return [turn.text for turn in self.turns]

    @property
    def people(self) -> dict[str, Participant]:
        return {o.participant.track: o.participant for o in self.outcomes if isinstance(o, Known)}

    @property
    def finished(self) -> list[Finished]:
        return [o for o in self.outcomes if isinstance(o, Finished)]

    @property
    def started_at(self) -> datetime | None:
        return next((o.about.started_at for o in reversed(self.outcomes) if isinstance(o, Described)), None)


def turns_of(outcomes: Iterable[Outcome]) -> list[Turn]:
    """As whoever wrote all outcomes in their order has them, by time. Fails where they contradict each other."""
    turns: dict[str, Turn] = {}
    for outcome in outcomes:
        match outcome:
            case Given(turn):
                assert turn.key not in turns, "given twice"
                turns[turn.key] = turn
            case Revised(turn):
                assert turns[turn.key] != turn, "revised into itself"
                turns[turn.key] = turn
            case Gone(key):
                del turns[key]
    return sorted(turns.values(), key=lambda turn: (turn.segment, turn.key))
