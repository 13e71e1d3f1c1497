"""Each turn gets the words that are its own, block by block, and the same ones after a restart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from service.pipelines.wording import AlignedWording, GivenWording, WordingConfig, words_of_transcript
from service.types.audio import SAMPLE_RATE, Recognised, Segment, SpeakerTurn, Transcript, TranscriptSegment, Waveform, Word
from tests.builders import a_heard_turn

BLOCK = 10.0


def a_block(index: int) -> Waveform:
    return Waveform(np.zeros(round(BLOCK * SAMPLE_RATE), np.float32), index * BLOCK)


def words_every_second(block: Waveform) -> Recognised:
    start = round(block.start)
    words = tuple(Word(f"w{second}", Segment(second + 0.1, second + 0.6)) for second in range(start, start + round(BLOCK)))
    return Recognised(words, "en")


SESSION: list[tuple[Waveform, list[SpeakerTurn]]] = [
    (a_block(0), [a_heard_turn(0, "a", start=0.0, seconds=3.0)]),
    (a_block(1), []),  # a turn goes on from 8 s to 22 s
    (a_block(2), [a_heard_turn(1, "b", start=8.0, seconds=14.0), a_heard_turn(2, "a", start=23.0, seconds=3.0)]),
    (a_block(3), [a_heard_turn(3, "b", start=28.0, seconds=4.0)]),
]


def heard(wording: AlignedWording, blocks: Sequence[tuple[Waveform, list[SpeakerTurn]]]) -> list[str | None]:
    return [turn.text for block, turns in blocks for turn in wording(block, turns)]


def test_a_turn_over_three_blocks_has_its_words_of_all_three() -> None:
    first, second, *_ = heard(AlignedWording(words_every_second, "test"), SESSION)
    assert first == "w0 w1 w2 w3"  # nobody speaks at w3, w7 and w22: they are the nearest turn's
    assert second == " ".join(f"w{i}" for i in range(7, 23))


@pytest.mark.parametrize("written", range(len(SESSION) + 1))
def test_after_a_restart_the_rest_has_the_same_words(written: int) -> None:
    whole = heard(AlignedWording(words_every_second, "test"), SESSION)
    resumed = AlignedWording(words_every_second, "test")
    for block, turns in SESSION[:written]:
        resumed.passed(block, turns)
    rest = heard(resumed, SESSION[written:])
    assert whole[len(whole) - len(rest) :] == rest


def test_blocks_whose_turns_are_all_written_are_not_heard_again() -> None:
    asked: list[float] = []

    def words_in(block: Waveform) -> Recognised:
        asked.append(block.start)
        return words_every_second(block)

    wording = AlignedWording(words_in, "test")
    for block, turns in SESSION[:3]:
        wording.passed(block, turns)
    wording(*SESSION[3])
    assert asked == [20.0, 30.0]


def test_in_a_long_silence_only_so_many_blocks_are_held_and_none_is_heard() -> None:
    asked: list[float] = []

    def words_in(block: Waveform) -> Recognised:
        asked.append(block.start)
        return words_every_second(block)

    wording = AlignedWording(words_in, "test", WordingConfig(max_held=3))
    for index in range(50):
        wording(a_block(index), [])
    assert asked == []
    wording(a_block(50), [a_heard_turn(0, "a", start=501.0)])
    assert asked == [470.0, 480.0, 490.0, 500.0]


def test_a_transcript_without_speakers_gives_its_words_to_who_was_heard() -> None:
    parts = (TranscriptSegment(Segment(0, 3), None, "one two three"), TranscriptSegment(Segment(23, 26), None, "four five six"))
    wording = AlignedWording(words_of_transcript(Transcript("srt", parts, "en")), "transcript:srt")
    assert heard(wording, SESSION) == ["one two three", None, "four five six", None]


def test_a_transcript_with_speakers_gives_each_turn_its_own_text_even_where_they_overlap() -> None:
    turns = [a_heard_turn(0, "Ana", start=1.0), a_heard_turn(1, "Ben", start=1.0), a_heard_turn(2, "", start=6.0)]
    parts = tuple(TranscriptSegment(t.segment, t.track or None, f"said by {t.track}") for t in turns)
    worded = GivenWording(Transcript("vtt", parts, "en"))(a_block(0), turns)
    assert [turn.text for turn in worded] == ["said by Ana", "said by Ben", "said by "]


def test_without_transcript_and_recogniser_turns_have_no_text_and_say_so() -> None:
    wording = GivenWording()
    assert [turn.text for turn in wording(a_block(0), [a_heard_turn(0, "a")])] == [None]
    assert wording.provenance == "none"
