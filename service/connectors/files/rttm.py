"""Who spoke when, according to an RTTM file (NIST Rich Transcription; 9 or 10 columns, no text)?"""

from __future__ import annotations

import math
from pathlib import PurePath

from service.connectors.files.cues import numbered
from service.connectors.files.source import TranscriptUnreadable, clean_name
from service.types.audio import Segment, Transcript, TranscriptSegment

OTHER_TYPES = frozenset(
    {"SEGMENT", "NOSCORE", "NO_RT_METADATA", "LEXEME", "NON-LEX", "NON-SPEECH", "FILLER", "EDIT", "IP", "SU", "CB", "A/P"}
    | {"SPKR-INFO"}
)
"""Line types of the RT-09 plan that are not turns; they are skipped."""


def is_record(line: str) -> bool:
    """Whether `line` can only be one of RTTM's."""
    columns = line.split()
    return len(columns) >= 8 and (columns[0] == "SPEAKER" or columns[0] in OTHER_TYPES)


def parse(text: str, source: str) -> Transcript:
    """The turns of one recording: the only one in the file, else the one called like the file. Raises TranscriptUnreadable."""
    turns: list[tuple[str, TranscriptSegment]] = []
    for number, line in numbered(text):
        columns = line.split()
        if not columns or columns[0].startswith(";;") or columns[0] in OTHER_TYPES:
            continue
        if columns[0] != "SPEAKER" or len(columns) not in (9, 10):
            needed = "SPEAKER <file> <channel> <start> <duration> <NA> <NA> <name> <NA> [<NA>]"
            what = f"{len(columns)} columns beginning with {columns[0][:20]!r}; needed: {needed}."
            raise TranscriptUnreadable(source=source, place=f"line {number}", what=what)
        start, duration = (_seconds(column, source, number) for column in columns[3:5])
        label = None if columns[7] == "<NA>" else clean_name(columns[7])
        turns.append((columns[1], TranscriptSegment(Segment(start, start + duration), label, None)))
    chosen = _recording({recording for recording, _ in turns}, source)
    segments = sorted((turn for recording, turn in turns if recording == chosen), key=lambda turn: turn.segment)
    return Transcript("rttm", tuple(segments))


def _recording(names: set[str], source: str) -> str | None:
    if len(names) <= 1:
        return next(iter(names), None)
    if (stem := PurePath(source).stem) in names:
        return stem
    what = f"the file describes {len(names)} recordings ({', '.join(sorted(names)[:5])}); name it after the one that is meant."
    raise TranscriptUnreadable(source=source, place="the whole file", what=what)


def _seconds(column: str, source: str, number: int) -> float:
    try:
        value = float(column)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        what = f"{column!r} is not a time in seconds."
        raise TranscriptUnreadable(source=source, place=f"line {number}", what=what)
    return value
