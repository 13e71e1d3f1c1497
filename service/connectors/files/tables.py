"""What does a table say: CSV with a header, separated by commas, semicolons, tabs or bars?"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.columns import known_fields
from service.connectors.files.json_segments import segments_of
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript

SEPARATORS = (",", ";", "\t", "|")
MAX_FIELD = 1_000_000
"""Characters; the csv module's own limit of 131,072 is less than a long meeting in one cell."""

NOT_OF_TABLES = ("words", "images")
"""Lists in JSON; in a table a column of that name counts them."""


def recognises(written: Written) -> bool:
    return not written.looks_like_json and _separator(written.text) is not None


def read(written: Written) -> Transcript:
    """Columns as generic JSON names its keys; a start, a text and, if known, an end or a duration, and a speaker.

    Raises TranscriptUnreadable with the line."""
    separator = _separator(written.text)
    if separator is None:
        raise written.refuse(
            "line 1", "the first line is no header with a start and a text; needed: start, end, speaker, text."
        )
    header, lines, numbers = _lines(written, separator)
    items = []
    for line, number in zip(lines, numbers, strict=True):
        if len(line) > len(header):
            raise written.refuse(f"line {number}", f"{len(line)} fields under a header of {len(header)}.")
        cells = zip(header, line, strict=False)
        items.append({"text": "", **{name: cell for name, cell in cells if name not in NOT_OF_TABLES}})
    return segments_of(items, written, "csv", place=lambda index: f"line {numbers[index]}")


def _lines(written: Written, separator: str) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, the rows that are not empty, and the line each of them ends in."""
    csv.field_size_limit(MAX_FIELD)
    reader = csv.reader(io.StringIO(written.text, newline=""), delimiter=separator, strict=True)
    header: list[str] = []
    lines: list[list[str]] = []
    numbers: list[int] = []
    try:
        for line in reader:
            if not any(cell.strip() for cell in line):
                continue
            if not header:
                header = [cell.strip() for cell in line]
            else:
                lines.append(line)
                numbers.append(reader.line_num)
    except csv.Error as problem:
        raise written.refuse(f"line {reader.line_num}", f"not a table ({problem}).") from problem
    return header, lines, numbers


def _separator(text: str) -> str | None:
    """The one that makes a header with a start and a text of the first line."""
    head = text.lstrip().partition("\n")[0][:2000]
    return next((s for s in SEPARATORS if _is_header([cell.strip(' "') for cell in head.split(s)])), None)


def _is_header(cells: Sequence[str]) -> bool:
    return {"start", "text"} <= known_fields(cells)


CSV = TranscriptFormat(
    Declared("csv", "tables with a header", TimeUnit.SECONDS, TimeBase.RECORDING, SpeakerScope.NAME),
    recognises,
    read,
)
