"""What is in LoCoMo? Ten conversations as frozen records, the dirty evidence strings cleaned, what leaks answers left out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

ADVERSARIAL = 5
"""Category of the questions whose person was swapped on purpose; they have no right answer."""
CATEGORIES: Mapping[int, str] = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", ADVERSARIAL: "adversarial"}


@dataclass(frozen=True, slots=True)
class Said:
    """One turn, as text."""

    dia_id: str
    speaker: str
    text: str
    """Words, and the caption of a photo shared with them."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One session of a conversation."""

    number: int
    at: datetime
    turns: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its gold."""

    question: str
    answer: str
    """Empty for an adversarial question without one."""
    category: int
    evidence: tuple[str, ...]
    """dia_ids of turns that exist; empty for the four questions without any."""


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    speakers: tuple[str, str]
    sessions: tuple[Talk, ...]
    questions: tuple[Asked, ...]

    @property
    def turns(self) -> dict[str, Said]:
        """By dia_id, in spoken order."""
        return {turn.dia_id: turn for talk in self.sessions for turn in talk.turns}


def conversations(path: Path) -> tuple[Conversation, ...]:
    """LoCoMo's conversations from `locomo10.json`, in the file's order."""
    return tuple(_conversation(entry) for entry in json.loads(path.read_text()))


def _conversation(entry: Mapping[str, Any]) -> Conversation:
    talk = entry["conversation"]
    sessions = []
    number = 1
    while isinstance(talk.get(f"session_{number}"), list):
        at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        sessions.append(Talk(number, at, tuple(_said(turn) for turn in talk[f"session_{number}"])))
        number += 1
    known = {turn.dia_id for session in sessions for turn in session.turns}
    questions = tuple(_asked(qa, known) for qa in entry["qa"])
    return Conversation(entry["sample_id"], (talk["speaker_a"], talk["speaker_b"]), tuple(sessions), questions)


def _said(turn: Mapping[str, Any]) -> Said:
    """Without the annotators' image search string (`query`), which tells answers."""
    caption = f" [shares a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return Said(turn["dia_id"], turn["speaker"], turn["text"] + caption)


def _asked(qa: Mapping[str, Any], known: set[str]) -> Asked:
    found = (f"D{int(s)}:{int(n)}" for text in qa["evidence"] for s, n in re.findall(r"D:?(\d+):(\d+)", text))
    evidence = tuple(dict.fromkeys(dia_id for dia_id in found if dia_id in known))
    return Asked(qa["question"], str(qa.get("answer", "")), qa["category"], evidence)
