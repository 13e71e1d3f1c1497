"""May this asker be taken for somebody known, by voice alone? Read-only, and stricter than linking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.identity.gallery import Gallery, root
from service.identity.policies import policy, same_space, unit
from service.identity.thresholds import CAMPPLUS, Thresholds
from service.types.audio import SpeakerEmbedding
from service.types.people import ChannelMean, PersonVoice, Scores, VoiceOutcome, VoiceVerdict


@dataclass(frozen=True, slots=True)
class AskConfig:
    policy: str = "bounded"
    thresholds: Thresholds = CAMPPLUS
    min_speech: float = 1.0
    """seconds of net speech in the question; 1 s against a profile has an EER of 2.5 %"""
    max_spoof: float = 0.5
    """where a SpoofScorer, if one is set, makes as many errors of both kinds; above it a voice opens nothing"""
    margin: float = 0.08
    """twice the router's: what was shown to the wrong one of two sisters cannot be unshown"""


def verify(
    embedding: SpeakerEmbedding | Sequence[SpeakerEmbedding],
    net_speech: float,
    gallery: Mapping[str, PersonVoice],
    config: AskConfig,
    *,
    channel: str = "wideband",
    population: int = 0,
    channels: Mapping[str, ChannelMean] | None = None,
    spoof: float | None = None,
) -> VoiceVerdict:
    """Who asks. Several embeddings (of one voice) are averaged. `population`: people in the space if `gallery` is a part;
    `channels`: means, taken away where both sides have one. People merged into one (PersonVoice.same_as) count once.

    accept: at τ_access(gallery size) with the margin kept · inconclusive: too little speech, perhaps no voice here and now
    (`spoof`, of a SpoofScorer: then it is compared with nobody's), two people too close, or between τ_link and τ_access ·
    reject: somebody is enrolled, but the voice is nobody's · not_enrolled: nobody is known ·
    opted_out: the nearest person never gave, or took back, what this needs. Raises VoiceSpacesDiffer, BadVoiceVector."""
    voices = list(gallery.values())
    size = max(len({root(v) for v in voices}), population)
    empty = Scores(None, None, config.thresholds.access(size), config.policy, config.thresholds.encoder)
    if not voices:
        return VoiceVerdict(VoiceOutcome.NOT_ENROLLED, None, empty, "no voice is known in this space")
    if spoof is not None and not spoof <= config.max_spoof:
        return VoiceVerdict(VoiceOutcome.INCONCLUSIVE, None, empty, "it sounds like a recording, or like a machine")
    if net_speech < config.min_speech:
        reason = f"{net_speech:.1f} s of speech; {config.min_speech:.1f} s are needed"
        return VoiceVerdict(VoiceOutcome.INCONCLUSIVE, None, empty, reason)
    return _judge(embedding, voices, config, channel, channels or {}, size)


def _judge(
    embedding: SpeakerEmbedding | Sequence[SpeakerEmbedding],
    voices: Sequence[PersonVoice],
    config: AskConfig,
    channel: str,
    channels: Mapping[str, ChannelMean],
    size: int,
) -> VoiceVerdict:
    parts = [embedding] if isinstance(embedding, SpeakerEmbedding) else list(embedding)
    space = voices[0].space
    for given in (*(p.space for p in parts), *(v.space for v in voices)):
        same_space(given, space)
    units = [unit(p.vector, dimension=space.dimension, what="the question") for p in parts]
    vector = unit(np.sum(units, axis=0), dimension=space.dimension, what="the question")
    known = Gallery(voices, policy(config.policy), space.dimension, channels)
    likeness = known.likeness(vector, channel, lambda pair: config.thresholds.access(size, pair))
    cosines, access = likeness.cosines, likeness.thresholds(lambda pair: config.thresholds.access(size, pair))
    order = np.argsort(access - cosines, kind="stable")
    best, second = int(order[0]), int(order[1]) if len(order) > 1 else None
    cosine, threshold = float(cosines[best]), float(access[best])
    names = [known.voices[member].person_id for member in likeness.members[order[:2]]]
    scores = Scores(
        cosine,
        None if second is None else float(cosines[second] - access[second]) + threshold,
        threshold,
        config.policy,
        config.thresholds.encoder,
        names[1] if len(names) > 1 else None,
        likeness.pair(best),
    )
    if cosine < likeness.thresholds(lambda pair: config.thresholds.link(size, pair))[best]:
        return VoiceVerdict(VoiceOutcome.REJECT, None, scores, "the voice is nobody's who is known here")
    if known.refused(best):
        return VoiceVerdict(VoiceOutcome.OPTED_OUT, None, scores, "this person's voice may not be used")
    if cosine < threshold:
        return VoiceVerdict(VoiceOutcome.INCONCLUSIVE, None, scores, "alike, but not enough to be let in; say more")
    if scores.margin is not None and scores.margin < config.margin:
        return VoiceVerdict(VoiceOutcome.INCONCLUSIVE, None, scores, "two people are too alike to tell")
    return VoiceVerdict(VoiceOutcome.ACCEPT, names[0], scores, "recognised")
