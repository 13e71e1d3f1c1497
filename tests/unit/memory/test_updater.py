"""What a newer fact does to an older one of the same person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from service.memory.updater import change
from service.types.facts import FactKind
from service.types.revisions import Change, Compared

THEN = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)


def fact(
    statement: str, day: int = 0, kind: str = "statement", attribute: str | None = None, value: str | None = None
) -> Compared:
    return Compared(f"{day} {statement}", statement, FactKind(kind), attribute, value, THEN + timedelta(days=day))


CASES = [
    ("{speaker} lives in Graz.", "{speaker} moved to Linz.", Change.UPDATE, ("lives in", "Graz"), ("lives in", "Linz")),
    ("{speaker} lives in Graz.", "{speaker} still lives in Graz.", Change.KEEP, ("lives in", "Graz"), ("lives in", "graz")),
    ("{speaker} will paint the kitchen.", "{speaker} will paint the kitchen.", Change.KEEP, None, None),
    ("{speaker}'s dentist appointment is on Tuesday.", "{speaker}'s dentist appointment was moved to Thursday.", Change.UPDATE,
     None, None),
    ("{speaker} will go to the piano concert on Friday.", "The piano concert was cancelled.", Change.DELETE, None, None),
    ("{speaker} plays tennis with Ben.", "{speaker} no longer plays tennis with Ben.", Change.DELETE, None, None),
    ("{speaker} eats red meat.", "{speaker} doesn't eat red meat.", Change.UPDATE, None, None),
    ("{speaker} eats red meat.", "{speaker} likes green tea.", None, None, None),
    ("{speaker} bought a telescope.", "The meeting was moved to Monday.", None, None, None),
    ("{speaker} will call the plumber.", "{speaker} will call the dentist.", None, None, None),
    ("The piano is old.", "The piano was sold to Ben.", None, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("older", "newer", "does", "was", "now"), CASES)
def test_a_newer_fact_changes_what_it_is_about_and_nothing_else(
    older: str, newer: str, does: Change | None, was: tuple[str, str] | None, now: tuple[str, str] | None
) -> None:
    old = fact(older, 0, attribute=was and was[0], value=was and was[1])
    new = fact(newer, 1, attribute=now and now[0], value=now and now[1])
    assert change(old, new) == change(new, old) == does, "whichever is met first"


def test_a_question_changes_nothing() -> None:
    asked = fact("{speaker} asks: was the piano concert cancelled?", 1, "question")
    assert change(fact("{speaker} will go to the piano concert."), asked) is None


def test_what_was_off_and_is_on_again_is_not_off() -> None:
    off, on = fact("The piano concert was cancelled."), fact("The piano concert takes place on Friday.", 1)
    assert change(off, on) is not Change.DELETE
