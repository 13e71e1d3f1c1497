"""From frames to turns, and what of a turn is one person's alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from service.audio.given import GivenSegment, given_turns
from service.audio.runs import smoothed, stretches
from service.audio.segmentation import FRAME_SECONDS
from service.audio.turns import Draft, TurnsConfig, drafts
from service.types.audio import EmbeddingSpace, Segment, SpeakerEmbedding, Waveform


def active(*rows: Sequence[tuple[float, float]], seconds: float = 20.0) -> np.ndarray:
    """Who speaks, by stretches in seconds; a row a track."""
    frames = np.zeros((len(rows), round(seconds / FRAME_SECONDS)), bool)
    for row, spoken in zip(frames, rows, strict=True):
        for start, end in spoken:
            row[round(start / FRAME_SECONDS) : round(end / FRAME_SECONDS)] = True
    return frames


def turns(frames: np.ndarray, **config: float) -> list[Draft]:
    return drafts(frames, [f"t{i}" for i in range(len(frames))], 100.0, 120.0, TurnsConfig(**config))


class Spectrum:
    """A real, tiny SpeakerEncoder: what pitch the sound has."""

    embedding_space = EmbeddingSpace("spectrum", "1", 64)

    def __call__(self, waveforms: Sequence[Waveform]) -> list[SpeakerEmbedding]:
        return [SpeakerEmbedding(self._vector(waveform), self.embedding_space) for waveform in waveforms]

    def _vector(self, waveform: Waveform) -> np.ndarray:
        power = np.abs(np.fft.rfft(waveform.samples[:4_000], n=4_000))[:256].reshape(64, 4).sum(axis=1) + 1e-6
        return (power / np.linalg.norm(power)).astype(np.float32)


def tones(*hertz: float, seconds: float = 1.0) -> Waveform:
    """One tone after the other."""
    times = np.arange(round(16_000 * seconds)) / 16_000
    return Waveform(np.concatenate([0.3 * np.sin(2 * np.pi * h * times) for h in hertz]).astype(np.float32))


def test_pauses_below_the_limit_do_not_end_a_turn() -> None:
    found = turns(active([(1, 3), (3.3, 5), (6, 8)]), pause=0.5)
    assert [(round(t.segment.start, 1), round(t.segment.end, 1)) for t in found] == [(101.0, 105.0), (106.0, 108.0)]
    assert sum(part.duration for part in found[0].speech) == pytest.approx(3.7, abs=0.1)


def test_speech_alone_leaves_out_what_others_say_meanwhile() -> None:
    one, other = turns(active([(1, 6)], [(4, 8)]))
    assert one.overlapped == other.overlapped == pytest.approx(2.0, abs=0.05)
    assert [(round(s.start), round(s.end)) for s in one.speech + other.speech] == [(101, 104), (106, 108)]


def test_a_turn_wholly_under_another_voice_has_nothing_to_embed() -> None:
    _, under = turns(active([(1, 6)], [(3, 4)]))
    assert under.speech == () and under.overlapped == pytest.approx(1.0, abs=0.05)


def test_a_long_turn_is_split_at_its_widest_pause() -> None:
    found = turns(active([(0, 4), (4.1, 9), (9.4, 14), (14.1, 19)]), longest=10.0)
    assert [(round(t.segment.start), round(t.segment.end)) for t in found] == [(100, 109), (109, 119)]


def test_turns_stay_within_the_sound() -> None:
    (only,) = turns(active([(0, 20)]))
    assert only.segment == Segment(100.0, 120.0)


def test_flickers_are_dropped_before_gaps_are_closed() -> None:
    mask = np.array([0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1], bool)
    assert stretches(smoothed(mask, fill=1, drop=2)) == [(4, 11), (14, 17)]


def test_given_segments_become_turns_with_their_labels_over_block_borders() -> None:
    sound = tones(200, 500, 200, 500)
    given = [GivenSegment(Segment(i, i + 1.0), name) for i, name in enumerate(["ana", "ben", "ana", "ben"])]
    whole = list(given_turns([sound], given, Spectrum()))
    cut = list(given_turns([sound.crop(Segment(t, t + 0.7)) for t in np.arange(0, 4, 0.7)], given, Spectrum()))
    assert [(t.index, t.track, t.segment) for b in cut for t in b.turns] == [
        (i, g.label, g.segment) for i, g in enumerate(given)
    ]
    assert sum(block.waveform.duration for block in cut) == pytest.approx(4.0)
    assert [t.segment for b in whole for t in b.turns] == [t.segment for b in cut for t in b.turns]


def test_given_segments_beyond_the_sound_are_cut_or_left_out() -> None:
    given = [GivenSegment(Segment(0.5, 1.02), "ana"), GivenSegment(Segment(3.0, 4.0), "ben")]
    found = [turn for block in given_turns([tones(200)], given, Spectrum()) for turn in block.turns]
    assert [turn.segment for turn in found] == [Segment(0.5, 1.0)]


def test_given_segments_that_overlap_share_no_speech() -> None:
    places = {"ana": (0.0, 2.0), "ben": (1.5, 3.0), "cy": (1.6, 1.9)}
    given = [GivenSegment(Segment(*place), name) for name, place in places.items()]
    (block,) = given_turns([tones(200, 300, 400)], given, Spectrum())
    ana, ben, cy = block.turns
    assert ana.speech == (Segment(0.0, 1.5),) and ben.speech == (Segment(2.0, 3.0),) and cy.speech == ()
    assert ana.overlapped == pytest.approx(0.5) and block.embeddings[2] is None


def test_given_segments_without_labels_are_told_apart_by_voice() -> None:
    given = [GivenSegment(Segment(2.0 * i, 2.0 * i + 2.0), None) for i in range(4)]
    sound = [Waveform(tones(pitch).samples, start) for start, pitch in enumerate([200, 200, 900, 900] * 2)]
    blocks = given_turns(sound, given, Spectrum())
    assert [turn.track for block in blocks for turn in block.turns] == ["voice_1", "voice_2", "voice_1", "voice_2"]
