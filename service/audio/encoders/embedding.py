"""What do all encoders promise about the vectors they return, and how do they refuse?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from service.errors import VoicegraphError
from service.types.audio import SAMPLE_RATE, EmbeddingSpace, Samples, SpeakerEmbedding, Waveform


class AudioTooShort(VoicegraphError):
    code = "audio_too_short"
    says = (
        "{duration:.2f} s of speech; the {encoder} encoder needs {minimum:.2f} s. "
        "Record longer, or raise the least net speech a turn must have to be embedded."
    )
    http_status = 422


class AudioNotFinite(VoicegraphError):
    code = "audio_not_finite"
    says = "The {encoder} encoder was given samples that are NaN or infinite. Decode the file again, or leave this part out."
    http_status = 422


class ModelMissing(VoicegraphError):
    code = "model_missing"
    says = "The model {model} was looked for in {where} and is not there. {remedy}"
    http_status = 503


class DeviceMissing(VoicegraphError):
    code = "device_missing"
    says = "The device {device!r} was asked for; here there is: {available}. Use auto, cpu or cuda."


def check(waveforms: Sequence[Waveform], *, minimum: float, encoder: str) -> None:
    """Refuse what cannot give a trustworthy vector: shorter than `minimum` seconds, or not finite."""
    for waveform in waveforms:
        if waveform.duration < minimum:
            raise AudioTooShort(duration=waveform.duration, minimum=minimum, encoder=encoder)
        if not np.isfinite(waveform.samples).all():
            raise AudioNotFinite(encoder=encoder)


def pieces(waveform: Waveform, *, longest: float) -> list[Samples]:
    """The samples in equal parts of at most `longest` seconds: bounds the memory a long turn takes."""
    count = -(-len(waveform.samples) // round(longest * SAMPLE_RATE))
    return np.array_split(np.ascontiguousarray(waveform.samples, dtype=np.float32), max(1, count))


def unit(vector: Samples) -> Samples:
    """`vector` with length 1, float32."""
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def embedding(vectors: Samples, space: EmbeddingSpace) -> SpeakerEmbedding:
    """One embedding from raw vectors of pieces of one waveform, shape (pieces, dimension): the mean of their directions."""
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = unit(directions.mean(axis=0))
    if not np.isfinite(mean).all():
        raise AudioNotFinite(encoder=space.name)
    return SpeakerEmbedding(mean, space)


def version(*parts: str | bytes) -> str:
    """Short hash of what decides an encoder's output: digests of its weights, and a description of its pre-processing."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part.encode() if isinstance(part, str) else part).digest())
    return digest.hexdigest()[:12]


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def torch_device(device: str) -> str:
    """`auto`, `cpu` or `cuda` → what torch calls it; raises DeviceMissing."""
    import torch

    has_cuda = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if has_cuda else "cpu"
    if device == "cpu" or (device.startswith("cuda") and has_cuda):
        return device
    raise DeviceMissing(device=device, available="cpu, cuda" if has_cuda else "cpu")
