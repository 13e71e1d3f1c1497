"""Where in a row of frames is something true, as stretches?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Stretch = tuple[int, int]
"""First frame, and the frame after the last."""


def stretches(mask: Mask) -> list[Stretch]:
    """The maximal stretches in which `mask` (shape (frames,)) is true, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def smoothed(mask: Mask, *, fill: int, drop: int) -> Mask:
    """`mask` with stretches of under `drop` frames removed, and then gaps of at most `fill` frames closed."""
    kept = [(first, last) for first, last in stretches(mask) if last - first >= drop]
    result = np.zeros_like(mask)
    for place, (first, last) in enumerate(kept):
        end = kept[place + 1][0] if place + 1 < len(kept) and kept[place + 1][0] - last <= fill else last
        result[first:end] = True
    return result
