"""What is in a scenario: who says what to whom while who is there, and what is asked about it afterwards by whom?

One JSON file a scenario, one line a turn and a question (`python -m tests.bench.spoken --format` writes them so):

    {"id": "1", "theme": "…", "zone": "Europe/London", "asked_at": "2026-05-20T18:00:00+01:00",
     "people": [{"name": "Marta", "aliases": [], "voice": "bf_emma", "speed": 1.0}, …],
     "sessions": [{"id": "s1", "title": "…", "started_at": "2026-04-05T13:00:00+01:00",
                   "attends": {"Marta": [], "Jonah": [["s1t01", "s1t12"]]},
                   "turns": [{"id": "s1t01", "speaker": "Marta", "addressees": ["Jonah"], "reply_to": null,
                              "text": "…", "pause": 0.6}, …]}, …],
     "questions": [{"id": "e01", "kind": "memory_evolution", "text": "…", "asker": "Jonah", "answer": "…",
                    "evidence": ["s2t04"], "outdated": ["s1t09"], "forbidden": []}, …]}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from service.types.audio import Segment

SCENARIOS = Path(__file__).parent / "scenarios"
WORDS_PER_SECOND = 2.7
"""How fast people talk, about: lays turns in time where nothing was rendered."""


class Kind(StrEnum):
    MEMORY_EVOLUTION = "memory_evolution"
    """What holds now, what held before, what changed: plans, preferences, states."""
    PERSONALISATION = "personalisation"
    """The same words asked by several, each with an answer of their own."""
    REASONING = "reasoning"
    """From several turns, or by time."""
    ATTRIBUTION = "attribution"
    """Who said it, to whom, what one told another."""


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    voice: str
    """A voice of Kokoro; within a scenario no two alike."""
    aliases: tuple[str, ...] = ()
    """What everybody calls them beside the name."""
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    """Session and number: s3t07."""
    speaker: str
    addressees: tuple[str, ...]
    """Empty: all who are there."""
    reply_to: str | None
    """An earlier turn of the same session, of somebody else."""
    text: str
    pause: float = 0.5
    """Seconds of silence before it; below zero it begins before the last one ends."""


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    title: str
    started_at: datetime
    """With its zone."""
    attends: dict[str, tuple[tuple[str, str], ...]]
    """Name → stretches from the first to the last turn heard, both included; none: all of it. Whoever is not in it is away."""
    turns: tuple[Turn, ...]
    note: str = ""

    def present(self, turn_id: str) -> frozenset[str]:
        """Who is there while the turn is said."""
        order = {turn.id: i for i, turn in enumerate(self.turns)}
        at = order[turn_id]
        return frozenset(
            name
            for name, stretches in self.attends.items()
            if not stretches or any(order[first] <= at <= order[last] for first, last in stretches)
        )


@dataclass(frozen=True, slots=True)
class Who:
    """The people that a question of attribution asks for."""

    role: str
    """speaker: who said the evidence · addressee: to whom it was said"""
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    kind: Kind
    text: str
    asker: str
    answer: str
    evidence: tuple[str, ...]
    """Turns that one needs, all of them; the asker may read each. Empty only where what answers it is forbidden."""
    outdated: tuple[str, ...] = ()
    """Turns that answered it once and do no more: what holds now should stand above them."""
    forbidden: tuple[str, ...] = ()
    """Turns that would answer it, said while the asker was away."""
    who: Who | None = None
    """Of kind attribution, where the answer is people."""


@dataclass(frozen=True, slots=True)
class Scenario:
    id: str
    theme: str
    zone: str
    asked_at: datetime
    """When all questions are asked: after the last session."""
    people: tuple[Person, ...]
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> dict[str, Turn]:
        return {turn.id: turn for session in self.sessions for turn in session.turns}

    def visible(self, name: str) -> frozenset[str]:
        """Ids of the turns said while `name` was there: what policy `attended` lets them read."""
        return frozenset(turn.id for s in self.sessions for turn in s.turns if name in s.present(turn.id))


def load(path: Path) -> Scenario:
    """Raises KeyError or TypeError where something is missing or not known; what it says is `validate`'s to judge."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return Scenario(
        document["id"],
        document["theme"],
        document["zone"],
        datetime.fromisoformat(document["asked_at"]),
        tuple(Person(**{**p, "aliases": tuple(p.get("aliases", ()))}) for p in document["people"]),
        tuple(_session(s) for s in document["sessions"]),
        tuple(_question(q) for q in document["questions"]),
    )


def load_all(folder: Path = SCENARIOS) -> tuple[Scenario, ...]:
    return tuple(load(path) for path in sorted(folder.glob("*.json")))


def laid_out(turns: Sequence[Turn], seconds: Sequence[float] | None = None, lead_in: float = 0.6) -> tuple[Segment, ...]:
    """When each turn is said, in seconds from the session's start: with the length its sound has, or its words' at an
    ordinary pace."""
    clock, laid = lead_in, []
    for i, turn in enumerate(turns):
        length = seconds[i] if seconds is not None else max(0.4, len(turn.text.split()) / WORDS_PER_SECOND)
        start = max(0.0, clock + (turn.pause if i else 0.0))
        laid.append(Segment(round(start, 2), round(start + length, 2)))
        clock = max(clock, laid[-1].end)
    return tuple(laid)


def written(document: dict[str, Any]) -> str:
    """A scenario's JSON with one line a person, turn and question, so that a change reads well in a diff."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    def lines(values: Sequence[Any]) -> str:
        return "[\n" + ",\n".join(map(line, values)) + "\n]"

    def session(value: dict[str, Any]) -> str:
        return "{" + ",\n".join(f"{line(k)}: {lines(v) if k == 'turns' else line(v)}" for k, v in value.items()) + "}"

    parts = []
    for key, value in document.items():
        match key:
            case "sessions":
                parts.append('"sessions": [\n' + ",\n".join(map(session, value)) + "\n]")
            case "people" | "questions":
                parts.append(f"{line(key)}: {lines(value)}")
            case _:
                parts.append(f"{line(key)}: {line(value)}")
    return "{" + ",\n".join(parts) + "}\n"


def _session(found: dict[str, Any]) -> Session:
    attends = {name: tuple((first, last) for first, last in stretches) for name, stretches in found["attends"].items()}
    turns = tuple(Turn(**{**t, "addressees": tuple(t["addressees"]), "reply_to": t.get("reply_to")}) for t in found["turns"])
    return Session(
        found["id"], found["title"], datetime.fromisoformat(found["started_at"]), attends, turns, found.get("note", "")
    )


def _question(found: dict[str, Any]) -> Question:
    who = found.get("who")
    lists = {key: tuple(found.get(key, ())) for key in ("evidence", "outdated", "forbidden")}
    return Question(
        **{**found, **lists, "kind": Kind(found["kind"]), "who": Who(who["role"], tuple(who["people"])) if who else None}
    )
