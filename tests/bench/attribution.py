"""Whose is each reference segment of real meetings, when only the boundaries are given?

All segments of the seven AMI excerpts are turns, the short and the overlapped too: 52 of the 121 are under other voices from
beginning to end. A segment is put down rightly if its person is the one that the best one-to-one mapping gives its speaker;
an unresolved one never is. Each excerpt starts with nobody known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.audio.decode import blocks
from service.audio.given import GivenSegment, given_turns
from service.identity.metrics import attributed, b_cubed, bootstrap, eer, share_interval
from service.identity.policies import unit
from service.identity.router import NO_TRACK, FoldState, RouterConfig, paper_config, settle, step
from service.identity.thresholds import constant, thresholds_for
from service.types.audio import SAMPLE_RATE, Samples, Segment, SpeakerEncoder, Waveform
from service.types.people import Decision, TurnEvidence, Unresolved
from tests.bench.report import Report

PAPER_POLICIES = ("fixed", "update", "gated", "knn")
MIN_ALONE = 2.0
"""Seconds of a segment outside all others from which only they are embedded; below, the whole segment says more."""
SHORTEST = 0.5
"""Seconds; shorter segments are repeated up to it, as the encoder's authors do"""
SIMULTANEOUS = 0.2


@dataclass(frozen=True, slots=True)
class Reference:
    """One segment of an RTTM with what the benchmark makes of it."""

    recording: str
    speaker: str
    turn: TurnEvidence


def references(directory: Path, encoder: SpeakerEncoder) -> list[Reference]:
    """Every segment of every recording, embedded."""
    found = []
    for path in sorted(directory.glob("*.flac")):
        waveform = Waveform(np.concatenate([b.samples for b in blocks(path, seconds=60.0)]))
        spoken = _rttm(path.with_suffix(".rttm"))
        for i, (segment, speaker) in enumerate(spoken):
            others = [s for j, (s, _) in enumerate(spoken) if j != i]
            found.append(Reference(path.stem, speaker, _turn(f"{path.stem}-{i:03d}", waveform, segment, others, encoder)))
    return found


def _rttm(path: Path) -> list[tuple[Segment, str]]:
    rows = [line.split() for line in path.read_text().splitlines() if line.startswith("SPEAKER")]
    return sorted((Segment(float(r[3]), float(r[3]) + float(r[4])), r[7]) for r in rows)


def _turn(name: str, waveform: Waveform, segment: Segment, others: Sequence[Segment], encoder: SpeakerEncoder) -> TurnEvidence:
    alone = _without(segment, others)
    net = sum(s.duration for s in alone)
    parts = alone if net >= MIN_ALONE else [segment]
    samples: Samples = np.concatenate([waveform.crop(s).samples for s in parts])
    repeats = -(-round(SHORTEST * SAMPLE_RATE) // len(samples))
    (embedding,) = encoder([Waveform(np.tile(samples, repeats))])
    return TurnEvidence(name, NO_TRACK, segment.start, segment.end, net, segment.duration - net, 20.0, "wideband", embedding)


def _without(segment: Segment, others: Sequence[Segment]) -> list[Segment]:
    parts = [segment]
    for other in others:
        cut = [(p.start, min(p.end, other.start)) for p in parts] + [(max(p.start, other.end), p.end) for p in parts]
        parts = sorted(Segment(a, b) for a, b in cut if b > a and (a, b) != (other.start, other.end))
        parts = [p for i, p in enumerate(parts) if i == 0 or p != parts[i - 1]]
    return [p for p in parts if p.duration > 0.05]


def run(report: Report, quick: bool, encoder: SpeakerEncoder, shared: Path) -> None:
    found = references(shared / "meetings", encoder)
    thresholds = thresholds_for(encoder.embedding_space.name)
    systems: dict[str, RouterConfig] = {
        "ours": RouterConfig(thresholds=thresholds, attribute_all=True),
        "ours/cautious": RouterConfig(thresholds=thresholds),
    }
    link = _calibrated(shared, encoder)
    paper = constant(thresholds.encoder, link=link, update=link + 0.09, origin="EER point of the AMI pieces; the paper's gap")
    systems |= {name: paper_config(name, paper) for name in PAPER_POLICIES}
    for system, config in systems.items():
        _add(report, system, found, [_person(d) for d in decide(found, config)], quick)
    line = _line(shared / "meetings", encoder)
    config = RouterConfig(thresholds=thresholds)
    _add(report, "ours/line", line, [_person(d) for d in decide(line, config)], quick)
    _told_the_truth(report, found, quick)


def _line(directory: Path, encoder: SpeakerEncoder) -> list[Reference]:
    """The same segments as the ingest makes them of a transcript without names: tracks by clustering, voices where a
    segment is long enough outside all others."""
    found = []
    for path in sorted(directory.glob("*.flac")):
        spoken = _rttm(path.with_suffix(".rttm"))
        given = [GivenSegment(segment, None) for segment, _ in spoken]
        pairs = [
            p for b in given_turns(blocks(path, seconds=30.0), given, encoder) for p in zip(b.turns, b.embeddings, strict=True)
        ]
        for (turn, embedding), (_, speaker) in zip(pairs, spoken, strict=True):
            found.append(
                Reference(
                    path.stem,
                    speaker,
                    TurnEvidence(
                        f"{path.stem}-{turn.index:03d}",
                        turn.track,
                        turn.segment.start,
                        turn.segment.end,
                        turn.net_speech,
                        turn.overlapped,
                        turn.quality.snr_db,
                        turn.channel,
                        embedding,
                    ),
                )
            )
    return found


def decide(found: Sequence[Reference], config: RouterConfig) -> list[Decision]:
    """The last decision on each reference, recording by recording."""
    last: dict[str, Decision] = {}
    for recording in dict.fromkeys(r.recording for r in found):
        turns = [r.turn for r in found if r.recording == recording]
        state, decisions = step(FoldState(), turns, config)
        _, settled = settle(state, config) if config.session_prior else (state, ())
        last |= {d.message_id: d for d in (*decisions, *settled)}
    return [last[r.turn.message_id] for r in found]


def _person(decision: Decision) -> str | None:
    return None if isinstance(decision, Unresolved) else decision.person_id


def _calibrated(shared: Path, encoder: SpeakerEncoder) -> float:
    """The paper's method gets its single threshold where it does best on the other AMI pieces we have: their EER point."""
    if encoder.embedding_space.name != "campplus":
        return thresholds_for(encoder.embedding_space.name).link(1)
    kept = np.load(shared / "embeddings" / "ami.npz")
    vectors = np.stack([unit(v, dimension=192, what="ami.npz") for v in kept["clean"].astype(np.float32)])
    cosines, same = vectors @ vectors.T, kept["speaker"][:, None] == kept["speaker"][None]
    pairs = np.triu(np.ones_like(same), 1).astype(bool)
    return eer(cosines[pairs & same].astype(np.float64), cosines[pairs & ~same].astype(np.float64)).threshold


def _add(report: Report, system: str, found: Sequence[Reference], people: Sequence[str | None], quick: bool) -> None:
    """One mapping per recording, then shares over all, by segment, by second, and over segments with a second alone."""
    right = _right(found, people)
    recordings = [r.recording for r in found]
    seconds = [r.turn.end - r.turn.start for r in found]
    _share(report, "all", system, right, [1.0] * len(found), recordings, quick)
    _share(report, "by_seconds", system, right, seconds, recordings, quick)
    clear = [i for i, r in enumerate(found) if r.turn.net_speech >= 1.0]
    _share(report, "alone>=1s", system, [right[i] for i in clear], [1.0] * len(clear), [recordings[i] for i in clear], quick)
    decided = [i for i, p in enumerate(people) if p is not None]
    report.add(
        "attribution_precision",
        "meetings/decided",
        system,
        sum(right[i] for i in decided) / max(1, len(decided)),
        "share",
        len(decided),
        share_interval(sum(right[i] for i in decided), len(decided)),
    )
    names = [None if p is None else f"{r}/{p}" for r, p in zip(recordings, people, strict=True)]
    cubed = b_cubed(names, [f"{r.recording}/{r.speaker}" for r in found])
    report.add("b3_f1", "meetings/given_boundaries", system, cubed.f1, "share", len(found))
    if system == "ours":
        for recording in dict.fromkeys(recordings):
            mine = [x for x, r in zip(right, recordings, strict=True) if r == recording]
            report.add(
                "attribution_accuracy",
                f"meetings/{recording}",
                system,
                float(np.mean(mine)),
                "share",
                len(mine),
                share_interval(sum(mine), len(mine)),
            )


def _right(found: Sequence[Reference], people: Sequence[str | None]) -> list[bool]:
    right: list[bool] = []
    for recording in dict.fromkeys(r.recording for r in found):
        here = [i for i, r in enumerate(found) if r.recording == recording]
        right += attributed([people[i] for i in here], [found[i].speaker for i in here])
    return right


def _share(
    report: Report,
    condition: str,
    system: str,
    right: Sequence[bool],
    weights: Sequence[float],
    recordings: Sequence[str],
    quick: bool,
) -> None:
    """With an interval over whole recordings, since their segments stand and fall together."""
    hits, weight = np.asarray(right, dtype=np.float64), np.asarray(weights)

    def share(indices: list[int]) -> float:
        return float(hits[indices] @ weight[indices] / weight[indices].sum())

    interval = bootstrap(hits, share, groups=recordings, rounds=200 if quick else 2000)
    value = share(list(range(len(hits))))
    report.add("attribution_accuracy", f"meetings/{condition}", system, value, "share", len(hits), interval)


def _told_the_truth(report: Report, found: Sequence[Reference], quick: bool) -> None:
    """What these embeddings give somebody who is told the truth about all other segments: the nearest of the true speakers'
    own centers, and nobody whom the reference has speaking at that moment. A method without the truth should not be
    expected far above it."""
    vectors = [r.turn.embedding.vector for r in found if r.turn.embedding is not None]
    right = []
    for i, one in enumerate(found):
        others = [j for j, r in enumerate(found) if r.recording == one.recording and j != i]
        meanwhile = {found[j].speaker for j in others if _overlap(one.turn, found[j].turn) >= SIMULTANEOUS}
        scores = {}
        for speaker in {found[j].speaker for j in others} - meanwhile:
            center = sum(max(found[j].turn.net_speech, 0.1) * vectors[j] for j in others if found[j].speaker == speaker)
            scores[speaker] = float(vectors[i] @ center / np.linalg.norm(center))
        right.append(bool(scores) and max(scores, key=lambda s: scores[s]) == one.speaker)
    _share(report, "all", "truth's own centers", right, [1.0] * len(found), [r.recording for r in found], quick)


def _overlap(one: TurnEvidence, other: TurnEvidence) -> float:
    return min(one.end, other.end) - max(one.start, other.start)
