"""Turns are grouped where nobody speaks, and those of several channels come in one order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from service.pipelines.hearing import HearingConfig, Stretch, channels_of, stretches, unlabelled
from service.pipelines.wording import Worded, Wording
from service.types.audio import SAMPLE_RATE, Segment, SpeakerTurn, Transcript, TranscriptSegment, Waveform
from tests.builders import a_heard_turn

CONFIG = HearingConfig(stretch=10.0, silence=5.0, margin=0.5)


def grouped(*spans: tuple[float, float]) -> list[Stretch]:
    turns = [a_heard_turn(i, "a", start=start, seconds=end - start) for i, (start, end) in enumerate(spans)]
    return list(stretches(Waveform(np.zeros(100 * SAMPLE_RATE, np.float32)), turns, CONFIG))


def indexes(groups: list[Stretch]) -> list[list[int]]:
    return [[turn.index for turn in group.turns] for group in groups]


def test_turns_are_taken_together_until_there_is_enough_to_recognise() -> None:
    groups = grouped((0, 4), (5, 9), (9.5, 12), (13, 20), (21, 24))
    assert indexes(groups) == [[0, 1, 2], [3, 4]]


def test_a_long_silence_ends_a_group_and_is_not_recognised() -> None:
    groups = grouped((0, 4), (40, 44))
    assert [(g.waveform.segment.start, g.waveform.segment.end) for g in groups] == [(0.0, 4.5), (39.5, 44.5)]


def test_no_group_ends_within_a_turn() -> None:
    groups = grouped((0, 30), (5, 6), (29, 50), (50.2, 51))
    assert indexes(groups) == [[0, 1, 2], [3]]


def test_between_two_groups_each_second_of_sound_is_one_groups() -> None:
    first, second = grouped((0, 12), (12.4, 14))
    assert first.waveform.segment.end == second.waveform.segment.start == 12.2


def test_a_stretch_is_recognised_once_whoever_asks_first() -> None:
    asked: list[int] = []

    def give(waveform: Waveform, turns: Sequence[SpeakerTurn]) -> Worded:
        asked.append(len(turns))
        return Worded(tuple(turns))

    (group,) = grouped((0, 4), (5, 9))
    for turn in reversed(group.turns):
        assert group.worded(turn, Wording("test", give)) == turn
    assert asked == [2]


def test_segments_without_a_speaker_among_named_ones_say_nothing_of_who_speaks() -> None:
    named = Transcript("vtt", (TranscriptSegment(Segment(0, 1), "Ana", "a"), TranscriptSegment(Segment(1, 2), None, "b")))
    assert unlabelled(named, ["Ana", "given_2"]) == {"given_2"}
    assert unlabelled(None, ["speaker_1"]) == set()


def test_a_transcript_is_of_all_channels_at_once() -> None:
    assert channels_of(Path("any.wav"), 2, Transcript("vtt", ())) == (None,)
