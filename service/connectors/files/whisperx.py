"""What does a WhisperX result say (words aligned, with speakers; any of speaker, start, end and score may be missing)?"""

from __future__ import annotations

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files import json_segments
from service.connectors.files.fields import first, has
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript


def recognises(written: Written) -> bool:
    document = written.peek()
    if not has(document, "segments") or has(document, "text"):
        return False
    segment = first(document["segments"])
    return has(document, "word_segments") or (has(segment, "words") and has(first(segment["words"]), "score"))


def read(written: Written) -> Transcript:
    """Its `speaker_embeddings` are biometric data, and never read. Raises TranscriptUnreadable."""
    return json_segments.read(written, "whisperx")


WHISPERX = TranscriptFormat(
    Declared(
        "whisperx",
        "WhisperX",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        repeats="all words stand again in `word_segments`; not read",
        times_words=True,
    ),
    recognises,
    read,
)
