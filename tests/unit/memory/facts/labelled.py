"""The turns labelled by hand, and how what an extractor gives is compared with them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from service.timewords import zone_of
from service.types.facts import Fact, FactKind, FactTurn

LABELLED = Path(__file__).with_name("labelled.json")
BETWEEN = timedelta(seconds=5)
"""From one turn to the next."""


@dataclass(frozen=True, slots=True)
class Gold:
    """What a fact of the turn says: any of `kinds`, with all of `contains` and none of `excludes` in its statement, any case;
    "a,b" is either of the two. `optional`: right when it is given, and not missed when it is not."""

    kinds: frozenset[FactKind]
    contains: tuple[str, ...]
    excludes: tuple[str, ...] = ()
    about: str | None = None
    precision: str | None = None
    attribute: str | None = None
    value: str | None = None
    optional: bool = False

    def fits(self, fact: Fact, zone: str | None) -> bool:
        said = fact.statement.lower()
        return (
            fact.kind in self.kinds
            and all(any(either.lower() in said for either in part.split(",")) for part in self.contains)
            and not any(_has_word(said, part.lower()) for part in self.excludes)
            and (self.about is None or self._when(fact, zone) == (self.about, self.precision))
            and (self.attribute is None or (fact.attribute, (fact.value or "").lower()) == (self.attribute, self.value))
        )

    def _when(self, fact: Fact, zone: str | None) -> tuple[str, str] | None:
        if fact.about is None:
            return None
        return f"{fact.about.start.astimezone(zone_of(zone)):%Y-%m-%d}", fact.about.precision.value


@dataclass(frozen=True, slots=True)
class Session:
    turns: tuple[FactTurn, ...]
    gold: tuple[tuple[Gold, ...], ...]
    """By turn."""
    zone: str | None
    held_out: bool


@dataclass(slots=True)
class Score:
    right: int = 0
    wrong: list[tuple[str, Fact]] = field(default_factory=list)
    """Text of the turn and what was made of it."""
    found: int = 0
    missed: list[tuple[str, Gold]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return self.found / max(1, self.found + len(self.missed))


def sessions() -> list[Session]:
    read = []
    for number, session in enumerate(json.loads(LABELLED.read_text())["sessions"]):
        zone = session["zone"]
        start = datetime.fromisoformat(session["started_at"]).replace(tzinfo=zone_of(zone)).astimezone(UTC)
        turns = tuple(
            FactTurn(f"s{number}t{row}", turn["voice"], turn["text"], start + row * BETWEEN, zone, may_use=min(row, 3))
            for row, turn in enumerate(session["turns"])
        )
        gold = tuple(tuple(_gold(entry) for entry in turn["facts"]) for turn in session["turns"])
        read.append(Session(turns, gold, zone, session["held_out"]))
    return read


def score(session: Session, facts: Sequence[Fact], into: Score) -> None:
    by_turn: dict[str, list[Fact]] = {}
    for fact in facts:
        by_turn.setdefault(fact.source, []).append(fact)
    for turn, gold in zip(session.turns, session.gold, strict=True):
        given = by_turn.get(turn.message_id, [])
        for fact in given:
            if any(one.fits(fact, session.zone) for one in gold):
                into.right += 1
            else:
                into.wrong.append((turn.text, fact))
        for one in gold:
            if any(one.fits(fact, session.zone) for fact in given):
                into.found += not one.optional
            elif not one.optional:
                into.missed.append((turn.text, one))


def _has_word(said: str, part: str) -> bool:
    """Begins a word there, and where it is one word is one: "we" is not in "week", nor "he" in "teaches"."""
    return re.search(rf"(?<!\w){re.escape(part)}" + ("" if " " in part else r"(?!\w)"), said) is not None


def _gold(entry: dict[str, object]) -> Gold:
    lists = {name: tuple(entry.get(name, ())) for name in ("contains", "excludes")}  # type: ignore[call-overload]
    plain = {name: entry.get(name) for name in ("about", "precision", "attribute", "value")}
    kinds = frozenset(FactKind(kind) for kind in entry["kinds"])  # type: ignore[attr-defined]
    return Gold(kinds, **lists, **plain, optional=bool(entry.get("optional", False)))  # type: ignore[arg-type]
