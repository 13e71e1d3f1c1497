"""When was each word said, where the transcript does not tell?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from service.types.audio import Segment, TranscriptSegment, Word


def words_of(part: TranscriptSegment) -> tuple[Word, ...]:
    """The words with times: as the file has them, else the text's, spread over the segment by their lengths."""
    return part.words or spread(part.text or "", part.segment)


def spread(text: str, segment: Segment) -> tuple[Word, ...]:
    """Words one after the other over `segment`, each as long as its share of the characters."""
    texts = text.split()
    ends = _shares([len(word) + 1 for word in texts], segment)
    return tuple(Word(word, part) for word, part in zip(texts, ends, strict=True))


def between(times: Sequence[Segment | None], segment: Segment, lengths: Sequence[int]) -> list[Segment]:
    """The times of words of which some have none: those are laid between their neighbours, by their `lengths`."""
    timed = [-1, *(i for i, time in enumerate(times) if time is not None), len(times)]
    filled: list[Segment] = [time or segment for time in times]
    for left, right in pairwise(timed):
        if right - left > 1:
            start = filled[left].end if left >= 0 else min(segment.start, _start(times, right, segment.start))
            end = _start(times, right, max(segment.end, start))
            filled[left + 1 : right] = _shares(lengths[left + 1 : right], Segment(start, max(start, end)))
    return filled


def divided(texts: Sequence[str], segment: Segment) -> list[Segment]:
    """`segment` cut in as many parts as there are texts, by their lengths."""
    return [segment] if len(texts) == 1 else _shares([len(text) for text in texts], segment)


def _start(times: Sequence[Segment | None], index: int, otherwise: float) -> float:
    time = times[index] if index < len(times) else None
    return time.start if time else otherwise


def _shares(lengths: Sequence[int], segment: Segment) -> list[Segment]:
    total = sum(lengths) or 1
    edges = [segment.start]
    for length in lengths:
        edges.append(edges[-1] + segment.duration * length / total)
    edges[-1] = segment.end if lengths else segment.start
    return [Segment(start, max(start, end)) for start, end in pairwise(edges)]
