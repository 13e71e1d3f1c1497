"""ECAPA and TitaNet: loaded from what the user has, batched on CUDA without changing who is who."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from service.audio.encoders.ecapa import EcapaEncoder
from service.audio.encoders.embedding import ModelMissing
from service.audio.encoders.titanet import TitaNetEncoder
from service.audio.encoders.torch_models import TorchConfig, in_padded_batches
from service.types.audio import Samples, cosine
from tests.unit.audio.models import household_ecapa, household_titanet, make_tiny_ecapa
from tests.unit.audio.speech import a_clip

IN_BATCHES = TorchConfig(cpu_seconds=60.0)
"""As on CUDA."""


@pytest.fixture(scope="module")
def ecapa_directory(model_cache: Path) -> Path:
    return household_ecapa(model_cache)


@pytest.fixture(scope="module")
def titanet_file(model_cache: Path) -> Path:
    return household_titanet(model_cache)


def test_padding_hardly_moves_an_ecapa_vector_because_the_lengths_are_told(ecapa_directory: Path) -> None:
    alone = EcapaEncoder.load(str(ecapa_directory), cache=ecapa_directory, device="cpu")
    batched = EcapaEncoder.load(str(ecapa_directory), cache=ecapa_directory, device="cpu", config=IN_BATCHES)
    clips = [a_clip("Nora", seconds=1.0), a_clip("Ben", seconds=3.0), a_clip("Ruth", seconds=2.0)]
    assert all(cosine(a, b) > 0.99 for a, b in zip(alone(clips), batched(clips), strict=True))


def test_padding_does_not_move_a_titanet_vector(titanet_file: Path) -> None:
    alone = TitaNetEncoder.load(str(titanet_file), cache=titanet_file.parent, device="cpu")
    batched = TitaNetEncoder.load(str(titanet_file), cache=titanet_file.parent, device="cpu", config=IN_BATCHES)
    clips = [a_clip("Nora", seconds=1.0), a_clip("Ben", seconds=3.0), a_clip("Ruth", seconds=2.0)]
    assert all(cosine(a, b) > 0.999 for a, b in zip(alone(clips), batched(clips), strict=True))


def test_other_weights_are_another_space(ecapa_directory: Path, tmp_path: Path) -> None:
    def space(directory: Path) -> str:
        return EcapaEncoder.load(str(directory), cache=tmp_path, device="cpu").embedding_space.version

    assert space(ecapa_directory) == space(ecapa_directory)
    assert space(make_tiny_ecapa(tmp_path / "seed1", seed=1)) != space(make_tiny_ecapa(tmp_path / "seed2", seed=2))


def test_loading_leaves_a_model_directory_as_it_was(ecapa_directory: Path, tmp_path: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in ecapa_directory.iterdir()}
    EcapaEncoder.load(str(ecapa_directory), cache=tmp_path, device="cpu")
    assert {path.name: path.stat().st_mtime_ns for path in ecapa_directory.iterdir()} == before


def test_a_directory_without_a_checkpoint_is_said_to_be_incomplete(ecapa_directory: Path, tmp_path: Path) -> None:
    (tmp_path / "hyperparams.yaml").write_text((ecapa_directory / "hyperparams.yaml").read_text())
    with pytest.raises(ModelMissing, match=r"embedding_model\.ckpt"):
        EcapaEncoder.load(str(tmp_path), cache=tmp_path, device="cpu")


def test_a_file_that_is_no_nemo_archive_is_said_to_be_unusable(tmp_path: Path) -> None:
    (tmp_path / "broken.nemo").write_bytes(b"not a tar archive")
    with pytest.raises(ModelMissing, match=r"broken\.nemo"):
        TitaNetEncoder.load(str(tmp_path / "broken.nemo"), cache=tmp_path, device="cpu")


def test_batches_hold_similar_lengths_and_keep_the_order() -> None:
    seen: list[list[int]] = []

    def run(padded: Samples, lengths: np.ndarray) -> Samples:
        assert padded.shape == (len(lengths), lengths.max())
        seen.append(sorted(lengths.tolist()))
        return lengths[:, None].astype(np.float32)

    samples = [np.ones(n, dtype=np.float32) for n in (16_000, 64_000, 15_000, 200_000, 60_000)]
    vectors = in_padded_batches(samples, run, seconds=8.0)
    assert vectors[:, 0].tolist() == [16_000, 64_000, 15_000, 200_000, 60_000]
    assert seen == [[15_000, 16_000], [60_000, 64_000], [200_000]]


def test_all_modules_can_be_looked_at_once_speechbrain_is_loaded(ecapa_directory: Path) -> None:
    """Its stand-ins for modules that are not installed raised ImportError in whatever walked sys.modules."""
    EcapaEncoder.load(str(ecapa_directory), cache=ecapa_directory, device="cpu")
    for module in list(sys.modules.values()):
        getattr(module, "__file__", None)
