"""What does the web service consist of? The application object that a server such as uvicorn runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from service.api.context import Runtime
from service.api.errors import incident
from service.api.http import Bounded, HttpConfig, graphql_router, rest_router, told
from service.api.jobs import runner
from service.api.schema import make_schema
from service.api.tokens import TokenFile
from service.api.uploads import UploadConfig, Uploads
from service.errors import VoicegraphError
from service.graph.spaces import ensure_space
from service.pipelines.jobs import Jobs, JobsConfig
from service.types.people import SpaceSettings
from service.wiring import Services

SWEEP_SECONDS = 600.0
"""How often uploads that waited too long are deleted."""


def create_app(services: Services, *, http: HttpConfig | None = None, jobs: JobsConfig | None = None) -> FastAPI:
    """The API over `services`; jobs run from the application's start to its end."""
    settings = services.settings
    config = http or HttpConfig()
    uploads = Uploads(settings.uploads_dir, UploadConfig(max_bytes=settings.max_upload_mb * 1_000_000))
    queue = Jobs(services.graph, runner(services, uploads), incident, jobs)
    runtime = Runtime(services, TokenFile(settings.tokens_file), uploads, queue, asyncio.Semaphore(1))

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await services.graph.write(ensure_space, SpaceSettings(settings.space))
        await queue.start()
        sweeper = asyncio.create_task(_sweep(uploads))
        yield
        sweeper.cancel()
        await queue.stop()

    app = FastAPI(
        title="Voicegraph",
        lifespan=life,
        docs_url="/docs" if settings.development else None,
        redoc_url=None,
        openapi_url="/openapi.json" if settings.development else None,
    )
    app.include_router(graphql_router(runtime, make_schema(development=settings.development), settings.development, config))
    app.include_router(rest_router(runtime, config))
    app.add_exception_handler(VoicegraphError, told)
    app.add_middleware(Bounded, config=config)
    return app


async def _sweep(uploads: Uploads) -> None:
    while True:
        try:
            await asyncio.to_thread(uploads.sweep)
        except OSError as error:  # logged; the disk may be back at the next sweep
            incident(error)
        await asyncio.sleep(SWEEP_SECONDS)
