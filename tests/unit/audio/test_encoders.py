"""Which promises does every speaker encoder keep, on real models and real speech?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from service.audio.encoders import ENCODERS, load_encoder
from service.audio.encoders.embedding import AudioNotFinite, AudioTooShort, DeviceMissing, ModelMissing
from service.registry import UnknownPlugIn
from service.types.audio import EmbeddingSpace, EmbeddingSpaceMismatch, SpeakerEmbedding, SpeakerEncoder, Waveform, cosine
from tests.unit.audio.models import household_ecapa, household_titanet
from tests.unit.audio.speech import a_clip

MAKERS: dict[str, Callable[[Path], Path | None]] = {
    "campplus": lambda folder: None,
    "ecapa": household_ecapa,
    "titanet": household_titanet,
}


@pytest.fixture(scope="module", params=sorted(MAKERS))
def encoder(request: pytest.FixtureRequest, model_cache: Path) -> SpeakerEncoder:
    source = MAKERS[request.param](model_cache)
    return load_encoder(request.param, source=str(source) if source else None, cache=model_cache, device="cpu")


def test_every_encoder_in_the_table_is_tried() -> None:
    assert sorted(ENCODERS) == sorted(MAKERS)


def test_vectors_are_finite_and_of_unit_length(encoder: SpeakerEncoder) -> None:
    silence = Waveform(np.zeros(16_000, dtype=np.float32))
    for embedding in encoder([a_clip("Nora"), a_clip("Ben", seconds=0.6), silence]):
        assert embedding.vector.shape == (encoder.embedding_space.dimension,)
        assert embedding.vector.dtype == np.float32
        assert np.linalg.norm(embedding.vector) == pytest.approx(1.0, abs=1e-5)


def test_one_speaker_is_nearer_to_themselves_than_to_another(encoder: SpeakerEncoder) -> None:
    nora, again, ben = encoder([a_clip("Nora", 0), a_clip("Nora", 1), a_clip("Ben", 0)])
    assert cosine(nora, again) > 0.6 > 0.4 > cosine(nora, ben)


def test_a_vector_does_not_depend_on_the_others_asked_for(encoder: SpeakerEncoder) -> None:
    clips = [a_clip("Nora"), a_clip("Ben"), a_clip("Ruth", seconds=1.0), a_clip("Victor", seconds=3.0)]
    together = encoder(clips)
    for clip, embedding in zip(clips, together, strict=True):
        assert np.array_equal(encoder([clip])[0].vector, embedding.vector)


def test_nothing_asked_gives_nothing(encoder: SpeakerEncoder) -> None:
    assert encoder([]) == []


def test_a_long_waveform_is_the_mean_of_its_parts(encoder: SpeakerEncoder) -> None:
    clip = a_clip("Nora").samples
    long = Waveform(np.tile(clip, 1 + 20 * 16_000 // len(clip)))
    assert cosine(encoder([long])[0], encoder([a_clip("Nora")])[0]) > 0.9


def test_too_short_is_refused_with_both_numbers(encoder: SpeakerEncoder) -> None:
    with pytest.raises(AudioTooShort, match=r"0\.10 s of speech; the \w+ encoder needs 0\.\d\d s"):
        encoder([a_clip("Nora"), a_clip("Ben", seconds=0.1)])


def test_samples_that_are_not_numbers_are_refused(encoder: SpeakerEncoder) -> None:
    broken = a_clip("Nora").samples.copy()
    broken[5_000] = np.nan
    with pytest.raises(AudioNotFinite):
        encoder([Waveform(broken)])


def test_the_space_is_named_like_the_encoder_and_keeps_its_version(encoder: SpeakerEncoder) -> None:
    space = encoder.embedding_space
    assert ENCODERS[space.name]
    assert len(space.version) == 12
    assert encoder([a_clip("Nora")])[0].space == space


def test_cosines_across_spaces_are_refused() -> None:
    vector = np.eye(192, dtype=np.float32)[0]
    ours = SpeakerEmbedding(vector, EmbeddingSpace("campplus", "a", 192))
    for other in (EmbeddingSpace("ecapa", "a", 192), EmbeddingSpace("campplus", "b", 192)):
        with pytest.raises(EmbeddingSpaceMismatch, match="cannot be compared"):
            cosine(ours, SpeakerEmbedding(vector, other))


def test_an_unknown_encoder_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownPlugIn, match="campplus, ecapa, titanet"):
        load_encoder("wespeaker", cache=tmp_path)


@pytest.mark.parametrize("name", sorted(ENCODERS))
@pytest.mark.parametrize("source", ["/not/there", "./not-there", "~/not/there.nemo"])
def test_a_path_that_is_not_there_is_said_to_be_missing(name: str, source: str, tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"not.there"):
        load_encoder(name, source=source, cache=tmp_path)


def test_a_device_that_is_not_here_is_named(tmp_path: Path, encoder: SpeakerEncoder, model_cache: Path) -> None:
    if encoder.embedding_space.name != "campplus":
        from service.audio.encoders.torch_models import torch_device

        with pytest.raises(DeviceMissing, match="tpu"):
            torch_device("tpu", threads=1)
        return
    with pytest.raises(DeviceMissing, match="tpu"):
        load_encoder("campplus", cache=model_cache, device="tpu")
