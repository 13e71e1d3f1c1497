"""README cannot rot: its table "Where is …?", its commands and its links are checked against the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from service.cli import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def where_is() -> list[tuple[str, str, str]]:
    """(what, file, name in it) of each row `| what | `path` | `name` |`."""
    section = README.partition("## Where is")[2].partition("\n## ")[0]
    return re.findall(r"^\| ([^|]+?) \| `([^`]+)` \| `([^`]+)` \|$", section, re.MULTILINE)


def test_the_table_where_is_has_its_rows() -> None:
    assert len(where_is()) >= 20


@pytest.mark.parametrize(("what", "path", "name"), where_is(), ids=[row[0] for row in where_is()])
def test_what_the_table_says_is_there_is_there(what: str, path: str, name: str) -> None:
    assert name in (ROOT / path).read_text(), f"{what}: {name} is not in {path}"


def test_every_voicegraph_command_in_the_readme_exists() -> None:
    group = typer.main.get_command(app)
    for line in re.findall(r"^\s*(?:\.venv/bin/)?voicegraph ([a-z0-9-]+)(?: ([a-z-]+))?", README, re.MULTILINE):
        command = group.commands.get(line[0])  # type: ignore[attr-defined]
        assert command is not None, line
        if hasattr(command, "commands") and line[1]:
            assert line[1] in command.commands, line


def test_every_make_target_in_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"(?:^|`)make ([a-z]+)\b", README, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_link_to_a_file_leads_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
