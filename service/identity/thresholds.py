"""From which cosine on are two voices one person's, for how many people and over which channels?

A threshold is not a constant of the encoder: against N people a stranger has N chances to resemble somebody, so at a fixed
cosine false links grow with N. For each pair of channels we keep how often *pairs* of different people reach a cosine; for
N people and a budget e of wrong outcomes per stranger's turn the threshold is the cosine reached by e / N of the pairs.
Duration is no parameter: strangers' cosines hardly depend on it (99.9 % quantile 0.500 at 1 s against 0.525 at 5 s) while
one's own fall (5 % quantile 0.74 → 0.40), so short turns need floors and margins (router.Floors), not other thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from service.errors import InvalidInput, VoicegraphError

TELEPHONE = "telephone"
"""Channel tag of narrowband turns (SpeakerTurn.channel)."""
WIDEBAND = "wideband"
"""Channel tag of all others, unless their feed has a name."""
TWIN = "twin"
"""Channel tag of what stands for a person on the telephone who was never heard there: half their voice as it was heard, half
the same made narrow. No turn has it."""


class UnknownEncoder(VoicegraphError):
    code = "no_thresholds"
    says = "No thresholds are known for the encoder {encoder!r}; known: {known}. Calibrate it before routing with it."


class ChannelPair(StrEnum):
    """What is compared with what: one cosine means different things on each."""

    WIDEBAND = "wideband"
    TELEPHONE = "telephone"
    """Both sides narrowband: everybody on a telephone resembles everybody else."""
    CROSS = "cross"
    """One side narrowband: everybody resembles everybody less, themselves included."""
    TWIN = "twin"
    """One side narrowband, the other a TWIN: at 0.1 % false accepts 7.6 % false rejects instead of 24 (CROSS); telephone with
    telephone has 7.4 (288 utterances of 76 speakers, GSM)."""
    COMPENSATED = "compensated"
    """Both sides wideband, without their channels' means (service.identity.channels)."""
    COMPENSATED_TELEPHONE = "compensated_telephone"
    COMPENSATED_CROSS = "compensated_cross"


RATES = (0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001, 0.00005, 0.00002)


@dataclass(frozen=True, slots=True)
class FalseAccepts:
    """How often pairs of different people reach a cosine, on one pair of channels."""

    rates: tuple[float, ...]
    """share of pairs, falling"""
    cosines: tuple[float, ...]
    """the cosine that share reaches, rising"""
    slope: float = 25.0
    """Log rate per unit of cosine beyond the table: that of its middle, gentler and so stricter than its end, where few
    pairs of few speakers speak. Infinite: constant."""

    @classmethod
    def measured(cls, impostors: npt.NDArray[np.float64]) -> FalseAccepts:
        """From cosines of pairs of different people, shape (pairs,), as far down as ten pairs still speak for a rate."""
        ordered = np.sort(impostors)
        rates = tuple(rate for rate in RATES if rate * len(ordered) >= 10)
        if not rates:
            raise InvalidInput(what="the number of pairs", given=len(ordered), needed=f"{10 / RATES[0]:.0f} or more")
        return cls(rates, tuple(float(ordered[int(len(ordered) * (1 - rate))]) for rate in rates))

    def threshold(self, rate: float) -> float:
        """The raw cosine that different people reach with probability `rate` a pair, log-linear between the table's
        points; kept inside [-1, 0.95]."""
        if rate > self.rates[0]:
            cosine = self.cosines[0] - math.log(rate / self.rates[0]) / self.slope
        elif rate < self.rates[-1]:
            cosine = self.cosines[-1] + math.log(self.rates[-1] / rate) / self.slope
        else:
            cosine = float(np.interp(-math.log(rate), [-math.log(r) for r in self.rates], self.cosines))
        return min(0.95, max(-1.0, cosine))


@dataclass(frozen=True, slots=True)
class Budgets:
    """How often a turn of somebody not in the gallery may go wrong, whatever the gallery's size."""

    link: float = 0.005
    """linked to somebody: half of the 1 % at 130 people that the project aims at"""
    session_link: float = 0.02
    """linked to somebody already heard in the session, whom at least nine in ten of its turns belong to"""
    not_created: float = 0.04
    """left unresolved instead of created: costs a turn, not a mistake, so more is allowed"""
    access: float = 0.0005
    """let in when asking by voice: ten times stricter than linking, since nothing undoes what was shown"""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Raw cosines of one embedding space, as functions of gallery size and channels. Where from: `origin`."""

    encoder: str
    pairs: Mapping[ChannelPair, FalseAccepts]
    update: float
    """τ_update on wideband: an accepted link below it never moves a center"""
    origin: str
    """date, data, and whether measured"""
    budgets: Budgets = Budgets()
    least_size: int = 5
    """Smaller galleries count as this large: a space or session that has only begun will have more people soon. At 5,
    CAM++ links from 0.507 and creates below 0.378."""
    create_gap: float | None = None
    """τ_link - τ_create where it is given rather than following from the budgets (0: two outcomes, as in the paper)"""
    create_cap: Mapping[ChannelPair, float] | None = None
    """τ_create never rises above these: where known people themselves score when it goes badly"""
    updates: Mapping[ChannelPair, float] | None = None
    """τ_update where it is not `update`: on a telephone strangers reach what only oneself reaches elsewhere"""

    def link(self, gallery_size: int, pair: ChannelPair = ChannelPair.WIDEBAND) -> float:
        """At or above: the person is the candidate (if the margin holds too)."""
        return self._at(self.budgets.link, gallery_size, pair)

    def session_link(self, num_people: int, pair: ChannelPair = ChannelPair.WIDEBAND) -> float:
        """`link` for the `num_people` already heard in a session."""
        return self._at(self.budgets.session_link, num_people, pair)

    def create(self, gallery_size: int, pair: ChannelPair = ChannelPair.WIDEBAND) -> float:
        """Below, for every candidate: somebody new. Never above `link`."""
        if self.create_gap is not None:
            return self.link(gallery_size, pair) - self.create_gap
        cap = (self.create_cap or {}).get(pair, 1.0)
        return min(cap, self._at(self.budgets.not_created, gallery_size, pair))

    def update_at(self, pair: ChannelPair = ChannelPair.WIDEBAND) -> float:
        """τ_update: an accepted link below it teaches nothing."""
        return (self.updates or {}).get(pair, self.update)

    def access(self, gallery_size: int, pair: ChannelPair = ChannelPair.WIDEBAND) -> float:
        """At or above: the asker may be taken for the candidate."""
        return self._at(self.budgets.access, gallery_size, pair)

    def _at(self, budget: float, gallery_size: int, pair: ChannelPair) -> float:
        return self.pairs[pair].threshold(budget / max(self.least_size, gallery_size))


def channel_pair(one: str, other: str, *, compensated: bool = False) -> ChannelPair:
    """`compensated`: neither side has its channel's mean left in it. What remains still differs by channel: at one threshold
    for all, pooled false rejects at 0.1 % false accepts are 4.0 instead of 3.1 % (raw, with a threshold a pair: 5.8 %)."""
    channels = {one, other}
    if channels == {TELEPHONE}:
        return ChannelPair.COMPENSATED_TELEPHONE if compensated else ChannelPair.TELEPHONE
    if TELEPHONE not in channels:
        return ChannelPair.COMPENSATED if compensated else ChannelPair.WIDEBAND
    if TWIN in channels:
        return ChannelPair.TWIN
    return ChannelPair.COMPENSATED_CROSS if compensated else ChannelPair.CROSS


def constant(encoder: str, *, link: float, update: float, origin: str, create_gap: float = 0.0) -> Thresholds:
    """The same thresholds for every gallery and channel: the paper's method. Not for asking: `access` is no stricter."""
    flat = FalseAccepts((0.01,), (link,), math.inf)
    return Thresholds(encoder, dict.fromkeys(ChannelPair, flat), update, origin, create_gap=create_gap)


CAMPPLUS = Thresholds(
    "campplus",
    {
        ChannelPair.WIDEBAND: FalseAccepts(RATES, (0.309, 0.356, 0.423, 0.487, 0.507, 0.517, 0.530, 0.538, 0.544, 0.555)),
        ChannelPair.TELEPHONE: FalseAccepts(RATES, (0.662, 0.687, 0.710, 0.734, 0.752, 0.766, 0.784, 0.793, 0.798, 0.810)),
        ChannelPair.CROSS: FalseAccepts(RATES, (0.243, 0.274, 0.303, 0.336, 0.361, 0.384, 0.410, 0.432, 0.460, 0.476)),
        ChannelPair.TWIN: FalseAccepts(RATES, (0.459, 0.484, 0.507, 0.534, 0.552, 0.562, 0.582, 0.598, 0.605, 0.620)),
        ChannelPair.COMPENSATED: FalseAccepts(RATES, (0.259, 0.298, 0.335, 0.377, 0.402, 0.427, 0.455, 0.476, 0.492, 0.515)),
        ChannelPair.COMPENSATED_TELEPHONE: FalseAccepts(
            RATES, (0.379, 0.420, 0.457, 0.505, 0.531, 0.556, 0.589, 0.605, 0.620, 0.643)
        ),
        ChannelPair.COMPENSATED_CROSS: FalseAccepts(
            RATES, (0.228, 0.262, 0.293, 0.329, 0.354, 0.380, 0.408, 0.427, 0.442, 0.456)
        ),
    },
    update=0.55,
    origin="measured 2026-11: 262 LibriSpeech and VCTK speakers, 684 utterances of 2-8 s, 230,000 pairs of different people "
    "each: clean with clean, GSM telephone with itself, clean with telephone. Twin and compensated: every pair of people "
    "counts once; means of one half of the speakers, pairs of the other (three draws); twins at half the rate, being a "
    "second chance; compensated wideband also with Opus, babble and reverberation",
    create_cap={
        ChannelPair.WIDEBAND: 0.50,
        ChannelPair.TELEPHONE: 0.70,
        ChannelPair.CROSS: 0.30,
        ChannelPair.TWIN: 0.46,
        ChannelPair.COMPENSATED: 0.48,
        ChannelPair.COMPENSATED_TELEPHONE: 0.50,
        ChannelPair.COMPENSATED_CROSS: 0.34,
    },
    updates={
        ChannelPair.TELEPHONE: 0.81,
        ChannelPair.CROSS: 0.48,
        ChannelPair.TWIN: 0.62,
        ChannelPair.COMPENSATED: 0.515,
        ChannelPair.COMPENSATED_TELEPHONE: 0.645,
        ChannelPair.COMPENSATED_CROSS: 0.455,
    },
)
"""Own cosines fall below the caps in 0.5 % (clean; 2.5 % with reverberation), 3 % (telephone) and 17 % (across) of pairs; a
newcomer exceeds them in 4 % of turns at 130 people, 35 % and 50 %. With a twin own in 3 %, compensated 2.5, 3 and 14 %;
newcomers in 72, 3, 30 and 20 %. `update` and `updates` are what 1 in 50,000 strangers' pairs reach."""


@dataclass(frozen=True, slots=True)
class PaperRates:
    """How often pairs of strangers reached EvoSpeakerMem's constants on ECAPA. It does not say; this follows from what it does:
    on SMIIP-TV the EER is 9.7 % and 29.8 % of genuine probes fall below the frozen τ_merge within a day. With two normal
    distributions of equal width the EER point is 1.30 deviations from either, τ_merge 0.53 below the genuine mean and so 2.07
    above the impostors'; τ_update is 0.09 higher, 0.67 deviations if genuine and impostor means are 0.35 apart."""

    link: float = 0.02
    """at τ_merge 0.489"""
    update: float = 0.003
    """at τ_update 0.58"""


PAPER_VOICES = FalseAccepts(RATES, (0.422, 0.470, 0.510, 0.551, 0.579, 0.603, 0.628, 0.643, 0.654, 0.666))
"""CAM++ on voices like the paper's, measured 2026-11: half pairs of 28 synthetic voices (2,050 clips, four pairs that are too
alike left out), half of 262 LibriSpeech and VCTK speakers. The synthetic alone: 0.468 at 2 %, 0.563 at 0.3 %."""


def equal_false_accepts(encoder: str, strangers: FalseAccepts, rates: PaperRates = PaperRates()) -> Thresholds:
    """Constants for any encoder that `strangers` reach as often as they did the paper's on ECAPA: what its policies are run
    with elsewhere. For CAM++ with PAPER_VOICES τ_merge 0.422 and τ_update 0.533."""
    link, update = strangers.threshold(rates.link), strangers.threshold(rates.update)
    origin = f"reached by {rates.link:.1%} and {rates.update:.1%} of strangers' pairs, as the paper's on ECAPA"
    return constant(encoder, link=link, update=update, origin=origin)


def assumed(encoder: str, *, link: float, update: float, create_gap: float, origin: str) -> Thresholds:
    """Until an encoder is calibrated: `link` for five people, rising with the gallery as CAM++'s does (`slope`), and stricter
    by 0.15 when both sides are narrowband, where CAM++ needs 0.25 more; compensated as on wideband."""
    rate = Budgets().link / 5
    wideband = FalseAccepts((rate,), (link,))
    telephone = FalseAccepts((rate,), (link + 0.15,))
    pairs = dict.fromkeys(ChannelPair, wideband) | {ChannelPair.TELEPHONE: telephone}
    return Thresholds(encoder, pairs, update, origin, create_gap=create_gap)


ECAPA = assumed(
    "ecapa",
    link=0.489,
    update=0.58,
    create_gap=0.08,
    origin="EvoSpeakerMem's τ_merge (taken as that of five people) and τ_update for SpeechBrain ECAPA; how they rise with the "
    "gallery, the telephone and the gap of 0.08 are assumed, not measured",
)

TITANET = assumed(
    "titanet",
    link=0.55,
    update=0.62,
    create_gap=0.10,
    origin="not measured: no released weights were at hand; set stricter than ECAPA's until calibrated",
)

THRESHOLDS: Mapping[str, Thresholds] = {t.encoder: t for t in (CAMPPLUS, ECAPA, TITANET)}


def thresholds_for(encoder: str) -> Thresholds:
    """By the embedding space's name; raises UnknownEncoder."""
    try:
        return THRESHOLDS[encoder]
    except KeyError:
        raise UnknownEncoder(encoder=encoder, known=", ".join(sorted(THRESHOLDS))) from None
