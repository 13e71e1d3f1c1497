"""How does SpeechBrain's ECAPA-TDNN turn speech into an embedding?"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from service.audio.encoders.embedding import ModelMissing, embed
from service.audio.encoders.torch_models import TorchConfig, in_padded_batches, means_a_path, torch_device, weights_version
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding, Waveform

HUB_NAME = "speechbrain/spkrec-ecapa-voxceleb"
"""The released model; what is loaded when no source is given."""
HYPERPARAMS = "hyperparams.yaml"


class EcapaEncoder:
    """A SpeakerEncoder. A model directory names classes in its hyperparams.yaml, which are run: take it from where you
    would take code."""

    def __init__(self, classifier: Any, hyperparams: str, *, device: str, config: TorchConfig | None = None) -> None:
        """`classifier`: a speechbrain EncoderClassifier on `device`; `hyperparams`: the text of its yaml."""
        self._classifier = classifier
        self._config = config or TorchConfig()
        self._seconds = self._config.batch_seconds(device)
        preprocessing = re.sub(r"(?m)^\s*(#.*|pretrained_path:.*)?\n", "", hyperparams)
        dimension = self._run(np.zeros((1, 16_000), dtype=np.float32), np.array([16_000])).shape[1]
        version = weights_version(classifier.mods.embedding_model, preprocessing)
        self._space = EmbeddingSpace("ecapa", version, dimension)

    @classmethod
    def load(
        cls, source: str | None, *, cache: Path, device: str = "auto", threads: int = 1, config: TorchConfig | None = None
    ) -> EcapaEncoder:
        """`source`: a directory with hyperparams.yaml and checkpoints, or a hub name (kept in `cache`).

        Raises ModelMissing, DeviceMissing."""
        source = source or HUB_NAME
        if importlib.util.find_spec("speechbrain") is None:
            raise ModelMissing(model="ECAPA", where="the package speechbrain", remedy="Install voicegraph[ecapa].")
        folder = Path(source).expanduser()
        if means_a_path(source) and not (folder / HYPERPARAMS).is_file():
            remedy = f"Give a directory with {HYPERPARAMS} and its checkpoints, or a hub name such as {HUB_NAME}."
            raise ModelMissing(model=f"ECAPA {source}", where=folder.absolute(), remedy=remedy)
        on = torch_device(device, threads=threads)
        if means_a_path(source):
            classifier = _classifier(str(folder), folder, on, local=True)
        else:
            folder = cache / "ecapa" / source.replace("/", "--")
            classifier = _classifier(source, folder, on, local=False)
        return cls(classifier, (folder / HYPERPARAMS).read_text(), device=on, config=config)

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._space

    def __call__(self, waveforms: Sequence[Waveform]) -> list[SpeakerEmbedding]:
        return embed(waveforms, self._vectors, self._space, minimum=self._config.minimum)

    def _vectors(self, parts: list[Samples]) -> Samples:
        return in_padded_batches(parts, self._run, self._seconds)

    def _run(self, padded: Samples, lengths: Any) -> Samples:
        import torch

        shares = torch.from_numpy((lengths / padded.shape[1]).astype(np.float32))  # without them padding counts as speech
        with torch.inference_mode():
            vectors = self._classifier.encode_batch(torch.from_numpy(padded), wav_lens=shares)
        return np.asarray(vectors.squeeze(1).cpu().numpy(), dtype=np.float32)


def _classifier(source: str, folder: Path, device: str, *, local: bool) -> Any:
    """The loaded model; `folder` is where its files are (local) or are put (hub)."""
    from speechbrain.inference.speaker import EncoderClassifier
    from speechbrain.utils.fetching import LocalStrategy

    _forget_stand_ins()
    try:
        return EncoderClassifier.from_hparams(
            source=source,
            savedir=str(folder),
            run_opts={"device": device},
            overrides={"pretrained_path": source},  # the released yaml points to the hub even in a local copy
            overrides_must_match=False,
            local_strategy=LocalStrategy.NO_LINK if local else LocalStrategy.COPY,
        )
    except (OSError, ValueError, RuntimeError) as problem:
        remedy = f"The loader said: {problem}"
        raise ModelMissing(model=f"ECAPA {source}", where=folder if local else "the hub", remedy=remedy) from problem


def _forget_stand_ins() -> None:
    """SpeechBrain puts stand-ins for its optional and renamed modules into sys.modules. They import what is not installed as
    soon as anything looks through the modules, as test and debugging tools do; whoever wants one imports it by its name."""
    from speechbrain.utils.importutils import LazyModule

    for name, module in list(sys.modules.items()):
        if isinstance(module, LazyModule):
            del sys.modules[name]
