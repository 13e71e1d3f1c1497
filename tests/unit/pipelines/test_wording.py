"""Each turn gets the words that are its own, and no word is anybody's twice."""

from __future__ import annotations

import numpy as np
import pytest

from service.pipelines.wording import from_transcript, recognised, without_text
from service.types.audio import (
    SAMPLE_RATE,
    Recognised,
    Segment,
    SpeakerTurn,
    Transcript,
    TranscriptSegment,
    Waveform,
    Word,
)
from tests.builders import a_heard_turn


def sound(start: float = 0.0, seconds: float = 30.0) -> Waveform:
    return Waveform(np.zeros(round(seconds * SAMPLE_RATE), np.float32), start)


def said(turns: list[SpeakerTurn], *parts: TranscriptSegment, waveform: Waveform | None = None) -> list[str | None]:
    return [t.text for t in from_transcript(Transcript("vtt", parts, "en")).give(waveform or sound(), turns).turns]


def test_a_transcript_without_speakers_gives_its_words_to_who_was_heard() -> None:
    turns = [a_heard_turn(0, "a", start=0.0, seconds=3.0), a_heard_turn(1, "b", start=5.0, seconds=3.0)]
    part = TranscriptSegment(Segment(0.0, 8.0), None, "one two three four five six seven eight")
    first, second = said(turns, part)
    assert first == "one two three four" and second == "five six seven eight"


def test_words_outside_the_sound_are_another_stretchs() -> None:
    turns = [a_heard_turn(1, "b", start=10.0)]
    parts = TranscriptSegment(Segment(0, 4), None, "before this"), TranscriptSegment(Segment(10, 14), None, "in this")
    assert said(turns, *parts, waveform=sound(start=9.0)) == ["in this"]


def test_a_transcript_with_speakers_gives_each_turn_its_own_text_even_where_they_overlap() -> None:
    turns = [a_heard_turn(0, "Ana", start=1.0), a_heard_turn(1, "Ben", start=1.0), a_heard_turn(2, "given_3", start=6.0)]
    parts = [TranscriptSegment(t.segment, t.track if t.index < 2 else None, f"said by {t.track}") for t in turns]
    assert said(turns, *parts) == ["said by Ana", "said by Ben", "said by given_3"]


def test_a_turn_cut_at_the_end_of_the_sound_keeps_its_text() -> None:
    part = TranscriptSegment(Segment(1.0, 6.0), "Ana", "until the end")
    assert said([a_heard_turn(0, "Ana", start=1.0, seconds=3.0)], part) == ["until the end"]


def test_a_part_without_text_leaves_its_turn_without() -> None:
    parts = TranscriptSegment(Segment(0, 4), "Ana", None), TranscriptSegment(Segment(5, 9), "Ana", "words")
    assert said([a_heard_turn(0, "Ana"), a_heard_turn(1, "Ana")], *parts) == [None, "words"]


def test_two_captions_of_one_speaker_at_one_time_are_each_given_once() -> None:
    parts = [TranscriptSegment(Segment(1.0, 5.0), "Ana", text) for text in ("the upper line", "the lower line")]
    assert said([a_heard_turn(i, "Ana", start=1.0) for i in range(2)], *parts) == ["the upper line", "the lower line"]


@pytest.mark.parametrize("label", [None, "Ana"])
def test_the_words_of_a_transcript_are_counted_whoever_gets_them(label: str | None) -> None:
    parts = (
        TranscriptSegment(Segment(0.0, 4.0), label, "two words"),
        TranscriptSegment(Segment(20.0, 24.0), label, "nobody there"),
    )
    wording = from_transcript(Transcript("vtt", parts, "en"))
    worded = wording.give(sound(), [a_heard_turn(0, "Ana", start=0.0)])
    assert (wording.written, worded.heard, [len(turn.words) for turn in worded.turns]) == (4, 0, [2])


class Parrot:
    """A Recogniser that always hears the same: a word in speech, one in silence, and three that it doubts."""

    name = "parrot"

    def __call__(self, waveform: Waveform, *, language: str | None = None) -> Recognised:
        return Recognised((Word("hello", Segment(1.0, 1.5)), Word("ghost", Segment(20.0, 20.5))), "en", dropped=3)


def test_what_a_recogniser_heard_is_counted_with_what_it_doubts() -> None:
    worded = recognised(Parrot()).give(sound(), [a_heard_turn(0, "a", start=0.0)])
    assert (worded.heard, [turn.text for turn in worded.turns]) == (5, ["hello"])


def test_without_transcript_and_recogniser_turns_have_no_text_and_say_so() -> None:
    wording = without_text()
    assert [turn.text for turn in wording.give(sound(), [a_heard_turn(0, "a")]).turns] == [None]
    assert wording.provenance == "none"
