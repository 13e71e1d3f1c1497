"""What does the web service consist of, and how does it run inside a process? The application and its server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

from service.api.bearers import Bearers
from service.api.context import Runtime
from service.api.door import Door, with_cors
from service.api.errors import incident
from service.api.export import export_router
from service.api.hooks import HooksConfig, hooks_router
from service.api.http import Bounded, HttpConfig, graphql_router, rest_router, told
from service.api.issuers import Issuers
from service.api.jobs import runner
from service.api.key_sets import KeysConfig, KeySets
from service.api.moments import MomentsConfig
from service.api.old_leave import move_old_leave
from service.api.rates import RateConfig, Rates
from service.api.retention import retention_router
from service.api.schema import make_schema
from service.api.stream import StreamConfig, stream_router
from service.api.stream_following import Following, take_up
from service.api.tokens import TokenFile
from service.api.trusted import TrustedDocuments
from service.api.uploads import UploadConfig, Uploads
from service.api.uses import Uses
from service.api.webhooks import leave_of
from service.connectors.live.fetching import fetched
from service.errors import VoicegraphError
from service.graph.spaces import ensure_space, list_spaces
from service.language.chat_cache import AnswerCache
from service.pipelines.accounts import list_broken_off
from service.pipelines.deliveries import Inbox, InboxConfig
from service.pipelines.expire import (
    close_left_meetings,
    expire_all_voices,
    expire_deliveries,
    expire_questions,
    expire_sounds,
)
from service.pipelines.jobs import Jobs, JobsConfig
from service.pipelines.leave import expire_grants
from service.pipelines.meeting_tapes import Tapes
from service.pipelines.meetings import Meetings, MeetingsConfig
from service.pipelines.reception import Reception
from service.pipelines.retention import expire_sessions
from service.pipelines.webhook_call import CallConfig
from service.pipelines.webhook_secrets import find_key
from service.pipelines.webhook_worker import WebhookWorker, WorkerConfig, expire_events
from service.settings import Settings
from service.types.people import SpaceSettings
from service.wiring import Services
from service.wiring_meetings import writes_with

if TYPE_CHECKING:
    from uvicorn import Server

SWEEP_SECONDS = 600.0
"""How often what has had its time is deleted: uploads that waited too long, voices of people never asked, sounds, questions, a
model's answers, what meetings' backends delivered, what happened."""


NO_TRACES: TelemetryConfig = {"tracing": False, "operation_spans": False, "logs": False, "auto_configure": False}
"""Of FastAPI itself: it would tell an OpenTelemetry that is set up in the process what stands in addresses, where some backends
put their secret, and in errors. How many requests there were and how long they took, it may."""

MODEL_CALLS = 3
"""Of a language model, one after the other, that one request may wait for: two rounds judged, and the answer."""


def http_config(settings: Settings) -> HttpConfig:
    """With more time for a request where a language model is asked in it."""
    config = HttpConfig()
    if not any(map(settings.uses_model_for, ("search", "answers"))):
        return config
    return replace(config, request_seconds=config.request_seconds + MODEL_CALLS * settings.openai_timeout)


def rate_config(settings: Settings) -> RateConfig:
    per_second = settings.requests_per_second
    return RateConfig(per_second, settings.anonymous_per_second if per_second else 0.0)


def create_app(
    services: Services,
    *,
    http: HttpConfig | None = None,
    jobs: JobsConfig | None = None,
    stream: StreamConfig | None = None,
    webhooks: WorkerConfig | None = None,
    deliveries: InboxConfig | None = None,
    hooks: HooksConfig | None = None,
    meetings: MeetingsConfig | None = None,
    keys: KeysConfig | None = None,
    rates: RateConfig | None = None,
    moments: MomentsConfig | None = None,
) -> FastAPI:
    """The API over `services`; jobs run from the application's start to its end."""
    settings = services.settings
    config = http or http_config(settings)
    uploads = Uploads(settings.uploads_dir, UploadConfig(max_bytes=settings.max_upload_mb * 1_000_000))
    following = Following()
    limits = Rates(rates or rate_config(settings))
    queue = Jobs(services.graph, runner(services, uploads, following), incident, jobs)
    inbox = Inbox(services.graph, incident, deliveries)
    call = CallConfig(private=settings.webhook_private)
    key = partial(find_key, settings.webhook_key_file)
    tokens = TokenFile(settings.tokens_file)
    bearers = Bearers(Issuers(settings.issuers_path), KeySets(keys))
    sends = replace(webhooks or WorkerConfig(), call=call)
    caller = WebhookWorker(services.graph, key, partial(leave_of, services.graph, tokens), incident, sends)
    tapes = Tapes(settings.meetings_dir)
    reception = Reception(services.graph, services.sources, inbox, incident, tapes)
    worker = Meetings(
        services.graph,
        partial(writes_with, services, tapes),
        services.sources,
        fetched,
        incident,
        pressure=inbox.pressure,
        config=meetings,
    )
    uses = Uses(settings.tokens_file, settings.token_uses_file)
    told_at = moments or MomentsConfig()
    runtime = Runtime(
        services, tokens, bearers, uses, uploads, queue, reception, following=following, rates=limits, moments=told_at
    )
    trusted = TrustedDocuments.read(settings.trusted_documents) if settings.trusted_documents else None

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await services.graph.write(ensure_space, SpaceSettings(settings.space))
        await (await services.erase()).replay(although_open=True)
        await move_old_leave(services.graph, settings.tokens_file)
        await queue.start()
        await inbox.start()
        await worker.start()
        await caller.start()
        sweeper = asyncio.create_task(_sweep(runtime, AnswerCache(settings.chat_dir), settings.question_days))
        yield
        sweeper.cancel()
        await caller.stop()
        await inbox.stop()
        await worker.stop()
        await following.stop()
        await queue.stop()
        following.let_go()
        await swept([partial(uses.write, services.graph)])

    app = FastAPI(
        title="Voicegraph",
        lifespan=life,
        docs_url="/docs" if settings.development else None,
        redoc_url=None,
        openapi_url="/openapi.json" if settings.development else None,
        telemetry=NO_TRACES,
        redirect_slashes=False,  # it would lead wherever the Host header says
    )
    schema = make_schema(development=settings.development)
    app.include_router(graphql_router(runtime, schema, settings.development, config, trusted=trusted, origins=settings.origins))
    app.include_router(rest_router(runtime, config))
    app.include_router(retention_router(runtime))
    app.include_router(export_router(runtime))
    app.include_router(stream_router(runtime, stream or StreamConfig(), settings.origins))
    app.include_router(hooks_router(runtime, hooks))
    app.add_exception_handler(VoicegraphError, told)
    app.add_middleware(Bounded, config=config)
    if settings.origins:
        app.add_middleware(with_cors, origins=settings.origins)
    app.add_middleware(Door)
    return app


async def _sweep(runtime: Runtime, answers: AnswerCache, question_days: float) -> None:
    graph = runtime.services.graph

    async def questions_and_sounds() -> None:
        spaces = [space.id for space in await graph.read(list_spaces)]
        await expire_questions(graph, spaces, question_days)
        await expire_sounds(graph, spaces)

    async def erased_before() -> None:
        await (await runtime.services.erase()).replay()

    async def erasures() -> None:
        await (await runtime.services.erase()).take_up(incident)

    async def accounts() -> None:
        if await list_broken_off(graph):  # else no model is loaded for it
            await (await runtime.services.accounts()).go_on(incident)

    steps: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: take_up(graph, runtime.uploads, runtime.tokens, runtime.bearers.issuers, runtime.jobs, runtime.following),
        lambda: asyncio.to_thread(runtime.uploads.sweep),
        lambda: asyncio.to_thread(answers.forget_expired),
        lambda: asyncio.to_thread(Tapes(runtime.services.settings.meetings_dir).forget_expired),
        questions_and_sounds,
        accounts,
        lambda: runtime.uses.write(graph),
        lambda: expire_grants(graph),
        erased_before,
        erasures,
        lambda: expire_sessions(graph, runtime.services.erase, incident),
        lambda: expire_all_voices(graph),
        lambda: close_left_meetings(graph, [(one.space, one.name) for one in runtime.services.sources.all().values()]),
        lambda: expire_deliveries(graph),
        lambda: expire_events(graph),
    )
    while True:
        await swept(steps)
        await asyncio.sleep(SWEEP_SECONDS)


async def swept(steps: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """Each of them, whatever comes of the others: what could not be taken up must not keep voices longer than they may be."""
    for step in steps:
        try:
            await step()
        except Exception as error:  # noqa: BLE001 - logged; a fault of ours must not end what deletes voices in time either
            incident(error)


class PortNotFree(VoicegraphError):
    code = "port_not_free"
    says = "The service cannot listen on {host}:{port}: {reason}. Choose another with --port, or 0 for any free one."
    http_status = 500


class ServiceDidNotStart(VoicegraphError):
    code = "service_did_not_start"
    says = "The service ended before it listened on {host}:{port}. Its messages stand above."
    http_status = 500


def server_of(app: FastAPI, http: HttpConfig, trusted_proxies: str = "") -> Server:
    """What serves `app` on the sockets that it is given; a message on a websocket is as long as a body at most."""
    import uvicorn

    from service.api.wire import server_options

    limits = server_options(trusted_proxies)
    return uvicorn.Server(uvicorn.Config(app, log_level="warning", ws_max_size=http.max_body_bytes, **limits))


def listening(host: str, port: int) -> socket.socket:
    """What `server_of` accepts connections from. An answer leaves at once: its head and its body are sent apart, and without
    TCP_NODELAY the body waits until the head is acknowledged, which on a connection in use takes 40 ms (RFC 1122 §4.2.3.2).
    asyncio sets it on sockets that it makes, not on those of one that it is given. Raises PortNotFree."""
    try:
        listener = socket.create_server((host, port))
    except OSError as error:
        raise PortNotFree(host=host, port=port, reason=error.strerror) from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # accepted connections have it from here
    return listener


@asynccontextmanager
async def serving(services: Services, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """The URL under which the service answers while this is open; port 0 takes any free one. Raises PortNotFree."""
    listener = listening(host, port)
    url = f"http://{host}:{listener.getsockname()[1]}"
    http = http_config(services.settings)
    server = server_of(create_app(services, http=http), http, services.settings.trusted_proxies)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            if running.done():
                await running
                raise ServiceDidNotStart(host=host, port=port)
            await asyncio.sleep(0.02)
        yield url
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await running
        listener.close()
