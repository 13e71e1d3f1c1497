"""Small real models with seeded weights, made by the tests: they prove the loaders and the line, not accuracy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from service.types.audio import Samples
from tests.unit.audio.speech import household

Speech = Mapping[str, Sequence[Samples]]
"""Speaker → recordings, 16 kHz, at least 1 s each."""
_CHANNELS, _KERNELS, _DILATIONS = [64, 64, 64, 64, 192], [5, 3, 3, 3, 1], [1, 2, 3, 4, 1]

_HYPERPARAMS = f"""\
pretrained_path: somewhere/else
compute_features: !new:speechbrain.lobes.features.Fbank
    n_mels: 80
mean_var_norm: !new:speechbrain.processing.features.InputNormalization
    norm_type: sentence
    std_norm: False
embedding_model: !new:speechbrain.lobes.models.ECAPA_TDNN.ECAPA_TDNN
    input_size: 80
    channels: {_CHANNELS}
    kernel_sizes: {_KERNELS}
    dilations: {_DILATIONS}
    attention_channels: 16
    lin_neurons: 192
classifier: !new:speechbrain.lobes.models.ECAPA_TDNN.Classifier
    input_size: 192
    out_neurons: 2
mean_var_norm_emb: !new:speechbrain.processing.features.InputNormalization
    norm_type: global
    std_norm: False
modules:
    compute_features: !ref <compute_features>
    mean_var_norm: !ref <mean_var_norm>
    embedding_model: !ref <embedding_model>
    mean_var_norm_emb: !ref <mean_var_norm_emb>
    classifier: !ref <classifier>
label_encoder: !new:speechbrain.dataio.encoder.CategoricalEncoder
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        embedding_model: !ref <embedding_model>
        mean_var_norm_emb: !ref <mean_var_norm_emb>
        classifier: !ref <classifier>
    paths:
        embedding_model: !ref <pretrained_path>/embedding_model.ckpt
        mean_var_norm_emb: !ref <pretrained_path>/mean_var_norm_emb.ckpt
        classifier: !ref <pretrained_path>/classifier.ckpt
"""


def make_tiny_ecapa(folder: Path, *, seed: int = 0, speech: Speech | None = None) -> Path:
    """A directory as SpeechBrain releases them (192-d), 0.3 M parameters; its `pretrained_path` is another place, as theirs.

    With `speech` the last layer is fitted to tell these speakers apart; without, all speech is alike (cosine 0.99)."""
    import torch
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN, Classifier
    from speechbrain.processing.features import InputNormalization

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hyperparams.yaml").write_text(_HYPERPARAMS)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = ECAPA_TDNN(
            80, channels=_CHANNELS, kernel_sizes=_KERNELS, dilations=_DILATIONS, attention_channels=16, lin_neurons=192
        )
        classifier = Classifier(192, out_neurons=2)
    torch.save(network.state_dict(), folder / "embedding_model.ckpt")
    torch.save(classifier.state_dict(), folder / "classifier.ckpt")
    InputNormalization(norm_type="global", std_norm=False)._save(folder / "mean_var_norm_emb.ckpt")
    if speech:
        from service.audio.encoders.ecapa import EcapaEncoder

        encoder = EcapaEncoder.load(str(folder), cache=folder, device="cpu")
        network = encoder._classifier.mods.embedding_model
        _fit(network.fc.conv, speech, encoder._vectors)
        torch.save(network.state_dict(), folder / "embedding_model.ckpt")
    return folder


def make_tiny_titanet(path: Path, *, seed: int = 0, speech: Speech | None = None) -> Path:
    """A .nemo file as NeMo releases them (192-d), 0.3 M parameters, 1.4 MB: TitaNet-S with few filters. `speech`: as above."""
    import torch
    from nemo.collections.asr.models import EncDecSpeakerLabelModel
    from nemo.utils import logging
    from omegaconf import OmegaConf

    logging.set_verbosity(logging.ERROR)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = EncDecSpeakerLabelModel(OmegaConf.create(_titanet(filters=64, width=256)))
    model.eval()
    if speech:
        from service.audio.encoders.titanet import TitaNetEncoder

        _fit(model.decoder.emb_layers[0][1], speech, TitaNetEncoder(model, device="cpu")._vectors)
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save_to(str(path))
    return path


def household_ecapa(cache: Path) -> Path:
    """An ECAPA directory in `cache` that tells the household's four speakers apart; made once."""
    folder = cache / "household-ecapa"
    return folder if folder.is_dir() else make_tiny_ecapa(folder, speech=_household())


def household_titanet(cache: Path) -> Path:
    """A .nemo file in `cache` that tells the household's four speakers apart; made once."""
    path = cache / "household-titanet.nemo"
    return path if path.is_file() else make_tiny_titanet(path, speech=_household())


def _household() -> Speech:
    return {speaker: [samples[:48_000] for samples in said[:8]] for speaker, said in household().items()}


def _fit(layer: Any, speech: Speech, raw: Callable[[list[Samples]], Samples]) -> None:
    """Fold linear discriminant analysis of the raw vectors into `layer`, which gives them (a 1-wide convolution)."""
    import torch

    vectors = {speaker: raw(list(recordings)) for speaker, recordings in speech.items()}
    means = np.stack([own.mean(axis=0) for own in vectors.values()])
    within = np.concatenate([own - own.mean(axis=0) for own in vectors.values()])
    spread, axes = np.linalg.eigh(within.T @ within / len(within))
    whiten = axes / np.sqrt(spread + 0.02 * spread.max())  # a ridge: there are fewer recordings than dimensions
    centre = means.mean(axis=0)
    _, _, directions = np.linalg.svd((means - centre) @ whiten, full_matrices=False)
    projection = np.zeros((means.shape[1], means.shape[1]))
    projection[: len(means) - 1] = directions[: len(means) - 1] @ whiten.T
    with torch.no_grad():
        turn = torch.tensor(projection, dtype=torch.float32)
        layer.bias.copy_(turn @ (layer.bias - torch.tensor(centre, dtype=torch.float32)))
        layer.weight.copy_(torch.einsum("ij,jkl->ikl", turn, layer.weight))


def _titanet(*, filters: int, width: int) -> dict[str, Any]:
    data = {"manifest_filepath": None, "sample_rate": 16_000, "labels": None, "batch_size": 1, "shuffle": False}
    return {
        "sample_rate": 16_000,
        "train_ds": data,
        "validation_ds": data,
        "preprocessor": {
            "_target_": "nemo.collections.asr.modules.AudioToMelSpectrogramPreprocessor",
            "normalize": "per_feature",
            "window_size": 0.025,
            "sample_rate": 16_000,
            "window_stride": 0.01,
            "window": "hann",
            "features": 80,
            "n_fft": 512,
            "frame_splicing": 1,
            "dither": 1e-5,
        },
        "encoder": {
            "_target_": "nemo.collections.asr.modules.ConvASREncoder",
            "feat_in": 80,
            "activation": "relu",
            "conv_mask": True,
            "jasper": [
                _block(3, False, filters),
                _block(7, True, filters),
                _block(11, True, filters),
                _block(15, True, filters),
                _block(1, False, width),
            ],
        },
        "decoder": {
            "_target_": "nemo.collections.asr.modules.SpeakerDecoder",
            "feat_in": width,
            "num_classes": 4,
            "pool_mode": "attention",
            "emb_sizes": 192,
        },
        "loss": {"_target_": "nemo.collections.asr.losses.angularloss.AngularSoftmaxLoss", "scale": 30, "margin": 0.2},
    }


def _block(kernel: int, residual: bool, filters: int) -> dict[str, Any]:
    return {
        "filters": filters,
        "repeat": 1,
        "kernel": [kernel],
        "stride": [1],
        "dilation": [1],
        "dropout": 0.0,
        "residual": residual,
        "separable": True,
        "se": True,
        "se_context_size": -1,
    }
