"""Whose words are these: which turn does each word with a time belong to?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.types.audio import WITHOUT_SPACES, Segment, SpeakerTurn, Word


@dataclass(frozen=True, slots=True)
class AlignConfig:
    reach: float = 0.5
    """Seconds a word may lie outside every turn and still be the nearest turn's: Whisper's word times are off by a few
    tenths. Farther out nobody was found speaking, and Whisper is known to invent words there (cases: silence)."""
    overshoot: float = 1.0
    """Seconds a word may begin past the end of the audio and be pulled back; Whisper rounds up its last window."""


@dataclass(frozen=True, slots=True)
class Aligned:
    turns: tuple[SpeakerTurn, ...]
    """All turns given, in the same order; those with words have `text`, `words` and `language`."""
    dropped: tuple[Word, ...]
    """Words in nobody's speech, or outside the audio."""


def words_to_turns(
    turns: Sequence[SpeakerTurn],
    words: Iterable[Word],
    *,
    language: str | None = None,
    audio: Segment | None = None,
    config: AlignConfig | None = None,
) -> Aligned:
    """Give each word to one turn, or to `dropped`: no word is lost or doubled.

    A word is the turn's in whose exclusive speech its middle lies; else the one's it overlaps most; else the nearest's
    within reach. Ties go to the turn whose exclusive speech is nearest, then to the earlier one.
    `audio`: the stretch the words were heard in; they are cut to it.
    """
    config = config or AlignConfig()
    inside, dropped = _cut(words, audio, config.overshoot)
    spans = np.array([(turn.segment.start, turn.segment.end) for turn in turns]).reshape(-1, 2)
    taken: list[list[Word]] = [[] for _ in turns]
    for word in sorted(inside, key=lambda word: word.segment):
        owner = _owner(word.segment, turns, spans, config.reach)
        (dropped if owner is None else taken[owner]).append(word)
    filled = (_filled(turn, tuple(own), language) for turn, own in zip(turns, taken, strict=True))
    return Aligned(tuple(filled), tuple(dropped))


def joined(words: Sequence[Word], language: str | None = None) -> str:
    """The words as text."""
    return ("" if language in WITHOUT_SPACES else " ").join(word.text for word in words)


def _cut(words: Iterable[Word], audio: Segment | None, overshoot: float) -> tuple[list[Word], list[Word]]:
    inside: list[Word] = []
    outside: list[Word] = []
    for word in words:
        span = word.segment
        if audio is None:
            inside.append(word)
        elif span.end < audio.start - overshoot or span.start > audio.end + overshoot:
            outside.append(word)
        else:
            start, end = (min(max(t, audio.start), audio.end) for t in (span.start, span.end))
            inside.append(replace(word, segment=Segment(start, end)))
    return inside, outside


def _owner(word: Segment, turns: Sequence[SpeakerTurn], spans: np.ndarray, reach: float) -> int | None:
    """Index of the turn, None when every turn is farther than `reach`."""
    shared = np.minimum(spans[:, 1], word.end) - np.maximum(spans[:, 0], word.start)  # below 0: the gap between them
    near = [int(i) for i in np.flatnonzero(shared >= -reach)]
    if not near:
        return None
    middle = (word.start + word.end) / 2
    distance = {i: _distance(middle, turns[i].speech or (turns[i].segment,)) for i in near}
    return min(near, key=lambda i: (distance[i] > 0, -max(round(float(shared[i]), 6), 0.0), distance[i], i))


def _distance(moment: float, speech: Sequence[Segment]) -> float:
    """Seconds from `moment` to the nearest of `speech`, 0 inside."""
    return min(max(part.start - moment, moment - part.end, 0.0) for part in speech)


def _filled(turn: SpeakerTurn, words: tuple[Word, ...], language: str | None) -> SpeakerTurn:
    if not words:
        return turn
    return replace(turn, words=words, text=joined(words, language), language=language)
