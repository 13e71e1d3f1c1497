"""How does NeMo's TitaNet turn speech into an embedding?"""

from __future__ import annotations

import importlib.util
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from service.audio.encoders.embedding import ModelMissing, embed
from service.audio.encoders.torch_models import TorchConfig, in_padded_batches, means_a_path, torch_device, weights_version
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding, Waveform

HUB_NAME = "nvidia/speakerverification_en_titanet_large"
"""The released model; what is loaded when no source is given."""


class TitaNetEncoder:
    """A SpeakerEncoder. Waveforms go in as arrays: NeMo's own file reader does not mix channels and needs files."""

    def __init__(self, model: Any, *, device: str, config: TorchConfig | None = None) -> None:
        """`model`: a NeMo EncDecSpeakerLabelModel on `device`, in evaluation mode."""
        from omegaconf import OmegaConf

        self._model = model
        self._config = config or TorchConfig()
        self._seconds = self._config.batch_seconds(device)
        dimension = self._run(np.zeros((1, 16_000), dtype=np.float32), np.array([16_000])).shape[1]
        version = weights_version(model, OmegaConf.to_yaml(model.cfg.preprocessor, sort_keys=True))
        self._space = EmbeddingSpace("titanet", version, dimension)

    @classmethod
    def load(
        cls, source: str | None, *, cache: Path, device: str = "auto", threads: int = 1, config: TorchConfig | None = None
    ) -> TitaNetEncoder:
        """`source`: a .nemo file, or a model's name (NeMo keeps it in its own cache).

        Raises ModelMissing, DeviceMissing."""
        source = source or HUB_NAME
        if importlib.util.find_spec("nemo") is None:
            raise ModelMissing(model="TitaNet", where="the package nemo", remedy="Install voicegraph[titanet].")
        file = Path(source).expanduser()
        local = means_a_path(source) or file.suffix == ".nemo"
        if local and not file.is_file():
            remedy = f"Give a .nemo file, or a model's name such as {HUB_NAME}."
            raise ModelMissing(model=f"TitaNet {source}", where=file.absolute(), remedy=remedy)
        on = torch_device(device, threads=threads)
        return cls(_model(str(file) if local else source, on, local=local), device=on, config=config)

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._space

    def __call__(self, waveforms: Sequence[Waveform]) -> list[SpeakerEmbedding]:
        return embed(waveforms, self._vectors, self._space, minimum=self._config.minimum)

    def _vectors(self, parts: list[Samples]) -> Samples:
        return in_padded_batches(parts, self._run, self._seconds)

    def _run(self, padded: Samples, lengths: Any) -> Samples:
        import torch

        device = self._model.device
        with torch.inference_mode():
            _, vectors = self._model(
                input_signal=torch.from_numpy(padded).to(device), input_signal_length=torch.from_numpy(lengths).to(device)
            )
        return np.asarray(vectors.cpu().numpy(), dtype=np.float32)


def _model(source: str, device: str, *, local: bool) -> Any:
    from nemo.collections.asr.models import EncDecSpeakerLabelModel
    from nemo.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)  # it warns about missing training data, which nobody needs here
    try:
        if local:
            model = EncDecSpeakerLabelModel.restore_from(source, map_location=device, strict=True)
        else:
            model = EncDecSpeakerLabelModel.from_pretrained(source, map_location=device)
    except (OSError, ValueError, RuntimeError, KeyError, tarfile.TarError) as problem:
        remedy = f"The loader said: {problem}"
        raise ModelMissing(model=f"TitaNet {source}", where="that file" if local else "the hub", remedy=remedy) from problem
    finally:
        logging.set_verbosity(before)
    return model.eval()
