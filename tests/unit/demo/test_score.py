"""What was heard is compared with what was said: split, mixed and missing persons cost, names do not matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.demo.reference import UNDATED, Recording, Said
from service.demo.score import Heard, match
from service.types.audio import Segment


def a_recording(speakers: str, to: str | None = None) -> Recording:
    turns = tuple(Said(Segment(4.0 * i, 4.0 * i + 3), who, to=(to[i],) if to else ()) for i, who in enumerate(speakers))
    return Recording("r", "", Path(), UNDATED, turns)


def heard(persons: str, to: str | None = None) -> dict[str, list[Heard]]:
    """One message a letter, a blank for an unresolved one."""
    said = enumerate(persons)
    return {
        "r": [
            Heard(Segment(4.0 * i, 4.0 * i + 3), who.strip() or None, "link", (to[i],) if to and to[i].strip() else ())
            for i, who in said
        ]
    }


def test_other_names_for_the_same_persons_are_right() -> None:
    found = match("m", (a_recording("abab"),), heard("xyxy"))
    assert (found.attribution, found.b3_precision, found.b3_recall, found.b3_f1) == (1, 1, 1, 1)
    assert found.really == {"x": "a", "y": "b"}


def test_a_person_split_in_two_costs_recall_and_attribution() -> None:
    found = match("m", (a_recording("aaaa"),), heard("xxyy"))
    assert (found.attribution, found.b3_precision, found.b3_recall) == (0.5, 1.0, 0.5)


def test_two_persons_in_one_cost_precision() -> None:
    found = match("m", (a_recording("aabb"),), heard("xxxx"))
    assert (found.attribution, found.b3_precision, found.b3_recall) == (0.5, 0.5, 1.0)


def test_an_unresolved_turn_and_one_not_heard_are_wrong() -> None:
    found = match("m", (a_recording("aaaa"),), heard("xx "))
    assert found.attribution == 0.5
    assert found.turns == 4


def test_a_turn_is_compared_with_the_message_it_mostly_lies_in() -> None:
    messages = [Heard(Segment(0, 1), "x", "link", ()), Heard(Segment(1, 3), "y", "link", ())]
    assert match("m", (a_recording("a"),), {"r": messages}).really == {"y": "a"}


@pytest.mark.parametrize(("to", "right"), [("yxyx", 1.0), ("yxy ", 0.75), ("    ", 0.0)])
def test_addressees_are_right_when_they_are_those_of_the_script(to: str, right: float) -> None:
    assert match("m", (a_recording("abab", "baba"),), heard("xyxy", to)).addressees == right


def test_a_reference_without_addressees_says_nothing_of_them() -> None:
    assert match("m", (a_recording("ab"),), heard("xy", "yx")).addressees is None
