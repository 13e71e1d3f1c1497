"""A small collection: two people over two sessions, with voices whose cosines are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from service.types.audio import EmbeddingSpace, Samples
from tests.bench.locomo_id.collections import Collection, Query, Session, Turn
from tests.bench.locomo_id.voices import Utterance
from tests.unit.identity.voices import SPACE, axis


class MadeVoices:
    """Each utterance sounds as given by its id; else its voice is an axis of its own, in order of first use."""

    def __init__(self, sounds: Mapping[str, Samples] | None = None) -> None:
        self._sounds = dict(sounds or {})
        self._axes: dict[str, int] = {}

    @property
    def space(self) -> EmbeddingSpace:
        return SPACE

    def embedding(self, utterance: Utterance, shift: str = "clean") -> Samples:
        if utterance.id in self._sounds:
            return self._sounds[utterance.id]
        return axis(self._axes.setdefault(utterance.voice, len(self._axes)))

    def twin(self, utterance: Utterance, shift: str = "clean") -> Samples | None:
        return None

    def channel(self, utterance: Utterance, shift: str = "clean") -> str:
        return "wideband"


def an_utterance(voice: str, name: str = "") -> Utterance:
    return Utterance(name or f"{voice}.ogg", voice, 4.0)


def a_turn(name: str, voice: str, at: float = 0.0) -> Turn:
    return Turn(name, at, an_utterance(voice, name), "clean", None)


def a_query(voice: str, name: str = "q", evidence: frozenset[str] = frozenset(), category: int = 4) -> Query:
    """Without words: asks for everything."""
    return Query(name, an_utterance(voice, name), "clean", "", (), evidence, "yes", category)


def two_sessions(queries: tuple[Query, ...] = ()) -> Collection:
    """ana, ben, ana; then ben, ana."""
    first = tuple(a_turn(f"m{i}", voice, 5.0 * i) for i, voice in enumerate(("ana", "ben", "ana")))
    second = tuple(a_turn(f"m{3 + i}", voice, 5.0 * i) for i, voice in enumerate(("ben", "ana")))
    sessions = (Session("s1", datetime(2024, 1, 1), first), Session("s2", datetime(2024, 1, 2), second))
    return Collection("made", "made", sessions, queries)
