"""What is in QMSum, as retrieval sees it? 232 real meetings and the turns that summary sentences rest on.

Yale-LILY/QMSum with etri/QMSum_SummaryEvidence (both MIT): gold are the central evidence turns; 480 questions over 70
meetings in test and validation, 1,088 over 161 in train. Nothing tells when a meeting was held.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.retrieval.gold import Corpus, Question, Turn

DOMAINS: Mapping[str, str] = {"Academic(icsi)": "icsi", "Product(ami)": "ami", "Committee": "committee"}


def qmsum(folder: Path, split: str) -> tuple[Corpus, ...]:
    """Meetings with at least one question; `split` is `train` or `testval`."""
    entries = json.loads((folder / f"qmsum_evidence_{split}.json").read_text())
    return tuple(_meeting(entry) for entry in entries if any(qa.get("ces") for qa in entry["qa"]))


def _meeting(entry: Mapping[str, Any]) -> Corpus:
    name = entry["id"]
    turns = tuple(
        Turn(f"{name}/{index}", name, index, speaker.strip(), text) for index, (speaker, text) in enumerate(entry["turns"])
    )
    domain = DOMAINS[entry["domain"]]
    questions = (_question(qa, name, place, domain) for place, qa in enumerate(entry["qa"]) if qa.get("ces"))
    return Corpus(name, turns, tuple(questions), domain)


def _question(qa: Mapping[str, Any], name: str, place: int, domain: str) -> Question:
    gold = tuple(f"{name}/{index}" for index in dict.fromkeys(qa["ces"]))
    return Question(f"{name}/q{place}", qa["q"], domain, gold, gold, answer=qa["a"])
