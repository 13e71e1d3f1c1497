"""With what are meetings written that backends deliver? Made from the same parts as ingest, for `service/app.py`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.pipelines.meeting_session import WritesWith
    from service.wiring import Services


async def writes_with(services: Services) -> WritesWith:
    """The models are loaded by whoever asks first. No sound is listened to: no segmenter, no recogniser."""
    from service.identity.router import RouterConfig
    from service.pipelines.afterwards import Afterwards
    from service.pipelines.meeting_session import WritesWith

    encoder, embedder, gallery, thresholds = await asyncio.gather(
        services.encoder(), services.text_embedder(), services.gallery(), services.thresholds()
    )
    router = RouterConfig(thresholds=thresholds)

    async def afterwards() -> Afterwards:
        facts, entities, personas = await asyncio.gather(services.facts(), services.entities(), services.personas())
        return Afterwards(services.graph, facts, entities, personas, None, await services.engines.mirror_if_any())

    return WritesWith(services.graph, gallery, router, encoder.embedding_space, embedder, afterwards)
