"""What did a benchmark find? Rows collected, printed as a table, written as JSON for machines."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Recordings and embeddings of the workplace."""


@dataclass(frozen=True, slots=True)
class Row:
    metric: str
    condition: str
    system: str
    """`ours` or the peer's name."""
    value: float
    unit: str
    n: int
    ci95: tuple[float, float] | None = None


@dataclass
class Report:
    name: str
    rows: list[Row] = field(default_factory=list)

    def add(
        self, metric: str, condition: str, system: str, value: float, unit: str, n: int, ci95: tuple[float, float] | None = None
    ) -> None:
        """And say it at once: of a run of hours that breaks, what it had measured is not lost."""
        self.rows.append(Row(metric, condition, system, float(value), unit, int(n), ci95))
        Console(stderr=True).print(f"[dim]{condition} {system} {metric} {float(value):.4g} {unit} (n={n})[/]", highlight=False)

    def missing(self, what: str, how: str) -> None:
        """Name data or a peer that is not here, and how to get it."""
        Console(stderr=True).print(f"[yellow]not measured:[/] {what}. To get it: {how}")

    def finish(self, json_path: Path | None, *, table: bool = True) -> None:
        """Print all rows, unless a `table` of them would be too long to read, and write them."""
        if table:
            self._show()
        if json_path:
            json_path.write_text(json.dumps(self._document(), indent=1))

    def _show(self) -> None:
        table = Table(title=f"bench {self.name}")
        for column in ("metric", "condition", "system", "value", "unit", "n", "95 %"):
            table.add_column(column)
        for row in self.rows:
            interval = f"{row.ci95[0]:.4g} – {row.ci95[1]:.4g}" if row.ci95 else ""
            table.add_row(row.metric, row.condition, row.system, f"{row.value:.4g}", row.unit, str(row.n), interval)
        Console().print(table)

    def _document(self) -> dict[str, object]:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
        return {
            "name": self.name,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": f"{platform.machine()} {os.cpu_count()} cores, Python {platform.python_version()}",
            "commit": commit.stdout.strip() or "none",
            "rows": [asdict(row) for row in self.rows],
        }


def arguments(description: str) -> argparse.ArgumentParser:
    """`--quick` and `--json`, which every benchmark takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a smaller run of the same code, under a minute")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    return parser


def alone(name: str, doc: str | None, run: Callable[[Report, bool, Path], None]) -> None:
    """A part of the benchmark of identity by itself, on ../shared/data."""
    chosen = arguments(doc or "").parse_args()
    report = Report(name)
    if SHARED.is_dir():
        run(report, chosen.quick, SHARED)
    else:
        report.missing(name, "put the recordings (meetings, voices, embeddings) into ../shared/data")
    report.finish(chosen.json)
