"""Level, noise, bandwidth and clipping, on sound whose figures are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, resample_poly, sosfilt

from service.audio.quality import FLOOR_DBFS, bandwidth_hz, level_dbfs, measure, noise_dbfs
from service.types.audio import Samples, Segment, Waveform
from tests.unit.audio.speech import a_clip


def white(seconds: float = 2.0, *, level: float = 0.1) -> Samples:
    return np.random.default_rng(1).normal(0.0, level, round(16_000 * seconds)).astype(np.float32)


def by_telephone(samples: Samples) -> Samples:
    """300–3400 Hz at 8 kHz and back."""
    narrow = sosfilt(butter(6, [300, 3_400], "bandpass", fs=16_000, output="sos"), samples)
    return resample_poly(resample_poly(narrow, 1, 2), 2, 1).astype(np.float32)


def test_a_telephone_voice_is_tagged_and_the_same_voice_in_the_room_is_not() -> None:
    for speaker in ("Nora", "Ben", "Ruth"):
        samples = a_clip(speaker, seconds=4.0).samples
        assert not measure(samples, -80.0).is_telephone
        assert measure(by_telephone(samples), -80.0).is_telephone
        assert measure(resample_poly(resample_poly(samples, 1, 2), 2, 1).astype(np.float32), -80.0).is_telephone


def test_level_and_noise_are_those_of_speech_and_of_the_rest() -> None:
    samples = np.concatenate([white(level=0.001), white(level=0.1), white(level=0.001)])
    speech = [Segment(12.0, 14.0)]
    noise = noise_dbfs(Waveform(samples, start=10.0), speech)
    quality = measure(samples[32_000:64_000], noise)
    assert noise == pytest.approx(-60.0, abs=0.3)
    assert quality.level_dbfs == pytest.approx(-20.0, abs=0.3)
    assert quality.snr_db == pytest.approx(40.0, abs=0.5)


def test_where_nobody_pauses_the_quietest_moments_are_the_noise() -> None:
    samples = white() * (1.0 + 0.99 * np.sin(np.arange(32_000) / 500)).astype(np.float32)
    assert noise_dbfs(Waveform(samples), [Segment(0.0, 2.0)]) < level_dbfs(samples) - 10.0


def test_clipping_is_the_share_of_samples_at_full_scale() -> None:
    assert measure(np.clip(white(level=1.0), -1.0, 1.0), -60.0).clipped == pytest.approx(0.317, abs=0.02)
    assert measure(white(), -60.0).clipped == 0.0


@pytest.mark.parametrize("length", [0, 1, 100, 700])
def test_silence_and_scraps_have_finite_figures(length: int) -> None:
    quality = measure(np.zeros(length, np.float32), FLOOR_DBFS)
    assert (quality.level_dbfs, quality.snr_db, quality.bandwidth_hz, quality.clipped) == (FLOOR_DBFS, 0.0, 0.0, 0.0)
    assert np.isfinite(bandwidth_hz(white()[:length]))
