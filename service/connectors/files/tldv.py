"""What does a tl;dv transcript say, as its API gives it?"""

from __future__ import annotations

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, first, has, span
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript, TranscriptSegment


def recognises(written: Written) -> bool:
    document = written.peek()
    return has(document, "data") and (
        has(first(document["data"]), "text", "startTime", "speaker") or (has(document, "meetingId") and document["data"] == [])
    )


def read(written: Written) -> Transcript:
    """Raises TranscriptUnreadable."""
    turns = []
    for item in Field.whole(written)["data"]:
        segment = span(item["startTime"].seconds(), item["endTime"].seconds())
        if segment is None:
            raise item["startTime"].refuse("startTime and endTime, in seconds")
        if text := item["text"].text():
            turns.append(TranscriptSegment(segment, item["speaker"].label(), text))
    return Transcript("tldv", in_order(turns))


TLDV = TranscriptFormat(
    Declared("tldv", "tl;dv, API; its tables are read as `csv`", TimeUnit.SECONDS, TimeBase.RECORDING, SpeakerScope.NAME),
    recognises,
    read,
)
