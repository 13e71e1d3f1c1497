"""What does OpenAI's `diarized_json` say (letters for speakers, that start over with each file)?"""

from __future__ import annotations

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files import json_segments
from service.connectors.files.fields import first, has
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript

SEGMENT = "transcript.text.segment"


def recognises(written: Written) -> bool:
    document = written.peek()
    if not has(document, "segments"):
        return False
    segment = first(document["segments"])
    return has(segment, "type") and segment["type"] == SEGMENT


def read(written: Written) -> Transcript:
    """Raises TranscriptUnreadable."""
    return json_segments.read(written, "openai-diarized")


OPENAI_DIARIZED = TranscriptFormat(
    Declared(
        "openai-diarized",
        "OpenAI, `diarized_json`",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        utterance_ids="segments[].id",
        repeats="the whole text stands in `text`, too; not read",
    ),
    recognises,
    read,
)
