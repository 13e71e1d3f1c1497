"""Who spoke when, according to an RTTM file (NIST Rich Transcription; 9 or 10 columns, no text)?"""

from __future__ import annotations

import math

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.cues import numbered
from service.connectors.files.recordings import chosen
from service.connectors.files.source import TranscriptUnreadable, Written, clean_name, described
from service.connectors.files.transcript_format import TranscriptFormat
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
            what = f"{len(columns)} columns; needed: {needed}."
            raise TranscriptUnreadable(source=source, place=f"line {number}", what=what)
        start, duration = (_seconds(column, source, number) for column in columns[3:5])
        label = None if columns[7] == "<NA>" else clean_name(columns[7])
        turns.append((columns[1], TranscriptSegment(Segment(start, start + duration), label, None)))
    meant = chosen({recording for recording, _ in turns}, source)
    segments = sorted((turn for recording, turn in turns if recording == meant), key=lambda turn: turn.segment)
    return Transcript("rttm", tuple(segments))


def _seconds(column: str, source: str, number: int) -> float:
    try:
        value = float(column)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        what = f"{described(column)} is not a time in seconds."
        raise TranscriptUnreadable(source=source, place=f"line {number}", what=what)
    return value


def recognises(written: Written) -> bool:
    return not written.looks_like_json and any(is_record(line) for line in written.text.lstrip().split("\n", 200)[:200])


def read(written: Written) -> Transcript:
    return parse(written.text, written.name)


RTTM = TranscriptFormat(
    Declared("rttm", "NIST, and diarisers; no text", TimeUnit.SECONDS, TimeBase.RECORDING, SpeakerScope.FILE), recognises, read
)
