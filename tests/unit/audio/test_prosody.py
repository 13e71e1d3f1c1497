"""Pitch, range, loudness and rate of sounds that are known."""

from __future__ import annotations

import numpy as np
import pytest

from service.audio.prosody import prosody
from service.types.audio import SAMPLE_RATE, Segment, Waveform


def a_hum(pitch: np.ndarray, level: float = 0.1) -> Waveform:
    """Ten harmonics of a fundamental that changes, falling as a voice's do."""
    phase = 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE
    sound = sum(np.sin(k * phase) / k for k in range(1, 11))
    return Waveform((level * np.asarray(sound) / np.max(np.abs(sound))).astype(np.float32))


def steady(hertz: float, seconds: float = 1.0) -> np.ndarray:
    return np.full(round(seconds * SAMPLE_RATE), hertz)


@pytest.mark.parametrize("hertz", [75.0, 110.0, 197.0, 310.0, 440.0])
def test_the_pitch_of_a_hum_is_its_fundamental(hertz: float) -> None:
    found = prosody(a_hum(steady(hertz)), [Segment(0, 1)])
    assert found is not None and found.pitch == pytest.approx(hertz, rel=0.01)
    assert found.pitch_range == pytest.approx(0.0, abs=0.3)


def test_a_glide_of_an_octave_ranges_over_most_of_it() -> None:
    glide = 110.0 * 2.0 ** np.linspace(0, 1, 2 * SAMPLE_RATE)
    found = prosody(a_hum(glide), [Segment(0, 2)])
    assert found is not None and found.pitch_range == pytest.approx(9.6, abs=0.7)


def test_twice_the_amplitude_is_six_decibels() -> None:
    levels = [p.level for a in (0.1, 0.2) if (p := prosody(a_hum(steady(150), a), [Segment(0, 1)])) is not None]
    assert levels[1] - levels[0] == pytest.approx(6.0, abs=0.15)


def test_noise_and_too_little_sound_have_no_pitch() -> None:
    noise = Waveform(np.random.default_rng(1).normal(0, 0.1, SAMPLE_RATE).astype(np.float32))
    found = prosody(noise, [Segment(0, 1)])
    assert found is not None and found.pitch is None and found.pitch_range is None
    assert prosody(noise, [Segment(0, 0.01)]) is None
    assert prosody(noise, [Segment(5, 6)]) is None


def test_a_pause_and_noise_under_it_do_not_move_the_pitch() -> None:
    clean = a_hum(steady(180, 2.0))
    noisy = clean.samples + np.random.default_rng(2).normal(0, 0.01, len(clean.samples)).astype(np.float32)
    noisy[SAMPLE_RATE // 2 : SAMPLE_RATE] *= 0.02
    found = prosody(Waveform(noisy), [Segment(0, 2)])
    assert found is not None and found.pitch == pytest.approx(180, rel=0.01)


def test_only_what_is_the_speakers_own_is_measured() -> None:
    both = Waveform(np.concatenate([a_hum(steady(120)).samples, a_hum(steady(240)).samples]), start=7.0)
    assert [p.pitch for part in ((7.0, 8.0), (8.0, 9.0)) if (p := prosody(both, [Segment(*part)]))] == pytest.approx(
        [120, 240], rel=0.01
    )
