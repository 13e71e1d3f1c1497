"""Does somebody speak right now? Silero's detector, 32 ms by 32 ms, for sound that is still coming in.

Files are segmented by another network (service.audio.segmentation), which hears quiet voices better and needs ten seconds.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from service.audio.encoders.embedding import ModelMissing
from service.types.audio import SAMPLE_RATE, Samples

FRAME_SAMPLES = 512
"""What the network takes at once."""
FRAME_SECONDS = FRAME_SAMPLES / SAMPLE_RATE
_CONTEXT = 64
"""Samples before a frame that it also sees."""
_MEMORY = (1, 1, 128)


@dataclass(frozen=True, slots=True)
class VadConfig:
    """Silero's own limits: speech begins at the upper one and lasts until the lower one."""

    begins: float = 0.5
    lasts: float = 0.35


class VadModel:
    """The network of the package faster-whisper, once a process; 0.2 ms of CPU a frame."""

    def __init__(self, model: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    @classmethod
    def load(cls) -> VadModel:
        """Raises ModelMissing."""
        spec = importlib.util.find_spec("faster_whisper")
        folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else Path()
        found = sorted((folder / "assets").glob("silero_vad_v*.onnx"))
        if not found:
            raise ModelMissing(model="silero VAD", where="the package faster_whisper", remedy="Install faster-whisper>=1.2.")
        return cls(found[-1])

    def __call__(self, frame: Samples, h: Samples, c: Samples) -> tuple[float, Samples, Samples]:
        """The probability of speech in `frame` (with its context), and what is to be remembered for the next."""
        out, h, c = self._session.run(None, {"input": frame[None], "h": h, "c": c})
        return float(out.ravel()[0]), h, c


class SpeechDetector:
    """Of one stream; keeps what the network remembers, and the part of a frame that has not come in yet."""

    def __init__(self, model: VadModel, config: VadConfig | None = None) -> None:
        self._model, self._config = model, config or VadConfig()
        self._h, self._c = np.zeros(_MEMORY, np.float32), np.zeros(_MEMORY, np.float32)
        self._context, self._rest = np.zeros(_CONTEXT, np.float32), np.zeros(0, np.float32)
        self._speaking = False

    def __call__(self, samples: Samples) -> list[bool]:
        """For each frame that `samples` complete, whether somebody speaks in it."""
        held = np.concatenate([self._rest, samples])
        whole = len(held) // FRAME_SAMPLES * FRAME_SAMPLES
        self._rest = held[whole:]
        return [self._frame(held[start : start + FRAME_SAMPLES]) for start in range(0, whole, FRAME_SAMPLES)]

    def _frame(self, frame: Samples) -> bool:
        likely, self._h, self._c = self._model(np.concatenate([self._context, frame]), self._h, self._c)
        self._context = frame[-_CONTEXT:]
        self._speaking = likely >= (self._config.lasts if self._speaking else self._config.begins)
        return self._speaking
