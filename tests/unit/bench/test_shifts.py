"""A shift changes the recording as it says, keeps length and place, and is the same every time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from service.audio.quality import measure
from service.types.audio import SAMPLE_RATE, Samples
from tests.bench.locomo_id.shifts import CONFIG, SHIFTS, CodecMissing, _impulse_response, fall_time, shift_version, shifted
from tests.unit.audio.speech import household

VOICE = household()["Nora"][0]
OTHERS = [household()[name][0] for name in ("Ben", "Ruth", "Victor")]


def heard(shift: str, seed: int = 1) -> Samples:
    return shifted(VOICE, shift, seed=seed, others=OTHERS)


@pytest.mark.parametrize("shift", SHIFTS)
def test_every_shift_keeps_the_length_and_is_the_same_for_the_same_seed(shift: str) -> None:
    once = heard(shift)
    assert once.shape == VOICE.shape
    assert once.dtype == np.float32
    assert np.isfinite(once).all()
    assert np.array_equal(once, heard(shift))


@pytest.mark.parametrize("shift", SHIFTS[1:])
def test_every_shift_but_clean_changes_the_sound(shift: str) -> None:
    assert not np.allclose(heard(shift), VOICE, atol=1e-3)


def test_rooms_and_babble_differ_with_the_seed() -> None:
    assert not np.allclose(heard("room", seed=1), heard("room", seed=2), atol=1e-3)
    assert not np.allclose(heard("noise", seed=1), heard("noise", seed=2), atol=1e-3)


def test_the_service_hears_a_telephone_as_one_and_nothing_else_as_one() -> None:
    telephones = {shift for shift in SHIFTS if measure(heard(shift), -60.0).is_telephone}
    assert telephones == {"telephone"}


def test_babble_is_ten_decibels_under_the_voice() -> None:
    babble = heard("noise") - VOICE
    assert 10 * np.log10(np.mean(VOICE**2) / np.mean(babble**2)) == pytest.approx(10.0, abs=0.1)


def test_the_voice_itself_is_not_among_its_babble() -> None:
    babble = heard("noise") - VOICE
    assert abs(np.corrcoef(babble, VOICE)[0, 1]) < 0.05


@pytest.mark.parametrize("shift", ["codec", "telephone"])
def test_a_codec_moves_nothing_in_time(shift: str) -> None:
    levels = [np.sqrt(np.mean(np.reshape(s[: len(s) // 320 * 320], (-1, 320)) ** 2, axis=1)) for s in (VOICE, heard(shift))]
    by_lag = {lag: np.corrcoef(np.roll(levels[0], lag), levels[1])[0, 1] for lag in range(-5, 6)}
    assert max(by_lag, key=by_lag.__getitem__) in (-1, 0, 1), "20 ms windows"


@pytest.mark.parametrize("room", range(6))
def test_rooms_fall_silent_as_living_and_meeting_rooms_do(room: int) -> None:
    seconds = fall_time(_impulse_response(room, CONFIG))
    assert CONFIG.shortest_rt60 - 0.05 <= seconds <= CONFIG.longest_rt60 + 0.05


def test_a_room_begins_with_the_direct_sound_and_keeps_the_level() -> None:
    assert np.argmax(np.abs(_impulse_response(0, CONFIG))) == 0
    assert np.mean(heard("room") ** 2) == pytest.approx(np.mean(VOICE**2), rel=0.01)


def test_silence_stays_finite() -> None:
    silence = np.zeros(SAMPLE_RATE, np.float32)
    for shift in SHIFTS:
        assert np.isfinite(shifted(silence, shift, seed=1, others=OTHERS)).all()


def test_another_method_is_another_version() -> None:
    versions = {shift_version("room"), shift_version("room", replace(CONFIG, longest_rt60=1.2)), shift_version("noise")}
    assert len(versions) == 3
    assert shift_version("clean") == "clean"


def test_a_codec_that_is_not_there_is_named() -> None:
    with pytest.raises(CodecMissing, match="no_such_codec"):
        shifted(VOICE, "telephone", seed=1, config=replace(CONFIG, telephone_codec="no_such_codec"))


def test_an_unknown_shift_is_refused() -> None:
    with pytest.raises(KeyError, match="underwater"):
        shifted(VOICE, "underwater", seed=1)
