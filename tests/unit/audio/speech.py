"""Speech for tests: the household that the project brings, cut by its transcripts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from service.audio.decode import blocks
from service.connectors.files import read_transcript
from service.types.audio import Samples, Waveform

HOUSEHOLD = Path(__file__).parents[3] / "service" / "demo" / "household"


@cache
def sound(name: str) -> Waveform:
    """A whole recording of the household: "day1", "enrol_ben", …"""
    parts = [block.samples for block in blocks(HOUSEHOLD / f"{name}.ogg", seconds=60.0)]
    return Waveform(np.concatenate(parts))


@cache
def household() -> dict[str, list[Samples]]:
    """Speaker → what they say over the days, each turn of at least 2 s as 16 kHz samples."""
    said: dict[str, list[Samples]] = {}
    for transcript in sorted(HOUSEHOLD.glob("day*.vtt")):
        for part in read_transcript(transcript).segments:
            if part.label and part.segment.duration >= 2.0:
                said.setdefault(part.label, []).append(sound(transcript.stem).crop(part.segment).samples)
    return said


def a_clip(speaker: str, number: int = 0, *, seconds: float | None = None) -> Waveform:
    """The `number`th turn of `speaker` ("Nora", "Ben", "Ruth", "Victor"), cut to its first `seconds`."""
    samples = household()[speaker][number]
    return Waveform(samples[: round(seconds * 16_000)] if seconds else samples)
