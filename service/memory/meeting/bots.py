"""What do several bots in one meeting tell together? Each counts from where its own recording began, and one that leaves does
not end what another still tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from service.memory.meeting.state import MeetingConfig
from service.memory.meeting.utterances import in_reason, told_at
from service.types.audio import Segment
from service.types.meeting import Base, Began, Ended, MeetingEvent, Spoke, Uttered


@dataclass(frozen=True, slots=True)
class Bots:
    """Of one meeting, as far as they have told."""

    zeros: Mapping[str, float] = field(default_factory=dict)
    """Bot → its second 0, seconds since 1970: as told, else such that the first that came of it had just been said."""
    ends: Mapping[str, Ended | None] = field(default_factory=dict)
    """All of them → how it ended; None: it goes on."""
    config: MeetingConfig = field(default_factory=MeetingConfig)

    def hearing(self, bot: str, events: Sequence[MeetingEvent], received: float) -> tuple[Bots, tuple[MeetingEvent, ...]]:
        """With a delivery of one of them, and what it says of the meeting: times since 1970, and an end once all have ended."""
        if not events:
            return self, ()
        zero = self._zero(bot, events, received)
        zeros = self.zeros if zero is None else {**self.zeros, bot: zero}
        ends, told = {bot: None, **self.ends}, []
        for event in events:
            if isinstance(event, Ended):
                ends[bot] = event
                if None in ends.values():
                    continue
                event = _together(event, [end for end in ends.values() if end is not None])
            told.append(event if zero is None else _since_1970(event, zero, self.config))
        return Bots(zeros, ends, self.config), tuple(told)

    def has(self, bot: str) -> bool:
        return bot in self.ends

    def _zero(self, bot: str, events: Sequence[MeetingEvent], received: float) -> float | None:
        began = [at for one in events if isinstance(one, Began) and (at := told_at(one, self.config)) is not None]
        if began or bot in self.zeros:
            return min(began, default=self.zeros.get(bot))
        ends = [end for event in events if (end := _end(event)) is not None and abs(end) <= self.config.longest]
        return received - max(ends) if ends else None


def _end(event: MeetingEvent) -> float | None:
    """Seconds since its bot's second 0; None: it tells none."""
    if not isinstance(event, Uttered | Spoke) or event.base is not Base.MEETING:
        return None
    return event.start if event.end is None else event.end


def _together(event: Ended, ends: Iterable[Ended]) -> Ended:
    """It failed where all of them did."""
    known = list(ends)
    failed = event.failed if all(end.failed is not None for end in known) else None
    return replace(event, failed=failed, duration=max((end.duration or 0.0 for end in known), default=0.0) or None)


def _since_1970(event: MeetingEvent, zero: float, config: MeetingConfig) -> MeetingEvent:
    """What its times count from is said otherwise; of what is mistaken about that, nothing."""
    if isinstance(event, Uttered):
        event = in_reason(event, config)
    if _end(event) is None:
        return event
    if isinstance(event, Uttered):
        words = tuple(replace(w, segment=Segment(w.segment.start + zero, w.segment.end + zero)) for w in event.words)
        return replace(event, start=event.start + zero, end=event.end + zero, base=Base.EPOCH, words=words)
    if isinstance(event, Spoke):
        end = None if event.end is None else event.end + zero
        return replace(event, start=event.start + zero, end=end, base=Base.EPOCH)
    return event
