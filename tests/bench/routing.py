"""What does deciding one turn cost, by how many people it may be? CPU time of the router's own step, made voices.

`python -m tests.bench.routing [--quick] [--json PATH]`
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from service.identity.policies import policy
from service.identity.router import NO_TRACK, FoldState, RouterConfig, step
from service.identity.thresholds import TELEPHONE, WIDEBAND
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.people import ChannelMean, Exemplar, Link, PersonVoice, TurnEvidence
from tests.bench.report import Report, arguments

SPACE = EmbeddingSpace("campplus", "made", 192)
SIZES = (10, 100, 1_000, 10_000)
EXEMPLARS = 3
"""a person's, each with its telephone twin"""
SPREAD = 0.6
"""length of what a turn has of its own beside its person's unit vector: cosines of about 0.75, as of clean speech"""


def run(report: Report, quick: bool) -> None:
    for size in SIZES[:2] if quick else SIZES:
        state, centers = _state(size)
        turns = _turns(centers, 50 if quick else 200)
        for named, channels in (("raw", {}), ("compensated", _means())):
            start = state.with_gallery(state.gallery, channels=channels)
            step(start, turns[:1], RouterConfig())  # rows of voices just read are made once
            live, right = _one_by_one(start, turns)
            began = time.process_time()
            step(start, turns, RouterConfig())
            batch = (time.process_time() - began) / len(turns)
            condition = f"candidates={size}/{named}"
            report.add("routing_cpu", f"{condition}/one_turn_a_batch", "ours", float(np.median(live)) * 1e3, "ms", len(turns))
            report.add(
                "routing_cpu_p95", f"{condition}/one_turn_a_batch", "ours", np.percentile(live, 95) * 1e3, "ms", len(turns)
            )
            report.add("routing_cpu", f"{condition}/{len(turns)}_turns_a_batch", "ours", batch * 1e3, "ms", len(turns))
            report.add("routed_right", condition, "ours", right / len(turns), "share", len(turns))


def _one_by_one(state: FoldState, turns: list[TurnEvidence]) -> tuple[list[float], int]:
    """Seconds of CPU for each turn as a batch of its own, as live, and how many went to the right person."""
    seconds, right = [], 0
    for turn in turns:
        began = time.process_time()
        state, (decision,) = step(state, [turn], RouterConfig())
        seconds.append(time.process_time() - began)
        right += isinstance(decision, Link) and decision.person_id == turn.message_id.split("/")[0]
    return seconds, right


def _state(size: int) -> tuple[FoldState, Samples]:
    rng = np.random.default_rng(size)
    centers = _unit(rng.standard_normal((size, SPACE.dimension)))
    bounded, gallery = policy("bounded"), {}
    for i, center in enumerate(centers):
        voice = PersonVoice(f"p{i:05d}", SPACE, center)
        for j in range(EXEMPLARS):
            heard = Exemplar(f"e{i}/{j}", _near(rng, center), 5.0, 20.0, WIDEBAND, f"m{i}/{j}")
            twin = Exemplar(f"t{i}/{j}", _near(rng, center), 5.0, 20.0, TELEPHONE, f"m{i}/{j}", twin_of=heard.id)
            voice = bounded.learn(bounded.learn(voice, heard), twin)
        gallery[voice.person_id] = replace(voice, num_turns=EXEMPLARS)
    return FoldState(gallery=gallery), centers


def _turns(centers: Samples, count: int) -> list[TurnEvidence]:
    rng = np.random.default_rng(count)
    who = rng.integers(0, len(centers), count)
    return [
        TurnEvidence(
            f"p{person:05d}/{i}", NO_TRACK, 5.0 * i, 5.0 * i + 4, 4.0, 0.0, 20.0, WIDEBAND,
            SpeakerEmbedding(_near(rng, centers[person]), SPACE),
        )
        for i, person in enumerate(who.tolist())
    ]  # fmt: skip


def _means() -> dict[str, ChannelMean]:
    rng = np.random.default_rng(1)
    return {c: ChannelMean(c, 0.3 * _unit(rng.standard_normal(SPACE.dimension)), 100, 50) for c in (WIDEBAND, TELEPHONE)}


def _near(rng: np.random.Generator, center: Samples) -> Samples:
    return _unit(center + SPREAD * _unit(rng.standard_normal(SPACE.dimension)))


def _unit(vectors: np.ndarray) -> Samples:
    length: Samples = np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32)
    return length


def main() -> None:
    chosen = arguments(__doc__ or "").parse_args()
    report = Report("routing")
    run(report, chosen.quick)
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
