"""What does an Amazon Transcribe result say (numbers as strings, punctuation without times, labels of speakers or channels)?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, first, has, span
from service.connectors.files.runs import SpokenWord, in_order, turns_of
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript

Labels = Mapping[tuple[float, float], str]
"""Start and end of a word → who said it."""


def recognises(written: Written) -> bool:
    document = written.peek()
    if isinstance(document, list):
        return has(first(document), "alternatives", "type", "start_time")
    return has(document, "results") and has(document["results"], "items") and "channels" not in document["results"]


def read(written: Written) -> Transcript:
    """Of a job's result, or of its `items` alone. Older results name speakers beside the items, by the words' times.

    Raises TranscriptUnreadable."""
    whole = Field.whole(written)
    if isinstance(whole.value, list):
        return Transcript("aws-transcribe", in_order(turns_of(_words(whole, {}))))
    results = whole["results"]
    language = results["language_code"].text()
    channels = list(results["channel_labels"]["channels"])
    if channels:
        turns = [
            turn
            for channel in channels
            for turn in turns_of(_words(channel["items"], {}, channel["channel_label"].label("Channel")), language=language)
        ]
    else:
        turns = turns_of(_words(results["items"], _labels(results["speaker_labels"])), language=language)
    results["items"].need_turns(turns, *(whole_text["transcript"] for whole_text in results["transcripts"]))
    return Transcript("aws-transcribe", in_order(turns), language)


def _words(items: Iterable[Field], labels: Labels, channel: str | None = None) -> Iterable[SpokenWord]:
    for item in items:
        best = next(iter(item["alternatives"]), None)
        if best is None:
            continue
        start, end = item["start_time"].seconds(), item["end_time"].seconds()
        said_by = labels.get((start, end)) if start is not None and end is not None else None
        yield SpokenWord(
            best["content"].text() or "",
            span(start, end),
            item["speaker_label"].label() or said_by or channel,
            best["confidence"].share(),
            glued=item["type"].value == "punctuation",
        )


def _labels(speaker_labels: Field) -> Labels:
    found: dict[tuple[float, float], str] = {}
    for segment in speaker_labels["segments"]:
        for item in segment["items"]:
            start, end, label = item["start_time"].seconds(), item["end_time"].seconds(), item["speaker_label"].label()
            if start is not None and end is not None and label is not None:
                found[start, end] = label
    return found


AWS_TRANSCRIBE = TranscriptFormat(
    Declared(
        "aws-transcribe",
        "Amazon Transcribe",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        repeats="with channels, items stand in each and again in all; those of the channels are kept",
        times_words=True,
    ),
    recognises,
    read,
)
