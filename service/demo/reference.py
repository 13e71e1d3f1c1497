"""What is in the demo's recordings, and who really said it?"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError
from service.types.audio import Segment

HOUSEHOLD = Path(__file__).parent / "household"
UNDATED = datetime(2026, 11, 1, 10, tzinfo=UTC)
"""Stands for a date that nobody wrote down; the day before the household's first."""


class SampleMissing(VoicegraphError):
    code = "sample_missing"
    says = "The recorded call comes with the package {package}, which is not installed: pip install 'voicegraph[models]'"


@dataclass(frozen=True, slots=True)
class Said:
    """One turn as it really was; what a diarisation reference does not know is None or empty."""

    segment: Segment
    speaker: str
    text: str | None = None
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    id: str
    title: str
    path: Path
    started_at: datetime
    turns: tuple[Said, ...]
    note: str = ""
    present: tuple[tuple[str, Segment], ...] = ()
    """Who is in the room from when to when."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A short recording of one voice: an enrolment, or a question."""

    id: str
    speaker: str
    text: str
    path: Path


@dataclass(frozen=True, slots=True)
class Household:
    names: dict[str, str]
    """Speaker → name."""
    members: tuple[str, ...]
    recordings: tuple[Recording, ...]
    enrolments: tuple[Clip, ...]
    questions: dict[str, Clip]


def household(folder: Path = HOUSEHOLD) -> Household:
    """The recordings made for the purpose, with their script."""
    script = json.loads((folder / "script.json").read_text(encoding="utf-8"))
    clips = [(c["kind"], Clip(c["id"], c["speaker"], c["text"], folder / f"{c['id']}.ogg")) for c in script["clips"]]
    return Household(
        names={p["id"]: p["name"] for p in script["people"]},
        members=tuple(p["id"] for p in script["people"] if p["role"] == "member"),
        recordings=tuple(_recording(s, folder) for s in script["sessions"]),
        enrolments=tuple(clip for kind, clip in clips if kind == "enrolment"),
        questions={clip.id: clip for kind, clip in clips if kind == "question"},
    )


def _recording(session: dict[str, Any], folder: Path) -> Recording:
    turns = tuple(Said(Segment(t["start"], t["end"]), t["speaker"], t["text"], tuple(t["to"])) for t in session["turns"])
    present = tuple((who, Segment(start, end)) for who, (start, end) in session["present"].items())
    started_at = datetime.fromisoformat(session["started_at"])
    return Recording(
        session["id"], session["title"], folder / f"{session['id']}.ogg", started_at, turns, session["note"], present
    )


def call() -> Recording:
    """Half a minute of a real telephone call between two people, which comes inside the package pyannote-audio.

    Raises SampleMissing."""
    try:
        package = importlib.util.find_spec("pyannote.audio")
    except ModuleNotFoundError:
        package = None
    if package is None or not package.submodule_search_locations:
        raise SampleMissing(package="pyannote-audio")
    sample = Path(package.submodule_search_locations[0]) / "sample"
    lines = (line.split() for line in (sample / "sample.rttm").read_text(encoding="utf-8").splitlines() if line.strip())
    turns = tuple(Said(Segment(float(f[3]), float(f[3]) + float(f[4])), f[7]) for f in lines)
    title = "A real telephone call (the sample of pyannote-audio)"
    return Recording("call", title, sample / "sample.wav", UNDATED, turns)
