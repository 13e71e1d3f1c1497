"""What does a transcription of MeetingBaas v2 say?"""

from __future__ import annotations

from collections.abc import Iterable

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, has, span
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript, TranscriptSegment, Word


def recognises(written: Written) -> bool:
    document = written.peek()
    return has(document, "bot_id", "result") and has(document["result"], "utterances")


def read(written: Written) -> Transcript:
    """Raises TranscriptUnreadable."""
    turns = []
    for utterance in Field.whole(written)["result"]["utterances"]:
        segment = span(utterance["start"].seconds(), utterance["end"].seconds())
        if segment is None:
            raise utterance["start"].refuse("start and end, in seconds")
        words = tuple(_words(utterance["words"]))
        text = utterance["text"].text() or " ".join(word.text for word in words)
        if text:
            label = utterance["speaker"].label()
            turns.append(TranscriptSegment(segment, label, text, words, utterance["language"].text()))
    return Transcript("meetingbaas", in_order(turns))


def _words(words: Field) -> Iterable[Word]:
    for word in words:
        time, text = span(word["start"].seconds(), word["end"].seconds()), word["word"].text()
        if time is not None and text:
            yield Word(text, time, word["confidence"].share())


MEETINGBAAS = TranscriptFormat(
    Declared(
        "meetingbaas",
        "MeetingBaas v2, transcription",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.NAME,
        repeats="its raw transcription counts from each piece of sound; refused",
        times_words=True,
    ),
    recognises,
    read,
)
