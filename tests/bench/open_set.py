"""How do strangers, newcomers and known people fare as the gallery grows? Real speech, by the router's own step and settle.

Half of the speakers set the thresholds, the other half is tried, and the other way round: nobody's voice is judged by a number
it helped to choose. (τ_update, the caps of τ_create and the router's floors stay as shipped; all speakers helped with those.)
Each known person was enrolled by one clip; one to three of their other clips are heard as one track, and a stranger's as well,
against a gallery of the other people of that half.

`python -m tests.bench.open_set [--quick] [--json PATH]`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.identity.ask import AskConfig, verify
from service.identity.channels import channel_means
from service.identity.metrics import share_interval
from service.identity.router import FoldState, RouterConfig, settle, step
from service.identity.thresholds import CAMPPLUS, TELEPHONE, Thresholds
from service.types.audio import SpeakerEmbedding
from service.types.people import ChannelMean, Decision, PersonVoice, TurnEvidence, Unresolved, VoiceOutcome
from tests.bench.locomo_id.voices import CACHE, LENGTHS, Bank
from tests.bench.open_set_voices import (
    READ,
    SPACE,
    WIDEBAND,
    Clip,
    Speaker,
    fitted,
    halves,
    kept_conditions,
    kept_lengths,
    kept_whole,
    person,
    recorded,
)
from tests.bench.report import Report, alone

SIZES = (5, 20, 60, 130)
TURNS = (1, 3)
DRAWS = 3
"""Probes of one turn tried for each person, gallery and length; of three turns as many sets of clips as they have."""
APART = 5.0
"""Seconds between the turns of a track."""
HEARD_BY_TELEPHONE = 0.34
"""Share of the others who were heard by telephone too, in the conditions with a channel mean."""
ENOUGH_FOR_A_MEAN = 100
"""People of whom that share gives a telephone mean."""

Counts = dict[str, Counter[str]]
"""speaker → outcomes of their trials"""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table: who is heard how, against whom."""

    name: str
    length: float | None
    turns: int
    size: int
    twin: bool = False
    by_telephone: Mapping[str, Clip] = field(default_factory=dict)
    """What the others said on a telephone: makes that channel's mean."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Somebody speaks on one track; `gallery` holds them (`enrolled`) or not."""

    speaker: str
    enrolled: bool
    probes: tuple[Clip, ...]
    gallery: Mapping[str, PersonVoice]
    channels: Mapping[str, ChannelMean]


@dataclass(frozen=True, slots=True)
class Side:
    """People to be tried, with thresholds that none of them helped to set."""

    names: frozenset[str]
    thresholds: Thresholds


def run(report: Report, quick: bool, shared: Path, cache: Path = CACHE) -> None:
    bank = Bank(cache, shared)
    whole = kept_whole(shared)
    one, other = halves(s.name for s in kept_conditions(shared, "clean", WIDEBAND))
    sides = (Side(one, fitted(shared, other)), Side(other, fitted(shared, one)))
    draws = 1 if quick else DRAWS
    for turns in TURNS:
        for size in SIZES[1:2] if quick else SIZES:
            _row(report, Setting(f"clean/gallery={size}/turns={turns}", None, turns, size), whole, whole, sides, draws)
    if not quick:
        _cut(report, bank, shared, whole, sides)
        _other_speech(report, bank, whole)
        _over_telephone(report, shared, sides)


def _cut(report: Report, bank: Bank, shared: Path, whole: Sequence[Speaker], sides: Sequence[Side]) -> None:
    """Probes of 1 to 5 s: audio cut here, and kept embeddings of longer clips."""
    voices = [v for source in READ for v in bank.voices("real", source)]
    bank.prepare(voices, ("clean",))
    for length in LENGTHS:
        bank.prepare(voices, ("clean",), length)
    cut = [*recorded(bank, READ, LENGTHS), *kept_lengths(shared)]
    for turns in TURNS:
        for length in LENGTHS:
            for size in SIZES:
                name = f"clean/gallery={size}/probe={length:g}s/turns={turns}"
                _row(report, Setting(name, length, turns, size), cut, whole, sides, DRAWS)


def _other_speech(report: Report, bank: Bank, whole: Sequence[Speaker]) -> None:
    """Meetings and acted emotion, which set no threshold at all: the shipped ones, among people who read."""
    for source in ("ami", "emodb"):
        bank.prepare(bank.voices("real", source), ("clean",))
        heard = recorded(bank, (source,), (None,))
        for turns in TURNS:
            setting = Setting(f"{source}/gallery=130/turns={turns}", None, turns, 130)
            _tell(report, setting.name, _tried(setting, heard, whole, CAMPPLUS, DRAWS))


def _over_telephone(report: Report, shared: Path, sides: Sequence[Side]) -> None:
    """Enrolled clean and heard across a room, or through a GSM telephone: with what the service does about it, step by step."""
    clean = kept_conditions(shared, "clean", WIDEBAND)
    room = kept_conditions(shared, "reverb", WIDEBAND)
    narrow = kept_conditions(shared, "tel_gsm", TELEPHONE)
    said = {s.name: s.heard[None][0] for s in narrow}
    for size in (20, 130):
        _row(report, Setting(f"clean_to_room/gallery={size}/turns=1", None, 1, size), room, clean, sides, DRAWS)
        helps: list[tuple[str, bool, Mapping[str, Clip]]] = [("", False, {}), ("/twin", True, {}), ("/twin+mean", True, said)]
        for name, twin, heard in helps if size >= ENOUGH_FOR_A_MEAN else helps[:2]:
            setting = Setting(f"clean_to_telephone{name}/gallery={size}/turns=1", None, 1, size, twin, heard)
            _row(report, setting, narrow, clean, sides, DRAWS)


def _row(
    report: Report, setting: Setting, heard: Sequence[Speaker], others: Sequence[Speaker], sides: Sequence[Side], draws: int
) -> None:
    """Both halves tried, each with the other's thresholds."""
    num: Counts = {}
    for side in sides:
        tried, members = ([s for s in speakers if s.name in side.names] for speakers in (heard, others))
        num |= _tried(setting, tried, members, side.thresholds, draws)
    _tell(report, setting.name, num)


def _tried(setting: Setting, heard: Sequence[Speaker], others: Sequence[Speaker], thresholds: Thresholds, draws: int) -> Counts:
    num: Counts = {}
    for trial in _trials(setting, heard, others, draws):
        num.setdefault(trial.speaker, Counter()).update(_outcome(trial, thresholds))
    return num


def _trials(setting: Setting, heard: Sequence[Speaker], others: Sequence[Speaker], draws: int) -> Iterator[Trial]:
    """For each clip (or three) of each speaker: once with them in the gallery, once without."""
    by_name = {s.name: s for s in others}
    for position, speaker in enumerate(heard):
        rng = np.random.default_rng([position, setting.size, setting.turns, int(10 * (setting.length or 0))])
        names = [n for n in by_name if n != speaker.name]
        for _ in range(draws):
            for enrolled in (True, False):
                drawn = _drawn(speaker, setting, enrolled, rng)
                if drawn is None:
                    continue
                enrolment, probes = drawn
                chosen = rng.choice(names, setting.size - enrolled, replace=False).tolist()
                gallery = {n: _member(by_name[n], setting, rng) for n in chosen}
                if enrolment is not None:
                    gallery[speaker.name] = person(speaker.name, enrolment, twin=setting.twin)
                means = channel_means({n: v.exemplars for n, v in gallery.items()})
                yield Trial(speaker.name, enrolled, probes, gallery, means)


def _drawn(
    speaker: Speaker, setting: Setting, enrolled: bool, rng: np.random.Generator
) -> tuple[Clip | None, tuple[Clip, ...]] | None:
    """A clip to enrol with, and the clips heard, none of the same sound; None when they have too few."""
    enrolment = speaker.enrolling[int(rng.integers(len(speaker.enrolling)))] if enrolled else None
    left = [c for c in speaker.heard[setting.length] if enrolment is None or c.id != enrolment.id]
    if len(left) < setting.turns:
        return None
    return enrolment, tuple(left[i] for i in rng.permutation(len(left))[: setting.turns].tolist())


def _member(speaker: Speaker, setting: Setting, rng: np.random.Generator) -> PersonVoice:
    clip = speaker.enrolling[int(rng.integers(len(speaker.enrolling)))]
    by_telephone = setting.by_telephone.get(speaker.name) if rng.random() < HEARD_BY_TELEPHONE else None
    return person(speaker.name, clip, twin=setting.twin, also=by_telephone)


def _outcome(trial: Trial, thresholds: Thresholds) -> Iterable[str]:
    """What became of the track, after the session, and of a question asked in the first turn's voice."""
    config = RouterConfig(thresholds=thresholds)
    state = FoldState().with_gallery(trial.gallery, channels=trial.channels)
    state, decisions = step(state, _turns(trial.probes), config)
    final = {d.message_id: d for d in decisions} | {d.message_id: d for d in settle(state, config)[1]}
    people = {_person(d) for d in final.values()} - {None}
    kind = "known" if trial.enrolled else "stranger"
    strangers = people & (set(trial.gallery) - {trial.speaker})
    if strangers:
        what = "linked_wrong"
    elif trial.speaker in people:
        what = "right"
    else:
        what = "created" if people else "unresolved"
    let_in_as = _asked(trial, thresholds)
    asked = "refused" if let_in_as is None else "let_in" if let_in_as == trial.speaker else "wrongly_let_in"
    return [kind, f"{kind}/{what}", f"{kind}/{asked}"]


def _turns(probes: Sequence[Clip]) -> list[TurnEvidence]:
    turns, now = [], 0.0
    for i, clip in enumerate(probes):
        embedding = SpeakerEmbedding(clip.vector, SPACE)
        end = now + clip.seconds
        turns.append(TurnEvidence(f"m{i}", "track", now, end, clip.seconds, 0.0, 30.0, clip.channel, embedding))
        now = end + APART
    return turns


def _person(decision: Decision) -> str | None:
    return None if isinstance(decision, Unresolved) else decision.person_id


def _asked(trial: Trial, thresholds: Thresholds) -> str | None:
    clip = trial.probes[0]
    verdict = verify(
        SpeakerEmbedding(clip.vector, SPACE),
        clip.seconds,
        trial.gallery,
        AskConfig(thresholds=thresholds),
        channel=clip.channel,
        channels=trial.channels,
    )
    return verdict.person_id if verdict.outcome is VoiceOutcome.ACCEPT else None


def _tell(report: Report, condition: str, num: Counts) -> None:
    def share(metric: str, part: Iterable[str], whole: Iterable[str], *, count: bool = False) -> None:
        parts, wholes = _each(num, part), _each(num, whole)
        if total := int(wholes.sum()):
            scale, unit = (total, "count") if count else (1, "share")
            low, high = _interval(parts, wholes)
            report.add(metric, condition, "ours", parts.sum() / total * scale, unit, total, (low * scale, high * scale))

    everybody = ("known", "stranger")
    share("strangers_linked", ["stranger/linked_wrong"], ["stranger"])
    share("people_missed", ["known/linked_wrong", "known/created", "known/unresolved"], ["known"])
    share("known_linked_wrong", ["known/linked_wrong"], ["known"])
    share("known_doubled", ["known/created"], ["known"])
    share("newcomers_not_created", ["stranger/linked_wrong", "stranger/unresolved"], ["stranger"])
    share("unresolved", ["known/unresolved", "stranger/unresolved"], everybody)
    share("wrong_authorisations", ["known/wrongly_let_in", "stranger/wrongly_let_in"], everybody, count=True)
    share("rightful_refused", ["known/refused", "known/wrongly_let_in"], ["known"])


def _each(num: Counts, outcomes: Iterable[str]) -> npt.NDArray[np.int64]:
    """How often each speaker had one of `outcomes`."""
    named = list(outcomes)
    return np.array([sum(of_one[outcome] for outcome in named) for of_one in num.values()])


def _interval(parts: npt.NDArray[np.int64], wholes: npt.NDArray[np.int64], rounds: int = 1000) -> tuple[float, float]:
    """95 % interval of sum(parts) / sum(wholes) over speakers drawn anew, since one speaker's trials go together; without a
    success or a failure Wilson's, which the trials alone decide (about 3 / n)."""
    part, whole = int(parts.sum()), int(wholes.sum())
    if part in (0, whole):
        return share_interval(part, whole)
    drawn = np.random.default_rng(0).integers(0, len(parts), (rounds, len(parts)))
    low, high = np.percentile(parts[drawn].sum(axis=1) / np.maximum(1, wholes[drawn].sum(axis=1)), [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    alone("open_set", __doc__, run)
