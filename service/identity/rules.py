"""By which rules is a turn decided? What a fold is configured with, every number with its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from service.identity.thresholds import CAMPPLUS, Thresholds

NO_TRACK = ""
"""TurnEvidence.track of a turn of which no local speaker is known."""


@dataclass(frozen=True, slots=True)
class Floors:
    """Seconds of net speech (VAD-measured), signal and cosines below which a voice says too little. Cosines are wideband's and
    move with the pair of channels (Fold.on): on a telephone strangers reach 0.42 on average."""

    query: float = 0.8
    """may be compared: at 1 s the EER is 4.8 %, below it was not measured"""
    create: float = 2.0
    """may become somebody: no new people from under 2 s, where same-speaker cosines reach down to strangers'"""
    learn: float = 2.0
    """may become an exemplar"""
    snr_db: float = 3.0
    """to create or learn; babble at 5 dB still gives an EER of 1 %"""
    clipped: float = 0.03
    """share of samples at full scale above which a turn neither creates nor teaches. CAM++ of 20 clips of the household against
    themselves clipped: cosine 0.93 at 3 %, 0.85 at 10 %, 0.56 at 40 %; to other people's none comes nearer, so it may link"""
    overlapped: float = 0.5
    """share of the turn under other voices above which it neither creates nor teaches"""
    margin: float = 0.04
    """link only when the runner-up is this far behind, else `ambiguous`"""
    short_margin: float = 0.08
    """the same below `create` seconds"""
    contradicts: float = 0.15
    """a turn of at least `create` seconds this unlike its track's person is not put down to it: different people score
    0.07 ± 0.11, one person in a meeting 0.54 ± 0.18, and a diariser's label is right about nine times in ten"""
    settle: float = 0.36
    """at the session's end a turn without a track may go to somebody heard in it from this cosine on: 1 % of strangers' pairs
    reach it. From 0.20 on, LINK precision was 0.56 instead of 0.57 over EmoDB's emotions, 0.94 instead of 0.96 over lines and
    0.81 instead of 0.93 over AMI's excerpts, and no more of the known people's turns were resolved (tests/bench/drift)"""
    attribute: float = 0.15
    """with RouterConfig.attribute_all, turns and people are joined down to this average cosine"""
    together: float = 0.25
    """turns of a track count together from this cosine on: at 1 s one in 30 pairs of two people's, 19 in 20 of one person's"""
    patience: float = 0.12
    """A turn of a track makes somebody new alone only this far below τ_create; else its track waits for its next turn, or for
    the session's end. At 130 people, three turns of 2 s: known people made anew 1.3 → 0 %, in acted emotion 60 → 33 %;
    strangers without a person after three turns stay under 1 %, after one 2 → 32 %."""
    pool: float = 0.40
    """at the session's end turns without a track make somebody together from this cosine on"""
    pool_turns: int = 200
    """the longest of such turns that are looked at: the cost grows with their cube"""
    simultaneous: float = 0.2
    """seconds of overlap from which two turns cannot be one person's (annotations touch by less)"""


PAPER_FLOORS = Floors(
    query=0.0,
    create=0.0,
    learn=0.0,
    snr_db=-math.inf,
    clipped=1.0,
    overlapped=1.0,
    margin=0.0,
    short_margin=0.0,
    contradicts=-1.0,
    patience=0.0,
    simultaneous=math.inf,
)
"""None: EvoSpeakerMem links or creates, whatever the turn."""


@dataclass(frozen=True, slots=True)
class RouterConfig:
    """What a fold decides by; the same for a whole session."""

    policy: str = "bounded"
    thresholds: Thresholds = CAMPPLUS
    floors: Floors = Floors()
    keep_voices: bool = True
    """False in a space with `anonymous_voices: ephemeral`: new voices live in FoldState.passing only"""
    attribute_all: bool = False
    """At the session's end turns without a track are all put down to somebody where at all possible, as a transcript with
    boundaries and no names wants: groups of at least Floors.create seconds, overlapped or not, that resemble nobody become
    people of this session only, without a voiceprint. More turns attributed, more of them wrongly: off by default."""
    session_prior: bool = True
    """people already heard in the session compete as a gallery of their own: their threshold follows its small size"""
    roster: frozenset[str] = frozenset()
    """Ids of people expected in the session: with session_prior they compete like those already heard, so a roster of many is
    stricter than one of few. A prior only: it never lowers a threshold below the session's, and grants nothing."""
    pool_tracks: bool = True
    """what a track's turns could not say one by one is asked of them together whenever another comes: at 130 people, after
    three turns of 1 s, strangers without a person fall from 99 to 1 %, people missed from 2.5 to 0.6 %"""
    compensate: bool = True
    """take a channel's mean away where both sides have one (FoldState.channels)"""


def paper_config(policy_name: str, thresholds: Thresholds) -> RouterConfig:
    """EvoSpeakerMem's router: two outcomes, one threshold, no floors, no session, raw cosines."""
    return RouterConfig(policy_name, thresholds, PAPER_FLOORS, session_prior=False, pool_tracks=False, compensate=False)
