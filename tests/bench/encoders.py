"""How well does an encoder tell voices apart: EER, operating points, cost, beside the figures of speech.md?

`python -m tests.bench.encoders [--quick] [--json PATH] [--encoder ecapa --weights DIR]`
"""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import platformdirs

from service.audio.decode import blocks
from service.audio.encoders import load_encoder
from service.types.audio import SAMPLE_RATE, SpeakerEncoder, Waveform
from tests.bench.report import Report, arguments

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
LONGEST = 8 * SAMPLE_RATE
"""Samples of an utterance that are used, as in speech.md."""
PER_SPEAKER = {"campplus": 100, "ecapa": 4, "titanet": 4}
"""Utterances of one speaker and set; in torch an encoder of full size takes ten times CAM++'s time."""
QUICK_SPEAKERS, QUICK_UTTERANCES = 12, 4
BOOTSTRAP = 200
"""Draws of speakers with replacement."""
TARGET_PRIOR = 0.01
"""Of minDCF; a miss and a false alarm cost the same."""

EER_OF_SPEECH_MD = {
    "libri_other": 0.00,
    "libri_chap across sessions": 0.00,
    "libri_tc100": 0.47,
    "vctk": 0.00,
    "ami": 5.78,
    "ami across sessions": 9.26,
    "fsdd": 0.95,
    "emodb": 12.47,
    "emodb across sessions": 13.66,
    "core: clean": 0.28,
    "core: tel_gsm": 1.52,
    "core: opus12k": 0.34,
    "core: babble10": 0.45,
    "core: babble5": 0.96,
    "core: reverb": 0.49,
    "core: clean vs tel_gsm": 2.64,
    "core: clean vs babble5": 0.73,
    "core: clean vs reverb": 0.54,
    "lengths: 1 s": 4.79,
    "lengths: 2 s": 2.30,
    "lengths: 3 s": 0.37,
    "lengths: 1 s vs 5 s": 2.54,
}
"""%, CAM++ without ReLU (tables 3.1–3.4); of `data/voices` speech.md had more utterances than were kept."""
POINTS_OF_SPEECH_MD = {  # condition: threshold and FRR % at FAR 1 %, at FAR 0.1 %, minDCF (table 3.2)
    "ami": (0.345, 9.6, 0.451, 24.0, 0.260),
    "fsdd": (0.520, 1.0, 0.570, 1.9, 0.035),
    "emodb": (0.482, 48.2, 0.585, 73.8, 0.827),
    "libri_tc100": (0.338, 0.4, 0.446, 0.8, 0.018),
    "core: clean": (0.356, 0.1, 0.508, 0.4, 0.009),
    "core: tel_gsm": (0.687, 1.9, 0.752, 9.3, 0.165),
    "core: clean vs tel_gsm": (0.274, 7.1, 0.361, 34.4, 0.426),
}


@dataclass(frozen=True, slots=True)
class Trials:
    """Pairs of utterances by falling cosine. `left` and `right` are indices of speakers."""

    cosine: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @property
    def same(self) -> np.ndarray:
        return self.left == self.right


def trials(
    left: np.ndarray, right: np.ndarray, speakers: Sequence[str], sessions: Sequence[str] | None = None, *, twice: bool = False
) -> Trials:
    """All pairs between rows of `left` and rows of `right`, which are the same utterances (perhaps heard differently).

    `sessions`: pairs of one speaker within one session are left out. `twice`: both orders, when the sides differ."""
    _, speaker = np.unique(np.asarray(speakers), return_inverse=True)
    first, second = np.triu_indices(len(speaker), k=1)
    if twice:
        first, second = np.concatenate([first, second]), np.concatenate([second, first])
    if sessions is not None:
        session = np.asarray(sessions)
        keep = (speaker[first] != speaker[second]) | (session[first] != session[second])
        first, second = first[keep], second[keep]
    cosine = np.einsum("ij,ij->i", left[first], right[second])
    order = np.argsort(-cosine, kind="stable")
    return Trials(cosine[order], speaker[first][order], speaker[second][order])


def error_rates(made: Trials, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """False accepts and false rejects, shares in [0, 1], when the first 1, 2, … pairs are accepted.

    `weights`: how often each speaker was drawn; None: once."""
    count = np.ones(len(made.cosine)) if weights is None else weights[made.left] * np.where(made.same, 1, weights[made.right])
    wrong, right = np.cumsum(count * ~made.same), np.cumsum(count * made.same)
    return wrong / max(wrong[-1], 1e-9), 1 - right / max(right[-1], 1e-9)


def equal_error(far: np.ndarray, frr: np.ndarray) -> float:
    """%, where the two curves cross."""
    at = int(np.searchsorted(far - frr, 0.0))
    at = min(at, len(far) - 1)
    return 50.0 * float(far[at] + frr[at])


def operating_point(made: Trials, far: np.ndarray, frr: np.ndarray, most: float) -> tuple[float, float]:
    """The cosine above which to accept for a false accept rate of at most `most`, and the false rejects there in %."""
    accepted = int(np.searchsorted(far, most, side="right"))
    threshold = float(made.cosine[min(accepted, len(far) - 1)])
    return threshold, 100.0 * float(frr[accepted - 1]) if accepted else 100.0


def min_dcf(far: np.ndarray, frr: np.ndarray) -> float:
    cost = TARGET_PRIOR * frr + (1 - TARGET_PRIOR) * far
    return float(min(cost.min(), TARGET_PRIOR)) / TARGET_PRIOR


def add_rows(report: Report, condition: str, made: Trials, name: str, reference: str | None) -> None:
    """One set's figures; speech.md's beside them where `reference` has any."""
    far, frr = error_rates(made)
    points = [*operating_point(made, far, frr, 0.01), *operating_point(made, far, frr, 0.001), min_dcf(far, frr)]
    drawn = np.array([_draw(made, seed) for seed in range(BOOTSTRAP)])
    low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=0)
    intervals = [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
    num_same = int(made.same.sum())
    report.add("eer", condition, "ours", equal_error(far, frr), "%", num_same, intervals[0])
    metrics = ("threshold_at_far_1", "frr_at_far_1", "threshold_at_far_0.1", "frr_at_far_0.1", "min_dcf")
    units = ("cosine", "%", "cosine", "%", "")
    for i, (metric, unit) in enumerate(zip(metrics, units, strict=True)):
        report.add(metric, condition, "ours", points[i], unit, num_same, intervals[i + 1])
    if name != "campplus" or reference is None:
        return
    if reference in EER_OF_SPEECH_MD:
        report.add("eer", condition, "speech.md", EER_OF_SPEECH_MD[reference], "%", 0)
    for metric, unit, value in zip(metrics, units, POINTS_OF_SPEECH_MD.get(reference, ()), strict=False):
        report.add(metric, condition, "speech.md", value, unit, 0)


def _draw(made: Trials, seed: int) -> tuple[float, ...]:
    """The same figures for speakers drawn with replacement; NaN where no pair of one speaker was drawn."""
    speakers = int(max(made.left.max(), made.right.max())) + 1
    chosen = np.random.default_rng(seed).integers(speakers, size=speakers)
    weights = np.bincount(chosen, minlength=speakers).astype(float)
    if not weights[made.left[made.same]].any():
        return (np.nan,) * 6
    far, frr = error_rates(made, weights)
    points = (*operating_point(made, far, frr, 0.01), *operating_point(made, far, frr, 0.001))
    return (equal_error(far, frr), *points, min_dcf(far, frr))


def run(report: Report, quick: bool, encoder: str = "campplus", weights: str | None = None, cache: Path | None = None) -> None:
    """Add the rows of the encoder over `../shared/data/voices`, and of CAM++ over the stored embeddings."""
    if not (SHARED / "voices" / "manifest.csv").is_file():
        report.missing("encoders on recordings", "put data/voices (manifest.csv and FLAC files) into ../shared/data")
    else:
        cache = cache or Path(platformdirs.user_cache_dir("voicegraph"))
        _recordings(report, load_encoder(encoder, source=weights, cache=cache, device="cpu"), quick)
    if encoder == "campplus":
        _stored(report, quick)


def _recordings(report: Report, encoder: SpeakerEncoder, quick: bool) -> None:
    name = encoder.embedding_space.name
    for set_name, rows in _sets(PER_SPEAKER[name], quick).items():
        waveforms = [_read(SHARED / row["path"]) for row in rows]
        begin = time.process_time()
        vectors = np.stack([embedding.vector for embedding in encoder(waveforms)])
        spent = 1000 * (time.process_time() - begin)
        seconds = sum(waveform.duration for waveform in waveforms)
        report.add("cpu_ms_per_utterance", f"voices/{set_name}", "ours", spent / len(rows), "ms", len(rows))
        report.add("cpu_ms_per_second", f"voices/{set_name}", "ours", spent / seconds, "ms", len(rows))
        speakers, sessions = [row["speaker"] for row in rows], [row["session"] for row in rows]
        add_rows(report, f"voices/{set_name}", trials(vectors, vectors, speakers), name, set_name)
        if set_name in ("ami", "emodb", "libri_chap"):
            across = trials(vectors, vectors, speakers, sessions)
            if across.same.any():
                condition = f"{set_name} across sessions"
                add_rows(report, f"voices/{condition}", across, name, condition)


def _sets(per_speaker: int, quick: bool) -> dict[str, list[dict[str, str]]]:
    """Rows of the manifest by set: the first utterances of each speaker; fewer of both when quick."""
    most = min(per_speaker, QUICK_UTTERANCES) if quick else per_speaker
    chosen: dict[str, list[dict[str, str]]] = {}
    taken: Counter[tuple[str, str]] = Counter()
    with (SHARED / "voices" / "manifest.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["set"], row["speaker"]
            known = {speaker for set_name, speaker in taken if set_name == row["set"]}
            if taken[key] >= most or (quick and key not in taken and len(known) >= QUICK_SPEAKERS):
                continue
            taken[key] += 1
            chosen.setdefault(row["set"], []).append(row)
    return chosen


def _read(path: Path) -> Waveform:
    samples = np.concatenate([block.samples for block in blocks(path, seconds=10.0)])
    return Waveform(samples[:LONGEST])


def _stored(report: Report, quick: bool) -> None:
    """The embeddings that come with speech.md: the same utterances, so its figures have to come out again."""
    folder = SHARED / "embeddings"
    if not folder.is_dir():
        report.missing("stored embeddings", "put data/embeddings (*.npz) into ../shared/data")
        return
    for set_name in (
        ("libri_other", "ami", "fsdd", "vctk") if quick else ("libri_other", "libri_tc100", "ami", "fsdd", "vctk", "emodb")
    ):
        data = np.load(folder / f"{set_name}.npz")
        clean = _unit(data["clean"])
        add_rows(report, f"stored/{set_name}", trials(clean, clean, data["speaker"]), "campplus", set_name)
    _between(report, np.load(folder / "core_lengths.npz"), _LENGTHS, "lengths")
    if not quick:
        _between(report, np.load(folder / "core_conditions.npz"), _CHANNELS, "core")


_CHANNELS = {
    "clean": ("clean", "clean"),
    "tel_gsm": ("tel_gsm", "tel_gsm"),
    "opus12k": ("opus12k", "opus12k"),
    "babble5": ("babble5", "babble5"),
    "reverb": ("reverb", "reverb"),
    "clean vs tel_gsm": ("clean", "tel_gsm"),
    "clean vs reverb": ("clean", "reverb"),
}
_LENGTHS = {"1 s": ("len1", "len1"), "2 s": ("len2", "len2"), "3 s": ("len3", "len3"), "1 s vs 5 s": ("len1", "len5")}


def _between(report: Report, data: np.lib.npyio.NpzFile, conditions: dict[str, tuple[str, str]], group: str) -> None:
    for name, (left, right) in conditions.items():
        made = trials(_unit(data[left]), _unit(data[right]), data["speaker"], twice=left != right)
        add_rows(report, f"stored/{group}: {name}", made, "campplus", f"{group}: {name}")


def _unit(vectors: np.ndarray) -> np.ndarray:
    wide = vectors.astype(np.float32)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def main(given: Iterable[str] | None = None) -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--encoder", default="campplus", choices=sorted(PER_SPEAKER))
    parser.add_argument("--weights", help="the encoder's weights: an .onnx file, a directory, a .nemo file or a model's name")
    parser.add_argument("--cache", type=Path, default=Path(platformdirs.user_cache_dir("voicegraph")))
    chosen = parser.parse_args(list(given) if given is not None else None)
    report = Report("encoders")
    run(report, chosen.quick, chosen.encoder, chosen.weights, chosen.cache)
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
