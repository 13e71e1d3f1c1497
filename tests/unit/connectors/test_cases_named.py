"""Every case of CASES.md in these sections names tests that there are, and every collected sample is read or refused by one."""

from __future__ import annotations

import ast
import csv
import re
from functools import cache
from pathlib import Path

import pytest

from service.connectors.live import CONNECTORS
from tests.unit.connectors.cases import LIVE_SAMPLES, SECTIONS, SHOWN
from tests.unit.connectors.test_cases_files import GOLDEN, REFUSED

TESTS = Path(__file__).parents[2]


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text())
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("case", SHOWN)
def test_the_tests_that_a_case_names_are_there(case: int) -> None:
    missing = [test for test in SHOWN[case] if test.split("::")[1] not in names_in(test.split("::")[0])]
    assert SHOWN[case] and not missing


def numbered() -> dict[int, set[str]]:
    """Case → the tests whose names say its number: test_case_12_and_a15_…"""
    found: dict[int, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        for name, numbers in re.findall(r"def (test_case_(\d+(?:_and_\d+)*)\w*)", path.read_text()):
            for number in numbers.split("_and_"):
                found.setdefault(int(number), set()).add(f"{path.relative_to(TESTS)}::{name}")
    return found


def test_every_case_has_a_test() -> None:
    shown = {case for case, tests in SHOWN.items() if tests} | set(numbered())
    assert {number for section in SECTIONS.values() for number in section} <= shown


@pytest.mark.parametrize("section", ["Delivery and ordering", "Who spoke", "Times"])
def test_of_live_meetings_every_case_of_a_section_has_a_test_of_its_own(section: str) -> None:
    live = {
        case
        for case, tests in numbered().items()
        for test in tests
        if test.startswith(("unit/memory/meeting/", "unit/connectors/live/"))
    }
    assert set(SECTIONS[section]) <= live


@pytest.mark.needs_shared
def test_the_sections_have_the_cases_that_the_list_has(shared: Path) -> None:
    text = (shared / "cases/CASES.md").read_text()
    found: dict[str, list[int]] = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        found[part.partition("\n")[0].partition(" (")[0].strip()] = [
            int(n) for n in re.findall(r"^(\d+)\. ", part, re.MULTILINE)
        ]
    assert {title: found[title] for title in SECTIONS} == {title: list(numbers) for title, numbers in SECTIONS.items()}


@pytest.mark.parametrize(("sample", "test"), LIVE_SAMPLES.items(), ids=LIVE_SAMPLES)
def test_the_test_that_delivers_a_sample_is_there_and_names_it(sample: str, test: str) -> None:
    path, _, name = test.partition("::")
    stem = sample.rpartition("_")[0]  # of several that differ in their last word
    assert name in names_in(path) and re.search(rf"{re.escape(sample)}|{re.escape(stem)}_\{{", (TESTS / path).read_text())


@pytest.mark.needs_shared
def test_every_sample_of_the_index_is_read_or_refused_as_a_file_and_as_what_a_live_system_sends(shared: Path) -> None:
    with (shared / "cases/samples/INDEX.csv").open(newline="") as index:
        samples = {row["file"] for row in csv.DictReader(index)}
    assert samples == {path.name for path in (shared / "cases/samples").iterdir()} - {"INDEX.csv"}
    sound = {name for name in samples if name.endswith(".wav")}  # all of them: test_the_collected_wavs_are_all_heard_whole
    assert samples - sound == set(GOLDEN) | set(REFUSED) and not set(GOLDEN) & set(REFUSED)
    live = {name for name in samples if name.partition("__")[0] in CONNECTORS} - {
        name
        for name in samples
        if name.startswith("zoom__")  # files of its cloud
    }
    assert live == set(LIVE_SAMPLES)
