"""A voice made narrow sounds as over a telephone, and is heard as one."""

from __future__ import annotations

import numpy as np
import pytest

from service.audio.narrow import narrow
from service.audio.quality import measure
from service.types.audio import SAMPLE_RATE, Waveform
from tests.unit.audio.speech import a_clip


def tone(frequency: float) -> Waveform:
    times = np.arange(2 * SAMPLE_RATE) / SAMPLE_RATE
    return Waveform(np.sin(2 * np.pi * frequency * times).astype(np.float32), 3.0)


@pytest.mark.parametrize("frequency", [350.0, 1_000.0, 3_350.0])
def test_what_lies_in_the_band_passes_unchanged(frequency: float) -> None:
    assert np.allclose(narrow(tone(frequency)).samples, tone(frequency).samples, atol=1e-3)


@pytest.mark.parametrize("frequency", [50.0, 150.0, 3_600.0, 7_000.0])
def test_what_lies_outside_is_gone(frequency: float) -> None:
    assert np.abs(narrow(tone(frequency)).samples).max() < 1e-3


def test_length_and_place_stay() -> None:
    sound = Waveform(np.zeros(12_345, np.float32), 7.5)
    assert (narrow(sound).start, len(narrow(sound).samples), narrow(sound).samples.dtype) == (7.5, 12_345, np.float32)


def test_a_clip_made_narrow_is_heard_as_telephone() -> None:
    clip = a_clip("Ben", 0)
    assert not measure(clip.samples, -80.0).is_telephone
    assert measure(narrow(clip).samples, -80.0).is_telephone
