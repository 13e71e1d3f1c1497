"""Does somebody whisper, shout, speak slowly or fast? Against how the same person usually speaks on the same channel; a loud
voice is not shouting, and who always speaks fast is not fast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.types.sounds import Manner, SoundLabel


@dataclass(frozen=True, slots=True)
class MannerConfig:
    """By hand, on the wide side: there were no recordings of people whispering and shouting who also speak, 2026-11. Who
    shouts is some 20 dB louder and half an octave or more higher; microphones with automatic gain leave less of the first."""

    least_usual: int = 8  # turns that tell how somebody usually speaks
    least_words: int = 6  # of a turn whose pace is told: short ones are fast or slow by chance
    least_speech: float = 1.2  # seconds of speech of such a turn
    pace: float = 1.35  # times the usual, or the usual times
    spreads: float = 2.0  # robust standard deviations that pace must be off besides
    least_spread: float = 0.4  # words a second: nobody is steadier
    louder: float = 8.0  # dB over the usual
    higher: float = 4.0  # semitones over the usual
    quieter: float = 6.0  # dB under the usual
    unvoiced: float = 0.12  # share of voiced frames at most of a whisper
    usually_voiced: float = 0.35  # share of the usual, at least: else the channel tells nothing


@dataclass(frozen=True, slots=True)
class Usually:
    """The middle of many turns; None where too few were measured."""

    level: float | None
    pitch: float | None
    rate: float | None
    rate_spread: float
    voiced: float | None


def usually(turns: Sequence[Manner], config: MannerConfig = MannerConfig()) -> Usually:
    """`turns`: of one person on one channel, in any order."""

    def middle(values: list[float]) -> float | None:
        return float(np.median(values)) if len(values) >= config.least_usual else None

    rates = [turn.rate for turn in turns if turn.rate is not None]
    rate = middle(rates)
    spread = 1.48 * float(np.median(np.abs(np.asarray(rates) - rate))) if rate is not None else 0.0
    return Usually(
        middle([turn.level for turn in turns if turn.level is not None]),
        middle([turn.pitch for turn in turns if turn.pitch is not None]),
        rate,
        max(spread, config.least_spread),
        middle([turn.voiced for turn in turns if turn.voiced is not None]),
    )


def manners(
    turn: Manner, usual: Usually, *, words: int, net_speech: float, config: MannerConfig = MannerConfig()
) -> dict[SoundLabel, float]:
    """What the turn is against the usual, with how sure: 0.5 at the limit, towards 1 beyond. `net_speech`: seconds."""
    found = {
        SoundLabel.SHOUTING: _shouting(turn, usual, config),
        SoundLabel.WHISPERING: _whispering(turn, usual, config),
        **_pace(turn, usual, words, net_speech, config),
    }
    return {label: round(score, 2) for label, score in found.items() if score is not None}


def _shouting(turn: Manner, usual: Usually, config: MannerConfig) -> float | None:
    if turn.level is None or usual.level is None or not turn.pitch or not usual.pitch:
        return None
    louder, higher = turn.level - usual.level, 12.0 * math.log2(turn.pitch / usual.pitch)
    return _sure(min(louder / config.louder, higher / config.higher))


def _whispering(turn: Manner, usual: Usually, config: MannerConfig) -> float | None:
    if turn.voiced is None or usual.voiced is None or turn.level is None or usual.level is None:
        return None
    if usual.voiced < config.usually_voiced or turn.voiced > config.unvoiced:
        return None
    return _sure((usual.level - turn.level) / config.quieter)


def _pace(turn: Manner, usual: Usually, words: int, net_speech: float, config: MannerConfig) -> dict[SoundLabel, float | None]:
    if turn.rate is None or not usual.rate or words < config.least_words or net_speech < config.least_speech:
        return {}
    off = (turn.rate - usual.rate) / usual.rate_spread
    fast, slow = turn.rate / usual.rate / config.pace, usual.rate / turn.rate / config.pace
    return {
        SoundLabel.FAST: _sure(min(fast, off / config.spreads)),
        SoundLabel.SLOW: _sure(min(slow, -off / config.spreads)),
    }


def _sure(times: float) -> float | None:
    """`times` the limit, as how sure; None under it."""
    return 1.0 - 0.5 / times if times >= 1.0 else None
