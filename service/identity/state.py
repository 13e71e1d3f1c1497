"""What does the fold remember between two batches of a session, and how is that kept in a checkpoint?"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from service.identity.opt_outs import Refusals
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.people import ChannelMean, Consent, Exemplar, Former, PersonVoice, TurnEvidence


@dataclass(frozen=True, slots=True)
class Pending:
    """An unresolved turn, kept until the session's end for settle()."""

    evidence: TurnEvidence
    reason: str


@dataclass(frozen=True, slots=True)
class Said:
    """Who was decided to speak when: nobody speaks over themselves."""

    start: float
    end: float
    person_id: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A track that sounds like a person whom another track of the session already is: to be merged by somebody, not by us."""

    track: str
    person_id: str
    cosine: float
    """best of the track's turns"""
    num_turns: int


@dataclass(frozen=True, slots=True)
class FoldState:
    """Immutable. `gallery`, `population`, `channels`, `refusals` and `former` come from the graph before each batch; all the
    rest goes into the checkpoint."""

    gallery: Mapping[str, PersonVoice] = field(default_factory=dict)
    bound: Mapping[str, str] = field(default_factory=dict)
    """track → person"""
    pending: tuple[Pending, ...] = ()
    heard: Mapping[str, int] = field(default_factory=dict)
    """person → turns in this session, by any track or none"""
    recent: tuple[Said, ...] = ()
    """decided turns that may still overlap with the next"""
    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    """track → the person it was not allowed to bind"""
    passing: Mapping[str, PersonVoice] = field(default_factory=dict)
    """voices of this session that may not be kept (`ephemeral`); gone when the session is closed"""
    population: int = 0
    """people in the space when `gallery` is a shortlist (people merged into one count once); thresholds follow the larger of
    the two"""
    channels: Mapping[str, ChannelMean] = field(default_factory=dict)
    """channel → its mean, where enough people were heard on it: taken away when both sides have one"""
    refusals: Refusals = field(default_factory=Refusals)
    """who may not be known by voice, as of the gallery"""
    former: Mapping[str, Former] = field(default_factory=dict)
    """person → who was held to speak in what is processed again; nobody else is told by when they spoke"""

    def with_gallery(
        self,
        gallery: Mapping[str, PersonVoice],
        population: int = 0,
        channels: Mapping[str, ChannelMean] | None = None,
        refusals: Refusals | None = None,
        former: Mapping[str, Former] | None = None,
    ) -> FoldState:
        """The state with people and channels as they are in the graph now; passing voices stay unless the graph knows them, and
        nothing stays of a voice whose person refused meanwhile."""
        now = replace(self, gallery=dict(gallery), population=population, channels=dict(channels or {}), former=former or {})
        return now.obeying(refusals or Refusals())

    def obeying(self, refusals: Refusals) -> FoldState:
        """Without the voices of who refused, wherever they are remembered: turns that wait stay nobody's."""
        if not refusals:
            return replace(self, refusals=refusals)
        return replace(
            self,
            refusals=refusals,
            passing={person: voice for person, voice in self.passing.items() if person not in refusals.voices},
            pending=tuple(self._obeying(pending, refusals) for pending in self.pending),
        )

    def _obeying(self, pending: Pending, refusals: Refusals) -> Pending:
        turn, person = pending.evidence, self.bound.get(pending.evidence.track)
        heard = turn.embedding
        marked = heard is not None and refusals.marks.matches(heard.vector, turn.channel, heard.space)
        if person in refusals.attribution or (marked and person is None):
            return Pending(voiceless(turn), OPTED_OUT)
        return Pending(voiceless(turn), pending.reason) if marked or person in refusals.voices else pending

    @property
    def candidates(self) -> dict[str, PersonVoice]:
        """Everybody a turn is compared with."""
        return {**self.passing, **self.gallery}

    def to_checkpoint(self) -> dict[str, Any]:
        """JSON-ready, without the gallery. Holds voice vectors of unresolved and passing voices: delete it with the fold."""
        return {
            "bound": dict(self.bound),
            "heard": dict(self.heard),
            "recent": [[s.start, s.end, s.person_id] for s in self.recent],
            "proposals": [asdict(p) for p in self.proposals.values()],
            "pending": [{"reason": p.reason, **_turn_out(p.evidence)} for p in self.pending],
            "passing": [_voice_out(v) for v in self.passing.values()],
        }

    @classmethod
    def from_checkpoint(cls, checkpoint: Mapping[str, Any]) -> FoldState:
        """The inverse of to_checkpoint, with an empty gallery."""
        proposals = [Proposal(**p) for p in checkpoint["proposals"]]
        passing = [_voice_in(v) for v in checkpoint["passing"]]
        return cls(
            bound=dict(checkpoint["bound"]),
            heard=dict(checkpoint["heard"]),
            recent=tuple(Said(*s) for s in checkpoint["recent"]),
            proposals={p.track: p for p in proposals},
            pending=tuple(Pending(_turn_in(p), p["reason"]) for p in checkpoint["pending"]),
            passing={v.person_id: v for v in passing},
        )


OPTED_OUT = "opted_out"
"""Reason of a turn whose voice may not be used."""


def voiceless(turn: TurnEvidence) -> TurnEvidence:
    """The turn without the voice in it."""
    return replace(turn, embedding=None, narrow=None)


_TURN_FIELDS = ("message_id", "track", "start", "end", "net_speech", "overlapped", "snr_db", "channel", "clipped")


def _turn_out(turn: TurnEvidence) -> dict[str, Any]:
    embedding, narrow = turn.embedding, turn.narrow
    return {
        **{name: getattr(turn, name) for name in _TURN_FIELDS},
        **({"before": turn.before} if turn.before else {}),
        "vector": embedding and _vector_out(embedding.vector),
        "narrow": narrow and _vector_out(narrow.vector),
        "space": embedding and asdict(embedding.space),
    }


def _turn_in(kept: Mapping[str, Any]) -> TurnEvidence:
    embedding, narrow = (
        SpeakerEmbedding(_vector_in(kept[name]), EmbeddingSpace(**kept["space"])) if kept.get(name) else None
        for name in ("vector", "narrow")
    )
    fields = {name: kept[name] for name in (*_TURN_FIELDS, "before") if name in kept}  # older checkpoints have no `clipped`
    return TurnEvidence(**fields, embedding=embedding, narrow=narrow)


def _voice_out(voice: PersonVoice) -> dict[str, Any]:
    return {
        "person_id": voice.person_id,
        "space": asdict(voice.space),
        "centroid": _vector_out(voice.centroid),
        "exemplars": [{**_exemplar_fields(e), "vector": _vector_out(e.vector)} for e in voice.exemplars],
        "num_turns": voice.num_turns,
        "net_speech": voice.net_speech,
        "consent": voice.consent.value,
    }


def _voice_in(kept: Mapping[str, Any]) -> PersonVoice:
    return PersonVoice(
        kept["person_id"],
        EmbeddingSpace(**kept["space"]),
        _vector_in(kept["centroid"]),
        tuple(Exemplar(**{**e, "vector": _vector_in(e["vector"])}) for e in kept["exemplars"]),
        kept["num_turns"],
        kept["net_speech"],
        Consent(kept["consent"]),
    )


def _exemplar_fields(exemplar: Exemplar) -> dict[str, Any]:
    names = ("id", "net_speech", "snr_db", "channel", "message_id", "twin_of")
    return {name: getattr(exemplar, name) for name in names}


def _vector_out(vector: Samples) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode()


def _vector_in(text: str) -> Samples:
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float32)
