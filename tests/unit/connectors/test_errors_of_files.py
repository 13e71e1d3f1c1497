"""What is wrong with a file is told by its place: an error is kept with the job, and read by others than who was there."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from service.connectors.files import FORMATS, TranscriptUnreadable, named
from service.connectors.files.source import Written, described
from tests.unit.connectors.test_formats import JSON_NAMES, TEXT_NAMES, changed, places
from tests.unit.connectors.transcripts import FIXTURES

SECRET = "Quillfeather"
"""What was said, and may stand in no error."""


def error_of(format: str, content: str, name: str = "talk") -> str | None:
    """As a job keeps it; None where nothing is wrong."""
    try:
        named(format).read(Written(content, name))
    except TranscriptUnreadable as refusal:
        return f"{refusal} {refusal.message} {refusal.facts}"
    return None


@pytest.mark.parametrize("name", JSON_NAMES)
def test_no_field_is_quoted_by_an_error(name: str) -> None:
    format, content, _ = FIXTURES[name]
    document = json.loads(content)
    errors = [
        error
        for place in places(document)
        for value in (f"{SECRET} said so", [SECRET], {SECRET: SECRET}, f"7 {SECRET}")
        for read_as in {format, "json"}
        if (error := error_of(read_as, json.dumps(changed(document, place, value)))) is not None
    ]
    assert errors and not [error for error in errors if SECRET in error]


@pytest.mark.parametrize(
    "name", [*TEXT_NAMES, "SPEAKER day 1 1.0 2.0 <NA> <NA> ana <NA>\nSPEAKER day 1 3 4 <NA> <NA> bo <NA>\n"]
)
def test_no_word_is_quoted_by_an_error(name: str) -> None:
    format, content, _ = FIXTURES.get(name, ("rttm", name, []))
    tokens = [token.span() for token in re.finditer(r"[^\s,;<>\"=/]+", content)]
    mixed = [content[:start] + SECRET + content[end:] for start, end in tokens]
    mixed += [content[:start] + content[start:end] + f" &{SECRET}; {SECRET}" + content[end:] for start, end in tokens]
    errors = [error for text in mixed for read_as in {format, "rttm"} if (error := error_of(read_as, text)) is not None]
    assert errors and not [error for error in errors if SECRET in error]


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_no_such_file_is_not_quoted(format: str) -> None:
    for content in (
        SECRET,
        f"{SECRET} 1 2 3 4",
        f'{{"{SECRET} said": 1}}',
        f'["{SECRET}"]',
        f'[{{"{SECRET} said": "{SECRET}"}}]',
    ):
        assert SECRET not in (error_of(format, content) or "")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "missing"),
        (1.5, "1.5"),
        ("00:99.5", "'00:99.5'"),
        ("half", "text of 4 characters"),
        ([1], "a list"),
        ({}, "an object"),
    ],
)
def test_only_numbers_are_shown(value: Any, words: str) -> None:
    assert described(value) == words
