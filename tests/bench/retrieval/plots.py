"""What do the rankings look like? Recall as more is read, by kind of question, and the gains over each baseline, as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.bench.pictures import figure
from tests.bench.report import Row

ORDER = (
    "ours_loco", "ours", "ours_one_round", "fusion13", "rrf4_no_names", "rrf4", "rrf3", "rrf2", "e5", "minilm", "bm25",
    "mem0", "graphiti",
)  # fmt: skip
"""Of systems in every picture; others come after."""
CUTS = (5, 10, 15, 50)


def draw(folder: Path, rows: Sequence[Row]) -> list[Path]:
    """Write the pictures of all conditions in `rows` into `folder`; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    sets = dict.fromkeys(row.condition.partition("/")[0] for row in rows if row.metric == "recall_at_15")
    drawn = []
    for name in sets:
        of = [row for row in rows if row.condition.partition("/")[0] == name]
        drawn += [recall_curves(folder, name, of), by_group(folder, name, of)]
        if any("_over_" in row.metric for row in of):
            drawn.append(gains(folder, name, of))
    return drawn


def recall_curves(folder: Path, name: str, rows: Sequence[Row]) -> Path:
    """Recall over how much is read, in tokens where they were counted."""
    whole = next(row.condition for row in rows if row.metric == "recall_at_15")
    axes, save = figure(folder, f"{name}_recall", width=7.0)
    for system in _systems(rows):
        of = {row.metric: row for row in rows if row.system == system and row.condition == whole}
        shown = [of[f"recall_at_{cut}"] for cut in CUTS]
        axes.plot(CUTS, [row.value for row in shown], "o-", label=system, markersize=4)
        axes.fill_between(CUTS, *np.array([row.ci95 for row in shown]).T, alpha=0.12)
    axes.set(xscale="log", xticks=CUTS, xticklabels=CUTS, xlabel="turns kept", ylabel="evidence recall", title=whole)
    axes.legend(fontsize=8)
    return save()


def by_group(folder: Path, name: str, rows: Sequence[Row]) -> Path:
    """Recall@15 by kind of question, with intervals."""
    shown = [row for row in rows if row.metric == "recall_at_15"]
    groups, systems = list(dict.fromkeys(row.condition for row in shown)), _systems(rows)
    axes, save = figure(folder, f"{name}_groups", width=2.5 + 1.4 * len(groups))
    for place, system in enumerate(systems):
        of = {row.condition: row for row in shown if row.system == system}
        at = [i for i, group in enumerate(groups) if group in of]
        values = np.array([of[groups[i]].value for i in at])
        ends = np.array([of[groups[i]].ci95 for i in at])
        errors = np.abs(ends.T - values)
        x = np.array(at) + (place - len(systems) / 2) * 0.8 / len(systems)
        axes.bar(x, values, 0.8 / len(systems), yerr=errors, label=system, error_kw={"elinewidth": 0.6})
    axes.set_xticks(range(len(groups)), [group.partition("/")[2] for group in groups])
    axes.set(ylabel="recall@15", title=name)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return save()


def gains(folder: Path, name: str, rows: Sequence[Row]) -> Path:
    """What ours finds more among 15 turns than each baseline, in pairs."""
    shown = [row for row in rows if row.metric.startswith("recall_at_15_over_")]
    whole = shown[0].condition
    shown = [row for row in shown if row.condition == whole]
    axes, save = figure(folder, f"{name}_gains", width=7.0)
    for place, row in enumerate(reversed(shown)):
        low, high = row.ci95 or (row.value, row.value)
        axes.errorbar(100 * row.value, place, xerr=[[100 * (row.value - low)], [100 * (high - row.value)]], fmt="ko", capsize=3)
    labels = [f"{row.system} − {row.metric.removeprefix('recall_at_15_over_')}" for row in reversed(shown)]
    axes.set_yticks(range(len(shown)), labels)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set(xlabel="points of recall@15", title=f"{whole}: gains, 95 %")
    return save()


def _systems(rows: Sequence[Row]) -> list[str]:
    found = dict.fromkeys(row.system for row in rows if row.metric == "recall_at_15")
    return sorted(found, key=lambda system: (ORDER.index(system) if system in ORDER else len(ORDER), system))
