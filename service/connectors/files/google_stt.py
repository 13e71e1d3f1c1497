"""What does a Google Speech-to-Text result say (times like 1.200s; with diarisation, the last result repeats every word)?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, first, has, span
from service.connectors.files.runs import SpokenWord, in_order, turns_of
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Segment, Transcript, TranscriptSegment

SAME = 0.1
"""Seconds by which a result may begin after the words that it repeats: times are given in tenths."""


def recognises(written: Written) -> bool:
    document = written.peek()
    if has(document, "response"):
        document = document["response"]
    if not has(document, "results"):
        return False
    result = first(document["results"])
    said = has(result, "alternatives") and "type" not in result and "is_final" not in result
    return said and ("@type" in document or has(first(result["alternatives"]), "transcript") or _has_words(result))


def read(written: Written) -> Transcript:
    """Of a response or a finished operation, v1 and v2. Where words have speakers, and the last result of a channel that has
    them begins where the channel does, it holds all words again and is read alone; else all are. A result without words is
    one turn. Raises TranscriptUnreadable."""
    whole = Field.whole(written)
    if has(whole.value, "response"):
        whole = whole["response"]
    channels: dict[str | None, list[Field]] = {}
    for result in whole["results"]:
        channels.setdefault(result["channelTag"].label("Channel"), []).append(result)
    turns = [turn for channel, results in channels.items() for turn in _turns(results, channel if len(channels) > 1 else None)]
    return Transcript("google", in_order(turns))


def _turns(results: Sequence[Field], channel: str | None) -> list[TranscriptSegment]:
    results = _once(results)
    turns: list[TranscriptSegment] = []
    end = 0.0
    for result in results:
        language = _language(result)
        timed = turns_of(_spoken(_best_words(result), channel), language=language)
        result_end = _seconds(result.first_of("resultEndTime", "resultEndOffset"))
        text = _best(result)["transcript"].text()
        if timed:
            turns += timed
            result_end = result_end or max(turn.segment.end for turn in timed)
        elif text:
            if result_end is None:
                raise result["resultEndTime"].refuse("words with times, or resultEndTime")
            turns.append(TranscriptSegment(Segment(end, max(end, result_end)), channel, text, language=language))
        end = max(end, result_end or end)
    return turns


def _once(results: Sequence[Field]) -> Sequence[Field]:
    """Without those whose words the last one with speakers has again: only where it begins where they all do."""
    last = max((n for n, result in enumerate(results) if any(_label(word) for word in _best_words(result))), default=None)
    begins = None if last is None else _begins(results[last])
    if last is None or begins is None:
        return results
    for result in results[:last]:
        first, end = _begins(result), _seconds(result.first_of("resultEndTime", "resultEndOffset"))
        if first < begins - SAME if first is not None else end is not None and end <= begins:
            return results
    return results[last:]


def _begins(result: Field) -> float | None:
    """When its first word does."""
    word = next(iter(_best_words(result)), None)
    return None if word is None else _seconds(word.first_of("startTime", "startOffset"), absent=0.0)


def _spoken(words: Iterable[Field], channel: str | None) -> Iterable[SpokenWord]:
    for word in words:
        time = span(
            _seconds(word.first_of("startTime", "startOffset"), absent=0.0),
            _seconds(word.first_of("endTime", "endOffset")),
        )
        label = _label(word)
        within = " ".join(part for part in (channel, label) if part) or None
        yield SpokenWord(word["word"].text() or "", time, within, word["confidence"].number() or 1.0)


def _label(word: Field) -> str | None:
    """0 is nobody's tag."""
    if (label := word["speakerLabel"].text()) and label != "0":
        return f"Speaker {label}" if label.isdigit() else label
    tag = word["speakerTag"].number()
    return word["speakerTag"].label() if tag else None


def _best(result: Field) -> Field:
    return next(iter(result["alternatives"]), Field(None, f"{result.place}.alternatives[0]", result.source))


def _best_words(result: Field) -> list[Field]:
    return list(_best(result)["words"])


def _language(result: Field) -> str | None:
    return result["languageCode"].text()


def _seconds(field: Field, absent: float | None = None) -> float | None:
    """Of "1.200s", or {seconds, nanos}; protobuf leaves out what is 0, hence `absent`."""
    if field.value is None:
        return absent
    if isinstance(field.value, dict):
        return (field["seconds"].number() or 0.0) + (field["nanos"].number() or 0.0) / 1e9
    text = field.text() or ""
    if not text.endswith("s"):
        raise field.refuse("a duration like 1.200s")
    return Field(text[:-1], field.place, field.source).number()


def _has_words(result: object) -> bool:
    return isinstance(result, dict) and has(first(result.get("alternatives")), "words")


GOOGLE = TranscriptFormat(
    Declared(
        "google",
        "Google Speech-to-Text, v1 and v2",
        TimeUnit.PROTO_DURATION,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        repeats="with diarisation the last result has every word again; only that one is kept",
        times_words=True,
    ),
    recognises,
    read,
)
