"""Which thresholds fit a user's own voices, microphones and encoder? From trials between utterances, labelled or not.

Every two utterances are a verification trial: genuine (one speaker) or impostor (two). For each pair of channels the
impostors' tail gives the thresholds (thresholds.FalseAccepts), and the genuine trials tell what they cost.

Without labels a speaker is a voice that the diariser told apart within one recording, so trials stay within recordings.
Both kinds come out too easy then, since the same embeddings drew the line between those voices; the thresholds so found are
used only where they are stricter than the ones we ship."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from service.errors import VoicegraphError
from service.identity.channels import channel_means, compensated
from service.identity.metrics import Numbers, at_false_accepts, equal_error_rate, min_dcf
from service.identity.thresholds import ChannelPair, FalseAccepts, Thresholds, channel_pair
from service.types.audio import Samples
from service.types.people import Exemplar


class TooFewTrials(VoicegraphError):
    code = "too_few_trials"
    says = (
        "{genuine} pairs of one voice and {impostor} of two voices can be compared; needed are {min_genuine} and "
        "{min_impostor}. Give more speakers, or more utterances of each."
    )
    http_status = 422


@dataclass(frozen=True, slots=True)
class CalibrationConfig:
    min_genuine: int = 30
    """trials of one voice; below, an EER is a matter of one or two of them"""
    min_impostor: int = 1_000
    """trials of two voices: from 20 speakers with 3 utterances each on; the rarest rate read off is 10 in them"""
    update_rate: float = 0.00002
    """share of strangers' pairs that reach τ_update: what the shipped thresholds of CAM++ were set to"""
    own_below: float = 0.02
    """share of genuine trials that may lie under the highest τ_create: newcomers must not be kept out for ever by those few"""
    sizes: tuple[int, ...] = (5, 20, 60, 130, 200)
    """people in the gallery for which thresholds are shown"""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A stretch of one voice."""

    id: str
    speaker: str
    session: str
    """The recording; trials of one voice are taken across recordings where there are any."""
    channel: str
    net_speech: float
    """seconds"""
    vector: Samples
    """shape (dimension,), length 1"""


@dataclass(frozen=True, slots=True)
class Suggested:
    """Thresholds for a gallery of `people`, and what each costs: share of genuine trials below it."""

    people: int
    link: float
    create: float
    access: float
    link_misses: float
    access_misses: float


@dataclass(frozen=True, slots=True)
class PairFigures:
    """One pair of channels; shares in [0, 1]."""

    pair: ChannelPair
    num_genuine: int
    num_impostor: int
    eer: float
    min_dcf: float
    """normalised, target prior 0.01"""
    misses_at_1: float
    """false rejects where 1 % of impostors are accepted"""
    genuine: Numbers
    impostor: Numbers
    """cosines, for the DET picture"""
    suggested: tuple[Suggested, ...]
    """empty where the trials do not suffice and the shipped thresholds stay"""


@dataclass(frozen=True, slots=True)
class Calibration:
    thresholds: Thresholds
    pairs: tuple[PairFigures, ...]
    num_speakers: int
    num_utterances: int
    labelled: bool


@dataclass(frozen=True, slots=True)
class _Trials:
    cosines: Numbers
    same: npt.NDArray[np.bool_]
    pairs: list[ChannelPair]
    which: npt.NDArray[np.int64]
    """index into `pairs` for each trial"""

    def of(self, pair: ChannelPair) -> tuple[Numbers, Numbers]:
        """Genuine and impostor cosines."""
        chosen = self.which == self.pairs.index(pair)
        return self.cosines[chosen & self.same], self.cosines[chosen & ~self.same]


def calibrate(
    utterances: Sequence[Utterance],
    shipped: Thresholds,
    *,
    labelled: bool,
    origin: str,
    config: CalibrationConfig = CalibrationConfig(),
) -> Calibration:
    """`shipped` with the tables of those channel pairs that there are enough trials for. Raises TooFewTrials when there is
    none."""
    trials = _trials(utterances, within_sessions=not labelled)
    measured: dict[ChannelPair, tuple[Numbers, Numbers]] = {}
    for pair in ChannelPair:
        genuine, impostor = trials.of(pair)
        if len(genuine) and len(impostor):
            measured[pair] = genuine, impostor
    enough = {pair for pair, (g, i) in measured.items() if len(g) >= config.min_genuine and len(i) >= config.min_impostor}
    if not enough:
        most = max(measured.values(), key=lambda t: len(t[1]), default=(np.zeros(0), np.zeros(0)))
        raise TooFewTrials(
            genuine=len(most[0]), impostor=len(most[1]), min_genuine=config.min_genuine, min_impostor=config.min_impostor
        )
    thresholds = _fitted(shipped, {p: measured[p] for p in ChannelPair if p in enough}, labelled, origin, config)
    figures = tuple(_figures(p, *measured[p], thresholds, p in enough, config) for p in measured)
    return Calibration(thresholds, figures, len({u.speaker for u in utterances}), len(utterances), labelled)


def _trials(utterances: Sequence[Utterance], *, within_sessions: bool) -> _Trials:
    """All pairs of utterances that make a trial, once raw and, where both channels have a mean, once more compensated."""
    if len(utterances) < 2:
        return _Trials(np.zeros(0), np.zeros(0, dtype=bool), list(ChannelPair), np.zeros(0, dtype=np.int64))
    one, other = np.triu_indices(len(utterances), 1)
    speakers, sessions = (_numbered([getattr(u, name) for u in utterances]) for name in ("speaker", "session"))
    same = speakers[one] == speakers[other]
    same_session = sessions[one] == sessions[other]
    if within_sessions:
        usable = same_session
    else:
        several = np.array([len({u.session for u in utterances if u.speaker == v.speaker}) > 1 for v in utterances])
        usable = ~same | ~same_session | ~several[one]
    one, other, same = one[usable], other[usable], same[usable]
    means = channel_means(_by_speaker(utterances))
    raw = np.stack([u.vector for u in utterances]).astype(np.float64)
    clean = [compensated(u.vector, u.channel, means) for u in utterances]
    pairs = list(ChannelPair)
    number = {pair: i for i, pair in enumerate(pairs)}
    channels = [u.channel for u in utterances]
    which = _numbers(channels, one, other, number, compensated=False)
    cosines = np.einsum("ij,ij->i", raw[one], raw[other])
    both = np.array([v is not None for v in clean], dtype=bool)
    again = both[one] & both[other]
    if again.any():
        table = np.stack([np.zeros_like(raw[0]) if v is None else v for v in clean]).astype(np.float64)
        cosines = np.concatenate([cosines, np.einsum("ij,ij->i", table[one[again]], table[other[again]])])
        same = np.concatenate([same, same[again]])
        which = np.concatenate([which, _numbers(channels, one[again], other[again], number, compensated=True)])
    return _Trials(cosines, same, pairs, which)


def _numbers(
    channels: Sequence[str],
    one: npt.NDArray[np.int64],
    other: npt.NDArray[np.int64],
    number: Mapping[ChannelPair, int],
    *,
    compensated: bool,
) -> npt.NDArray[np.int64]:
    """The pair of channels of each trial between utterance `one` and `other`, as its number."""
    pairs = (channel_pair(channels[a], channels[b], compensated=compensated) for a, b in zip(one, other, strict=True))
    return np.array([number[pair] for pair in pairs], dtype=np.int64)


def _fitted(
    shipped: Thresholds,
    measured: Mapping[ChannelPair, tuple[Numbers, Numbers]],
    labelled: bool,
    origin: str,
    config: CalibrationConfig,
) -> Thresholds:
    tables = {pair: FalseAccepts.measured(impostor) for pair, (_, impostor) in measured.items()}
    if not labelled:
        tables = {pair: _stricter(table, shipped.pairs[pair]) for pair, table in tables.items()}
    caps = {pair: float(np.quantile(genuine, config.own_below)) for pair, (genuine, _) in measured.items()}
    updates = {pair: table.threshold(config.update_rate) for pair, table in tables.items()}
    return replace(
        shipped,
        pairs={**shipped.pairs, **tables},
        update=updates.get(ChannelPair.WIDEBAND, shipped.update),
        updates={**(shipped.updates or {}), **updates},
        create_gap=None,
        create_cap={**(shipped.create_cap or {}), **caps},
        origin=f"{origin}; of {', '.join(sorted(tables))}. Else: {shipped.origin}",
    )


def _stricter(measured: FalseAccepts, shipped: FalseAccepts) -> FalseAccepts:
    rates = tuple(sorted({*measured.rates, *shipped.rates}, reverse=True))
    cosines = [max(measured.threshold(rate), shipped.threshold(rate)) for rate in rates]
    return replace(measured, rates=rates, cosines=tuple(float(c) for c in np.maximum.accumulate(cosines)))


def _figures(
    pair: ChannelPair, genuine: Numbers, impostor: Numbers, thresholds: Thresholds, enough: bool, config: CalibrationConfig
) -> PairFigures:
    suggested = tuple(_suggested(size, pair, genuine, thresholds) for size in config.sizes) if enough else ()
    return PairFigures(
        pair,
        len(genuine),
        len(impostor),
        equal_error_rate(genuine, impostor),
        min_dcf(genuine, impostor),
        at_false_accepts(genuine, impostor, 0.01).false_rejects,
        genuine,
        impostor,
        suggested,
    )


def _suggested(people: int, pair: ChannelPair, genuine: Numbers, thresholds: Thresholds) -> Suggested:
    link, create, access = (of(people, pair) for of in (thresholds.link, thresholds.create, thresholds.access))
    return Suggested(people, link, create, access, float((genuine < link).mean()), float((genuine < access).mean()))


def _by_speaker(utterances: Sequence[Utterance]) -> dict[str, list[Exemplar]]:
    people: dict[str, list[Exemplar]] = {}
    for u in utterances:
        people.setdefault(u.speaker, []).append(Exemplar(u.id, u.vector, u.net_speech, 0.0, u.channel, u.id))
    return people


def _numbered(names: Sequence[str]) -> npt.NDArray[np.int64]:
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)
