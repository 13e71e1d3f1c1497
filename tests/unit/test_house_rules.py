"""The rules that hold the code together: style, types, the one direction of imports, and errors that name themselves."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import service
from service.errors import VoicegraphError

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",), ("lint-imports",)],
    ids=["ruff", "format", "mypy", "imports"],
)
def test_lint_is_clean(command: tuple[str, ...]) -> None:
    run = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]


def test_every_error_has_a_code_of_its_own_and_says_something() -> None:
    for module in pkgutil.walk_packages(service.__path__, "service."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    errors = list(_below(VoicegraphError))
    codes = [error.code for error in errors]
    assert len(errors) > 20
    assert len(set(codes)) == len(codes), sorted(c for c in codes if codes.count(c) > 1)
    assert all(error.says for error in errors)


def test_importing_every_module_loads_no_heavy_package() -> None:
    """A second's start needs no torch: heavy packages load only inside what uses them."""
    script = (
        "import importlib, pkgutil, sys, service\n"
        "for m in pkgutil.walk_packages(service.__path__, 'service.'):\n"
        "    if not m.name.endswith('__main__'): importlib.import_module(m.name)\n"
        "heavy = ('torch', 'nemo', 'spacy', 'speechbrain', 'sentence_transformers', 'pyannote.audio', 'senko',\n"
        "    'faster_whisper')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def _below(kind: type[VoicegraphError]) -> list[type[VoicegraphError]]:
    return [kind_ for sub in kind.__subclasses__() for kind_ in (sub, *_below(sub))]
