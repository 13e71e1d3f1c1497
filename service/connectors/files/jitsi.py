"""What does a Jitsi transcript say: the file that jigasi writes, or its events?"""

from __future__ import annotations

from datetime import UTC, datetime

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.clock import with_ends
from service.connectors.files.fields import Field, first, has
from service.connectors.files.participants import Speaker, labels
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript, TranscriptSegment
from service.types.told import Told

SAID = ("transcription-result", "SPEECH")
"""`event` of what was said, from the proxy and in jigasi's own file; others are comings, goings and raised hands."""


def recognises(written: Written) -> bool:
    document = written.peek()
    if has(document, "events"):
        return has(document, "room_name") or has(document, "initial_participants")
    return has(first(document) if isinstance(document, list) else document, "event", "participant", "timestamp")


def read(written: Written) -> Transcript:
    """What is final of each message; it has a moment and no end. Raises TranscriptUnreadable without a timestamp."""
    whole = Field.whole(written)
    events = list(whole if isinstance(whole.value, list) else whole["events"] if has(whole.value, "events") else [whole])
    last: dict[str, Field] = {}
    for place, event in enumerate(events):
        if event["event"].value in SAID and event["is_interim"].value is not True and _text(event):
            last[event["message_id"].key() or f"#{place}"] = event
    said = list(last.values())
    speakers: list[Speaker] = [(e["participant"]["id"].key(), e["participant"]["name"].label()) for e in said]
    called = labels(speakers)
    moments = [_seconds(event) for event in said]
    began = min(moments, default=None)
    texts = [_text(event) or "" for event in said]
    segments = with_ends([moment - (began or 0.0) for moment in moments], texts)
    turns = [
        TranscriptSegment(
            segment, called[speaker], text, language=event["language"].text(), told=Told(key=event["message_id"].key())
        )
        for event, speaker, text, segment in zip(said, speakers, texts, segments, strict=True)
    ]
    started_at = datetime.fromtimestamp(began, UTC) if began is not None and 0 <= began < 32e9 else None
    return Transcript("jitsi", in_order(turns), started_at=started_at)


def _text(event: Field) -> str | None:
    if isinstance(event["transcript"].value, list):
        best = next(iter(event["transcript"]), None)
        return best["text"].text() if best else None
    return event.first_of("transcript", "text").text()


def _seconds(event: Field) -> float:
    seconds = event["timestamp"].seconds(1000)
    if seconds is None:
        raise event["timestamp"].refuse("milliseconds since 1970")
    return seconds


JITSI = TranscriptFormat(
    Declared(
        "jitsi",
        "Jitsi, jigasi's file and its events",
        TimeUnit.MILLISECONDS,
        TimeBase.EPOCH,
        SpeakerScope.PARTICIPANT,
        utterance_ids="message_id",
        repeats="is_interim before the final one; only the last final text of a message_id is kept",
    ),
    recognises,
    read,
)
