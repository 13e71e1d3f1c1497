"""What does an Otter text export say (a name, two blanks, a clock; then what was said)?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.clock import clock_seconds, with_ends
from service.connectors.files.cues import numbered
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written, clean, speaker_label
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript, TranscriptSegment

_HEADER = re.compile(r"^(?:(\S.*?)[ \t]{2,})?((?:[0-9]{1,3}:)?[0-9]{1,3}:[0-9]{2})[ \t]*$")
_FOOTER = re.compile(r"^Transcribed by https://otter\.ai\s*$", re.IGNORECASE)


@dataclass(slots=True)
class _Turn:
    start: float
    label: str | None
    lines: list[str] = field(default_factory=list)


def recognises(written: Written) -> bool:
    """By a header among the first lines, with text under it: after it may stand a title and a date."""
    if written.looks_like_json:
        return False
    lines = [line for line in written.text.lstrip().split("\n", 12)[:12] if line.strip()]
    headers = [_header(line) is not None for line in lines]
    return any(header and not following for header, following in pairwise(headers)) and (
        any(header and _HEADER.match(_cut(line)) and _named(line) for header, line in zip(headers, lines, strict=True))
        or "otter.ai" in written.text[-400:]
    )


def read(written: Written) -> Transcript:
    """Only starts are written: a turn ends where the next begins. Raises TranscriptUnreadable without any header."""
    turns: list[_Turn] = []
    above = ""
    for _, line in numbered(written.text):
        found = _header(line)
        is_said = found is not None and not _named(line) and bool(above.strip())  # somebody says a time
        above = line
        if found is not None and not is_said:
            turns.append(found)
        elif turns and line.strip() and not _FOOTER.match(line.strip()):
            turns[-1].lines.append(line)
    if not turns:
        raise written.refuse("line 1", "no line like `Name  0:15` was found.")
    said = [(turn, text) for turn in turns if (text := clean(" ".join(turn.lines)))]
    segments = with_ends([turn.start for turn, _ in said], [text for _, text in said])
    return Transcript(
        "otter",
        in_order(TranscriptSegment(at, turn.label, text) for (turn, text), at in zip(said, segments, strict=True)),
    )


def _header(line: str) -> _Turn | None:
    found = _HEADER.match(_cut(line))
    seconds = clock_seconds(found[2]) if found else None
    return None if found is None or seconds is None else _Turn(seconds, speaker_label(found[1]))


def _named(line: str) -> bool:
    found = _HEADER.match(_cut(line))
    return found is not None and found[1] is not None


def _cut(line: str) -> str:
    """A header is short; a long line is not looked through."""
    return line if len(line) <= 200 else ""


OTTER = TranscriptFormat(
    Declared("otter", "Otter, text export; its SRT is read as `srt`", TimeUnit.CLOCK, TimeBase.RECORDING, SpeakerScope.NAME),
    recognises,
    read,
)
