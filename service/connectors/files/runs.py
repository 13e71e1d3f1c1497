"""Which words are one turn, where a format has words and no turns?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from service.connectors.files.words import between
from service.types.audio import WITHOUT_SPACES, Segment, TranscriptSegment, Word

SENTENCE_ENDS = (".", "?", "!", "…", "。", "？", "！")


@dataclass(frozen=True, slots=True)
class RunsConfig:
    pause: float = 2.0
    """Seconds without a word of the speaker that end a turn within a sentence; by hand: people stop to think for a second."""
    sentence_pause: float = 0.5
    """… after its end: as TurnsConfig.pause, what the diariser takes for one contribution."""
    longest: float = 60.0
    """Seconds after which a turn ends with its sentence, as TurnsConfig.longest."""


@dataclass(frozen=True, slots=True)
class SpokenWord:
    text: str
    time: Segment | None
    """None: between its neighbours."""
    label: str | None = None
    confidence: float = 1.0
    glued: bool = False
    """Written without a blank before it: punctuation."""


def turns_of(
    words: Iterable[SpokenWord], *, language: str | None = None, config: RunsConfig | None = None
) -> list[TranscriptSegment]:
    """Turns of one channel, in the order of its words: cut where the speaker changes, at pauses, and when they get long."""
    config = config or RunsConfig()
    placed = _placed(_glued(words))
    turns: list[list[tuple[str | None, Word]]] = []
    for label, word in placed:
        if not turns or _ends(turns[-1], label, word, config):
            turns.append([])
        turns[-1].append((label, word))
    return [_turn([word for _, word in turn], turn[0][0], language) for turn in turns]


def in_order(turns: Iterable[TranscriptSegment]) -> tuple[TranscriptSegment, ...]:
    """By start; those at once stay as they came."""
    return tuple(sorted(turns, key=lambda turn: turn.segment.start))


def _glued(words: Iterable[SpokenWord]) -> list[SpokenWord]:
    """Punctuation with the word before it."""
    found: list[SpokenWord] = []
    for word in words:
        if not word.text:
            continue
        if word.glued and found and not word.text[0].isalnum():  # a word that is called punctuation is no part of another
            found[-1] = replace(found[-1], text=found[-1].text + word.text)
        else:
            found.append(word)
    return found


def _placed(words: Sequence[SpokenWord]) -> list[tuple[str | None, Word]]:
    times = [word.time for word in words]
    known = [time for time in times if time is not None]
    whole = Segment(known[0].start, max(known[0].start, known[-1].end)) if known else Segment(0.0, 0.0)
    filled = between(times, whole, [len(word.text) + 1 for word in words])
    return [(word.label, Word(word.text, time, word.confidence)) for word, time in zip(words, filled, strict=True)]


def _ends(turn: Sequence[tuple[str | None, Word]], label: str | None, word: Word, config: RunsConfig) -> bool:
    """Whether the turn is over before `word`."""
    before, last = turn[-1]
    pause = word.segment.start - last.segment.end
    if before != label or pause >= config.pause or pause < -config.pause:
        return True
    is_sentence = last.text.endswith(SENTENCE_ENDS)
    return is_sentence and (pause >= config.sentence_pause or word.segment.end - turn[0][1].segment.start >= config.longest)


def _turn(words: Sequence[Word], label: str | None, language: str | None) -> TranscriptSegment:
    start = words[0].segment.start
    end = max(word.segment.end for word in words)
    blank = "" if language and language.partition("-")[0].lower() in WITHOUT_SPACES else " "
    return TranscriptSegment(
        Segment(start, max(start, end)), label, blank.join(word.text for word in words), tuple(words), language
    )
