"""How do several rankings become one? The fusion that the product had before its ranker; cheap enough for every policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from service.types.search import Found, Ranking, Tool


@dataclass(frozen=True, slots=True)
class FusionConfig:
    k: int = 10  # LoCoMo, 661 questions, these three legs: Recall@15 81.1 %, Recall@5 65.7; with 60 (Cormack et al.) 77.9, 59.3
    weights: Mapping[Tool, float] = field(default_factory=lambda: {Tool.BM25: 1.0, Tool.DENSE: 1.0, Tool.DENSE_CONTEXT: 1.0})
    favour: float = 0.25  # of one leg's first rank, for what somebody named said or was told: Recall@15 +1.3; 0.5 only +1.2


@dataclass(frozen=True, slots=True)
class Fused:
    id: str
    score: float
    """Share of the best a hit can get: first in every leg that ran (and favoured, where somebody is named), [0, 1]."""
    found: tuple[Found, ...]


def fuse(rankings: Mapping[Tool, Ranking], config: FusionConfig | None = None) -> tuple[Fused, ...]:
    """Weighted reciprocal rank fusion: sum of weight / (k + rank), rank from 1, over what the first rank in every
    non-empty ranking would give. Ties keep the order of the first ranking that has one of them."""
    config = config or FusionConfig()
    ran = {tool: ranking for tool, ranking in rankings.items() if ranking}
    best = sum(config.weights.get(tool, 1.0) for tool in ran) / (config.k + 1)
    found: dict[str, list[Found]] = {}
    for tool, ranking in ran.items():
        for rank, ranked in enumerate(ranking, start=1):
            found.setdefault(ranked.id, []).append(Found(tool, rank, ranked.score))
    fused = [
        Fused(id, sum(config.weights.get(f.tool, 1.0) / (config.k + f.rank) for f in by) / best, tuple(by))
        for id, by in found.items()
    ]
    return tuple(sorted(fused, key=lambda hit: -hit.score))


def favour(
    fused: Sequence[Fused], ids: Collection[str], num_legs: int, config: FusionConfig | None = None
) -> tuple[Fused, ...]:
    """`fused` with those of `ids` moved up: softly, since a hard filter on the wrong person loses half of what is right."""
    config = config or FusionConfig()
    whole = num_legs + config.favour
    moved = (replace(hit, score=(hit.score * num_legs + config.favour * (hit.id in ids)) / whole) for hit in fused)
    return tuple(sorted(moved, key=lambda hit: -hit.score))
