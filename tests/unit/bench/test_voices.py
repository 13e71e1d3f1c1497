"""The bank: embedded once, kept by encoder and shift, read again without an encoder's run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.types.audio import SAMPLE_RATE
from tests.bench.locomo_id.voices import Bank, _cut
from tests.unit.bench.shared_folder import with_sound


@pytest.fixture(scope="module")
def bank(model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Bank:
    return Bank(model_cache, with_sound(tmp_path_factory.mktemp("voices")))


def test_an_utterance_has_one_unit_vector_a_shift_nearer_to_its_own_voice_than_to_another(bank: Bank) -> None:
    (nora, ben) = (bank.utterances(v)[0] for v in ("Nora", "Ben"))
    clean, codec, other = bank.embedding(nora), bank.embedding(nora, "codec"), bank.embedding(ben)
    assert all(np.linalg.norm(v) == pytest.approx(1.0, abs=1e-4) for v in (clean, codec, other))
    assert not np.allclose(clean, codec)
    assert clean @ codec > clean @ other


def test_what_is_kept_is_not_embedded_again(bank: Bank) -> None:
    utterance = bank.utterances("Ruth")[0]
    bank.prepare(["Ruth"], ["clean"])
    path = bank.file("Ruth", "clean")
    before = path.stat().st_mtime_ns
    again = Bank(bank._cache, bank._shared)
    again.prepare(["Ruth"], ["clean"])
    assert path.stat().st_mtime_ns == before
    assert np.array_equal(again.embedding(utterance), bank.embedding(utterance))
    assert not list(path.parent.glob("*.tmp"))


def test_encoder_shift_and_length_each_have_their_own_file(bank: Bank) -> None:
    files = {bank.file("Ruth", *of) for of in (("clean",), ("room",), ("clean", 1.0), ("clean", 2.0))}
    assert len(files) == 4
    assert all(bank.space.version in str(path) for path in files)


def test_clips_shorter_than_asked_have_no_cut(bank: Bank) -> None:
    longest = max(bank.utterances("Victor"), key=lambda u: u.seconds)
    assert bank.embedding(longest, "clean", 2.0).shape == (bank.space.dimension,)
    with pytest.raises(KeyError):
        bank.embedding(longest, "clean", 60.0)


def test_a_telephone_is_told_by_its_bandwidth(bank: Bank) -> None:
    utterance = bank.utterances("Victor")[0]
    assert bank.channel(utterance) == "wideband"
    assert bank.channel(utterance, "telephone") == "telephone"


def test_corpora_and_sources_are_told_apart(bank: Bank) -> None:
    assert bank.voices() == ["Ben", "Nora"]
    assert bank.voices("real") == bank.voices("real", "read") == ["Ruth", "Victor"]
    assert bank.voices("real", "ami") == []


def test_a_cut_begins_where_speech_does_and_never_falls_short() -> None:
    silence, speech = np.zeros(SAMPLE_RATE, np.float32), np.full(2 * SAMPLE_RATE, 0.1, np.float32)
    samples = np.concatenate([silence, speech])
    assert (_cut(samples, 1.0) == 0.1).all()
    assert len(_cut(samples, 2.5)) == round(2.5 * SAMPLE_RATE)
    assert _cut(samples, None) is samples
