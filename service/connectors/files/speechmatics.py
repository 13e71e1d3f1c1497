"""What does a Speechmatics transcript say (words and punctuation one by one, speakers S1, S2, and UU for nobody)?"""

from __future__ import annotations

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, first, has, span
from service.connectors.files.runs import SpokenWord, in_order, turns_of
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript

FINAL = "AddTranscript"
"""The message that is not partial."""


def recognises(written: Written) -> bool:
    document = written.peek()
    if isinstance(document, list):
        return has(first(document), "message", "metadata")
    if not has(document, "results", "metadata") or isinstance(document["results"], dict):
        return False
    result = first(document["results"])
    return "format" in document or "job" in document or has(result, "type", "start_time", "alternatives")


def read(written: Written) -> Transcript:
    """Of a job, of one live message, or of all of a connection: partial ones are left out. Voice identifiers that it may carry
    are never read. Raises TranscriptUnreadable."""
    whole = Field.whole(written)
    messages = list(whole) if isinstance(whole.value, list) else [whole]
    final = [message for message in messages if message["message"].value in (None, FINAL)]
    language = whole["metadata"]["transcription_config"]["language"].text() if not isinstance(whole.value, list) else None
    several = len({result["channel"].label("Channel") for message in final for result in message["results"]}) > 1
    channels: dict[str | None, list[SpokenWord]] = {}
    for message in final:
        message["results"].need_turns(list(message["results"]), message["metadata"]["transcript"])
        for result in message["results"]:
            word = _word(result, several)
            if word is not None:
                channels.setdefault(result["channel"].label("Channel"), []).append(word)
    turns = [turn for words in channels.values() for turn in turns_of(words, language=language)]
    return Transcript("speechmatics", in_order(turns), language)


def _word(result: Field, several: bool) -> SpokenWord | None:
    """None for what is neither a word nor punctuation. Labels count within a channel."""
    kind = result["type"].value
    if kind not in ("word", "punctuation", "entity"):
        return None
    best = next(iter(result["alternatives"]), Field(None, f"{result.place}.alternatives[0]", result.source))
    speaker = best["speaker"].label() or result["speaker"].label()
    time = span(result["start_time"].seconds(), result["end_time"].seconds())
    if time is None:
        raise result["start_time"].refuse("start_time and end_time")
    channel = result["channel"].label("Channel")
    label = None if speaker == "UU" else f"{channel} {speaker}" if several and channel and speaker else speaker or channel
    before = result["attaches_to"].value in (None, "previous", "both")
    return SpokenWord(best["content"].text() or "", time, label, best["confidence"].share(), kind == "punctuation" and before)


SPEECHMATICS = TranscriptFormat(
    Declared(
        "speechmatics",
        "Speechmatics, of recordings and of one live connection",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        repeats="AddPartialTranscript before AddTranscript; only the latter is kept",
        times_words=True,
    ),
    recognises,
    read,
)
