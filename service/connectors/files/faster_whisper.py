"""What do faster-whisper's segments say, as programs write them down: objects, or the tuples of its older versions?"""

from __future__ import annotations

from typing import Any

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files import json_segments
from service.connectors.files.fields import first
from service.connectors.files.overlaps import without_doubled
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.connectors.files.whisper import is_segment
from service.types.audio import Transcript

_SEGMENT = ("id", "seek", "start", "end", "text", "tokens")
_WORD = ("start", "end", "word", "probability")
"""Order of the fields in the named tuples of versions before 1.1, which JSON makes lists of."""
_WORDS_AT = 9


def recognises(written: Written) -> bool:
    document = written.peek()
    items = document.get("segments") if isinstance(document, dict) and "text" not in document else document
    segment = first(items)
    return (is_segment(segment) and "speaker" not in segment) or _is_tuple(segment)


def read(written: Written) -> Transcript:
    """Raises TranscriptUnreadable."""
    document = written.document()
    items = document.get("segments") if isinstance(document, dict) else document
    if not isinstance(items, list) or not any(_is_tuple(item) for item in items):
        return without_doubled(json_segments.read(written, "faster-whisper"))
    objects = [_object(item) for item in items]
    return without_doubled(
        json_segments.segments_of(objects, written, "faster-whisper", place=lambda index: f"segment {index} (from 0)")
    )


def _is_tuple(item: Any) -> bool:
    return (
        isinstance(item, list)
        and len(item) >= len(_SEGMENT)
        and all(isinstance(value, int | float) for value in item[:4])
        and isinstance(item[4], str)
        and isinstance(item[5], list)
    )


def _object(item: Any) -> Any:
    if not _is_tuple(item):
        return item
    words = item[_WORDS_AT] if len(item) > _WORDS_AT and isinstance(item[_WORDS_AT], list) else []
    said = [dict(zip(_WORD, word, strict=False)) if isinstance(word, list) else word for word in words]
    return {**dict(zip(_SEGMENT, item, strict=False)), "words": said or None}


FASTER_WHISPER = TranscriptFormat(
    Declared(
        "faster-whisper",
        "faster-whisper's segments",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.NOBODY,
        utterance_ids="id",
        repeats="as `whisper`",
        times_words=True,
    ),
    recognises,
    read,
)
