"""Recognition with the packaged model: words at their times, and nothing out of silence."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from service.audio.encoders.embedding import ModelMissing
from service.audio.recognise import LanguageNotKnown, Whisper, load_recogniser
from service.connectors.files import read_transcript
from service.types.audio import Recogniser, Segment, Waveform
from tests.unit.audio.speech import HOUSEHOLD, sound


@pytest.fixture(scope="module")
def recogniser() -> Recogniser:
    return load_recogniser(device="cpu", threads=1)


def plain(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def test_words_are_found_at_their_session_times(recogniser: Recogniser) -> None:
    said = read_transcript(HOUSEHOLD / "day1.vtt").segments[0]
    heard = sound("day1").crop(said.segment)
    moved = Waveform(heard.samples, start=1_000.0)
    recognised = recogniser(moved)
    words = plain(" ".join(word.text for word in recognised.words))
    assert len(set(words) & set(plain(said.text or ""))) >= 0.7 * len(set(plain(said.text or "")))
    assert recognised.language == "en"
    assert all(1_000.0 <= word.segment.start <= word.segment.end <= moved.segment.end for word in recognised.words)
    assert all(word.text == word.text.strip() and 0 <= word.confidence <= 1 for word in recognised.words)


def test_the_same_sound_gives_the_same_words(recogniser: Recogniser) -> None:
    clip = sound("day1").crop(Segment(0, 6))
    assert recogniser(clip) == recogniser(clip)


@pytest.mark.parametrize("loudness", [0.0, 1e-5, 3e-3])
def test_silence_and_noise_say_nothing(recogniser: Recogniser, loudness: float) -> None:
    noise = np.random.default_rng(0).standard_normal(10 * 16_000) * loudness
    assert recogniser(Waveform(noise.astype(np.float32))).words == ()


def test_an_empty_waveform_says_nothing(recogniser: Recogniser) -> None:
    assert recogniser(Waveform(np.zeros(0, dtype=np.float32))).words == ()


def test_an_english_model_refuses_another_language(recogniser: Recogniser) -> None:
    assert isinstance(recogniser, Whisper) and not recogniser.multilingual
    with pytest.raises(LanguageNotKnown, match="de"):
        recogniser(Waveform(np.zeros(16_000, dtype=np.float32)), language="de")


def test_a_directory_that_is_not_there_is_not_taken_for_a_name() -> None:
    with pytest.raises(ModelMissing, match="not-there"):
        load_recogniser("./not-there")


def test_a_directory_without_a_model_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="loader said"):
        load_recogniser(str(tmp_path))
