"""What does an Amazon Transcribe Call Analytics result say (turns with a role, milliseconds)?"""

from __future__ import annotations

from collections.abc import Iterable

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, first, has, span
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript, TranscriptSegment, Word
from service.types.told import Told


def recognises(written: Written) -> bool:
    document = written.peek()
    if not has(document, "Transcript"):
        return False
    turn = first(document["Transcript"])
    return has(turn, "BeginOffsetMillis", "ParticipantRole") or (turn is None and has(document, "JobStatus"))


def read(written: Written) -> Transcript:
    """Raises TranscriptUnreadable, also for a job that failed."""
    whole = Field.whole(written)
    if whole["JobStatus"].value not in (None, "COMPLETED"):
        raise whole["JobStatus"].refuse("a job that is COMPLETED")
    language = whole["LanguageCode"].text()
    turns = [_turn(turn, language) for turn in whole["Transcript"]]
    return Transcript("aws-call-analytics", in_order(turn for turn in turns if turn.text), language)


def _turn(turn: Field, language: str | None) -> TranscriptSegment:
    segment = span(turn["BeginOffsetMillis"].seconds(1000), turn["EndOffsetMillis"].seconds(1000))
    if segment is None:
        raise turn["BeginOffsetMillis"].refuse("BeginOffsetMillis and EndOffsetMillis")
    words = tuple(_words(turn["Items"]))
    text = turn["Content"].text() or " ".join(word.text for word in words) or None
    return TranscriptSegment(segment, turn["ParticipantRole"].label(), text, words, language, Told(key=turn["Id"].key()))


def _words(items: Iterable[Field]) -> Iterable[Word]:
    """Punctuation goes with the word before it."""
    held: Word | None = None
    for item in items:
        text = item["Content"].text() or ""
        if item["Type"].value == "punctuation":
            held = Word(held.text + text, held.segment, held.confidence) if held else None
            continue
        time = span(item["BeginOffsetMillis"].seconds(1000), item["EndOffsetMillis"].seconds(1000))
        if held is not None:
            yield held
        held = Word(text, time, item["Confidence"].share()) if time is not None and text else None
    if held is not None:
        yield held


AWS_CALL_ANALYTICS = TranscriptFormat(
    Declared(
        "aws-call-analytics",
        "Amazon Transcribe Call Analytics",
        TimeUnit.MILLISECONDS,
        TimeBase.RECORDING,
        SpeakerScope.ROLE,
        utterance_ids="Transcript[].Id",
        times_words=True,
    ),
    recognises,
    read,
)
