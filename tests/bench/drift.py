"""Is somebody still known when their voice or their line has changed? Policies over time, on kept embeddings.

Each stream begins with nobody known and goes on in stretches, each one session: EmoDB from neutral to angry, core speakers from
a clean line to the telephone, AMI excerpt by excerpt. No utterance comes twice. The paper's policies decide every turn alone,
with its constants at equal false accepts; so does `ours`, with people heard in the stretch as its prior. `ours/settled` settles
each stretch at its end, `ours/tracks` is told a local speaker for each voice, too. Channel means are made anew after each;
`raw` does without them. Figures of a stretch count its turns; `all` is the stream. Means over draws of utterances and their
order, their range as interval.

`python -m tests.bench.drift [--quick] [--json PATH]`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from service.identity.channels import channel_means
from service.identity.metrics import b_cubed, routing_figures
from service.identity.router import NO_TRACK, FoldState, RouterConfig, paper_config, settle, step
from service.identity.thresholds import CAMPPLUS, PAPER_VOICES, TELEPHONE, WIDEBAND, equal_false_accepts
from service.types.audio import SpeakerEmbedding
from service.types.people import Create, Decision, PersonVoice, TurnEvidence, Unresolved
from tests.bench.channels import SPACE, Kept, kept
from tests.bench.report import Report, alone

PAPER_POLICIES = ("fixed", "update", "gated", "knn")
EMOTIONS = ("N", "L", "T", "E", "A", "F", "W")
"""EmoDB's letters: neutral, boredom, sadness, disgust, fear, joy, anger; from calm to loud."""
LINES = ("clean", "opus12k", "reverb", "babble5", "tel_gsm")
SNR_DB = {"babble5": 5.0}
A_STRETCH = 3
"""Turns of each speaker in a stretch, where there are so many."""
LEAST = 10
"""Utterances of a core speaker who takes part: two for each of five lines; 17 have them."""


@dataclass(frozen=True, slots=True)
class Stretch:
    name: str
    turns: tuple[TurnEvidence, ...]
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class System:
    name: str
    config: RouterConfig
    settled: bool = False
    tracks: bool = False

    @property
    def ours(self) -> bool:
        return self.config.session_prior


def run(report: Report, quick: bool, shared: Path) -> None:
    emodb, ami = kept(shared, "emodb"), kept(shared, "ami")
    core = kept(shared, "core_conditions", LINES)
    streams: dict[str, Callable[[np.random.Generator], list[Stretch]]] = {
        "emotions": lambda rng: emotions(emodb, rng),
        "lines": lambda rng: lines(core, rng),
        "excerpts": lambda rng: excerpts(ami),
    }
    for name, drawn in streams.items():
        draws = 1 if name == "excerpts" else 2 if quick else 10
        for system in systems():
            figures = [_figures(system, drawn(np.random.default_rng(draw))) for draw in range(draws)]
            _add(report, name, system.name, figures)


def systems() -> list[System]:
    constants = equal_false_accepts(CAMPPLUS.encoder, PAPER_VOICES)
    ours = RouterConfig(thresholds=CAMPPLUS)
    paper = [System(name, paper_config(name, constants)) for name in PAPER_POLICIES]
    told = System("ours/tracks", ours, settled=True, tracks=True)
    raw = System("ours/tracks/raw", replace(ours, compensate=False), settled=True, tracks=True)
    return [System("ours", ours), System("ours/settled", ours, settled=True), told, raw, *paper]


def emotions(emodb: Kept, rng: np.random.Generator) -> list[Stretch]:
    return [
        _stretch(emodb, "clean", f"{i}_{emotion}", _each(emodb, np.flatnonzero(emodb.sessions == emotion), rng))
        for i, emotion in enumerate(EMOTIONS)
    ]


def lines(core: Kept, rng: np.random.Generator) -> list[Stretch]:
    """Speakers of `LEAST` utterances or more; each utterance under one line only."""
    people, num = np.unique(core.speakers, return_counts=True)
    left = np.flatnonzero(np.isin(core.speakers, people[num >= LEAST]))
    found = []
    for i, line in enumerate(LINES):
        rows = _each(core, left, rng, most=2)
        left = np.setdiff1d(left, rows)
        found.append(_stretch(core, line, f"{i}_{line}", rows))
    return found


def excerpts(ami: Kept) -> list[Stretch]:
    """As they come; most speakers are heard in two or three."""
    return [
        _stretch(ami, "clean", f"{i:02d}_{excerpt}", np.flatnonzero(ami.sessions == excerpt).tolist())
        for i, excerpt in enumerate(dict.fromkeys(ami.sessions.tolist()))
    ]


def _each(of: Kept, rows: Iterable[int], rng: np.random.Generator, most: int = A_STRETCH) -> list[int]:
    """`most` of `rows` of each speaker, in mixed order."""
    by_speaker: dict[str, list[int]] = {}
    for row in rng.permutation(list(rows)).tolist():
        by_speaker.setdefault(str(of.speakers[row]), []).append(row)
    chosen = [row for own in by_speaker.values() for row in own[:most]]
    return [int(row) for row in rng.permutation(chosen)]


def _stretch(of: Kept, condition: str, name: str, rows: Sequence[int]) -> Stretch:
    turns, channel, start = [], TELEPHONE if condition == "tel_gsm" else WIDEBAND, 0.0
    for row in rows:
        seconds = float(min(of.seconds[row], 8.0))
        embedding = SpeakerEmbedding(of.vectors[condition][row], SPACE)
        turns.append(
            TurnEvidence(
                f"{name}-{row:04d}",
                NO_TRACK,
                start,
                start + seconds,
                seconds,
                0.0,
                SNR_DB.get(condition, 20.0),
                channel,
                embedding,
            )
        )
        start += seconds + 0.5
    return Stretch(name, tuple(turns), tuple(str(of.speakers[row]) for row in rows))


def routed(system: System, stretches: Sequence[Stretch]) -> list[list[Decision]]:
    """The last decision on each turn, stretch by stretch; people are carried on, sessions are not."""
    gallery: Mapping[str, PersonVoice] = {}
    found = []
    for stretch in stretches:
        turns = stretch.turns
        if system.tracks:
            turns = tuple(replace(t, track=f"{stretch.name}/{s}") for t, s in zip(turns, stretch.speakers, strict=True))
        means = channel_means({p: v.exemplars for p, v in gallery.items()}) if system.ours else {}
        state, decisions = step(FoldState().with_gallery(gallery, channels=means), turns, system.config)
        last = {d.message_id: d for d in decisions}
        if system.settled:
            state, settled = settle(state, system.config)
            last |= {d.message_id: d for d in settled}
        gallery = state.gallery
        found.append([last[t.message_id] for t in turns])
    return found


def _figures(system: System, stretches: Sequence[Stretch]) -> dict[str, dict[str, float]]:
    """Stretch → metric → value."""
    decided = routed(system, stretches)
    owners: dict[str, str] = {}
    found = {}
    for stretch, decisions in zip(stretches, decided, strict=True):
        of = routing_figures(decisions, stretch.speakers, enrolled=dict(owners))
        found[stretch.name] = {"fnur": of.fnur, "link_precision": of.link_precision}
        found[stretch.name] |= {"known_user_resolution_recall": of.known_user_resolution_recall, "unresolved": of.unresolved}
        pairs = zip(decisions, stretch.speakers, strict=True)
        owners |= {d.person_id: speaker for d, speaker in pairs if isinstance(d, Create)}
    everything = [d for decisions in decided for d in decisions]
    gold = [speaker for stretch in stretches for speaker in stretch.speakers]
    of = routing_figures(everything, gold)
    clusters = [None if isinstance(d, Unresolved) else d.person_id for d in everything]
    found["all"] = {
        "fnur": of.fnur,
        "link_precision": of.link_precision,
        "known_user_resolution_recall": of.known_user_resolution_recall,
        "unresolved": of.unresolved,
        "clusters_per_gold": of.clusters_per_gold,
        "b3_f1": b_cubed(clusters, gold).f1,
        "turns": float(len(gold)),
    }
    return found


def _add(report: Report, stream: str, system: str, draws: Sequence[Mapping[str, Mapping[str, float]]]) -> None:
    num = int(np.mean([d["all"]["turns"] for d in draws])) * len(draws)
    for stretch, metrics in draws[0].items():
        for metric in metrics:
            values = np.array([d[stretch][metric] for d in draws])
            values = values[np.isfinite(values)]
            if metric != "turns" and len(values):
                unit = "people" if metric == "clusters_per_gold" else "share"
                spread = (float(values.min()), float(values.max()))
                report.add(metric, f"drift/{stream}/{stretch}", system, float(values.mean()), unit, num, spread)


if __name__ == "__main__":
    alone("drift", __doc__, run)
