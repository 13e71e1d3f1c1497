"""What do the trade-offs look like? Fragmentation against contamination, the sweeps of thresholds, and DET curves, as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from tests.bench.locomo_id.evaluate import PAPER_POLICIES
from tests.bench.locomo_id.sweeps import Point
from tests.bench.pictures import figure

COLOURS = {"ours": "black", "fixed": "tab:red", "update": "tab:blue", "gated": "tab:green", "knn": "tab:orange"}
TICKS = (0.0001, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Error rates marked on DET axes."""
LEAST = 1e-4
"""Where shares of zero are drawn on a logarithmic axis."""


def draw(folder: Path, points: Sequence[Point], scores: Mapping[str, tuple[npt.NDArray[np.float64], ...]]) -> list[Path]:
    """Write the plots into `folder`; their paths. `scores`: system → (genuine, impostor)."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [fragmentation_against_contamination(folder, points), sweeps(folder, points)]
    return [*drawn, det(folder, scores)] if scores else drawn


def fragmentation_against_contamination(folder: Path, points: Sequence[Point]) -> Path:
    """Each policy's curve as τ_link moves; down and left is better."""
    axes, save = figure(folder, "fragmentation_contamination")
    for system in ("ours", *PAPER_POLICIES):
        curve = [p for p in points if p.system == system and p.parameter.startswith("link")]
        if curve:
            x, y = [max(LEAST, p.contamination) for p in curve], [max(LEAST, p.fragmentation) for p in curve]
            axes.plot(x, y, "o-", label=system, color=COLOURS[system], markersize=4)
    axes.set(xscale="log", yscale="log", xlabel="contamination: 1 - B³ precision", ylabel="fragmentation: 1 - B³ recall")
    axes.set_title("as τ_link moves, shifted history of two voices")
    axes.legend()
    return save()


def sweeps(folder: Path, points: Sequence[Point]) -> Path:
    """B³ F1 and wrong authorisations over τ_update (the paper's sweep) and over τ_link (which it never made)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, all_axes = pyplot.subplots(2, 2, figsize=(10, 7), sharex="col")
    for column, parameter in enumerate(("update", "link")):
        for system in PAPER_POLICIES:
            curve = sorted((p for p in points if p.system == system and p.parameter == parameter), key=lambda p: p.value)
            if not curve:
                continue
            x = [p.value for p in curve]
            style = {"color": COLOURS[system], "label": system, "markersize": 4}
            all_axes[0][column].plot(x, [_f1(p) for p in curve], "o-", **style)
            all_axes[1][column].plot(x, [p.tally["wrong"] for p in curve], "o-", **style)
        all_axes[1][column].set_xlabel(f"τ_{parameter}")
        all_axes[0][column].legend()
    all_axes[0][0].set_ylabel("B³ F1")
    all_axes[1][0].set_ylabel("wrong authorisations")
    path = folder / "sweeps.png"
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path


def det(folder: Path, scores: Mapping[str, tuple[npt.NDArray[np.float64], ...]]) -> Path:
    """Refused against let in, on normal deviates; the dot is where verification stands."""
    axes, save = figure(folder, "det")
    for system, (genuine, impostor) in scores.items():
        points = np.unique(np.concatenate([genuine, impostor, [0.0]]))
        refused = np.searchsorted(np.sort(genuine), points, side="left") / len(genuine)
        accepted = 1 - np.searchsorted(np.sort(impostor), points, side="left") / len(impostor)
        colour = COLOURS.get(system, "grey")
        axes.plot(_deviate(accepted), _deviate(refused), label=system, color=colour)
        at = int(np.searchsorted(points, 0.0))
        axes.plot(_deviate(accepted[at : at + 1]), _deviate(refused[at : at + 1]), "o", color=colour)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(_deviate(np.array(TICKS)), [f"{100 * t:g}" for t in TICKS])
    axes.set(xlabel="others let in, % of comparisons", ylabel="askers refused, %", title="asking, all in one space")
    axes.grid(alpha=0.3)
    axes.legend()
    return save()


def _f1(point: Point) -> float:
    precision, recall = 1 - point.contamination, 1 - point.fragmentation
    return 2 * precision * recall / (precision + recall)


def _deviate(rates: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    deviates: npt.NDArray[np.float64] = norm.ppf(np.clip(rates, LEAST / 10, 1 - LEAST / 10))
    return deviates
