"""How pleasant and how stirred is a turn? Valence from its words; arousal from words, and from the voice against how the same
speaker usually sounds. The voice alone never says whether somebody is pleased."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.memory.right_brain.lexicon import LESS, MORE, STATES, WORDS
from service.types.affect import Affect, Aspect, Mark, Prosody, SaidFeelings
from service.types.parsing import Sentence


@dataclass(frozen=True, slots=True)
class AffectConfig:
    """By hand: there was no recording of people with feelings, and of which, that could be measured on, 2026-11."""

    everyday: float = 0.4  # arousal of talk that tells nothing
    saturation: float = 1.5  # s / sqrt(s² + it), VADER's form: two strong words are near the end
    denied: float = -0.6  # "not good" is bad, and less than "bad" (VADER: -0.74)
    reach: int = 3  # words after "not", "so", "a bit" that they concern (VADER)
    min_usual: int = 6  # measured turns of the same speaker on the same channel before a usual is known
    pitch: float = 0.16  # of arousal for a spread above the usual; pitch and level most (Scherer 2003)
    pitch_range: float = 0.06
    level: float = 0.12
    rate: float = 0.06
    least_pitch: float = 8.0  # Hz; least spreads, a third of what is common: else a monotone's cough stirs
    least_pitch_range: float = 1.0  # semitones
    least_level: float = 1.5  # dB
    least_rate: float = 0.3  # words a second
    felt_share: float = 0.5  # of valence, of what the speaker says to feel; the rest of all words
    more: float = 1.3  # times the valence of a word after "so", "really"
    less: float = 0.7  # and after "a bit"
    words_share: float = 0.8  # of what a word of feeling differs from the everyday, in arousal
    shout: float = 0.05  # of arousal for each exclamation mark
    shouts: int = 3  # of them at most
    clip: float = 2.5  # spreads; beyond, it is a mistake of the measuring


@dataclass(frozen=True, slots=True)
class Usual:
    """How somebody usually sounds: medians, and spreads (median absolute deviation × 1.48); None where not known."""

    middle: Prosody
    spread: Prosody


def usual(measured: Sequence[Prosody], config: AffectConfig = AffectConfig()) -> Usual | None:
    """Of one speaker's turns on one channel; None of too few."""
    if len(measured) < config.min_usual:
        return None
    middle: dict[str, float | None] = {}
    spread: dict[str, float | None] = {}
    for name in ("pitch", "pitch_range", "level", "rate"):
        values = [value for one in measured if (value := getattr(one, name)) is not None]
        known = len(values) >= config.min_usual
        centre = float(np.median(values)) if known else 0.0
        middle[name] = centre if known else None
        off = 1.48 * float(np.median(np.abs(np.asarray(values) - centre))) if known else 0.0
        spread[name] = max(off, getattr(config, f"least_{name}"))
    return Usual(_prosody(middle), _prosody(spread))


def affect(
    sentences: Sequence[Sentence],
    marks: Sequence[Mark],
    prosody: Prosody | None = None,
    usually: Usual | None = None,
    config: AffectConfig = AffectConfig(),
) -> Affect:
    """`marks`: what the turn shows, the strongest first."""
    return with_voice(by_words(sentences, marks, config), prosody, usually, config)


def by_words(sentences: Sequence[Sentence], marks: Sequence[Mark], config: AffectConfig = AffectConfig()) -> SaidFeelings:
    """`marks`: what the turn shows, the strongest first."""
    felt = _felt(marks)
    valence = _valence(sentences, config)
    if felt:
        said = math.copysign(felt[0].intensity, felt[0].polarity)
        valence = (1 - config.felt_share) * valence + config.felt_share * said
    stirred = config.everyday + _arousal_of_words(sentences, config)
    return SaidFeelings(valence, min(1.0, max(0.0, stirred)), tuple(marks))


def with_voice(
    said: SaidFeelings, prosody: Prosody | None, usually: Usual | None, config: AffectConfig = AffectConfig()
) -> Affect:
    """As stirred as words and sound tell; of what the words tell, the strongest feeling."""
    felt = _felt(said.marks)
    stirred = said.arousal + _arousal_of_voice(prosody, usually, config)
    return Affect(round(said.valence, 4), round(min(1.0, max(0.0, stirred)), 4), felt[0].emotion if felt else None)


def _felt(marks: Sequence[Mark]) -> list[Mark]:
    return [m for m in marks if m.aspect is Aspect.FEELING and m.emotion is not None]


def _valence(sentences: Sequence[Sentence], config: AffectConfig) -> float:
    total = 0.0
    for sentence in sentences:
        words = [token.lower for token in sentence.tokens]
        for i, word in enumerate(words):
            value = WORDS.get(word, WORDS.get(sentence.tokens[i].lemma.lower(), 0.0))
            before = set(words[max(0, i - config.reach) : i])
            if value:
                value *= config.more if before & MORE else config.less if before & LESS else 1.0
                total += value * (config.denied if before & {"not", "n't", "never", "no"} else 1.0)
    return total / math.sqrt(total * total + config.saturation) if total else 0.0


def _arousal_of_words(sentences: Sequence[Sentence], config: AffectConfig) -> float:
    """What the words of feeling add to, or take from, the everyday; exclamation marks a little."""
    tokens = [token for sentence in sentences for token in sentence.tokens]
    states = [STATES[token.lower].arousal for token in tokens if token.lower in STATES]
    shouted = config.shout * min(config.shouts, sum(token.text.count("!") for token in tokens))
    return (
        max(states, key=lambda a: abs(a - config.everyday)) - config.everyday if states else 0.0
    ) * config.words_share + shouted


def _arousal_of_voice(prosody: Prosody | None, usually: Usual | None, config: AffectConfig) -> float:
    if prosody is None or usually is None:
        return 0.0
    total = 0.0
    for name in ("pitch", "pitch_range", "level", "rate"):
        value, middle, spread = (getattr(one, name) for one in (prosody, usually.middle, usually.spread))
        if value is not None and middle is not None:
            off = (value - middle) / spread
            total += getattr(config, name) * max(-config.clip, min(config.clip, off))
    return total


def _prosody(values: dict[str, float | None]) -> Prosody:
    return Prosody(values["pitch"], values["pitch_range"], values["level"] or 0.0, values["rate"])
