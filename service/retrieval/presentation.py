"""Which hits are worth showing?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.retrieval.fusion import Fused
from service.types.memory import Message
from service.types.search import Hit


@dataclass(frozen=True, slots=True)
class PresentationConfig:
    max_hits: int = 15  # what the papers keep, and about what a reader or an answer prompt takes in
    min_relevance: float = 0.10  # fused score; what one leg of three found, past its 26th place, is chance


def present(
    fused: Sequence[Fused],
    messages: Mapping[str, Message],
    reasons: Mapping[str, str],
    first: int | None = None,
    config: PresentationConfig | None = None,
) -> tuple[Hit, ...]:
    """The best hits, best first, each with its message and why the asker sees it; what is not in `messages` (it left the
    scope since it was found) is passed over. At most `first`, and never more than `max_hits`."""
    config = config or PresentationConfig()
    shown = [
        Hit(messages[hit.id], min(1.0, hit.score), hit.found, reasons[hit.id])
        for hit in fused
        if hit.score >= config.min_relevance and hit.id in messages and hit.id in reasons
    ]
    return tuple(shown[: config.max_hits if first is None else min(first, config.max_hits)])
