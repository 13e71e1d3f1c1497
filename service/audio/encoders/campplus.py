"""How does CAM++ (3D-Speaker, zh-en common, 192-d) turn speech into an embedding, through onnxruntime alone?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import kaldi_native_fbank as knf
import numpy as np
import onnxruntime

from service.audio.encoders import campplus_export
from service.audio.encoders.embedding import DeviceMissing, ModelMissing, embed, sha256, version
from service.types.audio import SAMPLE_RATE, EmbeddingSpace, Samples, SpeakerEmbedding, Waveform

PREPROCESSING = "kaldi fbank 80, povey 25/10 ms, low 20 Hz, no dither; mean removed; repeated to 0.5 s"
"""Part of the embedding space's version: change it with anything below that changes vectors."""


@dataclass(frozen=True, slots=True)
class CampPlusConfig:
    minimum: float = 0.25
    """Seconds; under it a clip holds about one syllable. Whether such a clip may count is the router's choice."""
    least_frames: int = 50
    """Shorter clips are repeated up to 0.5 s: the network was never measured on less."""
    batch_frames: int = 2_400
    """Frames in one run; on a CPU larger batches are slower (16 × 8 s: 140 ms an utterance, 4 × 8 s: 90 ms)."""


class CampPlus:
    """A SpeakerEncoder. Deterministic, and no waveform's vector depends on the others in its batch."""

    def __init__(self, model: Path, *, device: str = "auto", threads: int = 1, config: CampPlusConfig | None = None) -> None:
        if not model.is_file():
            raise ModelMissing(model="CAM++", where=model, remedy="`voicegraph export-encoder` writes one.")
        self._config = config or CampPlusConfig()
        self._session = _session(model, device=device, threads=threads)
        weights = self._session.get_modelmeta().custom_metadata_map.get("weights_sha256") or sha256(model)
        self._space = EmbeddingSpace("campplus", version(weights, PREPROCESSING), dimension=192)
        self._options = _fbank_options()

    @classmethod
    def load(cls, source: str | None, *, cache: Path, device: str = "auto", threads: int = 1) -> CampPlus:
        model = Path(source).expanduser() if source else campplus_export.exported(cache)
        return cls(model, device=device, threads=threads)

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._space

    def __call__(self, waveforms: Sequence[Waveform]) -> list[SpeakerEmbedding]:
        return embed(waveforms, self._vectors, self._space, minimum=self._config.minimum)

    def _vectors(self, parts: list[Samples]) -> Samples:
        """Raw vectors, shape (len(parts), 192); equal lengths share a run."""
        features = [self._features(part) for part in parts]
        vectors = np.empty((len(features), self._space.dimension), dtype=np.float32)
        for batch in self._batches(features):
            vectors[batch] = self._session.run(None, {"feats": np.stack([features[i] for i in batch])})[0]
        return vectors

    def _features(self, samples: Samples) -> Samples:
        """Log-mel energies minus their mean, shape (frames, 80); repeated from its beginning when too short."""
        bank = knf.OnlineFbank(self._options)
        bank.accept_waveform(SAMPLE_RATE, samples)
        bank.input_finished()
        frames = np.stack([bank.get_frame(i) for i in range(bank.num_frames_ready)])
        centred: Samples = (frames - frames.mean(axis=0)).astype(np.float32)
        return np.resize(centred, (max(len(frames), self._config.least_frames), centred.shape[1]))

    def _batches(self, features: Sequence[Samples]) -> Iterator[list[int]]:
        by_length = sorted(range(len(features)), key=lambda i: len(features[i]))
        for length, group in groupby(by_length, key=lambda i: len(features[i])):
            size = max(1, self._config.batch_frames // length)
            members = list(group)
            yield from (members[i : i + size] for i in range(0, len(members), size))


def _fbank_options() -> Any:
    options = knf.FbankOptions()
    options.frame_opts.samp_freq = SAMPLE_RATE
    options.frame_opts.dither = 0.0
    options.frame_opts.window_type = "povey"
    options.frame_opts.snip_edges = True
    options.mel_opts.num_bins = 80
    options.mel_opts.low_freq = 20
    options.mel_opts.high_freq = 0
    options.use_energy = False
    return options


def _session(model: Path, *, device: str, threads: int) -> Any:
    available = onnxruntime.get_available_providers()
    has_cuda = "CUDAExecutionProvider" in available
    if device not in ("auto", "cpu", "cuda") or (device == "cuda" and not has_cuda):
        raise DeviceMissing(device=device, available="cpu, cuda" if has_cuda else "cpu (cuda needs onnxruntime-gpu)")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads must not burn a shared core
    providers = ["CUDAExecutionProvider"] * (has_cuda and device != "cpu") + ["CPUExecutionProvider"]
    try:
        return onnxruntime.InferenceSession(model, options, providers=providers)
    except Exception as problem:  # onnxruntime's errors have no other base in common
        remedy = f"Remove the file, so that it is made again. onnxruntime said: {problem}"
        raise ModelMissing(model="CAM++", where=model, remedy=remedy) from problem
