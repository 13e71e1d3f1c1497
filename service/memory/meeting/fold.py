"""What was said in a meeting, if this is what its backend has told so far? One pure step a delivery.

Deliveries come at least once and overtake each other. A final is terminal: no partial changes it, nor does another final
where the connector declares so (MeetingConfig.finals_hold), and it waits a moment
(MeetingConfig.settle) until its turn is told, so that turns are told in the order in which they were said, not delivered.
What changes a turn that was told is told as its revision. Time is that of the deliveries: the outcomes follow from the
deliveries in their order and from nothing else, so that folding them again tells the same, in the same order; whoever wrote
the first n outcomes goes on with the next one.

`advance` says that time has passed without a delivery. It may be called or not, as often as one likes, with times up to that at
which the next delivery to be folded was received: what is told, and its order, stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from service.memory.meeting.desk import Desk
from service.memory.meeting.outcomes import Outcome
from service.memory.meeting.state import MeetingState
from service.types.meeting import MeetingEvent

Stepped = tuple[MeetingState, tuple[Outcome, ...]]


def step(state: MeetingState, events: Sequence[MeetingEvent], received_at: datetime) -> Stepped:
    """One delivery: what is known then, and what is to be told of it. `received_at` before the clock counts as the clock."""
    desk = Desk(state)
    desk.advance(received_at.timestamp())
    desk.take(events)
    return desk.done()


def advance(state: MeetingState, now: datetime) -> Stepped:
    """Nothing came up to `now`."""
    desk = Desk(state)
    desk.advance(now.timestamp())
    return desk.done()


def due_at(state: MeetingState) -> datetime | None:
    """When `advance` tells something next; None: not without a delivery."""
    moment = Desk(state).next_moment()
    return None if moment is None else datetime.fromtimestamp(moment, UTC)


def configured(state: MeetingState, *, finals_hold: bool = False, idle: float | None = None) -> MeetingState:
    """With what the source's connector declares of its finals, and the source's own seconds until a meeting without deliveries
    is over (None: the fold's); before the first step."""
    config = replace(state.config, finals_hold=finals_hold)
    return replace(state, config=config if idle is None else replace(config, idle=idle))
