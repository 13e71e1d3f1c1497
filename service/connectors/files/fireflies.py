"""What does a Fireflies transcript say: an answer of its API, its JSON export, or the chunks of a live meeting?"""

from __future__ import annotations

from datetime import UTC, datetime

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.clock import clock_seconds
from service.connectors.files.fields import Field, first, has, span
from service.connectors.files.participants import Speaker, labels
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Segment, Transcript, TranscriptSegment
from service.types.told import Told


def recognises(written: Written) -> bool:
    document = written.peek()
    if isinstance(document, list):
        item = first(document)
        return has(item, "chunk_id", "transcript_id") or has(item, "sentence", "speaker_name")
    return any(has(part, "sentences") for part in (document, *_inner(document)))


def read(written: Written) -> Transcript:
    """Of a live meeting the last text of each chunk. Raises TranscriptUnreadable."""
    whole = Field.whole(written)
    if isinstance(whole.value, list):
        return Transcript("fireflies", _turns(_last_of_each(list(whole))))
    if has(whole.value, "data"):
        whole = whole["data"]
    if has(whole.value, "transcript"):
        whole = whole["transcript"]
    date = whole["date"].value
    milliseconds = whole["date"].number() if isinstance(date, int | float) else None
    began = datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds and 0 < milliseconds < 32e12 else None
    return Transcript("fireflies", _turns(list(whole["sentences"])), started_at=began)


def _last_of_each(chunks: list[Field]) -> list[Field]:
    last: dict[str, Field] = {}
    for place, chunk in enumerate(chunks):
        last[chunk["chunk_id"].key() or f"#{place}"] = chunk
    return list(last.values())


def _turns(sentences: list[Field]) -> tuple[TranscriptSegment, ...]:
    speakers: list[Speaker] = [(sentence["speaker_id"].key(), sentence["speaker_name"].label()) for sentence in sentences]
    called = labels(speakers, "Speaker")
    turns = []
    for sentence, speaker in zip(sentences, speakers, strict=True):
        text = sentence.first_of("text", "sentence", "raw_text").text()
        if text:
            told = Told(key=sentence["chunk_id"].key())
            turns.append(TranscriptSegment(_segment(sentence), called[speaker], text, told=told))
    return in_order(turns)


def _segment(sentence: Field) -> Segment:
    start, end = (_seconds(sentence.first_of(*names)) for names in (("start_time", "startTime"), ("end_time", "endTime")))
    segment = span(start, end)
    if segment is None:
        raise sentence["start_time"].refuse("start_time and end_time")
    return segment


def _seconds(field: Field) -> float | None:
    if isinstance(field.value, str) and (seconds := clock_seconds(field.value)) is not None:
        return seconds
    return field.number()


def _inner(document: object) -> list[object]:
    data = document.get("data") if isinstance(document, dict) else None
    return [part.get("transcript") for part in (document, data) if isinstance(part, dict)]


FIREFLIES = TranscriptFormat(
    Declared(
        "fireflies",
        "Fireflies, API, export and live chunks",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.PARTICIPANT,
        utterance_ids="chunk_id, of live chunks",
        repeats="the same chunk_id; the last is kept",
    ),
    recognises,
    read,
)
