"""What does an AssemblyAI transcript say (milliseconds, letters for speakers)?"""

from __future__ import annotations

from collections.abc import Iterable

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, has, span
from service.connectors.files.runs import SpokenWord, in_order, turns_of
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript, TranscriptSegment


def recognises(written: Written) -> bool:
    document = written.peek()
    asked = has(document, "audio_url") or has(document, "audio_duration") or has(document, "language_code")
    return asked and has(document, "words", "text") and not has(document, "segments")


def read(written: Written) -> Transcript:
    """The words of its utterances, else of the whole; each with the speaker it has itself, for labels of words are made better
    than those of utterances. An utterance without words is one turn.

    Raises TranscriptUnreadable, also for a transcript that failed."""
    whole = Field.whole(written)
    if whole["status"].value not in (None, "completed"):
        raise whole["status"].refuse("a transcript that is completed")
    language = whole["language_code"].text()
    language = language.replace("_", "-") if language else None
    utterances = list(whole["utterances"])
    turns = [turn for of in utterances or [whole] for turn in _turns(of, language)]
    whole["words"].need_turns(turns, whole["text"])
    return Transcript("assemblyai", in_order(turns), language)


def _turns(of: Field, language: str | None) -> list[TranscriptSegment]:
    turns = turns_of(_words(of), language=language)
    text, time = of["text"].text(), span(of["start"].seconds(1000), of["end"].seconds(1000))
    if turns or text is None:
        return turns
    if time is None:
        raise of["words"].refuse("words with times, or start and end")
    return [TranscriptSegment(time, of["speaker"].label() or of["channel"].label("Channel"), text, language=language)]


def _words(of: Field) -> Iterable[SpokenWord]:
    channel, speaker = of["channel"].label("Channel"), of["speaker"].label()
    for word in of["words"]:
        time = span(word["start"].seconds(1000), word["end"].seconds(1000))
        yield SpokenWord(
            word["text"].text() or "", time, word["speaker"].label() or speaker or channel, word["confidence"].share()
        )


ASSEMBLYAI = TranscriptFormat(
    Declared(
        "assemblyai",
        "AssemblyAI, of recordings",
        TimeUnit.MILLISECONDS,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        repeats="words stand in `words` and again in `utterances`; the latter are kept",
        times_words=True,
    ),
    recognises,
    read,
)
