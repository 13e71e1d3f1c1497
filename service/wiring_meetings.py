"""With what are meetings written that backends deliver? Made from the same parts as ingest, for `service/app.py`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.pipelines.meeting_session import WritesWith
    from service.pipelines.meeting_tapes import Tapes
    from service.wiring import Services


async def writes_with(services: Services, tapes: Tapes) -> WritesWith:
    """The models are loaded by whoever asks first; what listens, when the first meeting ends whose sound came, too."""
    from service.identity.router import RouterConfig
    from service.pipelines.afterwards import Afterwards
    from service.pipelines.meeting_session import WritesWith
    from service.pipelines.meeting_voices import Ears, Listens

    encoder, embedder, gallery, thresholds = await asyncio.gather(
        services.encoder(), services.text_embedder(), services.gallery(), services.thresholds()
    )
    router = RouterConfig(thresholds=thresholds)

    async def afterwards() -> Afterwards:
        facts, entities, personas = await asyncio.gather(services.facts(), services.entities(), services.personas())
        return Afterwards(services.graph, facts, entities, personas, None, await services.engines.mirror_if_any())

    async def ears() -> Ears:
        return Ears(await services.segmenter(), encoder)

    listens = Listens(tapes, ears, services.ingest, marker=services.known_marker)
    return WritesWith(services.graph, gallery, router, encoder.embedding_space, embedder, afterwards, listens)
