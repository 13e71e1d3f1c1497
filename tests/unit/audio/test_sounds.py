"""What do the taggers hear in sounds made by hand, and what in talk?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.audio import decode
from service.audio.encoders.embedding import ModelMissing
from service.audio.prosody import prosody
from service.audio.sounds import load_tagger, yamnet_export
from service.audio.sounds.piece import PieceConfig, encoded
from service.audio.sounds.signals import SignalTagger
from service.audio.sounds.spectra import embedding
from service.registry import UnknownPlugIn
from service.types.audio import SAMPLE_RATE, Samples, Segment, Waveform
from service.types.sounds import SoundLabel, SoundTagger
from tests.laughs import laugh, talk, tone, whisper
from tests.models import CACHE, ami_sample


def labels(tagger: SoundTagger, samples: Samples) -> set[SoundLabel]:
    return {tagged.label for tagged in tagger(Waveform(samples))}


@pytest.mark.parametrize("apart", [0.17, 0.2, 0.22])
def test_regular_bursts_with_breath_between_are_laughter_and_it_is_known_where(apart: float) -> None:
    sound = np.concatenate([talk(1.0), laugh(8, apart), talk(0.6, seed=2)])
    (tagged,) = SignalTagger()(Waveform(sound, start=10.0))
    assert tagged.label is SoundLabel.LAUGHING and tagged.score >= 0.5
    assert Segment(11.0, 11.0 + 8 * apart).overlap(tagged.segment) > 0.8 * tagged.segment.duration


def test_talk_a_few_bursts_irregular_ones_and_nothing_are_no_laughter() -> None:
    steps = np.random.default_rng(1).uniform(0.12, 0.36, 9)
    uneven = np.concatenate([laugh(1, step, seed) for seed, step in enumerate(steps)])
    for sound in (talk(6.0), talk(6.0, 240.0, seed=5), laugh(4), laugh(8, 0.5), uneven, whisper(3.0), np.zeros(0, np.float32)):
        assert SoundLabel.LAUGHING not in labels(SignalTagger(), sound)


def test_people_who_talk_for_real_do_not_laugh_or_ring() -> None:
    sound = np.concatenate([block.samples for block in decode.blocks(ami_sample(), seconds=60)])
    assert labels(SignalTagger(), sound) == set()


def test_a_steady_tone_over_talk_rings_and_a_vowel_does_not() -> None:
    rung = talk(3.0)
    rung[SAMPLE_RATE : 2 * SAMPLE_RATE] += tone(1.0)
    (tagged,) = SignalTagger()(Waveform(rung))
    assert tagged.label is SoundLabel.RINGING and tagged.segment.overlap(Segment(1.0, 2.0)) > 0.8
    assert labels(SignalTagger(), talk(4.0, 330.0, seed=3)) == set()


def test_a_whisper_has_no_pitch_and_a_voice_has() -> None:
    spoken, whispered = (prosody(Waveform(sound), [Segment(0.0, 3.0)]) for sound in (talk(3.0), whisper(3.0)))
    assert spoken is not None and whispered is not None
    assert (spoken.voiced or 0.0) > 0.8 and (whispered.voiced or 0.0) < 0.1


def test_sounds_of_one_kind_embed_nearer_than_of_two() -> None:
    one, other, rung = embedding(laugh(8)), embedding(laugh(9, 0.21, seed=4)), embedding(tone(1.5))
    assert one @ other > 0.9 > one @ rung
    assert float(np.linalg.norm(one)) == pytest.approx(1.0) and not embedding(np.zeros(10, np.float32)).any()


def test_a_piece_is_a_few_seconds_that_decode_again_and_the_same_each_time(tmp_path: Path) -> None:
    sound = talk(7.0)
    made = encoded(sound, PieceConfig(longest=2.0))
    assert made == encoded(sound, PieceConfig(longest=2.0)) and len(made) < 12_000
    (tmp_path / "piece.ogg").write_bytes(made)
    heard = np.concatenate([block.samples for block in decode.blocks(tmp_path / "piece.ogg", seconds=10)])
    assert len(heard) / SAMPLE_RATE == pytest.approx(2.0, abs=0.1)
    assert abs(float(np.std(heard)) / float(np.std(sound[: 2 * SAMPLE_RATE])) - 1) < 0.2


def test_yamnet_is_loaded_from_its_package_and_hears_music_and_no_laughter_in_talk(model_cache: Path) -> None:
    tagger = load_tagger("yamnet", cache=model_cache)
    chord = sum(tone(3.0, hertz) for hertz in (262.0, 330.0, 392.0, 524.0))
    assert SoundLabel.MUSIC in labels(tagger, np.asarray(chord, dtype=np.float32))
    sound = np.concatenate([block.samples for block in decode.blocks(ami_sample(), seconds=60)])
    assert labels(tagger, sound) == set()
    assert labels(tagger, np.zeros(100, np.float32)) == set()
    assert (model_cache / yamnet_export.FILE_NAME).is_file()


def test_what_is_missing_or_unknown_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamnet_export.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelMissing, match="sounds"):
        load_tagger("yamnet", cache=tmp_path)
    with pytest.raises(UnknownPlugIn):
        load_tagger("ears", cache=CACHE)
