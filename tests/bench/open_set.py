"""How do strangers, newcomers and known people fare as the gallery grows? Kept embeddings of 262 real speakers, one clean
enrolment each, every probe decided alone by the router's own step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.identity.ask import AskConfig, verify
from service.identity.metrics import share_interval
from service.identity.router import NO_TRACK, FoldState, RouterConfig, step
from service.identity.thresholds import CAMPPLUS, TELEPHONE, ChannelPair, FalseAccepts, Thresholds
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.people import Create, Exemplar, Link, PersonVoice, TurnEvidence, VoiceOutcome
from tests.bench.report import Report

SPACE = EmbeddingSpace("campplus", "kept", 192)
SAME_READER = "L8226"
"""Looks like the same reader as L4267: left out."""
CONDITIONS = {
    "clean": ("clean", "clean"),
    "telephone": ("tel_gsm", "tel_gsm"),
    "clean_to_telephone": ("clean", "tel_gsm"),
    "clean_to_reverb": ("clean", "reverb"),
}
"""enrolment and probe"""
SHIFTED = tuple(CONDITIONS)[1:]
SIZES = (5, 20, 60, 130, 200)
Speakers = npt.NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Kept:
    speakers: Speakers
    vectors: dict[str, Samples]
    """condition → shape (utterances, 192), length 1"""
    seconds: npt.NDArray[np.float64]


def kept(shared: Path) -> Kept:
    data = np.load(shared / "embeddings" / "core_conditions.npz")
    rows = np.flatnonzero(data["speaker"] != SAME_READER)
    names = {c for pair in CONDITIONS.values() for c in pair}
    vectors = {c: data[c][rows].astype(np.float32) for c in names}
    return Kept(
        data["speaker"][rows],
        {c: v / np.linalg.norm(v, axis=1, keepdims=True) for c, v in vectors.items()},
        data["seconds"][rows].astype(np.float64),
    )


def run(report: Report, quick: bool, shared: Path) -> None:
    voices = kept(shared)
    everybody = np.unique(voices.speakers)
    full = [("clean", SIZES, 4), *((condition, SIZES[::2], 2) for condition in SHIFTED)]
    for condition, sizes, draws in [("clean", SIZES, 1)] if quick else full:
        for size in sizes:
            _gallery_size(report, voices, condition, size, draws, CAMPPLUS, everybody, f"{condition}/gallery={size}")
    if not quick:
        _disjoint(report, voices, draws=2)


def _disjoint(report: Report, voices: Kept, draws: int) -> None:
    """The same with thresholds from one half of the speakers, tried on the other half."""
    speakers = np.random.default_rng(7).permutation(np.unique(voices.speakers))
    fitted_on, tried_on = speakers[: len(speakers) // 2], speakers[len(speakers) // 2 :]
    chosen = np.flatnonzero(np.isin(voices.speakers, fitted_on))
    clean, names = voices.vectors["clean"][chosen], voices.speakers[chosen]
    different = np.triu(names[:, None] != names[None], 1)
    measured = FalseAccepts.measured((clean @ clean.T)[different].astype(np.float64))
    thresholds = replace(CAMPPLUS, pairs={**CAMPPLUS.pairs, ChannelPair.WIDEBAND: measured})
    for size in (5, 20, 60, 100):
        _gallery_size(report, voices, "clean", size, draws, thresholds, tried_on, f"clean/gallery={size}/disjoint")


def _gallery_size(
    report: Report, voices: Kept, condition: str, size: int, draws: int, thresholds: Thresholds, speakers: Speakers, name: str
) -> None:
    enrolled_on, probed_on = CONDITIONS[condition]
    num: Counter[str] = Counter()
    for draw in range(draws):
        rng = np.random.default_rng([draw, size])
        known = rng.choice(speakers, size, replace=False)
        enrolment = {s: int(rng.choice(np.flatnonzero(voices.speakers == s))) for s in known.tolist()}
        gallery = {s: _person(s, voices, enrolled_on, row) for s, row in enrolment.items()}
        probes = [i for i in np.flatnonzero(np.isin(voices.speakers, speakers)).tolist() if i not in enrolment.values()]
        for i in rng.permutation(probes)[:300].tolist():
            num.update(_outcome(gallery, voices, probed_on, i, thresholds))
    _report(report, num, name)


def _outcome(gallery: dict[str, PersonVoice], voices: Kept, condition: str, row: int, thresholds: Thresholds) -> list[str]:
    speaker = str(voices.speakers[row])
    seconds, channel = float(voices.seconds[row]), _channel(condition)
    embedding = SpeakerEmbedding(voices.vectors[condition][row], SPACE)
    turn = TurnEvidence("probe", NO_TRACK, 0.0, seconds, seconds, 0.0, 20.0, channel, embedding)
    (decision,) = step(FoldState(gallery=gallery), [turn], RouterConfig(thresholds=thresholds))[1]
    verdict = verify(embedding, seconds, gallery, AskConfig(thresholds=thresholds), channel=channel)
    accepted = verdict.outcome is VoiceOutcome.ACCEPT
    if speaker not in gallery:
        what = {Link: "linked", Create: "created"}.get(type(decision), "unresolved")
        return ["stranger", f"stranger_{what}", *(["stranger_accepted"] if accepted else [])]
    if isinstance(decision, Link):
        what = "right" if decision.person_id == speaker else "wrong"
    else:
        what = "doubled" if isinstance(decision, Create) else "unresolved"
    let_in = [] if not accepted else ["known_accepted" if verdict.person_id == speaker else "impostor_accepted"]
    return ["known", f"known_{what}", *let_in]


def _report(report: Report, num: Counter[str], condition: str) -> None:
    def share(metric: str, part: int, whole: int) -> None:
        report.add(metric, condition, "ours", part / max(1, whole), "share", whole, share_interval(part, whole))

    share("strangers_linked", num["stranger_linked"], num["stranger"])
    share("newcomers_not_created", num["stranger"] - num["stranger_created"], num["stranger"])
    share("known_linked", num["known_right"], num["known"])
    share("known_linked_wrong", num["known_wrong"], num["known"])
    share("known_doubled", num["known_doubled"], num["known"])
    asked = num["stranger"] + num["known"]
    wrong = num["stranger_accepted"] + num["impostor_accepted"]
    report.add("wrong_authorisations", condition, "ours", wrong, "count", asked, _scaled(share_interval(wrong, asked), asked))
    share("rightful_refused", num["known"] - num["known_accepted"], num["known"])


def _scaled(interval: tuple[float, float], by: int) -> tuple[float, float]:
    return interval[0] * by, interval[1] * by


def _person(speaker: str, voices: Kept, condition: str, row: int) -> PersonVoice:
    vector = voices.vectors[condition][row]
    exemplar = Exemplar(f"e-{row}", vector, float(voices.seconds[row]), 20.0, _channel(condition), f"m-{row}")
    return PersonVoice(speaker, SPACE, vector, (exemplar,), 1, float(voices.seconds[row]))


def _channel(condition: str) -> str:
    return TELEPHONE if condition == "tel_gsm" else "wideband"
