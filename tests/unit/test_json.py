"""Text that is nested a thousand deep makes Python's JSON reader raise what is no ValueError: whoever catches the one catches
the other, or what a stranger sent is told as a fault of ours."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import service

ROOT = Path(service.__file__).parent


def test_where_text_that_is_no_json_is_expected_so_is_text_that_is_too_deep() -> None:
    read = [(path, block) for path in ROOT.rglob("*.py") for block in _reading(ast.parse(path.read_text(encoding="utf-8")))]
    assert len(read) > 15
    unready = [
        f"{path}:{block.lineno}" for path, block in read if _caught(block) & NO_JSON and "RecursionError" not in _caught(block)
    ]
    assert unready == []


NO_JSON = frozenset({"ValueError", "json.JSONDecodeError", "JSONDecodeError"})


def _reading(module: ast.Module) -> Iterator[ast.Try]:
    for block in ast.walk(module):
        if isinstance(block, ast.Try) and any(_reads(node) for line in block.body for node in ast.walk(line)):
            yield block


def _reads(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    return called in ("json.loads", "json.load") or called.endswith(".json")


def _caught(block: ast.Try) -> frozenset[str]:
    kinds = [kind for handler in block.handlers if (kind := handler.type) is not None]
    each = [one for kind in kinds for one in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    return frozenset(map(ast.unparse, each))
