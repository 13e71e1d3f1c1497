"""What does a SubRip file say (`hh:mm:ss,mmm`, an index that may be missing, speakers by habit only)?"""

from __future__ import annotations

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.cues import TIMING, Cues, numbered
from service.connectors.files.source import TranscriptUnreadable, Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.connectors.files.voices import segments_of
from service.types.audio import Transcript


def parse(text: str, source: str) -> Transcript:
    """Raises TranscriptUnreadable at a time that cannot be read, or when there is text but no time at all."""
    cues = Cues(source, comments=False).read(numbered(text))
    if not cues.found and text.strip():
        raise TranscriptUnreadable(source=source, place="line 1", what="no line hh:mm:ss,mmm --> hh:mm:ss,mmm was found.")
    return Transcript("srt", segments_of(cues.found), recovered=cues.recovered)


def recognises(written: Written) -> bool:
    """By a time anywhere: an index may be missing, and text may stand before the first."""
    if written.looks_like_json or written.text.lstrip().startswith("WEBVTT"):
        return False
    return any(TIMING.match(line) for line in written.text.split("\n"))


def read(written: Written) -> Transcript:
    return parse(written.text, written.name)


SRT = TranscriptFormat(
    Declared("srt", "subtitles; Otter, and most recognisers", TimeUnit.CLOCK, TimeBase.RECORDING, SpeakerScope.NAME),
    recognises,
    read,
)
