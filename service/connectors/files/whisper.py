"""What does a Whisper result say (openai-whisper's JSON, and `verbose_json` of APIs that speak like it)?"""

from __future__ import annotations

from typing import Any

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files import json_segments
from service.connectors.files.fields import first, has
from service.connectors.files.overlaps import without_doubled
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript


def is_segment(item: Any) -> bool:
    """Whether only Whisper writes such a segment: it tells how sure it is."""
    return has(item, "start", "end", "text") and (has(item, "avg_logprob") or has(item, "no_speech_prob") or has(item, "seek"))


def recognises(written: Written) -> bool:
    document = written.peek()
    if not has(document, "segments", "text"):
        return False
    segment = first(document["segments"])
    return is_segment(segment) and not has(segment, "speaker") if segment is not None else has(document, "language")


def read(written: Written) -> Transcript:
    """Raises TranscriptUnreadable."""
    return without_doubled(json_segments.read(written, "whisper"))


WHISPER = TranscriptFormat(
    Declared(
        "whisper",
        "openai-whisper, and APIs with `verbose_json`",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.NOBODY,
        utterance_ids="segments[].id",
        repeats="words of overlapping windows, by text and time; one is kept",
        times_words=True,
    ),
    recognises,
    read,
)
