"""What do JSON segments say: a list of {start, end, speaker, text}, each with what else the caller knows of it:
{id, reply_to, addressed_to, images: [{reference, caption}]}?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.columns import rows
from service.connectors.files.segments_told import told_of
from service.connectors.files.source import TranscriptUnreadable, Written, clean, described, speaker_label
from service.connectors.files.transcript_format import TranscriptFormat
from service.connectors.files.words import between
from service.types.audio import Segment, Transcript, TranscriptSegment, Word
from service.types.told import NOTHING_TOLD

CONTAINERS = ("segments", "utterances", "sentences", "monologues", "entries", "items", "transcript", "transcription", "data")
"""Under which key the list of segments may stand, besides alone."""
WORDS = ("words", "word_segments")
"""Where words stand again without their segments."""
_KEY = re.compile(r"[a-z][A-Za-z0-9_]{0,30}")
"""What a program calls a field; other keys may be people, or what was said."""


def recognises(written: Written) -> bool:
    """Whatever looks like JSON: what nobody else knows."""
    return written.looks_like_json


def read(written: Written, format: str = "json") -> Transcript:
    document = written.document()
    items, language = document, None
    if isinstance(document, dict):
        lists = [document[key] for key in CONTAINERS if isinstance(document.get(key), list)]
        items = next((items for items in lists if items), lists[0] if lists else None)
        language = document.get("language")
    if not isinstance(items, list):
        keys = [str(key) for key in document if _KEY.fullmatch(str(key))] if isinstance(document, dict) else ["no object"]
        has = ", ".join(keys[:6])
        what = f'it has {has or "nothing known"}; needed: "segments": [...], or a list of {{start, end, speaker, text}}.'
        raise written.refuse("the whole file", what)
    if not items and isinstance(document, dict) and any(_says(document.get(key)) for key in ("text", "transcript", *WORDS)):
        raise written.refuse("the whole file", "it has words and no segments; needed: segments with start, end and text.")
    language = language.strip() or None if isinstance(language, str) else None
    return segments_of(items, written, format, place=lambda index: f"segment {index} (from 0)", language=language)


def _says(value: Any) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)


def parse(text: str, source: str) -> Transcript:
    """As `read`."""
    return read(Written(text, source))


def segments_of(
    items: Sequence[Any], written: Written, format: str, *, place: Callable[[int], str], language: str | None = None
) -> Transcript:
    """Times in seconds unless the key says milliseconds; clocks and dates are understood. Words without times are laid between
    their neighbours; a segment whose words have several speakers is cut where they change, and what is told beside the words is
    of its first part. Voice embeddings that WhisperX may add are never read. Raises TranscriptUnreadable."""
    reader = _Reader(written.name)
    found = rows(items, lambda index, key, what: written.refuse(f"{place(index)}, {key}" if key else place(index), what))
    segments = [part for i, item in enumerate(found.items) for part in reader.segment(item, place(i), language)]
    segments.sort(key=lambda part: part.segment.start)
    return Transcript(format, tuple(segments), language, reader.recovered, found.started_at)


@dataclass(slots=True)
class _Reader:
    source: str
    recovered: int = 0

    def segment(self, item: Any, place: str, language: str | None) -> Iterator[TranscriptSegment]:
        if not isinstance(item, Mapping):
            raise self._unreadable(place, "needed: an object with start, end and text.")
        segment = self._required_time(item, place)
        speaker = self._speaker(item, place)
        words = self._words(item.get("words"), segment, place)
        text = item.get("text")
        if not isinstance(text, str | None):
            raise self._unreadable(place, f"text is {type(text).__name__}; needed: a string.")
        told = told_of(item, lambda what: self._unreadable(place, what))
        words, is_whole = _with_all_of(text, words)
        speakers = _speakers([said_by for _, said_by in words], speaker)
        if not is_whole:  # the text says what the words do not: it is kept, and whose it is, is not known where they differ
            self.recovered += 1
            label = speakers[0] if len(set(speakers)) == 1 else None
            yield TranscriptSegment(segment, label, clean(text or ""), (), language, told)
            return
        if len(set(speakers)) <= 1:
            label = speakers[0] if speakers else speaker
            said = clean(text) if text is not None else " ".join(word.text for word, _ in words)
            if said or text is None or told.images:
                yield TranscriptSegment(segment, label, said or None, tuple(word for word, _ in words), language, told)
            return
        for label, group in groupby(zip(speakers, words, strict=True), key=lambda pair: pair[0]):
            own = tuple(word for _, (word, _) in group)
            span = Segment(own[0].segment.start, max(own[0].segment.start, own[-1].segment.end))
            yield TranscriptSegment(span, label, " ".join(word.text for word in own), own, language, told)
            told = NOTHING_TOLD

    def _words(self, items: Any, segment: Segment, place: str) -> list[tuple[Word, str | None]]:
        if items is None:
            return []
        if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
            raise self._unreadable(place, "words are not a list of objects.")
        said = [(_text(item), item) for item in items]
        said = [(text, item) for text, item in said if text]
        times = [self._time(item, f"{place}, word {index} (from 0)") for index, (_, item) in enumerate(said)]
        filled = between(times, segment, [len(text) + 1 for text, _ in said])
        return [
            (Word(text, time, self._confidence(item)), self._speaker(item, place))
            for (text, item), time in zip(said, filled, strict=True)
        ]

    def _required_time(self, item: Mapping[str, Any], place: str) -> Segment:
        segment = self._time(item, place)
        if segment is None:
            raise self._unreadable(place, "start or end is missing; needed: seconds.")
        return segment

    def _time(self, item: Mapping[str, Any], place: str) -> Segment | None:
        start, end = (self._seconds(item.get(key), f"{place}, {key}") for key in ("start", "end"))
        if start is None or end is None:
            return None
        if end < start:
            self.recovered += 1
        return Segment(start, max(start, end))

    def _seconds(self, value: Any, place: str) -> float | None:
        if value is None:
            return None
        try:
            seconds = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            seconds = math.nan
        if not math.isfinite(seconds):
            raise self._unreadable(place, f"{described(value)} is not a time in seconds.")
        return seconds

    def _speaker(self, item: Mapping[str, Any], place: str) -> str | None:
        speaker = item.get("speaker")
        if speaker is None or isinstance(speaker, str):
            return speaker_label(speaker)
        if isinstance(speaker, int) and not isinstance(speaker, bool):
            return str(speaker)
        raise self._unreadable(place, f"speaker is {type(speaker).__name__}; needed: a string.")

    def _confidence(self, item: Mapping[str, Any]) -> float:
        value = item.get("probability", item.get("score", item.get("confidence")))
        if not isinstance(value, int | float) or value != value:
            return 1.0
        return float(min(max(value, 0), 1))

    def _unreadable(self, place: str, what: str) -> TranscriptUnreadable:
        return TranscriptUnreadable(source=self.source, place=place, what=what)


def _text(word: Mapping[str, Any]) -> str:
    """Of one word; a number may be a word, what is missing is none."""
    text = word.get("word", word.get("text"))
    return clean(str(text)) if isinstance(text, str | int | float) and not isinstance(text, bool) else ""


def _with_all_of(text: str | None, words: list[tuple[Word, str | None]]) -> tuple[list[tuple[Word, str | None]], bool]:
    """The words, each with what the text has after it and no word says; and whether the words are in the text, in its order."""
    tokens = (text or "").split()
    if not tokens or not words or _bare("".join(tokens)) == _bare("".join(word.text for word, _ in words)):
        return words, True
    found: list[tuple[Word, str | None]] = []
    begin = 0
    for word, said_by in words:
        parts = [_bare(part) for part in word.text.split()]
        last = range(begin, len(tokens) - len(parts) + 1)
        at = next((n for n in last if [_bare(token) for token in tokens[n : n + len(parts)]] == parts), None)
        if at is None:
            return words, False
        if found and at > begin:
            before, whose = found[-1]
            found[-1] = (replace(before, text=clean(" ".join((before.text, *tokens[begin:at])))), whose)
        before_first = tokens[begin:at] if not found else []
        found.append((replace(word, text=clean(" ".join((*before_first, *tokens[at : at + len(parts)])))), said_by))
        begin = at + len(parts)
    last_word, whose = found[-1]
    found[-1] = (replace(last_word, text=clean(" ".join((last_word.text, *tokens[begin:])))), whose)
    return found, True


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _speakers(given: Sequence[str | None], of_segment: str | None) -> list[str | None]:
    """A speaker for each word: its own, else its neighbours' when they agree, else nobody's; without any, the segment's."""
    if not any(given):
        return [of_segment] * len(given)
    before, after = _last_known(given), _last_known(given[::-1])[::-1]
    return [own or _agreed(b, a) for own, b, a in zip(given, before, after, strict=True)]


def _last_known(given: Sequence[str | None]) -> list[str | None]:
    """Of each word the speaker of the last one up to it that has one."""
    found: list[str | None] = []
    for speaker in given:
        found.append(speaker or (found[-1] if found else None))
    return found


def _agreed(before: str | None, after: str | None) -> str | None:
    return before if before == after or after is None else after if before is None else None


JSON = TranscriptFormat(
    Declared(
        "json",
        "lists of {start, end, speaker, text}, or objects with such a list",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.NAME,
        utterance_ids="id",
        times_words=True,
    ),
    recognises,
    read,
)
