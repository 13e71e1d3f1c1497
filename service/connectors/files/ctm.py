"""Which words does a CTM file time (NIST: `file channel start duration word [confidence [type [speaker]]]`)?"""

from __future__ import annotations

import math
from collections import defaultdict

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.clock import plain_seconds
from service.connectors.files.cues import numbered
from service.connectors.files.fields import span
from service.connectors.files.recordings import chosen
from service.connectors.files.runs import SpokenWord, in_order, turns_of
from service.connectors.files.source import Written, clean, described, speaker_label
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Segment, Transcript

_ALTERNATIVES = ("<ALT_BEGIN>", "<ALT>", "<ALT_END>")
_NO_WORD = frozenset({"non-lex", "non-speech", "noise"})
NEEDED = "<file> <channel> <start> <duration> <word> [<confidence> [<type> [<speaker>]]]"


def recognises(written: Written) -> bool:
    if written.looks_like_json:
        return False
    lines = [line.split() for line in written.text.split("\n", 60)[:60]]
    records = [columns for columns in lines if columns and not columns[0].startswith(";;")][:50]
    return bool(records) and all(_is_record(columns) for columns in records)


def read(written: Written) -> Transcript:
    """The words of one recording; of alternatives the first. Channels are speakers where there are several.

    Raises TranscriptUnreadable."""
    found: defaultdict[str, defaultdict[str, list[SpokenWord]]] = defaultdict(lambda: defaultdict(list))
    skipping = False
    for number, line in numbered(written.text):
        columns = line.split()
        if not columns or columns[0].startswith(";;"):
            continue
        if len(columns) < 5 or len(columns) > 8:
            raise written.refuse(f"line {number}", f"{len(columns)} columns; needed: {NEEDED}.")
        if columns[4] in _ALTERNATIVES:
            skipping = columns[4] == "<ALT>"
        elif not skipping and (word := _word(columns, written, number)) is not None:
            found[columns[0]][columns[1]].append(word)
    recording = chosen(found.keys(), written.name)
    channels = found[recording] if recording is not None else {}
    turns = [turn for channel, words in channels.items() for turn in turns_of(_on(words, channel, len(channels)))]
    return Transcript("ctm", in_order(turns))


def _word(columns: list[str], written: Written, number: int) -> SpokenWord | None:
    """None for what is no word; a time may be `*`, within alternatives."""
    if len(columns) > 6 and columns[6].lower() in _NO_WORD:
        return None
    start, duration = (_seconds(column, written, number) for column in columns[2:4])
    confidence = _seconds(columns[5], written, number) if len(columns) > 5 and columns[5] != "NA" else 1.0
    label = speaker_label(columns[7]) if len(columns) > 7 else None
    time = span(start, None if start is None or duration is None else start + duration)
    return SpokenWord(clean(columns[4]), time, label, 1.0 if confidence is None else min(confidence, 1.0))


def _on(words: list[SpokenWord], channel: str, channels: int) -> list[SpokenWord]:
    """In order of time; with the channel's name where nobody's is given and there are several channels."""
    ordered = sorted(words, key=lambda word: word.time or Segment(math.inf, math.inf)) if all(w.time for w in words) else words
    if channels < 2:
        return list(ordered)
    return [SpokenWord(w.text, w.time, w.label or f"Channel {channel}", w.confidence) for w in ordered]


def _seconds(column: str, written: Written, number: int) -> float | None:
    if column == "*":
        return None
    value = plain_seconds(column)
    if value is None:
        raise written.refuse(f"line {number}", f"{described(column)} is not a number of seconds.")
    return value


def _is_record(columns: list[str]) -> bool:
    times = all(column == "*" or plain_seconds(column) is not None for column in columns[2:4])
    return (
        5 <= len(columns) <= 8 and times and (len(columns) == 5 or columns[5] == "NA" or plain_seconds(columns[5]) is not None)
    )


CTM = TranscriptFormat(
    Declared(
        "ctm",
        "NIST scoring, Kaldi and other recognisers",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        repeats="alternatives; the first is kept",
        times_words=True,
    ),
    recognises,
    read,
)
