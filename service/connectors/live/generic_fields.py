"""What may each field of our own protocol hold, how is it read and written, and what does the JSON Schema say of it?"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from service.connectors.files.source import clean, clean_name, described, speaker_label
from service.connectors.live import EventUnreadable
from service.types.audio import Segment, Word
from service.types.meeting import LOCAL, MAILTO, AccountKey, AudioEncoding, Base, Speaker

PROVIDER = "generic"
SOURCES = ("platform", "transcript", "caption", "diariser", "chat")


@dataclass(frozen=True, slots=True)
class SchemaConfig:
    max_id: int = 200  # characters; the longest of a known provider (a Meet device path) has under 100
    max_text: int = 20_000  # characters of one utterance: twenty minutes of speech
    max_events: int = 1_000  # in one message; at 200 bytes each a fifth of a body's limit
    longest: float = 7 * 86_400.0  # seconds since the meeting's start; what is above is milliseconds, or an epoch
    epochs: tuple[float, float] = (946_684_800.0, 4_102_444_800.0)  # 2000 to 2100, UTC: an epoch in other units is outside
    sample_rates: tuple[int, int] = (8_000, 48_000)
    max_channels: int = 16


CONFIG = SchemaConfig()


@dataclass(frozen=True, slots=True)
class Kind:
    """How a field is read, written and stated."""

    schema: Mapping[str, Any]
    read: Callable[[Any, str], Any]
    write: Callable[[Any], Any] = lambda value: value


def refused(place: str, what: str) -> EventUnreadable:
    return EventUnreadable(provider=PROVIDER, place=place, what=f"{what}.")


def shown(name: Any) -> str:
    return clean(str(name))[:40]


def document_of(body: bytes, place: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as problem:  # also UnicodeDecodeError, and a number of thousands of digits
        raise refused(place, f"not JSON that can be read ({type(problem).__name__})") from problem


def _text(value: Any, place: str) -> str:
    text = clean(value)[: CONFIG.max_text + 1] if isinstance(value, str) else ""
    if not text or len(text) > CONFIG.max_text:
        raise refused(place, f"{described(value)}; needed: text, at most {CONFIG.max_text} characters")
    return text


def id_of(value: Any, place: str) -> str:
    text = clean(value) if isinstance(value, str) else ""
    if not text or len(text) > CONFIG.max_id:
        raise refused(place, f"{described(value)}; needed: text of 1 to {CONFIG.max_id} characters")
    return text


def _name(value: Any, place: str) -> str | None:
    if not isinstance(value, str):
        raise refused(place, f"{described(value)}; needed: text")
    return speaker_label(value)


def _title(value: Any, place: str) -> str | None:
    if not isinstance(value, str):
        raise refused(place, f"{described(value)}; needed: text")
    return clean_name(value)


def _zone(value: Any, place: str) -> str:
    try:
        return ZoneInfo(id_of(value, place)).key
    except (ValueError, OSError) as problem:  # ZoneInfoNotFoundError is a KeyError
        raise refused(place, "needed: a time zone of IANA, as Europe/Berlin") from problem
    except KeyError as problem:
        raise refused(place, "needed: a time zone of IANA, as Europe/Berlin") from problem


def _at(value: Any, place: str) -> datetime:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        if at is None or at.tzinfo is None:
            raise refused(place, f"{described(value)}; needed: a date and time with its offset, as 2026-03-02T09:00:00Z")
        return at.astimezone(UTC)
    except (ValueError, OverflowError) as problem:
        raise refused(place, f"{described(value)}; needed: a date and time as 2026-03-02T09:00:00Z") from problem


def _number(value: Any, place: str) -> float:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise refused(place, f"{described(value)}; needed: a number")
    return number


def _within(low: float, high: float) -> Callable[[Any, str], float]:
    def read(value: Any, place: str) -> float:
        number = _number(value, place)
        if not low <= number <= high:
            raise refused(place, f"{number:.10g}; needed: from {low:g} to {high:g}")
        return number

    return read


def _whole(low: int, high: int) -> Kind:
    def read(value: Any, place: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise refused(place, f"{described(value)}; needed: a whole number from {low} to {high}")
        return value

    return Kind({"type": "integer", "minimum": low, "maximum": high}, read)


def _truth(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise refused(place, f"{described(value)}; needed: true or false")
    return value


def _one_of(names: Iterable[str], made: Callable[[str], Any] = str) -> Kind:
    allowed = tuple(names)

    def read(value: Any, place: str) -> Any:
        if not isinstance(value, str) or value not in allowed:
            raise refused(place, f"{described(value)}; needed: one of {', '.join(allowed)}")
        return made(value)

    return Kind({"enum": list(allowed)}, read, str)


def _sound(value: Any, place: str) -> bytes:
    try:
        return base64.b64decode(value if isinstance(value, str) else "?", validate=True)
    except (binascii.Error, ValueError) as problem:
        raise refused(place, f"{described(value)}; needed: base64") from problem


def _object(kinds: Mapping[str, Kind], required: tuple[str, ...], made: Callable[[dict[str, Any]], Any], write: Any) -> Kind:
    def read(value: Any, place: str) -> Any:
        if not isinstance(value, Mapping):
            raise refused(place, f"{described(value)}; needed: an object")
        for name in value:
            if name not in kinds:
                raise refused(f"{place}.{shown(name)}", f"not known; there are {', '.join(kinds)}")
        for name in required:
            if value.get(name) is None:
                raise refused(f"{place}.{name}", "missing")
        return made({name: kinds[name].read(v, f"{place}.{name}") for name, v in value.items() if v is not None})

    properties = {name: kind.schema for name, kind in kinds.items()}
    return Kind(
        {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}, read, write
    )


def _list_of(kind: Kind) -> Kind:
    def read(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise refused(place, f"{described(value)}; needed: a list")
        return tuple(kind.read(item, f"{place}[{index}]") for index, item in enumerate(value))

    return Kind({"type": "array", "items": kind.schema}, read, lambda items: [kind.write(item) for item in items])


def _email(value: Any, place: str) -> AccountKey:
    address = id_of(value, place).lower()
    if "@" not in address:
        raise refused(place, f"{described(value)}; needed: an address, and only one that the platform verified")
    return AccountKey(MAILTO, address)


def _issuer(value: Any, place: str) -> str:
    issuer = id_of(value, place)
    if issuer.strip().lower() == LOCAL:
        raise refused(place, f"{LOCAL!r}; needed: who vouches for it, and that issuer is for tokens of this service alone")
    return issuer


def _speaker_as_json(speaker: Speaker | None) -> dict[str, Any] | None:
    if speaker is None:
        return None
    set_ = [(f.name, getattr(speaker, f.name)) for f in fields(Speaker) if getattr(speaker, f.name) != f.default]
    return {name: SPEAKERS[name].write(value) for name, value in set_ if value is not None}


def _word_as_json(word: Word) -> dict[str, Any]:
    return {"text": word.text, "start": word.segment.start, "end": word.segment.end, "confidence": word.confidence}


ID = Kind({"type": "string", "minLength": 1, "maxLength": CONFIG.max_id}, id_of)
TEXT = Kind({"type": "string", "minLength": 1, "maxLength": CONFIG.max_text}, _text)
NUMBER = Kind({"type": "number"}, _number)
SHARE = Kind({"type": "number", "minimum": 0, "maximum": 1}, _within(0, 1))
TRUTH = Kind({"type": "boolean"}, _truth)
ISSUER = Kind({**ID.schema, "not": {"enum": [LOCAL]}}, _issuer)
ACCOUNT = _object(
    {"issuer": ISSUER, "subject": ID},
    ("issuer", "subject"),
    lambda given: AccountKey(**given),
    lambda account: {"issuer": account.issuer, "subject": account.subject},
)
SPEAKERS: dict[str, Kind] = {
    "handle": ID,
    "scope": ID,
    "name": Kind({"type": "string"}, _name),
    "account": ACCOUNT,
    "email": Kind({"type": "string", "format": "email"}, _email, lambda key: key.subject),
    "is_bot": TRUTH,
    "is_host": TRUTH,
    "is_room": TRUTH,
    "confidence": SHARE,
}
SPEAKER = _object(SPEAKERS, (), lambda given: Speaker(**{"handle": None, **given}), _speaker_as_json)
WORD = _object(
    {"text": TEXT, "start": NUMBER, "end": NUMBER, "confidence": SHARE},
    ("text", "start", "end"),
    lambda given: Word(given["text"], Segment(given["start"], given["end"]), given.get("confidence", 1.0)),
    _word_as_json,
)
KINDS: dict[str, Kind] = {
    "key": ID,
    "at": Kind({"type": "string", "format": "date-time"}, _at, lambda at: at.isoformat() if at else None),
    "title": Kind({"type": "string"}, _title),
    "zone": Kind({"type": "string"}, _zone),
    "platform": ID,
    "invited": _list_of(SPEAKER),
    "failed": ID,
    "duration": Kind({"type": "number", "minimum": 0}, _within(0, CONFIG.longest)),
    "speaker": SPEAKER,
    "start": NUMBER,
    "end": NUMBER,
    "base": _one_of(Base, Base),
    "text": TEXT,
    "id": ID,
    "slot": ID,
    "final": TRUTH,
    "revision": _whole(0, 10**15),
    "words": _list_of(WORD),
    "language": ID,
    "confidence": SHARE,
    "source": _one_of(SOURCES),
    "data": Kind({"type": "string", "contentEncoding": "base64"}, _sound, lambda data: base64.b64encode(data).decode()),
    "encoding": _one_of(AudioEncoding, AudioEncoding),
    "sample_rate": _whole(*CONFIG.sample_rates),
    "channels": _whole(1, CONFIG.max_channels),
}
"""Field of an event → what it holds; one name means one thing in all of them."""
