"""Whose voices speak in the benchmarks, what they say, and what are the embeddings of it under every shift?

`python -m tests.bench.locomo_id.voices [--encoder ecapa --weights DIR] [--cache DIR]` embeds everything that is not kept yet.
"""

from __future__ import annotations

import csv
import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import platformdirs

from service.audio.decode import blocks
from service.audio.encoders import load_encoder
from service.audio.narrow import narrow
from service.audio.quality import bandwidth_hz
from service.identity.thresholds import TELEPHONE
from service.types.audio import SAMPLE_RATE, EmbeddingSpace, Samples, SignalQuality, SpeakerEncoder, Waveform
from tests.bench.locomo_id.shifts import SHIFTS, shift_version, shifted
from tests.bench.report import arguments

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
CACHE = Path(platformdirs.user_cache_dir("voicegraph"))
LENGTHS = (1.0, 2.0, 3.0, 5.0)
"""Seconds of the cut clips of real speech."""
CORPORA = {"synthetic": "bank", "real": "voices"}
"""corpus → its folder of ../shared/data"""
NARROW = "-narrow"
"""Ending of a shift after which the sound is made narrow: a telephone twin's."""
LOUD = 0.02
"""A clip's speech begins where 20 ms reach this share of its loudest 20 ms (-34 dB)."""


@dataclass(frozen=True, slots=True)
class Utterance:
    id: str
    """its file under ../shared/data"""
    voice: str
    seconds: float
    dia_id: str | None = None
    """the LoCoMo turn that is read; None in real speech"""
    conversation: str | None = None
    """of `dia_id`: conv-26"""
    text: str | None = None
    corpus: str = "synthetic"
    source: str = "kokoro"
    """a set of ../shared/data/voices: libri_other, ami, emodb …"""
    session: str = ""
    """of real speech: recordings of one session share room and microphone"""


@dataclass(frozen=True, slots=True)
class _Embedded:
    rows: dict[str, int]
    """utterance id → row"""
    vectors: Samples
    bandwidths: np.ndarray
    """Hz, as the service measures them"""


class Bank:
    """The voices of ../shared/data with their embeddings. A voice not embedded yet is embedded when first asked for and kept
    under `cache`/bench by encoder version and shift version."""

    def __init__(
        self, cache: Path = CACHE, shared: Path = SHARED, *, encoder: str = "campplus", weights: str | None = None
    ) -> None:
        self._cache, self._shared = cache, shared
        self._name, self._weights = encoder, weights
        self._by_voice: dict[str, list[Utterance]] = {}
        for utterance in _manifests(shared):
            self._by_voice.setdefault(utterance.voice, []).append(utterance)
        self._embedded: dict[tuple[str, str, float | None], _Embedded] = {}
        self._babble: dict[str, dict[str, Samples]] = {}

    @cached_property
    def _encoder(self) -> SpeakerEncoder:
        return load_encoder(self._name, source=self._weights, cache=self._cache)

    @property
    def space(self) -> EmbeddingSpace:
        return self._encoder.embedding_space

    def voices(self, corpus: str = "synthetic", source: str | None = None) -> list[str]:
        """`synthetic`: the 28 of the bank; `real`: the 111 speakers of voices/, or those of one `source`."""
        rows = ((v, u[0]) for v, u in sorted(self._by_voice.items()))
        return [v for v, first in rows if first.corpus == corpus and source in (None, first.source)]

    def utterances(self, voice: str) -> list[Utterance]:
        """In order of the manifest."""
        return list(self._by_voice[voice])

    def embedding(self, utterance: Utterance, shift: str = "clean", seconds: float | None = None) -> Samples:
        """Shape (dimension,), length 1; of the first `seconds` of speech, None: of all. Raises KeyError for a shorter clip."""
        kept = self._voice(utterance.voice, shift, seconds)
        vector: Samples = kept.vectors[kept.rows[utterance.id]]
        return vector

    def twin(self, utterance: Utterance, shift: str = "clean") -> Samples | None:
        """The same made narrow as a telephone makes it, shape (dimension,), length 1; None of what came over one."""
        if self.channel(utterance, shift) == TELEPHONE:
            return None
        kept = self._voice(utterance.voice, shift + NARROW, None)
        vector: Samples = kept.vectors[kept.rows[utterance.id]]
        return vector

    def channel(self, utterance: Utterance, shift: str = "clean", seconds: float | None = None) -> str:
        """The channel tag that the service gives this sound by its bandwidth."""
        kept = self._voice(utterance.voice, shift, seconds)
        quality = SignalQuality(-20.0, 30.0, float(kept.bandwidths[kept.rows[utterance.id]]), 0.0)
        return TELEPHONE if quality.is_telephone else "wideband"

    def file(self, voice: str, shift: str, seconds: float | None = None) -> Path:
        """Where the voice's embeddings are kept; poll for it when another process makes them."""
        space = self._encoder.embedding_space
        length = "" if seconds is None else f"-{seconds:g}s"
        sound = shift_version(shift.removesuffix(NARROW)) + (NARROW if shift.endswith(NARROW) else "")
        folder = self._cache / "bench" / f"{space.name}-{space.version}" / f"{sound}{length}"
        return folder / f"{voice}.npz"

    def prepare(self, voices: Iterable[str], shifts: Sequence[str] = SHIFTS, seconds: float | None = None) -> None:
        """Embed what is missing, shift by shift, with a progress bar; broken off, the next run goes on with the next voice."""
        from rich.console import Console
        from rich.progress import track

        missing = [(s, v) for s in shifts for v in voices if not self.file(v, s, seconds).is_file()]
        what = f"embedding {', '.join(dict.fromkeys(s for s, _ in missing))}"
        for shift, voice in track(missing, what, console=Console(stderr=True), disable=not missing):
            self._voice(voice, shift, seconds)

    def _voice(self, voice: str, shift: str, seconds: float | None) -> _Embedded:
        key = (voice, shift, seconds)
        if key not in self._embedded:
            path = self.file(voice, shift, seconds)
            if not path.is_file():
                self._embed(voice, shift, seconds, path)
            with np.load(path) as kept:
                rows = {identifier: row for row, identifier in enumerate(kept["id"].tolist())}
                self._embedded[key] = _Embedded(rows, kept["vector"], kept["bandwidth"])
        return self._embedded[key]

    def _embed(self, voice: str, shift: str, seconds: float | None, path: Path) -> None:
        chosen = [u for u in self._by_voice[voice] if seconds is None or u.seconds >= seconds]
        sounds = [_cut(self._sound(u, shift), seconds) for u in chosen]
        vectors = [self._encoder([Waveform(sound)])[0].vector for sound in sounds]
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.tmp")
        with unfinished.open("wb") as file:
            np.savez(
                file,
                id=np.array([u.id for u in chosen], dtype=str),
                vector=np.stack(vectors) if vectors else np.zeros((0, self.space.dimension), np.float32),
                bandwidth=np.array([bandwidth_hz(sound) for sound in sounds]),
            )
        unfinished.replace(path)

    def _sound(self, utterance: Utterance, shift: str) -> Samples:
        if shift.endswith(NARROW):
            return narrow(Waveform(self._sound(utterance, shift.removesuffix(NARROW)))).samples
        samples = _decoded(self._shared / utterance.id)
        others = self._others(utterance) if shift == "noise" else ()
        return shifted(samples, shift, seed=zlib.crc32(f"{utterance.id} {shift}".encode()), others=others)

    def _others(self, utterance: Utterance) -> list[Samples]:
        """One clip of every other voice of the corpus."""
        if utterance.corpus not in self._babble:
            first = {v: max(self._by_voice[v], key=lambda u: u.seconds) for v in self.voices(utterance.corpus)}
            self._babble[utterance.corpus] = {v: _decoded(self._shared / u.id) for v, u in first.items()}
        return [clip for voice, clip in self._babble[utterance.corpus].items() if voice != utterance.voice]


def _manifests(shared: Path) -> list[Utterance]:
    with (shared / "bank" / "manifest.csv").open(newline="") as file:
        synthetic = [
            Utterance(r["path"], r["voice"], float(r["seconds"]), r["dia_id"], r["conversation"], r["text"])
            for r in csv.DictReader(file)
        ]
    with (shared / "voices" / "manifest.csv").open(newline="") as file:
        real = [
            Utterance(r["path"], r["speaker"], float(r["seconds"]), corpus="real", source=r["set"], session=r["session"])
            for r in csv.DictReader(file)
        ]
    return synthetic + real


def _decoded(path: Path) -> Samples:
    return np.concatenate([block.samples for block in blocks(path, seconds=60.0)])


def _cut(samples: Samples, seconds: float | None) -> Samples:
    """`seconds` from where speech begins, or the last `seconds` if it begins too late."""
    if seconds is None:
        return samples
    size, window = round(seconds * SAMPLE_RATE), SAMPLE_RATE // 50
    levels = np.sqrt(np.mean(np.square(samples[: len(samples) // window * window].reshape(-1, window)), axis=1))
    first = int(np.argmax(levels >= LOUD * levels.max())) * window
    start = max(0, min(first, len(samples) - size))
    return samples[start : start + size]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--encoder", default="campplus", help="campplus, ecapa or titanet")
    parser.add_argument("--weights", help="the encoder's weights: directory, file or model name")
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    bank = Bank(chosen.cache, encoder=chosen.encoder, weights=chosen.weights)
    synthetic, real = bank.voices("synthetic"), bank.voices("real")
    shifts = SHIFTS[:1] if chosen.quick else SHIFTS
    bank.prepare(synthetic, shifts)
    bank.prepare(real, shifts)
    wide = [shift + NARROW for shift in shifts if shift != "telephone"]
    bank.prepare(synthetic, wide)
    bank.prepare(real, wide)
    for seconds in LENGTHS:
        bank.prepare(real, SHIFTS[:1], seconds)


if __name__ == "__main__":
    main()
