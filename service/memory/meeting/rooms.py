"""Of which meeting is what is told in a room where one follows another? Of the one in which it happened, whenever it is told:
of what was over when a meeting began, nothing is of that meeting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from service.memory.meeting.state import MeetingConfig
from service.memory.meeting.utterances import told_at
from service.types.meeting import Base, MeetingEvent, Spoke, Uttered


@dataclass(frozen=True, slots=True)
class Room:
    """While one of its meetings goes on, or is the last one so far."""

    after: float | None = None
    """Until when the one before it went on, as far as is told; seconds since 1970. None: nothing says so."""
    reached: float | None = None
    """The latest moment of this one that is told."""
    config: MeetingConfig = field(default_factory=MeetingConfig)

    def of_this(self, events: Iterable[MeetingEvent]) -> tuple[MeetingEvent, ...]:
        """Without what was before."""
        return tuple(event for event in events if not self._is_before(event, self.after))

    def is_of_before(self, events: Iterable[MeetingEvent]) -> bool:
        """Whether all of it is of a meeting before; not of nothing."""
        return self._are_before(events, self.after)

    def is_of_this(self, events: Iterable[MeetingEvent]) -> bool:
        """Whether all of it happened before the end of this one, even if it is told after that."""
        return self._are_before(events, self.reached)

    def having(self, events: Iterable[MeetingEvent], received: float) -> Room:
        """With what is told of this one, at `received`: nothing is true of a time that has not come."""
        moments = [min(moment, received) for event in events if (moment := happened(event, self.config)) is not None]
        reached = max([*moments, *(() if self.reached is None else (self.reached,))], default=None)
        return Room(self.after, reached, self.config)

    def next(self) -> Room:
        """When the next one begins."""
        return Room(self.after if self.reached is None else max(self.reached, self.after or self.reached), None, self.config)

    def _are_before(self, events: Iterable[MeetingEvent], moment: float | None) -> bool:
        found = [self._is_before(event, moment) for event in events]
        return bool(found) and all(found)

    def _is_before(self, event: MeetingEvent, moment: float | None) -> bool:
        at = happened(event, self.config)
        return moment is not None and at is not None and at < moment


def happened(event: MeetingEvent, config: MeetingConfig) -> float | None:
    """When it was over, as told, seconds since 1970; None: it is not told, or of the meeting's seconds alone."""
    if isinstance(event, Uttered | Spoke) and event.base is Base.EPOCH:
        end = event.start if event.end is None else event.end
        return end if config.epoch_from <= end <= config.epoch_to else None
    return told_at(event, config)
