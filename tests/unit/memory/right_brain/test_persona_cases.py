"""What stays of somebody? Every committed case, from words to nodes: no mood becomes a trait, and what lasts is not missed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.language.parser import SpacyParser
from service.memory.right_brain.consolidate import consolidate, target_key
from service.memory.right_brain.feelings import marks
from service.types.affect import Aspect, Persona, Shown
from service.types.facts import ADDRESSEE
from tests import models

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "persona_cases.json").read_text(encoding="utf-8"))
BEGIN = datetime(2026, 1, 5, 18, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    return models.parser()


def at(day: float) -> datetime:
    return BEGIN + timedelta(days=day)


def shown(case: dict[str, Any], parser: SpacyParser) -> Iterator[Shown]:
    for n, part in enumerate(case["said"]):
        for day in part["days"]:
            for i, sentences in enumerate(parser(part["turns"])):
                for mark in marks(sentences):
                    target = f"person:{part.get('to', 'nobody')}" if mark.target == ADDRESSEE else target_key(mark.target or "")
                    session, said_at = f"session {day}", at(day) + timedelta(seconds=i)
                    yield Shown(mark, f"{n} {day} {i}", session, said_at, target if mark.target else None)


def told(persona: Persona) -> str:
    side = "-" if persona.polarity < 0 else "+" if persona.aspect is Aspect.ATTITUDE else ""
    what = persona.emotion.value if persona.emotion else side
    target = persona.target if (persona.target or "").startswith("person:") else (persona.words or "").lower()
    return " ".join(word for word in (persona.kind.value, persona.aspect.value, what, target) if word)


def test_there_are_at_least_forty_cases() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 40


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_what_stays_is_what_the_case_says(case: dict[str, Any], parser: SpacyParser) -> None:
    days = sorted({day for part in case["said"] for day in part["days"]})
    heard = {f"session {day}": at(day) for day in days}
    personas = consolidate(shown(case, parser), heard, at(days[-1]) + timedelta(hours=1))
    assert sorted(map(told, personas)) == sorted(case["expected"]), case["why"]
