"""Made voices: directions whose cosines are chosen, so that every figure in a trace can be worked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.people import Consent, Exemplar, PersonVoice, TurnEvidence

SPACE = EmbeddingSpace("campplus", "test", 8)
GOOD_SNR = 25.0


def axis(index: int) -> Samples:
    """The unit vector along `index`: voices that have nothing in common."""
    vector = np.zeros(SPACE.dimension, dtype=np.float32)
    vector[index] = 1.0
    return vector


def between(cosine: float, one: int = 0, other: int = 1) -> Samples:
    """The unit vector at `cosine` from axis(one), towards axis(other)."""
    return (cosine * axis(one) + math.sqrt(1 - cosine**2) * axis(other)).astype(np.float32)


def turned(cosine: float, shared: float, own: int) -> Samples:
    """The unit vector at `cosine` from axis(0) and at `shared` from axis(7), the rest along `own`: several of them have more
    in common than axis(0) alone."""
    rest = math.sqrt(1 - cosine**2 - shared**2)
    return (cosine * axis(0) + shared * axis(7) + rest * axis(own)).astype(np.float32)


def a_turn(
    message_id: str,
    vector: Samples | None,
    *,
    at: float = 0.0,
    seconds: float = 4.0,
    track: str = "",
    net_speech: float | None = None,
    overlapped: float = 0.0,
    snr_db: float = GOOD_SNR,
    channel: str = "wideband",
    space: EmbeddingSpace = SPACE,
    clipped: float = 0.0,
) -> TurnEvidence:
    net = seconds - overlapped if net_speech is None else net_speech
    embedding = None if vector is None else SpeakerEmbedding(vector, space)
    return TurnEvidence(message_id, track, at, at + seconds, net, overlapped, snr_db, channel, embedding, clipped=clipped)


def one_after_another(vectors: Sequence[Samples], *, track: str = "", prefix: str = "m") -> list[TurnEvidence]:
    """Turns of 4 s, 5 s apart; ids m0, m1, …"""
    return [a_turn(f"{prefix}{i}", v, at=5.0 * i, track=track) for i, v in enumerate(vectors)]


def an_exemplar(name: str, vector: Samples, *, net_speech: float = 4.0, channel: str = "wideband") -> Exemplar:
    return Exemplar(name, vector, net_speech, GOOD_SNR, channel, f"message-of-{name}")


def a_person(name: str, vector: Samples, *, consent: Consent = Consent.UNKNOWN, channel: str = "wideband") -> PersonVoice:
    """Known from one utterance."""
    return PersonVoice(name, SPACE, vector, (an_exemplar(f"{name}-0", vector, channel=channel),), 1, 4.0, consent)


def gallery(*people: PersonVoice) -> dict[str, PersonVoice]:
    return {p.person_id: p for p in people}
