"""What does an Azure Speech result say: of batch transcription (ISO durations and ticks), or of fast transcription (ms)?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, has, span
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written, clean
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Segment, Transcript, TranscriptSegment, Word

TICKS = 10_000_000
"""of 100 ns, a second"""
_DURATION = re.compile(r"^PT(?:([0-9]+(?:\.[0-9]+)?)H)?(?:([0-9]+(?:\.[0-9]+)?)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?$")


def recognises(written: Written) -> bool:
    document = written.peek()
    return has(document, "recognizedPhrases") or has(document, "phrases", "combinedPhrases")


def read(written: Written) -> Transcript:
    """The best of each phrase; what was not recognised says nothing. Labels count within a channel.

    Raises TranscriptUnreadable."""
    whole = Field.whole(written)
    is_batch = whole["recognizedPhrases"].value is not None
    phrases = [
        phrase
        for phrase in (whole["recognizedPhrases"] if is_batch else whole["phrases"])
        if phrase["recognitionStatus"].value in (None, "Success")
    ]
    several = len({phrase["channel"].key() for phrase in phrases}) > 1
    turns = [_batch(phrase, several) if is_batch else _fast(phrase, several) for phrase in phrases]
    said = [turn for turn in turns if turn.text]
    told = [text["display"] for text in whole["combinedRecognizedPhrases"]] + [
        text["text"] for text in whole["combinedPhrases"]
    ]
    where = next((phrase["nBest"] for phrase in phrases if is_batch), whole["recognizedPhrases" if is_batch else "phrases"])
    where.need_turns(said, *told)
    return Transcript("azure", in_order(said))


def _batch(phrase: Field, several: bool) -> TranscriptSegment:
    best = next(iter(phrase["nBest"]), Field(None, f"{phrase.place}.nBest[0]", phrase.source))
    label = phrase["speaker"].label() or best["speaker"].label()
    words = tuple(_words(best["words"], "word")) or tuple(_words(best["displayWords"], "displayText"))
    text = best.first_of("display", "maskedITN", "itn", "lexical").text() or " ".join(word.text for word in words) or None
    if text and len(words) == len(text.split()):  # words are lexical: "hello world" of "Hello, world."
        words = tuple(Word(shown, w.segment, w.confidence) for shown, w in zip(text.split(), words, strict=True))
    elif text and clean(" ".join(word.text for word in words)) != text:
        words = ()  # numbers written as figures: the words are not those of the text
    return TranscriptSegment(_required(phrase), _within(phrase, label, several), text, words, phrase["locale"].text())


def _fast(phrase: Field, several: bool) -> TranscriptSegment:
    words = tuple(_words(phrase["words"], "text"))
    return TranscriptSegment(
        _required(phrase),
        _within(phrase, phrase["speaker"].label(), several),
        phrase["text"].text() or " ".join(word.text for word in words) or None,
        words,
        phrase["locale"].text(),
    )


def _within(phrase: Field, label: str | None, several: bool) -> str | None:
    if not several:
        return label
    channel = phrase["channel"].label("Channel")
    return " ".join(part for part in (channel, label) if part) or None


def _words(words: Iterable[Field], key: str) -> Iterable[Word]:
    for word in words:
        text, time = word[key].text(), _span(word)
        if text and time:
            yield Word(text, time, word["confidence"].share())


def _required(phrase: Field) -> Segment:
    segment = _span(phrase)
    if segment is None:
        raise phrase["offset"].refuse("offset and duration")
    return segment


def _span(of: Field) -> Segment | None:
    start = _seconds(of, "offset")
    duration = _seconds(of, "duration")
    return span(start, None if start is None or duration is None else start + duration)


def _seconds(of: Field, name: str) -> float | None:
    """Of `offsetInTicks`, `offsetMilliseconds` or `offset`, whichever is there."""
    if (ticks := of[f"{name}InTicks"].seconds(TICKS)) is not None:
        return ticks
    if (milliseconds := of[f"{name}Milliseconds"].seconds(1000)) is not None:
        return milliseconds
    text = of[name].text()
    if text is None:
        return None
    found = _DURATION.match(text)
    if found is None or not any(found.groups()):
        raise of[name].refuse("a duration like PT1.5S")
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds


AZURE = TranscriptFormat(
    Declared(
        "azure",
        "Azure Speech, batch and fast transcription",
        TimeUnit.ISO_DURATION,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        repeats="the whole text stands in `combinedRecognizedPhrases`, too; not read",
        times_words=True,
    ),
    recognises,
    read,
)
