"""How well does a mark keep out whoever opted out, and whom else? Kept CAM++ embeddings of people who read.

`python -m tests.bench.opt_outs [--quick] [--json PATH]`
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.identity.opt_outs import MarkConfig, Marker, OptedOut
from service.identity.thresholds import CAMPPLUS, TELEPHONE, WIDEBAND
from service.types.audio import EmbeddingSpace
from service.types.people import Exemplar, PersonVoice
from tests.bench.locomo_id.assign import LEFT_OUT
from tests.bench.report import SHARED, Report, arguments

SPACE = EmbeddingSpace("campplus", "kept", 192)
HEARD = ("clean", "opus12k", "babble10", "reverb", "tel_gsm")
MARKS = (1, 10, 50)
"""People who opted out of one space."""
BITS = (32, 64, 128, 256)
Vectors = npt.NDArray[np.float32]


def run(report: Report, quick: bool, shared: Path = SHARED) -> None:
    """Each person is marked by all of their clips but one, which is heard later; the others of the space are strangers."""
    with np.load(shared / "embeddings" / "core_conditions.npz") as data:
        vectors = {name: _unit(data[name]) for name in (*HEARD, "band")}
        speakers = data["speaker"]
    each = [np.flatnonzero(speakers == name) for name in sorted(set(speakers.tolist()) - set(LEFT_OUT))]
    clips = [rows for rows in each if len(rows) > 1]
    voices = [_voice(i, rows[:-1], vectors) for i, rows in enumerate(clips)]
    for bits in BITS[2:3] if quick else BITS:
        config = MarkConfig(bits, strangers={c: _scaled(m, s, bits) for c, (m, s) in MarkConfig().strangers.items()})
        for marks in MARKS[:2] if quick else MARKS:
            _keep_out(report, clips, vectors, voices, config, marks, draws=(40 if quick else 240) // marks)
        _rebuilt(report, clips, vectors, voices, config)


def _keep_out(
    report: Report,
    clips: list[npt.NDArray[np.intp]],
    vectors: dict[str, Vectors],
    voices: list[PersonVoice],
    config: MarkConfig,
    marks: int,
    draws: int,
) -> None:
    order = np.random.default_rng(marks)
    missed: dict[str, list[bool]] = {name: [] for name in HEARD}
    blocked: dict[str, list[bool]] = {name: [] for name in HEARD}
    for draw in range(draws):
        marker = Marker(draw.to_bytes(32, "big"), config)
        who = order.permutation(len(clips))
        opted_out = OptedOut(marker, [mark for i in who[:marks] for mark in marker.marks(voices[i], "bounded")])
        for name in HEARD:
            channel = TELEPHONE if name == "tel_gsm" else WIDEBAND
            heard = [opted_out.matches(vectors[name][clips[i][-1]], channel, SPACE) for i in who[: marks + 60]]
            missed[name] += [not one for one in heard[:marks]]
            blocked[name] += heard[marks:]
    for name in HEARD:
        where = f"{name}/signs={config.bits}/marks={marks}"
        report.add("missed_blocks", where, "ours", float(np.mean(missed[name])), "share", len(missed[name]))
        report.add("false_blocks", where, "ours", float(np.mean(blocked[name])), "share", len(blocked[name]))


def _rebuilt(
    report: Report,
    clips: list[npt.NDArray[np.intp]],
    vectors: dict[str, Vectors],
    voices: list[PersonVoice],
    config: MarkConfig,
) -> None:
    """What whoever has the key can make of a mark, against the person's own new clip: would it link?"""
    marker, link = Marker(bytes(32), config), CAMPPLUS.link(5)
    basis = np.stack([marker.signs(one, SPACE) for one in np.eye(SPACE.dimension, dtype=np.float32)], axis=1) * 2.0 - 1.0
    signs = np.stack([marker.signs(voice.centroid, SPACE) for voice in voices]) * 2.0 - 1.0
    made = _unit((signs @ basis).astype(np.float32))
    own = np.stack([vectors["clean"][rows[-1]] for rows in clips])
    for system, rows in (("with the key", made), ("voiceprint", np.stack([voice.centroid for voice in voices]))):
        share = float(np.mean((rows * own).sum(axis=1) >= link))
        report.add("links_to_own", f"signs={config.bits}", system, share, "share", len(own))


def _voice(number: int, rows: npt.NDArray[np.intp], vectors: dict[str, Vectors]) -> PersonVoice:
    heard = [Exemplar(f"e{number}/{row}", vectors["clean"][row], 5.0, 20.0, WIDEBAND, f"m{row}") for row in rows]
    twins = [
        replace(e, id=f"t{e.id}", vector=vectors["band"][row], channel=TELEPHONE, twin_of=e.id)
        for e, row in zip(heard[:3], rows[:3], strict=True)
    ]
    center = _unit(np.mean([e.vector for e in heard], axis=0, keepdims=True))[0]
    return PersonVoice(f"p{number}", SPACE, center, (*heard, *twins))


def _scaled(mean: float, deviation: float, bits: int) -> tuple[float, float]:
    """Of another number of signs: each sign's own chance averages out, how alike two people are does not."""
    share, usual = mean / 128, 128
    alike = max(0.0, (deviation / usual) ** 2 - share * (1 - share) / usual)
    return bits * share, bits * float(np.sqrt(alike + share * (1 - share) / bits))


def _unit(vectors: npt.NDArray[np.float16 | np.float32]) -> Vectors:
    made = np.asarray(vectors, np.float32)
    unit: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


def main() -> None:
    chosen = arguments(__doc__ or "").parse_args()
    report = Report("opt_outs")
    if SHARED.is_dir():
        run(report, chosen.quick)
    else:
        report.missing("the opt-outs", "put embeddings/core_conditions.npz into ../shared/data")
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
