"""Inputs of tests, made by what matters in them; everything else is a plain default."""

from __future__ import annotations

import wave
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from service.graph.write_sessions import NewMessage, NewSession
from service.memory.interactions import Spoken
from service.types.audio import SAMPLE_RATE, EmbeddingSpace, Segment, SignalQuality, SpeakerEmbedding, SpeakerTurn
from service.types.ids import derived
from service.types.memory import Attendance
from service.types.people import TurnEvidence


def a_turn(
    by: str | None,
    start: float,
    end: float,
    text: str | None = None,
    *,
    id: str = "",
    track: str = "",
    to: tuple[str, ...] = (),
) -> Spoken:
    """A turn of person `by` (None: unresolved) on a track of the same name."""
    return Spoken(id or f"m{start:g}", Segment(start, end), track or f"track-{by}", by, text, to)


def a_conversation(*turns: tuple[str | None, str]) -> list[Spoken]:
    """Turns of 2 s with 0.5 s between them; message ids m0, m1, …"""
    return [a_turn(by, 2.5 * i, 2.5 * i + 2.0, text, id=f"m{i}") for i, (by, text) in enumerate(turns)]


def there(person: str, *intervals: tuple[float, float], source: str = "platform") -> Attendance:
    return Attendance(person, tuple(Segment(*i) for i in intervals), source)


VOICE = EmbeddingSpace("campplus", "test", 192)
"""Space of the made voices below: directions, not sounds."""


def a_voice(of: str, *, mood: str = "", likeness: float = 0.8) -> SpeakerEmbedding:
    """An embedding of person `of`: two moods of one person have about `likeness` squared as cosine, two people about 0."""

    def direction(seed: str) -> np.ndarray:
        vector = np.random.default_rng(zlib.crc32(seed.encode())).standard_normal(VOICE.dimension)
        return vector / np.linalg.norm(vector)

    mixed = likeness * direction(of) + np.sqrt(1 - likeness**2) * direction(f"{of}/{mood}")
    return SpeakerEmbedding((mixed / np.linalg.norm(mixed)).astype(np.float32), VOICE)


GOOD_SOUND = SignalQuality(level_dbfs=-20.0, snr_db=25.0, bandwidth_hz=7000.0, clipped=0.0)


def a_heard_turn(
    index: int, track: str, text: str | None = None, *, start: float | None = None, seconds: float = 4.0
) -> SpeakerTurn:
    """A clean turn of `seconds`, by default 5 s after the one before."""
    segment = Segment(start := 5.0 * index if start is None else start, start + seconds)
    return SpeakerTurn(index, segment, track, (segment,), 0.0, GOOD_SOUND, "wideband", text)


def evidence_of(turn: SpeakerTurn, session_id: str, embedding: SpeakerEmbedding | None) -> TurnEvidence:
    return TurnEvidence(
        derived("message", session_id, str(turn.index)),
        derived("local_speaker", session_id, turn.track),
        turn.segment.start,
        turn.segment.end,
        turn.net_speech,
        turn.overlapped,
        turn.quality.snr_db,
        turn.channel,
        embedding,
    )


def a_message(turn: SpeakerTurn, session_id: str) -> NewMessage:
    return NewMessage(
        derived("message", session_id, str(turn.index)),
        derived("local_speaker", session_id, turn.track),
        turn,
        datetime(2026, 3, 1, 9, 0, tzinfo=UTC) + timedelta(seconds=turn.segment.start),
        "none",
        {},
    )


def a_session(space: str, **given: Any) -> NewSession:
    session_id = given.get("id") or derived("session", space, "sound")
    return NewSession(
        **{
            "id": session_id,
            "space": space,
            "title": "Test",
            "started_at": datetime(2026, 3, 1, 9, 0, tzinfo=UTC),
            "zone": "UTC",
            "source": "test",
            "external_id": "sound",
            "content_hash": "content",
            "roster": (),
            "duration": 60.0,
            "encoder": VOICE.name,
            "embedder": None,
            **given,
        }
    )


def write_wav(path: Path, *channels: np.ndarray) -> Path:
    """A 16-bit, 16 kHz WAV of float samples in [-1, 1], one array a channel."""
    length = max(len(samples) for samples in channels)
    padded = np.stack([np.pad(samples, (0, length - len(samples))) for samples in channels], axis=1)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((np.clip(padded, -1, 1) * 32767).astype("<i2").tobytes())
    return path
