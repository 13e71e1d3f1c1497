"""What does a SubRip file say (`hh:mm:ss,mmm`, an index that may be missing, speakers by habit only)?"""

from __future__ import annotations

from service.connectors.files.cues import Cues, numbered
from service.connectors.files.source import TranscriptUnreadable
from service.connectors.files.voices import segments_of
from service.types.audio import Transcript


def parse(text: str, source: str) -> Transcript:
    """Raises TranscriptUnreadable at a time that cannot be read, or when there is text but no time at all."""
    cues = Cues(source, comments=False).read(numbered(text))
    if not cues.found and text.strip():
        raise TranscriptUnreadable(source=source, place="line 1", what="no line hh:mm:ss,mmm --> hh:mm:ss,mmm was found.")
    return Transcript("srt", segments_of(cues.found), recovered=cues.recovered)
