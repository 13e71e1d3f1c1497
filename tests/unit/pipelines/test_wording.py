"""Each turn gets the words that are its own, and no word is anybody's twice."""

from __future__ import annotations

import numpy as np

from service.pipelines.wording import from_transcript, without_text
from service.types.audio import SAMPLE_RATE, Segment, SpeakerTurn, Transcript, TranscriptSegment, Waveform
from tests.builders import a_heard_turn


def sound(start: float = 0.0, seconds: float = 30.0) -> Waveform:
    return Waveform(np.zeros(round(seconds * SAMPLE_RATE), np.float32), start)


def said(turns: list[SpeakerTurn], *parts: TranscriptSegment, waveform: Waveform | None = None) -> list[str | None]:
    return [t.text for t in from_transcript(Transcript("vtt", parts, "en")).give(waveform or sound(), turns)]


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


def test_without_transcript_and_recogniser_turns_have_no_text_and_say_so() -> None:
    wording = without_text()
    assert [turn.text for turn in wording.give(sound(), [a_heard_turn(0, "a")])] == [None]
    assert wording.provenance == "none"
