"""Which hits are worth showing?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.retrieval.ranking import Candidate
from service.types.memory import Message
from service.types.search import Hit


@dataclass(frozen=True, slots=True)
class PresentationConfig:
    max_hits: int = 15  # what the papers keep, and about what a reader or an answer prompt takes in
    min_relevance: float = 0.005  # of the best hit's score; where little is visible, every score is low, and no less true


def present(
    ranked: Sequence[Candidate],
    messages: Mapping[str, Message],
    reasons: Mapping[str, str],
    since: Mapping[str, int] | None = None,
    first: int | None = None,
    config: PresentationConfig | None = None,
) -> tuple[Hit, ...]:
    """The best hits, best first, each with its message, the round that first found it and why the asker sees it; what is not
    in `messages` (it left the scope since it was found) is passed over. At most `first`, and never more than `max_hits`."""
    config = config or PresentationConfig()
    floor = config.min_relevance * max((c.score for c in ranked), default=0.0)
    shown = [
        Hit(messages[c.id], min(1.0, c.score), c.found, reasons[c.id], (since or {}).get(c.id, 1), c.because)
        for c in ranked
        if c.score >= floor and c.id in messages and c.id in reasons
    ]
    return tuple(shown[: config.max_hits if first is None else min(first, config.max_hits)])
