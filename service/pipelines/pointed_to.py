"""What becomes of a delivery that only points to what was said? It is fetched, and goes into the inbox behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from service.connectors.live import Read, connector
from service.connectors.live.fetching import FetchConfig, fetched
from service.connectors.live.sources import Source, Sources
from service.graph.deliveries import NewDelivery
from service.pipelines.delivered import new_delivery


async def fetch_all(
    sources: Sources, source: Source, read: Read, *, config: FetchConfig | None = None
) -> Sequence[NewDelivery]:
    """What `read` of a delivery of `source` points to, for `save_deliveries`: whoever saves it is done with the delivery, and
    who is killed before fetches again what is known then. All or nothing.

    Raises FetchFailed (try again), FetchRefused and EventUnreadable (do not), SecretMissing."""
    api_key = sources.api_key(source) if any(fetch.needs_api_key for fetch in read.fetches) else None
    using = connector(source.provider)
    found = []
    for fetch in read.fetches:
        delivery = await fetched(fetch, api_key=api_key, config=config)
        said = await asyncio.to_thread(using.read, delivery)
        found.append(new_delivery(source, delivery, said, ()))
    return found
