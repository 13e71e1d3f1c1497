"""What do Vexa's transcripts say: of its REST interface, or the bundles of a live meeting?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.clock import moment
from service.connectors.files.columns import EPOCH
from service.connectors.files.fields import Field, first, has
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Segment, Transcript, TranscriptSegment, Word
from service.types.told import Told


def recognises(written: Written) -> bool:
    document = written.peek()
    if isinstance(document, list):
        return has(first(document), "confirmed", "pending") or has(first(document), "segment_id", "text")
    if has(document, "segment_id", "text"):
        return not has(document, "issue_id")
    listed = has(document, "segments") and has(first(document["segments"]), "segment_id", "text")
    return listed or has(document, "confirmed", "pending")


def read(written: Written) -> Transcript:
    """Confirmed segments, the last of each id. What is only pending is no one's last word, and left out.

    Times are seconds from the session's start; a segment with dates alone counts from the first date of the file, and one that
    gives seconds since 1970, as chat messages do, from there, too. Raises TranscriptUnreadable for a segment without either."""
    whole = Field.whole(written)
    last: dict[str, Field] = {}
    for place, segment in enumerate(_segments(whole)):
        id = segment["segment_id"].key() or f"#{place}"
        if segment["completed"].value is not False and not id.endswith(":pending"):
            last[id] = segment
    began = _date(whole["start_time"]) if not isinstance(whole.value, list) else None
    began = began or min((date for s in last.values() if (date := _zero(s)) is not None), default=None)
    turns = [_turn(segment, began) for segment in last.values()]
    return Transcript("vexa", in_order(turn for turn in turns if turn.text), started_at=began)


def _segments(whole: Field) -> Iterable[Field]:
    for bundle in whole if isinstance(whole.value, list) else [whole]:
        if has(bundle.value, "segment_id"):
            yield bundle
        else:
            yield from bundle["segments"]
            yield from bundle["confirmed"]


def _turn(segment: Field, began: datetime | None) -> TranscriptSegment:
    start, end = (_seconds(segment, side, began) for side in ("start", "end"))
    if start is None or end is None:
        raise segment["start"].refuse("start and end in seconds, or absolute_start_time and absolute_end_time")
    span = Segment(start, max(start, end))
    return TranscriptSegment(
        span,
        segment["speaker"].label(),
        segment["text"].text(),
        tuple(_words(segment["words"], span)),
        segment["language"].text(),
        Told(key=segment["segment_id"].key()),
    )


def _words(words: Field, span: Segment) -> Iterable[Word]:
    for word in words:
        start, end, text = word["start"].number(), word["end"].number(), word["word"].text()
        if text and start is not None and end is not None:
            yield Word(text, Segment(start, max(start, end)), word["probability"].share())


def _seconds(segment: Field, side: str, began: datetime | None) -> float | None:
    """From the session's start, whichever way it is told."""
    date = _date(segment[f"absolute_{side}_time"]) or _date(segment[side])
    number = None if isinstance(segment[side].value, str) else segment[side].number()
    if number is not None and abs(number) < EPOCH:
        return number
    if date is not None and began is not None:
        return (date - began).total_seconds()
    if number is not None and began is not None:
        return number - began.timestamp()
    return None


def _zero(segment: Field) -> datetime | None:
    """Of the session, as this segment tells it; of one with dates alone, its own start."""
    date = _date(segment["absolute_start_time"]) or _date(segment["start"])
    number = None if isinstance(segment["start"].value, str) else segment["start"].number()
    if date is None or number is None or abs(number) >= EPOCH:
        return date
    return datetime.fromtimestamp(date.timestamp() - number, date.tzinfo)


def _date(field: Field) -> datetime | None:
    """With a zone; None without one, for then it is not known when it was."""
    date = moment(field.value) if isinstance(field.value, str) else None
    return date if date is not None and date.tzinfo is not None else None


VEXA = TranscriptFormat(
    Declared(
        "vexa",
        "Vexa, REST and live bundles",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.NAME,
        utterance_ids="segment_id",
        repeats="pending before confirmed, under another id; only confirmed is kept, the last of each id",
        times_words=True,
    ),
    recognises,
    read,
)
