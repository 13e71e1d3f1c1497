"""Who speaks when, with the real models on the household's recordings; and what is no speech."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from service.audio.assignment import AssignmentConfig, assign, corrected
from service.audio.clustering import Voice
from service.audio.diarise import DiarisedBlock, Diariser, DiariserConfig
from service.audio.encoders import load_encoder
from service.audio.pieces import PiecesConfig, pieces, utterances
from service.audio.segmentation import FRAME_SAMPLES, NUM_VOICES, WINDOW_FRAMES, Activity, Segmenter
from service.connectors.files import read_transcript
from service.types.audio import Samples, Segment, SpeakerTurn, Waveform
from tests.unit.audio.speech import HOUSEHOLD, a_clip, sound
from tests.unit.audio.test_turns import Spectrum, tones


@pytest.fixture(scope="module")
def diariser(model_cache: Path) -> Diariser:
    return Diariser(Segmenter.load(cache=model_cache), load_encoder(cache=model_cache))


def short_blocks(diariser: Diariser) -> Diariser:
    """The same models over blocks of 15 s, so that a minute has several."""
    return Diariser(diariser._segmenter, diariser._encoder, DiariserConfig(block=15.0, look_ahead=10.0))


def fed(samples: Samples, *, seconds: float = 7.0) -> Iterator[Waveform]:
    size = round(seconds * 16_000)
    return (Waveform(samples[at : at + size], at / 16_000) for at in range(0, len(samples), size))


def turns_of(blocks: list[DiarisedBlock]) -> list[SpeakerTurn]:
    return [turn for block in blocks for turn in block.turns]


def share_right(turns: list[SpeakerTurn], name: str, until: float) -> float:
    """Seconds of the transcript's segments given to the track that has most of their speaker, over all seconds."""
    said = [part for part in read_transcript(HOUSEHOLD / f"{name}.vtt").segments if part.segment.start < until]
    seconds: dict[tuple[str, str], float] = {}
    for part in said:
        for turn in turns:
            key = (part.label or "", turn.track)
            seconds[key] = seconds.get(key, 0.0) + part.segment.overlap(turn.segment)
    from scipy.optimize import linear_sum_assignment

    speakers, tracks = (sorted({key[i] for key in seconds}) for i in (0, 1))
    table = np.array([[seconds.get((speaker, track), 0.0) for track in tracks] for speaker in speakers])
    right = table[linear_sum_assignment(-table)].sum()
    return float(right / sum(min(part.segment.end, until) - part.segment.start for part in said))


def test_the_household_is_told_apart_and_every_turn_is_complete(diariser: Diariser) -> None:
    samples = sound("day1").samples
    blocks = list(diariser(fed(samples)))
    turns = turns_of(blocks)
    assert share_right(turns, "day1", len(samples) / 16_000) > 0.85
    assert [turn.index for turn in turns] == list(range(len(turns)))
    assert [turn.segment.start for turn in turns] == sorted(turn.segment.start for turn in turns)
    for block in blocks:
        assert len(block.embeddings) == len(block.turns)
        for turn, embedding in zip(block.turns, block.embeddings, strict=True):
            assert block.waveform.start <= turn.segment.start < turn.segment.end <= block.waveform.segment.end + 1e-6
            assert (embedding is None) == (turn.net_speech < 0.5)
            assert turn.net_speech + turn.overlapped <= turn.segment.duration + 0.05
            assert turn.channel == "wideband"


def test_the_same_sound_gives_the_same_turns_however_it_is_fed(diariser: Diariser) -> None:
    samples = sound("day1").samples[: 25 * 16_000]
    first, second = list(diariser(fed(samples, seconds=25.0))), list(diariser(fed(samples, seconds=1.3)))
    assert turns_of(first) == turns_of(second)


def test_tracks_mean_the_same_person_in_every_block(diariser: Diariser) -> None:
    samples = sound("day1").samples
    blocks = list(short_blocks(diariser)(fed(samples, seconds=5.0)))
    assert len(blocks) > 1
    assert np.array_equal(np.concatenate([block.waveform.samples for block in blocks]), samples)
    assert share_right(turns_of(blocks), "day1", len(samples) / 16_000) > 0.75


@pytest.mark.parametrize("kind", ["nothing", "silence", "hiss", "hum", "chords", "clicks"])
def test_what_is_no_speech_has_no_turns(diariser: Diariser, kind: str) -> None:
    times = np.arange(15 * 16_000) / 16_000
    noise = np.random.default_rng(4)
    made = {
        "nothing": np.zeros(0),
        "silence": np.zeros(len(times)),
        "hiss": noise.normal(0.0, 0.01, len(times)),
        "hum": 0.1 * np.sin(2 * np.pi * 50 * times) + 0.03 * np.sin(2 * np.pi * 150 * times),
        "chords": sum(
            0.05
            * np.sin(2 * np.pi * 220 * 2 ** ((step + 5 * np.floor(times / 0.6 % 4)) / 12) * times)
            * np.exp(-3 * (times % 0.6))
            for step in (0, 4, 7)
        ),
        "clicks": (np.arange(len(times)) % 11_000 < 40) * 0.3,
    }
    assert turns_of(list(diariser(fed(np.asarray(made[kind], np.float32))))) == []


def test_one_second_of_speech_is_one_turn(diariser: Diariser) -> None:
    (turn,) = turns_of(list(diariser([a_clip("Ben", seconds=1.0)])))
    assert 0.5 < turn.segment.duration <= 1.0


def test_a_scrap_of_speech_at_the_very_start_is_a_short_piece_not_an_error() -> None:
    """Two voices take turns within a window; the first is heard for three frames only."""
    voices = np.zeros((1, NUM_VOICES, WINDOW_FRAMES), np.float32)
    voices[0, 0, :300] = voices[0, 1, 300:] = 1.0
    speech = np.ones(WINDOW_FRAMES, np.float32)
    speech[3:60] = 0.0
    activity = Activity(speech, np.zeros(WINDOW_FRAMES, np.float32), (0,), voices)
    waveform = Waveform(np.zeros(WINDOW_FRAMES * FRAME_SAMPLES, np.float32))
    found = pieces(waveform, activity, Spectrum(), PiecesConfig())
    assert found[0].first == 60 and any(abs(piece.last - 300) <= PiecesConfig().reach for piece in found)
    assert all(piece.duration <= 2.01 for piece in found)


def test_memory_is_that_of_a_block_whatever_the_length(diariser: Diariser) -> None:
    day = sound("day1").samples[: 20 * 16_000]
    peaks = []
    for times in (3, 8):
        tracemalloc.start()
        for block in short_blocks(diariser)(Waveform(day, 12.0 * i) for i in range(times)):
            assert block.waveform.duration < 60.0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.4 * peaks[0]


def test_a_prefix_keeps_the_tracks_of_two_feeds_apart(diariser: Diariser) -> None:
    clip = a_clip("Ruth", seconds=3.0)
    (turn,) = turns_of(list(diariser([clip], prefix="left/", first_index=7)))
    assert (turn.track, turn.index) == ("left/speaker_1", 7)
    assert turn.segment.overlap(Segment(0.0, 3.0)) > 2.0


def test_a_short_answer_between_two_pauses_goes_to_the_voice_that_it_is() -> None:
    """Where the segmentation hears one voice all along, and the piece around the answer is mostly somebody else's."""
    pause = Waveform(np.zeros(1_600, np.float32))
    sounds = (tones(440, seconds=3.0), pause, tones(1_000, seconds=0.6), pause, tones(440, seconds=3.0))
    waveform = Waveform(np.concatenate([sound.samples for sound in sounds]))
    frames = len(waveform.samples) // FRAME_SAMPLES
    one_voice = np.zeros((1, NUM_VOICES, WINDOW_FRAMES), np.float32)
    one_voice[:, 0] = 1.0
    activity = Activity(np.ones(frames, np.float32), np.zeros(frames, np.float32), (0,), one_voice)
    encoder, config = Spectrum(), AssignmentConfig()
    voices = [Voice(encoder([tones(hertz)])[0].vector, 10.0) for hertz in (440, 1_000)]
    found = pieces(waveform, activity, encoder, PiecesConfig())
    active = assign(found, activity, voices, config)
    answer = slice(round(3.2 * 16_000 / FRAME_SAMPLES), round(3.6 * 16_000 / FRAME_SAMPLES))
    assert active[0, answer].mean() == 1.0, "a piece of two seconds takes the answer with it"
    short = utterances(waveform, activity, encoder, found, PiecesConfig())
    corrected_ = corrected(active, short, voices, config)
    assert corrected_[1, answer].all() and not corrected_[0, answer].any()
    assert (corrected_[0].sum() + corrected_[1].sum()) == active.sum(), "no frame is lost or doubled"
    assert corrected_[0, : answer.start - 20].all() and corrected_[0, answer.stop + 30 :].all()
