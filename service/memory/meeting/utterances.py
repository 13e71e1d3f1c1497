"""Which of the things told are one utterance, and which of two versions of it holds?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from service.memory.meeting.copies import CHAT, reads_like
from service.memory.meeting.people import track_of
from service.memory.meeting.state import MeetingConfig, Origin, Utterance
from service.types.audio import Segment
from service.types.meeting import Base, MeetingEvent, Uttered


def uid_of(event: Uttered) -> str:
    """The provider's id; without one, whose words they are and from which instant on.

    Of nobody's words, and of chat lines (whose times are often whole seconds), only the same text is the same one."""
    if event.id is not None:
        return f"id:{event.id}"
    track = track_of(event.speaker)
    parts = [event.source == CHAT, event.base, f"{event.start:.2f}", track]
    if track is None or event.source == CHAT:
        parts.append(" ".join(event.text.split()))
    return "at:" + hashlib.sha256("\x1f".join(map(repr, parts)).encode()).hexdigest()[:32]


def place_for(event: Uttered, said: Callable[[str], Utterance | None], config: MeetingConfig) -> str:
    """The uid of the utterance that a final is of. Without an id, the same speaker's words from the same instant are that one
    corrected where they read like it; else they are another one: a recogniser may have whole seconds only."""
    uid = uid_of(event)
    if event.id is not None:
        return uid
    for number in range(config.at_once):
        place = f"{uid}+{number}" if number else uid
        there = said(place)
        if there is None or not there.event.final or reads_like(there.event.text, event.text, config.copies):
            return place
    return f"{uid}+{hashlib.sha256(event.text.encode(errors='surrogatepass')).hexdigest()[:32]}"


def is_newer(event: Uttered, before: Uttered) -> bool:
    """Whether `event`, which came later, holds over `before`; both partial or both final, of one utterance."""
    if event.revision != before.revision:
        return event.revision > before.revision
    both = event.at is not None and before.at is not None
    return not both or event.at >= before.at  # type: ignore[operator]


def in_reason(event: Uttered, config: MeetingConfig) -> Uttered:
    """With a base that its times can have: one field of several may be of another (CASES 41)."""
    if event.base is Base.MEETING and event.start >= config.epoch_from:
        return replace(event, base=Base.EPOCH)
    return event


def told_at(event: MeetingEvent, config: MeetingConfig) -> float | None:
    """When it happened as told, seconds since 1970. Without a zone nobody knows which hour it is."""
    if event.at is None or event.at.tzinfo is None:
        return None
    at = event.at.timestamp()
    return at if config.epoch_from <= at <= config.epoch_to else None


def middle(event: Uttered) -> float:
    return (event.start + event.end) / 2


def is_over(partial: Uttered, until: float) -> bool:
    """Whether finals up to `until` have said what a partial of their slot says: most of it is before."""
    return middle(partial) <= until


def placed(utterance: Utterance, origin: Origin, config: MeetingConfig) -> tuple[Segment, bool]:
    """When it was said, seconds since the origin, and whether that is mended: what no meeting can have is said when it came."""
    event = utterance.event
    start, end = origin.seconds(event.start, event.base), origin.seconds(event.end, event.base)
    if not (-config.longest <= start <= config.longest and -config.longest <= end <= config.longest):
        end = min(max(0.0, utterance.told - origin.epoch), config.longest)
        return Segment(end, end), True
    segment = Segment(max(0.0, min(start, end)), max(0.0, start, end))
    return segment, segment != Segment(start, end)


def place_of(utterance: Utterance, origin: Origin, config: MeetingConfig) -> tuple[float, float, str]:
    """In the order in which things were said."""
    segment, _ = placed(utterance, origin, config)
    return segment.start, segment.end, utterance.uid
