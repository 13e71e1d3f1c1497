"""Which of AudioSet's sounds does YAMNet hear? A second at a time, every half second, 5 ms of CPU each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from service.audio.sounds.spectra import mel_weights
from service.audio.sounds.yamnet_export import classes, exported
from service.types.audio import SAMPLE_RATE, Samples, Segment, Waveform
from service.types.sounds import SoundLabel, Tagged

NAMES: Mapping[SoundLabel, Sequence[str]] = {
    SoundLabel.LAUGHING: (
        "Laughter", "Baby laughter", "Giggle", "Snicker", "Belly laugh", "Chuckle, chortle",
    ),
    SoundLabel.WHISPERING: ("Whispering",),
    SoundLabel.SHOUTING: ("Shout", "Bellow", "Yell", "Children shouting", "Screaming"),
    SoundLabel.COUGHING: ("Cough",),
    SoundLabel.CRYING: ("Crying, sobbing", "Baby cry, infant cry"),
    SoundLabel.SINGING: ("Singing", "Choir", "Child singing"),
    SoundLabel.APPLAUSE: ("Applause", "Clapping", "Cheering"),
    SoundLabel.MUSIC: ("Music", "Musical instrument"),
    SoundLabel.RINGING: (
        "Telephone", "Telephone bell ringing", "Ringtone", "Doorbell", "Alarm clock", "Smoke detector, smoke alarm", "Buzzer",
    ),
    SoundLabel.KNOCKING: ("Knock",),
    SoundLabel.SIREN: ("Siren", "Civil defense siren", "Police car (siren)", "Ambulance (siren)"),
    SoundLabel.DOG: ("Dog", "Bark", "Yip", "Howl"),
    SoundLabel.CAT: ("Cat", "Meow", "Purr"),
    SoundLabel.TYPING: ("Typing", "Computer keyboard", "Typewriter"),
}  # fmt: skip
"""AudioSet's names of each label."""


@dataclass(frozen=True, slots=True)
class YamnetConfig:
    least: float = 0.5  # of a label's surest class; by hand: at 0.4 somebody in the sample of pyannote-audio cries
    laughing: float = (
        0.3  # of that label: 7 of 15 acted laughs, and 1 of 824 other exclamations (tests/bench/README.md, sounds)
    )
    window: int = 400  # samples, as the next six: what the network was trained on (tensorflow/models, yamnet/params.py)
    hop: int = 160
    patch: int = 96  # frames, 0.96 s
    patch_hop: int = 48
    bands: int = 64
    lowest: float = 125.0  # Hz
    highest: float = 7_500.0
    offset: float = 0.001  # added to the magnitudes
    batch: int = 64  # patches in one run: half a minute


class YamnetTagger:
    """A SoundTagger over the exported network. Deterministic."""

    name = "yamnet-1"

    def __init__(self, model: Path, names: Sequence[str], *, threads: int = 1, config: YamnetConfig | None = None) -> None:
        self._config = config or YamnetConfig()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self._session: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        place = {name: number for number, name in enumerate(names)}
        self._columns = {label: [place[name] for name in own] for label, own in NAMES.items()}

    @classmethod
    def load(cls, *, cache: Path, threads: int = 1) -> YamnetTagger:
        return cls(exported(cache), classes(), threads=threads)

    def __call__(self, waveform: Waveform) -> list[Tagged]:
        scores = self.scores(waveform.samples)
        found = []
        for label, columns in self._columns.items():
            surest = scores[:, columns].max(axis=1)
            patch = int(surest.argmax())
            if surest[patch] >= (self._config.laughing if label is SoundLabel.LAUGHING else self._config.least):
                begin = waveform.start + patch * self._config.patch_hop * self._config.hop / SAMPLE_RATE
                end = min(waveform.segment.end, begin + self._config.patch * self._config.hop / SAMPLE_RATE)
                found.append(Tagged(label, Segment(begin, end), round(float(surest[patch]), 2)))
        return found

    def scores(self, samples: Samples) -> Samples:
        """Of each of the 521 classes, [0, 1], shape (patches, 521); one patch at least: silence fills it."""
        patches, config = self._patches(samples), self._config
        runs = [
            self._session.run(None, {"audio": patches[start : start + config.batch]})[0]
            for start in range(0, len(patches), config.batch)
        ]
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(np.concatenate(runs), -60.0, 60.0))), dtype=np.float32)

    def _patches(self, samples: Samples) -> Samples:
        """Shape (patches, 1, 96, 64)."""
        config = self._config
        least = config.window + (config.patch - 1) * config.hop
        padded = np.pad(samples, (0, max(0, least - len(samples))))
        frames = np.lib.stride_tricks.sliding_window_view(padded, config.window)[:: config.hop]
        periodic = np.hanning(config.window + 1)[:-1]
        magnitudes = np.abs(np.fft.rfft(frames * periodic, 512, axis=1))
        logs = np.log(magnitudes @ mel_weights(config.bands, config.lowest, config.highest) + config.offset)
        starts = range(0, len(logs) - config.patch + 1, config.patch_hop)
        return np.stack([logs[start : start + config.patch] for start in starts])[:, None].astype(np.float32)
