"""What was said in a meeting, when all that is known of it is what its backend tells, twice and in no order?"""

from __future__ import annotations

from service.memory.meeting.fold import advance, configured, due_at, step
from service.memory.meeting.outcomes import (
    About,
    Copy,
    Described,
    Doubt,
    Finished,
    Given,
    Gone,
    Kind,
    Known,
    Outcome,
    Participant,
    Revised,
    Turn,
)
from service.memory.meeting.state import MeetingConfig, MeetingState

__all__ = [
    "About",
    "Copy",
    "Described",
    "Doubt",
    "Finished",
    "Given",
    "Gone",
    "Kind",
    "Known",
    "MeetingConfig",
    "MeetingState",
    "Outcome",
    "Participant",
    "Revised",
    "Turn",
    "advance",
    "configured",
    "due_at",
    "step",
]
