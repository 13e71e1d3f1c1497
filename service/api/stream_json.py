"""How does what a stream tells look to its client? JSON, one object an event: `type`, and the fields of the GraphQL event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from strawberry.utils.str_converters import to_camel_case

from service.api.listening import (
    MatchEvent,
    MemoryEvent,
    NotAnsweredEvent,
    PutOffEvent,
    SpeakerEvent,
    StageEvent,
    StreamEvent,
    TranscriptEvent,
    event,
)
from service.streaming.told import Told

TYPES: Mapping[type[StreamEvent], str] = {
    StageEvent: "stage",
    TranscriptEvent: "transcript",
    SpeakerEvent: "speaker",
    MatchEvent: "matched",
    MemoryEvent: "memory",
    NotAnsweredEvent: "not_answered",
    PutOffEvent: "put_off",
}
"""`ready`, `remembered` and `error` are of the stream itself, and over GraphQL there is none of them."""


def as_json(told: Told) -> dict[str, Any]:
    """`type`, `at` (seconds of the stream) and `utterance` (its number, from 1), and what is told; members of enumerations in
    small letters."""
    what = event(told)
    return {"type": TYPES[type(what)], **_plain(asdict(what))}


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {to_camel_case(name): _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case datetime():
            return value.isoformat()
        case _:
            return value
