"""What does our own protocol look like as JSON? The events of service.types.meeting under their own names, read, written, and
stated as a JSON Schema from one table; service/connectors/GENERIC.md tells it to who builds a bot.

A message, whether the body of a POST or a text message of a WebSocket, is one event with its meeting
(`{"meeting": "m1", "type": "uttered", "speaker": {"handle": "7", "name": "Ana"}, "text": "Hello.", "start": 1.0, "end": 1.6}`)
or several (`{"meeting": "m1", "events": [{"type": …}, …]}`); it is read whole or refused whole. A binary message is sound:
the length of a JSON header (4 bytes, little-endian), that header (`heard` with its meeting and without `data`), and the bytes.
A recorded meeting is a file of such messages, one a line (service.connectors.live.playing)."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from service.connectors.files.source import clean, described
from service.connectors.live.generic_fields import CONFIG, ID, KINDS, document_of, id_of, refused, shown
from service.types.meeting import (
    NOBODY,
    Base,
    Began,
    Ended,
    Heard,
    Joined,
    Left,
    MeetingEvent,
    Renamed,
    Spoke,
    Uttered,
    Withdrawn,
)

EVENTS: dict[str, type[MeetingEvent]] = {
    kind.__name__.lower(): kind for kind in (Began, Ended, Joined, Left, Renamed, Spoke, Uttered, Withdrawn, Heard)
}
"""`type` → what it becomes."""
REQUIRED: dict[str, tuple[str, ...]] = {
    "joined": ("speaker",),
    "left": ("speaker",),
    "renamed": ("speaker",),
    "spoke": ("speaker", "start"),
    "uttered": ("text", "start", "end"),
    "withdrawn": ("id",),
    "heard": ("data", "encoding", "sample_rate"),
}
INSTEAD: dict[str, Any] = {"base": Base.MEETING, "speaker": NOBODY, "end": None}
"""What a field says that is not there, where its dataclass has no default or another."""


@dataclass(frozen=True, slots=True)
class Message:
    meeting: str
    events: tuple[MeetingEvent, ...]


# ---- reading and writing


def read_text(body: bytes) -> Message:
    """A POST's body, a text message, a line of a recorded meeting. Raises EventUnreadable with the field's path."""
    return parse(document_of(body, "the message"))


def read_binary(body: bytes) -> Message:
    """A piece of sound with its header. Raises EventUnreadable."""
    length = struct.unpack_from("<I", body)[0] if len(body) >= 4 else len(body)
    if len(body) < 4 + length:
        raise refused("the header", f"{len(body)} bytes; needed: 4 bytes of its length, the JSON header, the sound")
    header = document_of(body[4 : 4 + length], "the header")
    if not isinstance(header, Mapping) or "data" in header or "events" in header:
        raise refused("the header", "needed: one event of type heard, without data, which follows it")
    return parse({**header, "type": header.get("type", "heard"), "data": base64.b64encode(body[4 + length :]).decode()})


def parse(document: Any) -> Message:
    """Raises EventUnreadable."""
    if not isinstance(document, Mapping):
        raise refused("the message", f"{described(document)}; needed: an object")
    meeting = id_of(document.get("meeting"), "meeting")
    if "events" not in document:
        alone = {name: value for name, value in document.items() if name != "meeting"}
        return Message(meeting, (_event(alone, ""),))
    for name in document:
        if name not in ("meeting", "events"):
            raise refused(shown(name), "not known beside events; it belongs into each of them")
    events = document["events"]
    if not isinstance(events, list) or len(events) > CONFIG.max_events:
        raise refused("events", f"{described(events)}; needed: a list of at most {CONFIG.max_events}")
    return Message(meeting, tuple(_event(event, f"events[{index}].") for index, event in enumerate(events)))


def as_json(event: MeetingEvent) -> dict[str, Any]:
    """As it is written; what has its default is left out."""
    name = type(event).__name__.lower()
    written: dict[str, Any] = {"type": name}
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name in REQUIRED.get(name, ()) or value != _default(field):
            written[field.name] = KINDS[field.name].write(value)
    return written


def message(meeting: str, events: Iterable[MeetingEvent]) -> dict[str, Any]:
    """A text message of `events`: of one, the event itself."""
    written = [as_json(event) for event in events]
    return {"meeting": meeting, **written[0]} if len(written) == 1 else {"meeting": meeting, "events": written}


def binary(meeting: str, heard: Heard) -> bytes:
    """A binary message."""
    header = {name: value for name, value in as_json(heard).items() if name not in ("type", "data")}
    head = json.dumps({"meeting": meeting, **header}).encode()
    return struct.pack("<I", len(head)) + head + heard.data


def _event(document: Any, at: str) -> MeetingEvent:
    if not isinstance(document, Mapping):
        raise refused(at.rstrip(".") or "the message", f"{described(document)}; needed: an object")
    name = document.get("type")
    if not isinstance(name, str) or name not in EVENTS:
        given = f"{clean(name)[:40]!r}" if isinstance(name, str) else described(name)
        raise refused(f"{at}type", f"{given}; needed: one of {', '.join(EVENTS)}")
    kind = EVENTS[name]
    known = {field.name: field for field in fields(kind)}
    for given in document:
        if given not in known and given != "type":
            raise refused(f"{at}{shown(given)}", f"not known; {name} has {', '.join(known)}")
    values: dict[str, Any] = {}
    for field in known.values():
        value = document.get(field.name)
        if value is None and field.name in REQUIRED.get(name, ()):
            raise refused(f"{at}{field.name}", f"missing; {name} needs {', '.join(REQUIRED[name])}")
        values[field.name] = _default(field) if value is None else KINDS[field.name].read(value, f"{at}{field.name}")
    _check_times(values, at)
    event = kind(**values)
    return event if event.key else replace(event, key=_key(event))


def _default(field: Any) -> Any:
    """`key` has none: "" stands for what is made of the event."""
    if field.name in INSTEAD and not (field.name == "speaker" and "None" in str(field.type)):
        return INSTEAD[field.name]
    return "" if field.name == "key" else field.default


def _key(event: MeetingEvent) -> str:
    """Of everything that the event says: told again, whoever sends it and when, it is the same."""
    return hashlib.sha256(json.dumps(as_json(event), sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def _check_times(values: Mapping[str, Any], at: str) -> None:
    """Raises EventUnreadable for times of another unit or base than they are said to have, and for an end before its start."""
    spans = [(values.get("start"), values.get("end"), "")]
    words = enumerate(values.get("words", ()))
    spans += [(word.segment.start, word.segment.end, f"words[{index}].") for index, word in words]
    lowest, highest = CONFIG.epochs if values.get("base") is Base.EPOCH else (-CONFIG.longest, CONFIG.longest)
    for start, end, inner in spans:
        for name, seconds in (("start", start), ("end", end)):
            if seconds is not None and not lowest <= seconds <= highest:
                needed = "seconds since 1970" if values.get("base") is Base.EPOCH else "seconds since the meeting's start"
                raise refused(f"{at}{inner}{name}", f"{seconds:.10g}; needed: {needed}, as base says")
        if start is not None and end is not None and end < start:
            raise refused(f"{at}{inner}end", f"{end:.10g}, before its start {start:.10g}")


# ---- what is stated


def schema() -> dict[str, Any]:
    """The text messages as a JSON Schema (draft 2020-12)."""
    closed = {"unevaluatedProperties": False}
    alone = [
        {"$ref": f"#/$defs/{name}", "properties": {"meeting": ID.schema}, "required": ["meeting"], **closed} for name in EVENTS
    ]
    one = {"oneOf": [{"$ref": f"#/$defs/{name}", **closed} for name in EVENTS]}
    several = {
        "type": "object",
        "properties": {"meeting": ID.schema, "events": {"type": "array", "items": one, "maxItems": CONFIG.max_events}},
        "required": ["meeting", "events"],
        "additionalProperties": False,
    }
    definitions = {**{name: _stated(name) for name in EVENTS}, "speaker": KINDS["speaker"].schema}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "oneOf": [several, *alone], "$defs": definitions}


def _stated(name: str) -> dict[str, Any]:
    speaker = {"$ref": "#/$defs/speaker"}
    given = {"speaker": speaker, "invited": {"type": "array", "items": speaker}}
    properties = {field.name: given.get(field.name, KINDS[field.name].schema) for field in fields(EVENTS[name])}
    return {
        "type": "object",
        "properties": {"type": {"const": name}, **properties},
        "required": ["type", *REQUIRED.get(name, ())],
    }


if __name__ == "__main__":  # > service/connectors/generic.schema.json
    print(json.dumps(schema(), indent=1))
