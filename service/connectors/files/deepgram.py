"""What does a Deepgram result say: of a recording, or the messages of one live connection?"""

from __future__ import annotations

from collections.abc import Iterable

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, first, has, span
from service.connectors.files.runs import SpokenWord, in_order, turns_of
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript, TranscriptSegment


def recognises(written: Written) -> bool:
    document = written.peek()
    if isinstance(document, list):
        return has(first(document), "channel", "is_final") or has(first(document), "type", "channel_index")
    return has(document, "results") and has(document["results"], "channels")


def read(written: Written) -> Transcript:
    """Words with their own speakers, of the best alternative of each channel; live, of final results alone.

    Raises TranscriptUnreadable, also for the messages of two connections: their times start over, and so do their labels."""
    whole = Field.whole(written)
    if isinstance(whole.value, list):
        return Transcript("deepgram", in_order(_live(whole)))
    channels = list(whole["results"]["channels"])
    turns: list[TranscriptSegment] = []
    for index, channel in enumerate(channels):
        language = channel["detected_language"].text()
        best = next(iter(channel["alternatives"]), None)
        if best is None:
            continue
        said = turns_of(_words(best["words"], index if len(channels) > 1 else None), language=language)
        best["words"].need_turns(said, best["transcript"])
        turns += said
    return Transcript("deepgram", in_order(turns))


def _live(messages: Field) -> Iterable[TranscriptSegment]:
    connection: str | None = None
    words: dict[int, list[Field]] = {}
    for message in messages:
        if message["is_final"].value is not True:
            continue
        request = message["metadata"]["request_id"].key()
        if connection is not None and request is not None and request != connection:
            raise message["metadata"]["request_id"].refuse("one connection: give a file for each, their times start over")
        connection = connection or request
        channel = int(next(iter(message["channel_index"]), message["channel_index"]).number() or 0)
        best = next(iter(message["channel"]["alternatives"]), None)
        if best:
            best["words"].need_turns(list(best["words"]), best["transcript"])
            words.setdefault(channel, []).extend(best["words"])
    several = len(words) > 1
    return [turn for channel in sorted(words) for turn in turns_of(_words(words[channel], channel if several else None))]


def _words(words: Iterable[Field], channel: int | None) -> Iterable[SpokenWord]:
    for word in words:
        speaker = word["speaker"].label()
        label = speaker if channel is None else f"Channel {channel}{f' {speaker}' if speaker else ''}"
        time = span(word["start"].seconds(), word["end"].seconds())
        text = word.first_of("punctuated_word", "word").text()
        yield SpokenWord(text or "", time, label, word["confidence"].share())


DEEPGRAM = TranscriptFormat(
    Declared(
        "deepgram",
        "Deepgram, of recordings and of one live connection",
        TimeUnit.SECONDS,
        TimeBase.CONNECTION,
        SpeakerScope.FILE,
        repeats="interim results before the final one; only `is_final` is kept",
        times_words=True,
    ),
    recognises,
    read,
)
