"""What does `voicegraph demo` do? Begins afresh in a space of its own, lets the story happen, says where to go on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from service.app import serving
from service.demo.client import Client
from service.demo.reference import call, household
from service.demo.story import Story, tell
from service.types.audio import Progress

if TYPE_CHECKING:
    from service.settings import Settings
    from service.wiring import Services

SPACE = "demo"
"""Where the command lets it happen."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where one can go on."""

    api: str
    graphiql: str
    browser: str | None
    """Neo4j Browser; None when the server is not ours."""
    show_graph: str
    """A query for the Browser."""
    try_own: str
    serving: bool
    """The service still runs; otherwise `voicegraph serve` starts it again."""


@dataclass(frozen=True, slots=True)
class Demo:
    story: Story
    where: Where
    seconds: float


async def run(
    settings: Settings, bar: Callable[[str], Progress], show: Callable[[Demo], None], *, keep: bool = False, serve: bool = False
) -> None:
    """The whole demo, in the space of the settings. `show` is called when it is over, and only then a service that is to
    `serve` goes on, until it is stopped.

    `keep`: go on with what an earlier demo left (nothing is remembered twice) rather than begin afresh."""
    from service.wiring import open_services

    began = time.monotonic()
    report = bar("Neo4j")
    report(0.0, "starting")
    async with open_services(settings) as services:
        report(0.7, "making room")
        if not keep:
            await services.forget_space(settings.space)
        report(1.0, "ready")
        report = bar("Models")
        report(0.0, "loading; exported once, the first time")
        await services.ingest()
        report(1.0, "ready")
        async with serving(services) as url, _token(services) as token:
            story = await asyncio.to_thread(tell, Client(url, token), household(), (call(),), bar)
            show(Demo(story, _where(services, url, serve), time.monotonic() - began))
            if serve:
                await asyncio.Event().wait()


@asynccontextmanager
async def _token(services: Services) -> AsyncIterator[str]:
    """A token of this run only: an hour at most, revoked when the demo ends."""
    from service.api.tokens import issue, revoke

    path = services.settings.tokens_file
    expires = datetime.now(UTC) + timedelta(hours=1)
    scopes = ("admin", "ingest", "ask", "read_all")
    token, entry = issue(path, subject="voicegraph demo", space=services.settings.space, scopes=scopes, expires_at=expires)
    try:
        yield token
    finally:
        revoke(path, entry.id)


def _where(services: Services, url: str, serve: bool) -> Where:
    from service.wiring import embedded_server

    settings = services.settings
    address = None if settings.neo4j_uri else embedded_server(settings).status().address
    port = url.rpartition(":")[2] if serve else settings.port
    api = f"http://{settings.host}:{port}/graphql"
    return Where(
        api=api,
        graphiql=api,
        browser=address.browser if address else None,
        show_graph=f"MATCH w = (:Person {{space: '{settings.space}'}})-[:SPEAKS]->()-[:ADDRESSES]->() RETURN w",
        try_own='voicegraph ingest FILE && voicegraph people && voicegraph ask "What did we agree on?"',
        serving=serve,
    )
