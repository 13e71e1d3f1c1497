"""Results have a JSON form, and secrets that records hide stay hidden in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.cli.shown import Bars, plain, show, table
from service.types.memory import SessionStatus


@dataclass(frozen=True)
class Record:
    status: SessionStatus
    at: datetime
    scopes: frozenset[str]
    path: Path
    secret: str = field(repr=False, default="hidden")


def test_a_record_becomes_an_object_without_what_it_hides() -> None:
    record = Record(SessionStatus.OPEN, datetime(2026, 11, 2, tzinfo=UTC), frozenset({"b", "a"}), Path("x"))
    expected = {"status": "open", "at": "2026-11-02T00:00:00+00:00", "scopes": ["a", "b"], "path": "x"}
    assert plain(record) == expected
    assert json.loads(json.dumps(plain({1: [record]}))) == {"1": [expected]}


def test_what_has_no_json_form_is_an_error_rather_than_its_repr() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        plain(object())


def test_json_goes_to_standard_output_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars() as bars:
        bars("work")(0.5, "half")
        show({"a": "ä"}, True, lambda: "never drawn")
    streams = capsys.readouterr()
    assert json.loads(streams.out) == {"a": "ä"} and not streams.err


def test_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show([], False, lambda: table(("id",), [], empty="Nobody is known yet."))
    assert capsys.readouterr().out == "Nobody is known yet.\n"


def test_brackets_in_what_somebody_said_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show([], False, lambda: table(("text",), [("turn [red]left[/red]",)]))
    assert "turn [red]left[/red]" in capsys.readouterr().out
