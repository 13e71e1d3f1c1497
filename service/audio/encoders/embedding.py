"""What do all encoders promise about the vectors they return, and how do they refuse?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
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


LONGEST = 20.0
"""Seconds in one run; a longer waveform is the mean of equal parts, so that memory does not grow with it (CAM++: 30 MB)."""


def embed(
    waveforms: Sequence[Waveform], run: Callable[[list[Samples]], Samples], space: EmbeddingSpace, *, minimum: float
) -> list[SpeakerEmbedding]:
    """One embedding a waveform: the direction that `run` gives, or the mean direction over its parts when it is long.

    `run`: samples of several parts → raw vectors, shape (parts, dimension). `minimum`: seconds.
    Raises AudioTooShort, AudioNotFinite."""
    for waveform in waveforms:
        if waveform.duration < minimum:
            raise AudioTooShort(duration=waveform.duration, minimum=minimum, encoder=space.name)
        if not np.isfinite(waveform.samples).all():
            raise AudioNotFinite(encoder=space.name)
    if not waveforms:
        return []
    parts = [_parts(waveform) for waveform in waveforms]
    directions = _unit(run([part for of_one in parts for part in of_one]))
    means = [of_one.mean(axis=0) for of_one in np.split(directions, np.cumsum([len(of_one) for of_one in parts])[:-1])]
    vectors = _unit(np.stack(means))
    if not np.isfinite(vectors).all():
        raise AudioNotFinite(encoder=space.name)
    return [SpeakerEmbedding(vector, space) for vector in vectors]


def _parts(waveform: Waveform) -> list[Samples]:
    count = -(-len(waveform.samples) // round(LONGEST * SAMPLE_RATE))
    return np.array_split(np.ascontiguousarray(waveform.samples, dtype=np.float32), count)


def _unit(vectors: Samples) -> Samples:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def version(*parts: str | bytes) -> str:
    """Short hash of what decides an encoder's output: digests of its weights, and a description of its pre-processing."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part.encode() if isinstance(part, str) else part).digest())
    return digest.hexdigest()[:12]


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
