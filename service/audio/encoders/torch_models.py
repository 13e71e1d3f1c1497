"""What do the encoders that run in torch share: the device, padded batches, a version from their weights?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from service.audio.encoders.embedding import DeviceMissing, version
from service.types.audio import SAMPLE_RATE, Samples

PaddedRun = Callable[[Samples, "np.ndarray[Any, np.dtype[np.int64]]"], Samples]
"""Padded waveforms (batch, samples) and their true lengths in samples → raw vectors (batch, dimension)."""


@dataclass(frozen=True, slots=True)
class TorchConfig:
    minimum: float = 0.5
    """Seconds; 20 ms break ECAPA (padding), and TitaNet answers to them with a vector that tells nobody apart."""
    cpu_seconds: float = 0.0
    """Of audio in one run, padding included. On a CPU every waveform runs alone: a batch is no faster there, and padding
    moves vectors a little (cosine 0.9999 with themselves), which would make them depend on what else was asked for."""
    cuda_seconds: float = 120.0

    def batch_seconds(self, device: str) -> float:
        return self.cpu_seconds if device == "cpu" else self.cuda_seconds


def torch_device(device: str, *, threads: int) -> str:
    """`auto`, `cpu` or `cuda[:n]` → what torch calls it. Raises DeviceMissing.

    `threads` holds for all of torch in this process: it has one pool, whose waiting threads burn the cores they wait on."""
    import torch

    torch.set_num_threads(threads)
    has_cuda = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if has_cuda else "cpu"
    if device == "cpu" or (device.startswith("cuda") and has_cuda):
        return device
    raise DeviceMissing(device=device, available="cpu, cuda" if has_cuda else "cpu")


def in_padded_batches(samples: Sequence[Samples], run: PaddedRun, seconds: float) -> Samples:
    """Vectors in the order of `samples`; similar lengths share a batch of at most `seconds` (but at least one waveform)."""
    vectors: dict[int, Samples] = {}
    for batch in _batches(samples, round(seconds * SAMPLE_RATE)):
        lengths = np.array([len(samples[i]) for i in batch], dtype=np.int64)
        padded = np.zeros((len(batch), int(lengths.max())), dtype=np.float32)
        for row, i in enumerate(batch):
            padded[row, : lengths[row]] = samples[i]
        vectors.update(zip(batch, run(padded, lengths), strict=True))
    return np.stack([vectors[i] for i in range(len(samples))])


def _batches(samples: Sequence[Samples], most: int) -> list[list[int]]:
    batches: list[list[int]] = []
    for i in sorted(range(len(samples)), key=lambda i: len(samples[i])):  # ascending: the newest is the longest
        if batches and (len(batches[-1]) + 1) * len(samples[i]) <= most:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


def weights_version(module: Any, preprocessing: str) -> str:
    """Short hash of a torch module's weights and of the description of what comes before them."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return version(digest.digest(), preprocessing)


def means_a_path(source: str) -> bool:
    """Whether `source` can only be a place on disk: a hub's name is `model` or `org/model`.

    Asked before loading, because loaders take a missing path for a hub's name and answer with a network error."""
    return source.startswith((".", "~", "/", "\\")) or source.count("/") > 1 or Path(source).exists()
