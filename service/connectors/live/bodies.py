"""How is what a provider sends read, so that what is broken names its field, and the same thing said twice has the same key?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from service.connectors.files.clock import moment, with_ends
from service.connectors.files.fields import Field
from service.connectors.files.source import TranscriptUnreadable, clean
from service.connectors.live import Delivery, EventUnreadable
from service.connectors.live.generic_schema import as_json
from service.types.audio import Segment
from service.types.meeting import Heard, MeetingEvent

LONGEST = 4e9
"""Seconds: what counts from 1970 is after 2001 and before 2096; anything else is in another unit or a mistake."""
FIRST = 1e9
MEETING = 31 * 86_400.0
"""Seconds that a meeting lasts at most, as MeetingConfig.longest of service.memory.meeting."""
MAX_ID = 500
"""Characters of a provider's id."""


@contextmanager
def reading(provider: str) -> Iterator[None]:
    """What the readers of files refuse is refused as an event. Raises EventUnreadable."""
    try:
        yield
    except TranscriptUnreadable as problem:
        place, what = problem.facts["place"], str(problem.facts["what"]).rstrip(".")
        raise EventUnreadable(provider=provider, place=place, what=what) from problem


def document(delivery: Delivery, provider: str) -> Field:
    """The JSON of a body, an object. Raises EventUnreadable."""
    if delivery.binary:
        raise EventUnreadable(provider=provider, place="the message", what="it is binary; needed: a text message")
    try:
        value = json.loads(delivery.body)
    except (ValueError, RecursionError) as problem:
        raise EventUnreadable(provider=provider, place="the message", what="it is no JSON") from problem
    if not isinstance(value, Mapping):
        raise EventUnreadable(provider=provider, place="the message", what="needed: an object")
    return Field(value, "", provider)


def id_of(field: Field) -> str | None:
    """Raises TranscriptUnreadable for one longer than MAX_ID."""
    key = field.key()
    if key is not None and len(key) > MAX_ID:
        raise field.refuse(f"an id of at most {MAX_ID} characters")
    return key


def need_id(field: Field) -> str:
    """Raises TranscriptUnreadable where there is none."""
    key = id_of(field)
    if key is None:
        raise field.refuse("an id")
    return key


def mapping(field: Field) -> Mapping[str, object] | None:
    """An object as it is; None for anything else, which whoever sent it may have written as they liked."""
    return field.value if isinstance(field.value, Mapping) else None


def is_true(field: Field) -> bool:
    """Also of "true", as attributes are written."""
    return field.value is True or (isinstance(field.value, str) and field.value.lower() == "true")


def epoch(field: Field, per_second: float = 1.0) -> float | None:
    """Seconds since 1970, of a number or a number as text; None when absent or 0, which protobuf writes for absent.

    Raises TranscriptUnreadable for what is not a time of this century."""
    seconds = field.seconds(per_second)
    if not seconds:
        return None
    if not FIRST <= seconds <= LONGEST:
        raise field.refuse("a time since 1970" if per_second == 1.0 else f"a time since 1970 in 1/{per_second:g} s")
    return seconds


def at_epoch(field: Field, per_second: float = 1.0) -> datetime | None:
    """As `epoch`, UTC."""
    seconds = epoch(field, per_second)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def at_iso(field: Field) -> datetime | None:
    """Of `2026-03-29T02:30:00Z`, as UTC; None when absent, or without a zone, for then nobody knows when it was.

    Raises TranscriptUnreadable for what is no time."""
    text = field.text()
    if text is None:
        return None
    found = moment(text)
    if found is None:
        raise field.refuse("a date with a time")
    if found.tzinfo is None:
        return None
    if not FIRST <= found.timestamp() <= LONGEST:
        raise field.refuse("a date of this century")
    return found.astimezone(UTC)


def within_meeting(field: Field, per_second: float = 1.0) -> float | None:
    """Seconds since its start, or that something in it lasts; None when absent.

    Raises TranscriptUnreadable for what is longer than any meeting: it is in another unit, or counts from elsewhere."""
    seconds = field.seconds(per_second)
    if seconds is not None and abs(seconds) > MEETING:
        raise field.refuse(
            "seconds within a meeting" if per_second == 1.0 else f"a time within a meeting in 1/{per_second:g} s"
        )
    return seconds


def until(start: float, end: float, field: Field) -> float:
    """`end`, not before `start`. Raises TranscriptUnreadable where it is of another meeting."""
    if end - start > MEETING:
        raise field.refuse("an end in the same meeting")
    return max(start, end)


def lasting(text: str) -> float:
    """Seconds that saying `text` takes, where only a moment of it is told."""
    (segment,) = with_ends([0.0], [text])
    return segment.duration


def ending(at: float, text: str) -> Segment:
    """What was recognised at `at`, when it had just been said."""
    return Segment(at - lasting(text), at)


def starting(at: float, text: str) -> Segment:
    return Segment(at, at + lasting(text))


def hashed(*parts: object) -> str:
    """32 hexadecimal digits of JSON values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def keyed(meeting: str | None, events: Iterable[MeetingEvent]) -> tuple[MeetingEvent, ...]:
    """With a key of the one that each has, else of everything that it says. Sound has none: it is known by its time, and never
    waits in the inbox."""
    return tuple(
        event if isinstance(event, Heard) else replace(event, key=hashed(meeting, event.key or as_json(event)))
        for event in events
    )


def posted_id(delivery: Delivery, *headers: str) -> str | None:
    """What the first of `headers` says that is there. None on a connection, whose headers are its opening's."""
    return None if delivery.connection else next((delivery.headers[h] for h in headers if delivery.headers.get(h)), None)


def meeting_of(delivery: Delivery, *parameters: str) -> str | None:
    """As the URL names it, where the body does not: `?meeting=…`."""
    query = delivery.query or {}
    found = next((query[name] for name in parameters if query.get(name)), None)
    return (clean(found)[:MAX_ID] or None) if found is not None else None
