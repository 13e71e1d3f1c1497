"""From which cosine on are two voices one person's, for how many people and over which channels?

A threshold is not a constant of the encoder. Against N people a stranger has N chances to resemble somebody, so at a
fixed cosine false links grow with N. Each entry gives, for one pair of channels, the false accepts of *pairs* as
`far(t) = 0.01 · exp(-slope · (t - cosine_at_1pct))`: log-linear in the cosine, fitted over 1 % to 0.02 % per pair. The
threshold for N people and a budget e of wrong outcomes per stranger's turn is where `N · far(t) = e`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from service.errors import VoicegraphError

TELEPHONE = "telephone"
"""Channel tag of narrowband turns (SpeakerTurn.channel)."""


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


@dataclass(frozen=True, slots=True)
class FalseAccepts:
    """False accepts of pairs of voices on one pair of channels; `slope` = inf makes the thresholds constant."""

    cosine_at_1pct: float
    slope: float
    """per unit of cosine: a tenfold stricter rate costs ln(10) / slope"""

    def threshold(self, rate: float) -> float:
        """The raw cosine that different people reach with probability `rate` a pair; kept inside [-1, 0.95]."""
        return min(0.95, max(-1.0, self.cosine_at_1pct + math.log(0.01 / rate) / self.slope))


@dataclass(frozen=True, slots=True)
class Budgets:
    """How often a turn of somebody not in the gallery may go wrong, whatever the gallery's size."""

    link: float = 0.005
    """linked to somebody: half of the 1 % at 130 people that the project aims at"""
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
    """τ_update: an accepted link below it never moves a center"""
    origin: str
    """date, data, and whether measured"""
    budgets: Budgets = Budgets()
    create_gap: float | None = None
    """τ_link - τ_create where it is given rather than following from the budgets (0: two outcomes, as in the paper)"""
    create_cap: Mapping[ChannelPair, float] | None = None
    """τ_create never rises above these: where known people themselves score when it goes badly"""

    def link(self, gallery_size: int, pair: ChannelPair = ChannelPair.WIDEBAND) -> float:
        """At or above: the person is the candidate (if the margin holds too)."""
        return self._at(self.budgets.link, gallery_size, pair)

    def create(self, gallery_size: int, pair: ChannelPair = ChannelPair.WIDEBAND) -> float:
        """Below, for every candidate: somebody new. Never above `link`."""
        if self.create_gap is not None:
            return self.link(gallery_size, pair) - self.create_gap
        cap = (self.create_cap or {}).get(pair, 1.0)
        return min(cap, self._at(self.budgets.not_created, gallery_size, pair))

    def access(self, gallery_size: int, pair: ChannelPair = ChannelPair.WIDEBAND) -> float:
        """At or above: the asker may be taken for the candidate."""
        return self._at(self.budgets.access, gallery_size, pair)

    def _at(self, budget: float, gallery_size: int, pair: ChannelPair) -> float:
        return self.pairs[pair].threshold(budget / max(1, gallery_size))


def channel_pair(one: str, other: str) -> ChannelPair:
    narrow = (one == TELEPHONE) + (other == TELEPHONE)
    return (ChannelPair.WIDEBAND, ChannelPair.CROSS, ChannelPair.TELEPHONE)[narrow]


def constant(encoder: str, *, link: float, update: float, origin: str, create_gap: float = 0.0) -> Thresholds:
    """The same thresholds for every gallery and channel: the paper's method, or a calibration's single figure."""
    flat = FalseAccepts(link, math.inf)
    return Thresholds(encoder, dict.fromkeys(ChannelPair, flat), update, origin, create_gap=create_gap)


CAMPPLUS = Thresholds(
    "campplus",
    {
        ChannelPair.WIDEBAND: FalseAccepts(0.34, 25.2),
        ChannelPair.TELEPHONE: FalseAccepts(0.687, 35.4),
        ChannelPair.CROSS: FalseAccepts(0.274, 25.5),
    },
    update=0.55,
    origin="measured 2026-11: 263 LibriSpeech and VCTK speakers, 231,808 different-person pairs, clean and GSM telephone",
    create_cap={ChannelPair.WIDEBAND: 0.50, ChannelPair.TELEPHONE: 0.75, ChannelPair.CROSS: 0.25},
)

ECAPA = constant(
    "ecapa", link=0.489, update=0.58, create_gap=0.08,
    origin="EvoSpeakerMem's τ_merge and τ_update for SpeechBrain ECAPA; the gap of 0.08 is ours; not measured here",
)

TITANET = constant(
    "titanet", link=0.55, update=0.62, create_gap=0.10,
    origin="not measured: no released weights were at hand; set stricter than ECAPA's until calibrated",
)

THRESHOLDS: Mapping[str, Thresholds] = {t.encoder: t for t in (CAMPPLUS, ECAPA, TITANET)}


def thresholds_for(encoder: str) -> Thresholds:
    """By the embedding space's name; raises UnknownEncoder."""
    try:
        return THRESHOLDS[encoder]
    except KeyError:
        raise UnknownEncoder(encoder=encoder, known=", ".join(sorted(THRESHOLDS))) from None
