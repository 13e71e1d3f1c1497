"""What do JSON segments say: of whisper, faster-whisper, WhisperX, or a plain list of {start, end, speaker, text}, each with
what else the caller knows of it: {id, reply_to, addressed_to, images: [{reference, caption}]}?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from service.connectors.files.segments_told import told_of
from service.connectors.files.source import TranscriptUnreadable, clean, speaker_label
from service.connectors.files.words import between
from service.types.audio import Segment, Transcript, TranscriptSegment, Word
from service.types.told import NOTHING_TOLD


def parse(text: str, source: str) -> Transcript:
    """Times in seconds. Words without times are laid between their neighbours; a segment whose words have several speakers
    is cut where they change, and what is told beside the words is of its first part. Voice embeddings that WhisperX may add are
    never read. Raises TranscriptUnreadable."""
    return _Reader(source).transcript(text)


@dataclass(slots=True)
class _Reader:
    source: str
    recovered: int = 0

    def transcript(self, text: str) -> Transcript:
        document = self._document(text)
        items, language = document, None
        if isinstance(document, dict):
            items, language = document.get("segments"), document.get("language")
        if not isinstance(items, list):
            raise self._unreadable("the whole file", 'needed: {"segments": [...]}, or a list of {start, end, speaker, text}.')
        language = language.strip() or None if isinstance(language, str) else None
        segments = [part for i, item in enumerate(items) for part in self._segment(item, f"segment {i} (from 0)", language)]
        segments.sort(key=lambda part: part.segment.start)
        return Transcript("json", tuple(segments), language, self.recovered)

    def _document(self, text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as problem:
            raise self._unreadable(f"line {problem.lineno}", f"not JSON ({problem.msg}).") from problem
        except (ValueError, RecursionError) as problem:  # a number of thousands of digits; thousands of brackets
            raise self._unreadable("the whole file", f"not JSON that can be read ({type(problem).__name__}).") from problem

    def _segment(self, item: Any, place: str, language: str | None) -> Iterator[TranscriptSegment]:
        if not isinstance(item, Mapping):
            raise self._unreadable(place, "needed: an object with start, end and text.")
        segment = self._required_time(item, place)
        speaker = self._speaker(item, place)
        words = self._words(item.get("words"), segment, place)
        text = item.get("text")
        if not isinstance(text, str | None):
            raise self._unreadable(place, f"text is {type(text).__name__}; needed: a string.")
        told = told_of(item, lambda what: self._unreadable(place, what))
        speakers = _speakers([said_by for _, said_by in words], speaker)
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
        said = [(clean(str(item.get("word", item.get("text", "")))), item) for item in items]
        said = [(text, item) for text, item in said if text]
        times = [self._time(item, f"{place}, word {text!r}") for text, item in said]
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
            raise self._unreadable(place, f"{str(value)[:40]!r} is not a time in seconds.")
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
        known = isinstance(value, int | float) and math.isfinite(value)
        return min(max(float(value), 0.0), 1.0) if known and value is not None else 1.0

    def _unreadable(self, place: str, what: str) -> TranscriptUnreadable:
        return TranscriptUnreadable(source=self.source, place=place, what=what)


def _speakers(given: Sequence[str | None], of_segment: str | None) -> list[str | None]:
    """A speaker for each word: its own, else its neighbours' when they agree, else nobody's; without any, the segment's."""
    if not any(given):
        return [of_segment] * len(given)
    return [speaker or _agreed(given, i) for i, speaker in enumerate(given)]


def _agreed(given: Sequence[str | None], index: int) -> str | None:
    before = next((speaker for speaker in reversed(given[:index]) if speaker), None)
    after = next((speaker for speaker in given[index + 1 :] if speaker), None)
    return before if before == after or after is None else after if before is None else None
