"""How does a benchmark draw? Axes to draw on, and what saves them as a PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def figure(folder: Path, name: str, width: float = 6.0) -> tuple[Any, Any]:
    """Axes five inches high, `width` inches wide, and a call that saves them as `folder`/`name`.png and gives its path."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn, axes = pyplot.subplots(figsize=(width, 5))

    def save() -> Path:
        path = folder / f"{name}.png"
        drawn.tight_layout()
        drawn.savefig(path, dpi=120)
        pyplot.close(drawn)
        return path

    return axes, save
