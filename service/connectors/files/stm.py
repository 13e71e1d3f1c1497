"""What does an STM file say (NIST: `file channel speaker begin end [<labels>] text`)?"""

from __future__ import annotations

import re

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.clock import plain_seconds
from service.connectors.files.cues import numbered
from service.connectors.files.recordings import chosen
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written, clean, described, speaker_label
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Segment, Transcript, TranscriptSegment

NEEDED = "<file> <channel> <speaker> <begin> <end> [<labels>] <text>"
_NOTHING_SAID = frozenset({"ignore_time_segment_in_scoring", "inter_segment_gap", "excluded_region"})
_LABELS = re.compile(r"^<[^<>\s]*>(?!\S)")
_ALTERNATIVES = re.compile(r"\{([^{}/]*)(?:/[^{}]*)?\}")
_OPTIONAL = re.compile(r"\(([^()]*)\)")
_MARK = re.compile(r"(?<!\S)(?:%\S+|@)(?!\S)")
"""%HESITATION and the like, and @ for no word at all: not words."""


def recognises(written: Written) -> bool:
    if written.looks_like_json:
        return False
    lines = [line.split(maxsplit=5) for line in written.text.split("\n", 60)[:60]]
    records = [columns for columns in lines if columns and not columns[0].startswith(";;")][:50]
    return bool(records) and all(_is_record(columns) for columns in records)


def read(written: Written) -> Transcript:
    """The turns of one recording; of alternatives the first. Raises TranscriptUnreadable."""
    turns: list[tuple[str, TranscriptSegment]] = []
    recovered = 0
    for number, line in numbered(written.text):
        columns = line.split(maxsplit=5)
        if not columns or columns[0].startswith(";;"):
            continue
        if len(columns) < 5:
            raise written.refuse(f"line {number}", f"{len(columns)} columns; needed: {NEEDED}.")
        start, end = (_seconds(column, written, number) for column in columns[3:5])
        recovered += end < start
        text = _text(columns[5] if len(columns) > 5 else "")
        if text and columns[2] not in _NOTHING_SAID:
            label = speaker_label(columns[2])
            turns.append((columns[0], TranscriptSegment(Segment(start, max(start, end)), label, text)))
    recording = chosen({name for name, _ in turns}, written.name)
    return Transcript("stm", in_order(turn for name, turn in turns if name == recording), recovered=recovered)


def _text(rest: str) -> str:
    rest = _LABELS.sub("", rest)
    if rest.strip().lower() in _NOTHING_SAID:
        return ""
    said = _OPTIONAL.sub(r" \1 ", _ALTERNATIVES.sub(r" \1 ", rest))
    return clean(_MARK.sub(" ", said))


def _seconds(column: str, written: Written, number: int) -> float:
    value = plain_seconds(column)
    if value is None:
        raise written.refuse(f"line {number}", f"{described(column)} is not a time in seconds.")
    return value


def _is_record(columns: list[str]) -> bool:
    return len(columns) >= 5 and columns[0] != "SPEAKER" and all(plain_seconds(column) is not None for column in columns[3:5])


STM = TranscriptFormat(
    Declared(
        "stm",
        "NIST scoring",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        repeats="alternatives {a / b}; the first is kept",
    ),
    recognises,
    read,
)
