"""Which words were recognised twice, where windows of a recording overlap?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.types.audio import WITHOUT_SPACES, Transcript, TranscriptSegment, Word


@dataclass(frozen=True, slots=True)
class OverlapConfig:
    apart: float = 0.5
    """Seconds that the two times of one word may differ: two decodings of one window differ by a few tenths."""
    most: int = 200
    """Words compared: more than are said in Whisper's window of 30 s."""


def without_doubled(transcript: Transcript, config: OverlapConfig | None = None) -> Transcript:
    """Words at the beginning of a segment that the one before has as its last, at the same times, said by the same: once.

    Only where two segments overlap and their words have times; elsewhere somebody may say a thing twice."""
    config = config or OverlapConfig()
    kept: list[TranscriptSegment] = []
    doubled = 0
    for part in transcript.segments:
        number = _doubled(kept[-1], part, config) if kept else 0
        if number:
            doubled += 1
            part = _without(part, number)
        if part.text or not number:
            kept.append(part)
    return replace(transcript, segments=tuple(kept), recovered=transcript.recovered + doubled) if doubled else transcript


def _doubled(before: TranscriptSegment, part: TranscriptSegment, config: OverlapConfig) -> int:
    """How many of the first words of `part` are the last of `before`."""
    if part.segment.start >= before.segment.end or before.label != part.label or not before.words:
        return 0
    inside = sum(1 for word in part.words if word.segment.start < before.segment.end)
    most = min(inside, len(before.words), config.most)
    return next((n for n in range(most, 0, -1) if _same(before.words[-n:], part.words[:n], config)), 0)


def _same(left: Sequence[Word], right: Sequence[Word], config: OverlapConfig) -> bool:
    return all(
        _bare(one.text) == _bare(other.text) and abs(one.segment.start - other.segment.start) <= config.apart
        for one, other in zip(left, right, strict=True)
    )


def _without(part: TranscriptSegment, number: int) -> TranscriptSegment:
    words = part.words[number:]
    if not words:
        return replace(part, text=None, words=())
    start = min(words[0].segment.start, part.segment.end)
    blank = "" if part.language and part.language.partition("-")[0].lower() in WITHOUT_SPACES else " "
    return replace(part, segment=replace(part.segment, start=start), words=words, text=blank.join(word.text for word in words))


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
