"""Which pieces are one voice: two alike voices under the threshold are told apart, one that varies is not torn in two."""

from __future__ import annotations

import numpy as np
import pytest

from service.audio.clustering import ClusteringConfig, voices
from service.audio.pieces import Piece
from service.audio.segmentation import FRAME_SECONDS
from service.types.audio import Samples

LIMIT = 0.3
"""What a block with clearly different voices calibrates itself to."""
FRAMES = round(1.5 / FRAME_SECONDS)


def pieces_of(vectors: Samples) -> list[Piece]:
    return [Piece(i * FRAMES, (i + 1) * FRAMES, False, vector) for i, vector in enumerate(vectors)]


def spoken(center: Samples, count: int, alike: float, rng: np.random.Generator) -> Samples:
    """Vectors around a unit `center`, whose pairs have a mean cosine of `alike`."""
    noise = rng.standard_normal((count, len(center))).astype(np.float32)
    noise -= (noise @ center)[:, None] * center
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    mixed: Samples = (np.sqrt(alike) * center + np.sqrt(1 - alike) * noise).astype(np.float32)
    return mixed


def centers(cosine: float, rng: np.random.Generator) -> tuple[Samples, Samples]:
    """Two unit vectors with that cosine between them, shape (192,) each."""
    one, other = np.linalg.qr(rng.standard_normal((192, 2)))[0].T.astype(np.float32)
    return one, (cosine * one + np.sqrt(1 - cosine**2) * other).astype(np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_two_alike_voices_that_the_threshold_takes_for_one_are_two(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = centers(0.55, rng)  # 0.36 between their pieces, as sisters among strangers
    heard = np.concatenate([spoken(one, 12, 0.65, rng), spoken(other, 8, 0.65, rng)])
    found = voices(pieces_of(heard), LIMIT, ClusteringConfig())
    assert len(found) == 2
    assert [round(voice.duration / 1.5) for voice in found] == [12, 8]


@pytest.mark.parametrize("seed", range(5))
def test_an_outlier_does_not_hide_that_two_speak(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = centers(0.55, rng)
    between = (one + other) / np.linalg.norm(one + other)
    odd = spoken(between.astype(np.float32), 1, 0.3, rng)
    heard = np.concatenate([spoken(one, 12, 0.65, rng), odd, spoken(other, 8, 0.65, rng)])
    assert len(voices(pieces_of(heard), LIMIT, ClusteringConfig())) == 2


@pytest.mark.parametrize("alike", [0.45, 0.55, 0.65, 0.75])
@pytest.mark.parametrize("seed", range(5))
def test_a_voice_is_not_torn_in_two(alike: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, _ = centers(0.0, rng)
    assert len(voices(pieces_of(spoken(one, 24, alike, rng)), LIMIT, ClusteringConfig())) == 1


@pytest.mark.parametrize("drift", [0.8, 0.9])
def test_nor_is_one_that_comes_nearer_to_the_microphone(drift: float) -> None:
    rng = np.random.default_rng(0)
    far, near = centers(drift, rng)
    heard = np.concatenate([spoken(far, 12, 0.65, rng), spoken(near, 12, 0.65, rng)])
    assert len(voices(pieces_of(heard), LIMIT, ClusteringConfig())) == 1


def test_two_seconds_of_somebody_alike_are_not_yet_a_voice_of_their_own() -> None:
    rng = np.random.default_rng(0)
    one, other = centers(0.55, rng)
    heard = np.concatenate([spoken(one, 12, 0.65, rng), spoken(other, 1, 0.65, rng)])
    assert len(voices(pieces_of(heard), LIMIT, ClusteringConfig())) == 1


@pytest.mark.parametrize("count", [4, 7, 10])
def test_a_sound_that_is_repeated_exactly_is_one_voice(count: int) -> None:
    one, _ = centers(0.0, np.random.default_rng(0))
    assert len(voices(pieces_of(np.stack([one] * count)), LIMIT, ClusteringConfig())) == 1
