"""Every case of CASES.md in these sections names tests that there are."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.unit.connectors.cases import NOT_YET, SECTIONS, SHOWN

TESTS = Path(__file__).parents[2]


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text())
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("case", SHOWN)
def test_the_tests_that_a_case_names_are_there(case: int) -> None:
    missing = [test for test in SHOWN[case] if test.split("::")[1] not in names_in(test.split("::")[0])]
    assert SHOWN[case] and not missing


def test_every_case_names_a_test_or_what_is_missing() -> None:
    numbers = {number for section in SECTIONS.values() for number in section}
    assert set(SHOWN) | set(NOT_YET) == numbers and not set(SHOWN) & set(NOT_YET)


@pytest.mark.needs_shared
def test_the_sections_have_the_cases_that_the_list_has(shared: Path) -> None:
    text = (shared / "cases/CASES.md").read_text()
    found: dict[str, list[int]] = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        found[part.partition("\n")[0].partition(" (")[0].strip()] = [
            int(n) for n in re.findall(r"^(\d+)\. ", part, re.MULTILINE)
        ]
    assert {title: found[title] for title in SECTIONS} == {title: list(numbers) for title, numbers in SECTIONS.items()}
