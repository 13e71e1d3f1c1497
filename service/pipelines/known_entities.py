"""What is spoken of, as a viewer may know it? Reads of the left brain at the time of asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from service.graph.entities import EntityFilters, find_entities, list_entities, list_related, list_themes
from service.graph.paging import Page, Paged
from service.graph.themes import list_related_themes
from service.memory.left_brain.weights import WeightConfig
from service.types.entities import KnownEntity, Related, RelatedTheme, Theme

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class KnownEntitiesConfig:
    most_related: int = 10  # as many as a page shows beside one
    weights: WeightConfig = field(default_factory=WeightConfig)


CONFIG = KnownEntitiesConfig()


async def entities_by_id(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, KnownEntity]:
    """As find_entities, weighed now."""
    return await find_entities(tx, scope, ids, at=_now(), half_life_days=CONFIG.weights.half_life_days)


async def entities_page(tx: Tx, scope: ReadScope, *, page: Page, filters: EntityFilters) -> Paged[KnownEntity]:
    half_life = CONFIG.weights.half_life_days
    return await list_entities(tx, scope, page=page, filters=filters, at=_now(), half_life_days=half_life)


async def related_entities(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, tuple[Related, ...]]:
    weights = CONFIG.weights
    return await list_related(
        tx, scope, ids, at=_now(), half_life_days=weights.half_life_days, strong=weights.strong, most=CONFIG.most_related
    )  # fmt: skip


async def themes_now(tx: Tx, scope: ReadScope) -> list[Theme]:
    return await list_themes(tx, scope, at=_now(), half_life_days=CONFIG.weights.half_life_days)


async def related_themes(tx: Tx, scope: ReadScope) -> dict[str, tuple[RelatedTheme, ...]]:
    weights = CONFIG.weights
    return await list_related_themes(
        tx, scope, at=_now(), half_life_days=weights.half_life_days, strong=weights.strong,
        strong_share=weights.strong_share, most=CONFIG.most_related,
    )  # fmt: skip


def _now() -> datetime:
    return datetime.now(UTC)
