"""How are results, progress and errors shown: to a person as tables, to a program as JSON?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from service.types.audio import Progress as Report

PIPE_WIDTH = 160
"""Columns where no terminal says: tables stay whole in a log."""
OUT = Console(markup=False, emoji=False, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
"""Results, and nothing else: what a pipe gets."""
ERR = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)
"""Progress, hints and errors."""


def plain(value: Any) -> Any:
    """`value` as JSON knows it: records as objects, times in ISO 8601, enumerations and paths as text, sets sorted."""
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.isoformat()
        case Path():
            return str(value)
        case Mapping():
            return {str(k): plain(v) for k, v in value.items()}
        case set() | frozenset():
            return sorted(plain(v) for v in value)
        case str() | bool() | int() | float() | None:
            return value
        case Sequence():
            return [plain(v) for v in value]
        case _ if is_dataclass(value):
            return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.repr}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def show(result: Any, as_json: bool, draw: Callable[[], RenderableType]) -> None:
    """Print `result` as JSON, or what `draw` makes of it."""
    if as_json:
        print(json.dumps(plain(result), ensure_ascii=False, indent=2), flush=True)
    else:
        OUT.print(draw())


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None, empty: str = "none"
) -> Table | str:
    """A table of texts; None is shown as a dash. `empty` stands where there are no rows."""
    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*("–" if cell is None else str(cell) for cell in row))
    return drawn if drawn.row_count else empty


def show_error(code: str, message: str, as_json: bool) -> None:
    """`code: message` on standard error, or the same as JSON."""
    if as_json:
        print(json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=False), file=sys.stderr)
    else:
        ERR.print(f"{code}: {message}", style="red")


class Bars:
    """Progress bars on standard error: `bars("day1.ogg")` adds one and gives what reports on it. Silent unless watched."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[stage]}"), TimeElapsedColumn())
        self._progress = Progress(*columns, console=ERR, disable=not ERR.is_terminal)

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, name: str) -> Report:
        task = self._progress.add_task(name, total=1.0, stage="")

        def report(share: float, stage: str) -> None:
            self._progress.update(task, completed=share, stage=stage)

        return report

    def close(self) -> None:
        """What is printed from now on does not mix with them. Safe to repeat."""
        self._progress.stop()
