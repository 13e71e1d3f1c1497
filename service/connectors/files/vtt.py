"""What does a WebVTT file say (W3C WebVTT, and what meeting tools write in its name)?

Our own reader: webvtt-py leaves entities undecoded, takes two voices in one cue for one, and leaves out what stands after a
blank line under a time, and cues that begin before 0 (tests/bench/README.md, connectors)."""

from __future__ import annotations

import re

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.cues import TIMING, Cues, numbered
from service.connectors.files.source import TranscriptUnreadable, Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.connectors.files.voices import segments_of
from service.connectors.files.vtt_flavours import plain_cues
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
    return Transcript("vtt", segments_of(plain_cues(cues.found), language=language), language, cues.recovered)


def recognises(written: Written) -> bool:
    return written.text.lstrip().startswith("WEBVTT")


def read(written: Written) -> Transcript:
    return parse(written.text, written.name)


VTT = TranscriptFormat(
    Declared(
        "vtt",
        "Zoom, Teams (also Graph), Meet, YouTube, and recognisers",
        TimeUnit.CLOCK,
        TimeBase.RECORDING,
        SpeakerScope.NAME,
        repeats="YouTube's rolling captions show each line again; kept once",
    ),
    recognises,
    read,
)
