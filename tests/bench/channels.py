"""Can voices of different channels be told by one threshold, and does what helps there harm elsewhere? Kept embeddings only.

Means are of speakers disjoint from those tried, except where a set is its own channel (`ami/own_mean`: the 18 speakers made the
mean, as everybody in a space makes it; `ami/mean_of_others` leaves both speakers of each pair out). Trials across channels are
those of speech.md 3.7: seven conditions each with itself and clean with the six others, pooled, one threshold for all.
`two_tags`: means as the service has them, one for the telephone and one for all wideband. Intervals are over draws.

`python -m tests.bench.channels [--quick] [--json PATH]`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.identity.channels import channel_means, compensated
from service.identity.metrics import at_false_accepts, equal_error_rate
from service.identity.policies import POLICIES
from service.identity.thresholds import CAMPPLUS, TELEPHONE, TWIN, WIDEBAND, ChannelPair, channel_pair
from service.types.audio import EmbeddingSpace, Samples
from service.types.people import ChannelMean, Exemplar, PersonVoice
from tests.bench.report import Report, alone

SPACE = EmbeddingSpace("campplus", "kept", 192)
SAME_READER = "L8226"
"""Looks like the same reader as L4267: left out."""
CONDITIONS = ("clean", "tel_gsm", "opus12k", "babble10", "babble5", "reverb", "reverb_babble15")
TRIALS = (*((c, c) for c in CONDITIONS), *(("clean", c) for c in CONDITIONS[1:]))
COHORT = 123
"""Speakers that means are made of, as in speech.md 3.7; the other 139 are tried."""
FAR = (0.01, 0.001)
Names = npt.NDArray[np.str_]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Kept:
    vectors: Mapping[str, Samples]
    """condition → shape (utterances, 192), length 1"""
    speakers: Names
    sessions: Names
    seconds: Scores


def kept(shared: Path, name: str, conditions: Sequence[str] = ("clean",)) -> Kept:
    with np.load(shared / "embeddings" / f"{name}.npz") as data:
        rows = np.flatnonzero(data["speaker"] != SAME_READER)
        return Kept(
            {c: _unit(data[c][rows].astype(np.float32)) for c in conditions},
            data["speaker"][rows],
            data["session"][rows],
            data["seconds"][rows].astype(np.float64),
        )


def run(report: Report, quick: bool, shared: Path) -> None:
    core = kept(shared, "core_conditions", (*CONDITIONS, "band"))
    draws = 2 if quick else 8
    cross_channel(report, core, draws)
    twins(report, core, draws)
    meetings(report, kept(shared, "ami"), core)
    emotions(report, kept(shared, "emodb"), core, 5 if quick else 20)


def cross_channel(report: Report, core: Kept, draws: int) -> None:
    found: dict[str, list[list[float]]] = {}
    num = 0
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        cohort = np.isin(core.speakers, rng.permutation(np.unique(core.speakers))[:COHORT])
        fitted, tried = np.flatnonzero(cohort), np.flatnonzero(~cohort)
        systems: dict[str, Callable[[str], Samples]] = {"raw": lambda c, rows=tried: core.vectors[c][rows]}  # type: ignore[misc]
        for name, size in (("full_mean", len(fitted)), ("mean_of_20", 20)):
            each = {c: _mean_of(core, [(c, r) for r in _some(core, fitted, size, rng)]) for c in CONDITIONS}
            wide = [(str(rng.choice(_WIDE)), r) for r in _some(core, fitted, size, rng)]
            tags = {WIDEBAND: _mean_of(core, wide), TELEPHONE: each["tel_gsm"]}
            systems[name] = lambda c, rows=tried, means=each: _left(core.vectors[c][rows], means[c])  # type: ignore[misc]
            systems[f"{name}/two_tags"] = lambda c, rows=tried, means=tags: _left(core.vectors[c][rows], means[_channel(c)])  # type: ignore[misc]
        for name, of in systems.items():
            genuine, impostor = _pooled({c: of(c) for c in CONDITIONS}, core.speakers[tried])
            num = len(genuine) + len(impostor)
            rejects = [at_false_accepts(genuine, impostor, far).false_rejects for far in FAR]
            found.setdefault(name, []).append([equal_error_rate(genuine, impostor), *rejects])
    for name, values in found.items():
        condition, system = (f"cross_channel/{name}", "ours") if name != "raw" else ("cross_channel/full_mean", "raw")
        _add(report, condition, system, values, num)


_WIDE = [c for c in CONDITIONS if c != "tel_gsm"]


def twins(report: Report, core: Kept, draws: int) -> None:
    """Somebody enrolled by one clean utterance calls: what the shipped thresholds for 5 and 130 people link. Thresholds and
    tried speakers overlap here, means and tried speakers do not; `strangers_linked` counts each pair of people once."""
    found: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
    for draw in range(draws):
        half = np.isin(core.speakers, np.random.default_rng(draw).permutation(np.unique(core.speakers))[:131])
        rows = np.flatnonzero(~half)
        wide, phone = (_mean_of(core, [(c, r) for r in np.flatnonzero(half)]) for c in ("clean", "tel_gsm"))
        clean, call = core.vectors["clean"][rows], core.vectors["tel_gsm"][rows]
        middle = _unit(clean + core.vectors["band"][rows])
        raw = (clean @ call.T, channel_pair(WIDEBAND, TELEPHONE))
        left = (_left(clean, wide) @ _left(call, phone).T, channel_pair(WIDEBAND, TELEPHONE, compensated=True))
        twin = (middle @ call.T, channel_pair(TWIN, TELEPHONE))
        systems = {"raw": [raw], "raw+twin": [raw, twin], "compensated": [left], "compensated+twin": [left, twin]}
        for size in (5, 130):
            for name, scored in systems.items():
                linked = np.max([s >= CAMPPLUS.link(size, pair) for s, pair in scored], axis=0)
                found.setdefault(("telephone", name, size), []).append(_outcome(linked, core.speakers[rows], size))
    for (what, name, size), values in found.items():
        mean, (low, high) = np.mean(values, axis=0), np.percentile(values, [2.5, 97.5], axis=0)
        for i, metric in enumerate(("known_missed", "strangers_linked")):
            report.add(metric, f"{what}/gallery={size}", name, mean[i], "share", len(values), (float(low[i]), float(high[i])))


def _outcome(linked: npt.NDArray[np.bool_], speakers: Names, size: int) -> tuple[float, float]:
    """Share of own pairs missed, and `size` times that of strangers' pairs linked, each pair of people counting once."""
    same = speakers[:, None] == speakers[None]
    num = np.array([(speakers == s).sum() for s in speakers])
    weight = np.where(same, 0.0, 1.0 / (num[:, None] * num[None]))
    own = same & ~np.eye(len(speakers), dtype=bool)
    return float((~linked[own]).mean()), float(size * (weight * linked).sum() / weight.sum())


def meetings(report: Report, ami: Kept, core: Kept) -> None:
    vectors = ami.vectors["clean"]
    foreign = _mean_of(core, [(c, r) for i, r in enumerate(range(len(core.speakers))) for c in [_WIDE[i % len(_WIDE)]]])
    scored = {
        "raw": vectors @ vectors.T,
        "own_mean": _square(_left(vectors, _mean_of(ami, [("clean", r) for r in range(len(vectors))]))),
        "mean_of_others": _without_both(ami),
        "mean_of_readers": _square(_left(vectors, foreign)),
    }
    for name, scores in scored.items():
        for condition, across in ((f"ami/{name}", False), (f"ami/across_excerpts/{name}", True)):
            genuine, impostor = _trials(scores, ami, across)
            system = "raw" if name == "raw" else "ours"
            report.add("eer", condition, system, 100 * equal_error_rate(genuine, impostor), "%", len(genuine))


def _without_both(of: Kept) -> Scores:
    """Cosines, each pair without the mean of all speakers but its two."""
    vectors, scores = of.vectors["clean"], np.zeros((len(of.speakers),) * 2)
    people = np.unique(of.speakers)
    for a in people:
        for b in people:
            mean = _mean_of(of, [("clean", r) for r in np.flatnonzero((of.speakers != a) & (of.speakers != b))])
            one, other = np.flatnonzero(of.speakers == a), np.flatnonzero(of.speakers == b)
            scores[np.ix_(one, other)] = _left(vectors[one], mean) @ _left(vectors[other], mean).T
    return scores


def emotions(report: Report, emodb: Kept, core: Kept, draws: int) -> None:
    """Profiles of five utterances, drawn whatever their emotion, by the default policy; all others are tried against all ten
    people. `own_mean`: of the fifty enrolled utterances, none of which is tried."""
    found: dict[str, list[list[float]]] = {}
    people, vectors = np.unique(emodb.speakers), emodb.vectors["clean"]
    readers = _mean_of(core, [("clean", r) for r in range(len(core.speakers))])
    decided: dict[str, list[tuple[float, ...]]] = {}
    num = 0
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        enrolled = {p: rng.choice(np.flatnonzero(emodb.speakers == p), 5, replace=False) for p in people.tolist()}
        tried = np.setdiff1d(np.arange(len(vectors)), np.concatenate(list(enrolled.values())))
        profiles = np.concatenate([_rows(emodb, p, rows) for p, rows in enrolled.items()])
        own = _mean_of(emodb, [("clean", r) for rows in enrolled.values() for r in rows])
        same = emodb.speakers[tried][:, None] == people[None]
        for name, mean in (("raw", None), ("own_mean", own), ("mean_of_readers", readers)):
            probes, known = (vectors[tried], profiles) if mean is None else (_left(vectors[tried], mean), _left(profiles, mean))
            scores = (probes @ known.T).astype(np.float64)
            genuine, impostor = scores[same], scores[~same]
            num = len(genuine)
            rejects = [at_false_accepts(genuine, impostor, far).false_rejects for far in FAR]
            found.setdefault(name, []).append([equal_error_rate(genuine, impostor), *rejects])
            if name != "mean_of_readers":
                pair = channel_pair(WIDEBAND, WIDEBAND, compensated=mean is not None)
                decided.setdefault(name, []).append(_decided(scores, same, pair))
    for name, outcomes in decided.items():
        average, (least, most) = np.mean(outcomes, axis=0), np.percentile(outcomes, [2.5, 97.5], axis=0)
        for i, metric in enumerate(
            ("known_missed", "strangers_linked", "known_refused", "strangers_accepted", "newcomers_known")
        ):
            system = "raw" if name == "raw" else "ours"
            report.add(metric, "emodb/gallery=10", system, average[i], "share", num, (float(least[i]), float(most[i])))
    for name, values in found.items():
        condition = "emodb/profile_of_5" + ("/mean_of_readers" if name == "mean_of_readers" else "")
        _add(report, condition, "raw" if name == "raw" else "ours", values, num)


def _decided(scores: Scores, same: npt.NDArray[np.bool_], pair: ChannelPair) -> tuple[float, ...]:
    """By the thresholds for ten people: own turns not linked, strangers' turns (everybody else's profiles) that reach τ_link
    of somebody; the same for τ_access; strangers who would not be created."""
    own, others = scores[same], np.where(same, -1.0, scores).max(axis=1)
    people = same.shape[1]
    link, access, create = CAMPPLUS.link(people, pair), CAMPPLUS.access(people, pair), CAMPPLUS.create(people, pair)
    shares = (own < link, others >= link, own < access, others >= access, others >= create)
    return tuple(float(share.mean()) for share in shares)


def _rows(of: Kept, person: str, rows: npt.NDArray[np.int64]) -> Samples:
    policy, voice = POLICIES["bounded"], PersonVoice(person, SPACE, of.vectors["clean"][rows[0]])
    for row in rows.tolist():
        voice = policy.learn(voice, _exemplar(of, "clean", row))
    return policy.rows(voice).vectors


def _exemplar(of: Kept, condition: str, row: int, channel: str = WIDEBAND) -> Exemplar:
    vector = of.vectors[condition][row]
    return Exemplar(f"{condition}-{row:04d}", vector, float(of.seconds[row]), 20.0, channel, f"m-{row}")


def _mean_of(of: Kept, heard: Iterable[tuple[str, int]]) -> ChannelMean:
    """Of utterances (condition, row), by the service's own rule."""
    exemplars: dict[str, list[Exemplar]] = {}
    for condition, row in heard:
        exemplars.setdefault(str(of.speakers[row]), []).append(_exemplar(of, condition, int(row)))
    return channel_means(exemplars)[WIDEBAND]


def _left(vectors: Samples, mean: ChannelMean) -> Samples:
    rows = [compensated(v, mean.channel, {mean.channel: mean}) for v in vectors]
    return np.stack([v if v is not None else raw for v, raw in zip(rows, vectors, strict=True)])


def _some(of: Kept, rows: npt.NDArray[np.int64], size: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """`size` of `rows` by lot, of at least ten speakers, as the service asks for."""
    while True:
        chosen = rng.choice(rows, size, replace=False)
        if len(np.unique(of.speakers[chosen])) >= 10:
            return chosen


def _channel(condition: str) -> str:
    return TELEPHONE if condition == "tel_gsm" else WIDEBAND


def _pooled(vectors: Mapping[str, Samples], speakers: Names) -> tuple[Scores, Scores]:
    """Genuine and impostor cosines of TRIALS; never an utterance with itself under another condition."""
    same = speakers[:, None] == speakers[None]
    own = same & ~np.eye(len(speakers), dtype=bool)
    genuine, impostor = [], []
    for one, other in TRIALS:
        scores = vectors[one] @ vectors[other].T
        once = np.triu(np.ones_like(same)) if one == other else np.ones_like(same)
        genuine.append(scores[own & once])
        impostor.append(scores[~same & once])
    return np.concatenate(genuine).astype(np.float64), np.concatenate(impostor).astype(np.float64)


def _trials(scores: Scores, of: Kept, across: bool) -> tuple[Scores, Scores]:
    once = np.triu(np.ones(scores.shape, dtype=bool), 1)
    same = of.speakers[:, None] == of.speakers[None]
    apart = of.sessions[:, None] != of.sessions[None]
    genuine = once & same & apart if across else once & same
    return scores[genuine].astype(np.float64), scores[once & ~same].astype(np.float64)


def _add(report: Report, condition: str, system: str, values: Sequence[Sequence[float]], num: int) -> None:
    mean, (low, high) = 100 * np.mean(values, axis=0), 100 * np.percentile(values, [2.5, 97.5], axis=0)
    for i, metric in enumerate(("eer", *(f"false_rejects_at_{100 * far:g}%" for far in FAR))):
        report.add(metric, condition, system, mean[i], "%", num, (float(low[i]), float(high[i])))


def _square(vectors: Samples) -> Scores:
    scores: Scores = (vectors @ vectors.T).astype(np.float64)
    return scores


def _unit(vectors: Samples) -> Samples:
    unit: Samples = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


if __name__ == "__main__":
    alone("channels", __doc__, run)
