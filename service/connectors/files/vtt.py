"""What does a WebVTT file say (W3C WebVTT, and what meeting tools write in its name)?"""

from __future__ import annotations

import re

from service.connectors.files.cues import TIMING, Cues, numbered
from service.connectors.files.source import TranscriptUnreadable
from service.connectors.files.voices import segments_of
from service.types.audio import Transcript

_LANGUAGE = re.compile(r"^Language:\s*([A-Za-z]{2,3})\b")


def parse(text: str, source: str) -> Transcript:
    """Header text, NOTE, STYLE and REGION are skipped; `Language:` of the header is kept. Raises TranscriptUnreadable."""
    lines = list(numbered(text))
    while lines and not lines[0][1].strip():
        lines.pop(0)
    if not lines or not re.match(r"WEBVTT(?:\s|$)", lines[0][1]):
        raise TranscriptUnreadable(source=source, place="line 1", what="a WebVTT file begins with the line WEBVTT.")
    header = 1
    while header < len(lines) and lines[header][1].strip() and not TIMING.match(lines[header][1]):
        header += 1
    language = next((m[1].lower() for _, line in lines[:header] if (m := _LANGUAGE.match(line))), None)
    cues = Cues(source, comments=True).read(lines[header:])
    return Transcript("vtt", segments_of(cues.found, language=language), language, cues.recovered)
