"""Why is a message held to be this person's, and what would it take today? The decision as it stands, with the thresholds as
they are by now: they rise with the number of people known, and change when an encoder is calibrated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from graph_schema.schema import VOICE_SPACES
from service.graph.access import ReadScope
from service.graph.driver import Graph
from service.graph.explain import Explanation
from service.graph.voices import count_voices
from service.identity.thresholds import ChannelPair, Thresholds, channel_pair
from service.types.audio import EmbeddingSpace


@dataclass(frozen=True, slots=True)
class ThresholdsNow:
    """Cosines, in [-1, 1]."""

    encoder: str
    channels: str
    """What is compared: as the decision was, or for one without a comparison the message's channel with itself."""
    gallery_size: int
    """People of the space who have a voice of this encoder."""
    link: float
    """τ_link: from here on a turn is taken for somebody's, if the margin holds too."""
    create: float
    """Below it, for everybody known, a voice is somebody new."""
    update: float
    """τ_update: below it nothing is learnt from a turn."""
    access: float
    """τ_access: from here on who asks by voice may be taken for somebody."""
    origin: str
    """When, how and on what they were measured."""


async def thresholds_now(
    graph: Graph, scope: ReadScope, why: Explanation, thresholds: Callable[[], Awaitable[Thresholds]]
) -> ThresholdsNow | None:
    """None without a scope that reads all, since they tell how many people are known; and for a decision by another encoder
    than `thresholds` are of: nothing is compared by it any more."""
    if not scope.reads_all:
        return None
    current = await thresholds()
    decided = [d for d in (why.turn, why.voice) if d is not None]
    if any(d.encoder not in (None, current.encoder) for d in decided):
        return None
    channels = next((d.channels for d in decided if d.channels), None)
    pair = ChannelPair(channels) if channels else channel_pair(why.channel or "", why.channel or "")
    encoder = EmbeddingSpace(current.encoder, "of any version", VOICE_SPACES[current.encoder])
    size = await graph.read(count_voices, scope.space, encoder)
    return ThresholdsNow(
        current.encoder,
        pair.value,
        size,
        current.link(size, pair),
        current.create(size, pair),
        current.update_at(pair),
        current.access(size, pair),
        current.origin,
    )
