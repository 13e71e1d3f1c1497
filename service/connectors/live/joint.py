"""Of which meeting is what a bot tells, where several are sent into one call? Most backends name the bot alone: whoever sent
the bots has said it in the bot's metadata, which the backend echoes, or in the URL that a bot was given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from service.connectors.files.fields import Field
from service.connectors.live import Delivery, Read
from service.connectors.live.bodies import meeting_of
from service.types.meeting import Began, Heard, Joined, Left, MeetingEvent, Renamed, Speaker, Spoke, Uttered, Withdrawn


def joint(read: Read, delivery: Delivery, field: str | None) -> Read:
    """`read`, of the meeting that `field` of the bot's metadata names, else the URL's parameter of that name; as it is where
    neither says one, or the source has no such field. Sound is then the bot's, as `told_by` has it; all else is read again."""
    if field is None or read.meeting is None:
        return read
    named = Field((read.metadata or {}).get(field), field, "metadata").key() or meeting_of(delivery, field)
    if named is None:
        return read
    is_sound = any(isinstance(event, Heard) for event in read.events)
    return replace(read, meeting=named, events=told_by(read.events, read.meeting) if is_sound else read.events)


def told_by(events: Iterable[MeetingEvent], bot: str) -> tuple[MeetingEvent, ...]:
    """What one of several bots tells, each of its ids its own."""

    def whose(speaker: Speaker) -> Speaker:
        return replace(speaker, bot=bot)

    def own(event: MeetingEvent) -> MeetingEvent:
        match event:
            case Uttered():
                id, slot = _own(bot, event.id), _own(bot, event.slot)
                return replace(event, speaker=whose(event.speaker), id=id, slot=slot)
            case Joined() | Left() | Renamed() | Spoke():
                return replace(event, speaker=whose(event.speaker))
            case Withdrawn():
                return replace(event, id=f"{bot} {event.id}")
            case Began():
                return replace(event, invited=tuple(map(whose, event.invited)))
            case Heard() if event.speaker is not None:
                return replace(event, speaker=whose(event.speaker))
            case _:
                return event

    return tuple(map(own, events))


def _own(bot: str, id: str | None) -> str | None:
    return None if id is None else f"{bot} {id}"
