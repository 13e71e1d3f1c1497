"""What is in LoCoMo, as retrieval sees it? 10 conversations, 1,982 questions with 2,820 citations, and the audit's corrections.

`locomo10.json` of snap-research/LoCoMo at 3eb6f2c (CC BY-NC 4.0) and `locomo_audit_evidence.json` of dial481/locomo-audit.
The annotators' image search string (`query`) tells answers and is not read. Four questions without evidence are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.bench.retrieval.gold import Corpus, Question, Turn

CATEGORIES: Mapping[int, str] = {1: "multi_hop", 2: "temporal", 3: "open", 4: "single_hop", 5: "adversarial"}
"""Ids as in the file, which are not in the paper's order."""
WRONG_CITATION = "WRONG_CITATION"
"""The audit's one type of error that only concerns the evidence; of all others the question or its answer is wrong."""

_CITED = re.compile(r"D:?(\d+):(\d+)")


def locomo(folder: Path) -> tuple[Corpus, ...]:
    """The conversations from `folder`, each a corpus, in the file's order."""
    corrections = _corrections(json.loads((folder / "locomo_audit_evidence.json").read_text()))
    return tuple(_conversation(entry, corrections) for entry in json.loads((folder / "locomo10.json").read_text()))


def cited(evidence: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The turns that dirty evidence strings name: several in one ("D8:6; D9:17"), "D:11:26", "D30:05"; unknown ones dropped."""
    found = (f"D{int(session)}:{int(turn)}" for text in evidence for session, turn in _CITED.findall(text))
    return tuple(dict.fromkeys(dia_id for dia_id in found if dia_id in known))


def _corrections(audit: Iterable[Mapping[str, Any]]) -> Mapping[tuple[str, int], tuple[str, ...] | None]:
    """(conversation, place of the question) → what it should cite; None where the question itself is wrong."""
    return {(item["conv"], item["qa"]): tuple(item["correct"]) if item["type"] == WRONG_CITATION else None for item in audit}


def _conversation(entry: Mapping[str, Any], corrections: Mapping[tuple[str, int], tuple[str, ...] | None]) -> Corpus:
    name, talk = entry["sample_id"], entry["conversation"]
    turns: dict[str, Turn] = {}
    number = 1
    while isinstance(talk.get(f"session_{number}"), list):
        at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for index, turn in enumerate(talk[f"session_{number}"]):
            turns[turn["dia_id"]] = _turn(turn, name, number, index, at)
        number += 1
    questions = [_question(qa, name, place, turns, corrections) for place, qa in enumerate(entry["qa"])]
    return Corpus(name, tuple(turns.values()), tuple(q for q in questions if q.gold))


def _turn(turn: Mapping[str, Any], name: str, number: int, index: int, at: datetime) -> Turn:
    caption = turn.get("blip_caption") or ""
    return Turn(f"{name}/{turn['dia_id']}", f"{name}/{number}", index, turn["speaker"], turn["text"], caption, at)


def _question(
    qa: Mapping[str, Any],
    name: str,
    place: int,
    known: Collection[str],
    corrections: Mapping[tuple[str, int], tuple[str, ...] | None],
) -> Question:
    gold = _named(name, cited(qa["evidence"], known))
    corrected: tuple[str, ...] | None = gold
    if (name, place) in corrections:
        right = corrections[name, place]
        corrected = None if right is None else _named(name, cited(right, known)) or None
    return Question(
        f"{name}/q{place}", qa["question"], CATEGORIES[qa["category"]], gold, corrected, answer=str(qa.get("answer", ""))
    )


def _named(name: str, dia_ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}/{dia_id}" for dia_id in dia_ids)
