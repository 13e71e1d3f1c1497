"""How does the API stand on HTTP? GraphQL over POST and websocket, uploads, health, and limits on all of them."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from json import JSONDecodeError
from typing import Any

from cross_web import AsyncHTTPRequestAdapter
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected
from strawberry.exceptions import ConnectionRejectionError, MissingQueryError
from strawberry.fastapi import GraphQLRouter
from strawberry.http import GraphQLRequestData
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler, Operation
from strawberry.types import ExecutionResult
from strawberry.types.graphql import OperationType

from service.api.context import Context, Credentials, Runtime
from service.api.errors import graphql_error, incident
from service.api.graphiql import with_plain_form
from service.api.key_sets import IssuerUnreachable
from service.api.rates import Payer, RateLimited
from service.api.readiness import Readiness
from service.api.requests import NotARequest, OnlyByPost, OnlyByWebsocket, OnlyJson, decoded, message_of, request_of
from service.api.schema import Schema
from service.api.trusted import DocumentNotTrusted, TrustedDocuments
from service.errors import VoicegraphError
from service.graph.spaces import find_space
from service.types.people import VoiceAccess

BY_POST = frozenset({OperationType.QUERY, OperationType.MUTATION})
TOO_OFTEN = 4429
"""Closes a websocket whose messages come too often; as that of a stream does."""


@dataclass(frozen=True, slots=True)
class HttpConfig:
    max_body_bytes: int = 256 * 1024
    """A question of 2,000 characters and the largest query we allow are under 20 KB."""
    request_seconds: float = 30.0
    """The slowest thing a request waits for is a model that loads on first use: 5 to 10 s."""
    subscription_seconds: float = 4 * 3600.0
    """An ingest of four hours of sound takes minutes; a follower who forgot to leave is not kept longer."""
    chunk_seconds: float = 30.0
    """An upload that sends nothing for so long is given up."""
    init_seconds: float = 10.0
    """For `connection_init` after the websocket is open."""
    max_operations: int = 8
    """At once on one websocket."""
    max_sockets: int = 50
    """Websockets of one account at once; a program needs one, and a page one for each tab."""
    ready_seconds: float = 2.0
    """For the database to answer a readiness probe."""
    ready_again: float = 1.0
    """Seconds that its answer holds: anybody may ask, and probes ask every few seconds."""


STREAMED = frozenset({"/v1/uploads", "/v1/export"})
"""What is sent or answered as long as it takes."""


class BodyTooLarge(VoicegraphError):
    code = "body_too_large"
    says = "The request's body is larger than {limit} bytes. Sound goes to /v1/uploads; a query can be split."
    http_status = 413


class TookTooLong(VoicegraphError):
    code = "took_too_long"
    says = "The request took longer than {seconds:g} s and was stopped. Ask for less at once."
    http_status = 504


class UploadStalled(VoicegraphError):
    code = "upload_stalled"
    says = "No bytes arrived for {seconds:g} s, or the connection broke. Nothing was kept; send the file again."
    http_status = 408


class UploadNotAllowed(VoicegraphError):
    code = "upload_not_allowed"
    says = "Without a token only a voice clip can be uploaded, and only where the space has `voice_access: open`."
    http_status = 401


class _Handler(BaseGraphQLTransportWSHandler[Context, None]):
    """Each operation on a websocket has a context of its own: nothing one operation read serves another."""

    async def handle_message(self, message: Any) -> None:
        """What has not the form of a message, or comes too often, ends the connection."""
        assert isinstance(self.view, _Router)
        try:
            self.context.charge(1)
            message = message_of(message, self.view.trusted)
        except RateLimited as error:
            await self.websocket.close(code=TOO_OFTEN, reason=error.code)
        except NotARequest:
            await self.handle_invalid_message("Failed to parse message")
        except DocumentNotTrusted as error:
            payload = [graphql_error(error).formatted]
            await self.send_message({"id": message["id"], "type": "error", "payload": payload})
        else:
            await BaseGraphQLTransportWSHandler.handle_message(self, message)

    async def run_operation(self, operation: Operation[Context, None]) -> None:
        alone = copy.copy(self)
        alone.context = self.context.renewed()
        assert isinstance(self.view, _Router)
        async with asyncio.timeout(self.view.operation_seconds):
            await BaseGraphQLTransportWSHandler.run_operation(alone, operation)

    async def handle_task_exception(self, error: Exception) -> None:
        """Nobody is left to be told that a connection has ended; all else is an incident, since the words of an error, which
        Strawberry would log, may quote what was asked."""
        if not isinstance(error, WebSocketDisconnected):
            incident(error)

    async def handle(self) -> None:
        assert isinstance(self.view, _Router)
        try:
            await BaseGraphQLTransportWSHandler.handle(self)
        finally:
            self.view.sockets.close(self.context)


class _Sockets:
    """Which account has how many websockets."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[int, Payer] = {}

    def open(self, context: Context, payer: Payer) -> None:
        """Raises ConnectionRejectionError."""
        if list(self._open.values()).count(payer) >= self._most:
            raise ConnectionRejectionError
        self._open[id(context)] = payer

    def close(self, context: Context) -> None:
        self._open.pop(id(context), None)


class _Router(GraphQLRouter[Context, None]):
    graphql_transport_ws_handler_class = _Handler
    operation_seconds: float
    trusted: TrustedDocuments | None
    sockets: _Sockets

    @property
    def graphql_ide_html(self) -> str:
        return with_plain_form(super().graphql_ide_html)

    def decode_json(self, data: str | bytes) -> object:
        """Of a websocket's message, in the way of Strawberry."""
        try:
            return decoded(data)
        except NotARequest as error:
            raise JSONDecodeError(error.code, "", 0) from None

    async def parse_http_body(self, request: AsyncHTTPRequestAdapter) -> GraphQLRequestData:
        """Raises OnlyByPost, OnlyJson, NotARequest, DocumentNotTrusted."""
        if request.method != "POST":
            raise OnlyByPost()
        if (request.content_type or "").partition(";")[0].strip().lower() != "application/json":
            raise OnlyJson()
        asked = request_of(decoded(await request.get_body()))
        if self.trusted is not None:
            asked = self.trusted.resolved(asked)
        return GraphQLRequestData(
            asked.get("query"), asked.get("variables"), asked.get("operationName"), asked.get("extensions")
        )

    async def execute_operation(  # as Strawberry names them
        self,
        request: Request,
        request_adapter: AsyncHTTPRequestAdapter,
        request_data: GraphQLRequestData | list[GraphQLRequestData],
        context: Context,
        root_value: None,
        sub_response: Response,
    ) -> ExecutionResult:
        """Of a query or a mutation. Raises NotARequest, OnlyByWebsocket."""
        assert isinstance(request_data, GraphQLRequestData)
        try:
            return await self.schema.execute(
                request_data.query,
                variable_values=request_data.variables,
                context_value=context,
                operation_name=request_data.operation_name,
                operation_extensions=request_data.extensions,
                allowed_operation_types=BY_POST,
            )
        except MissingQueryError:
            raise NotARequest(what="There is no `query`") from None
        except CannotGetOperationTypeError:
            raise NotARequest(what="There is no operation of that name, or several and no name") from None
        except InvalidOperationTypeError:
            raise OnlyByWebsocket() from None

    async def on_ws_connect(self, context: Context) -> dict[str, object] | None:
        """A websocket is for those with a token, given in `connection_init` and nowhere else: it is there to follow jobs,
        which are an account's. What a voice alone may ask, it asks over POST."""
        try:
            context.credentials = Credentials.of(context.connection_params or {})
            entry = (await context.prepared()).entry
            if entry is None:
                raise ConnectionRejectionError
            context.payer = Payer(entry.principal.account_id, known=True)
            self.sockets.open(context, context.payer)
        except VoicegraphError:
            raise ConnectionRejectionError from None
        return {}


def graphql_router(
    runtime: Runtime,
    schema: Schema,
    development: bool,
    config: HttpConfig,
    *,
    trusted: TrustedDocuments | None = None,
    origins: Sequence[str] = (),
) -> APIRouter:
    """`trusted`: the only documents that are run; `origins`: whose pages may open a websocket, beside the service's own."""

    async def context(connection: HTTPConnection) -> Context:
        return await Context.admitted(runtime, connection)

    router = _Router(
        schema,
        path="/graphql",
        context_getter=context,
        graphql_ide="graphiql" if development else None,
        allow_queries_via_get=False,
        subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL,),
        connection_init_wait_timeout=timedelta(seconds=config.init_seconds),
        max_subscriptions_per_connection=config.max_operations,
        multipart_uploads_enabled=False,
        include_in_schema=False,
        allowed_origins=origins,
    )
    router.trusted = trusted
    router.sockets = _Sockets(config.max_sockets)
    router.operation_seconds = config.subscription_seconds
    return router


def rest_router(runtime: Runtime, config: HttpConfig) -> APIRouter:
    router = APIRouter()
    readiness = Readiness(runtime.services.graph, within=config.ready_seconds, again=config.ready_again)

    @router.post("/v1/uploads", status_code=201)
    async def upload(request: Request) -> dict[str, object]:
        """The body as it is (no form): sound or a transcript. Returns the id that GraphQL takes as `uploadId`."""
        context = await Context.admitted(runtime, request)
        principal = context.principal
        if principal is None and not await _voices_alone(context):
            raise UploadNotAllowed()
        kept = await runtime.uploads.save(principal.account_id if principal else None, _chunks(request, config.chunk_seconds))
        return {"uploadId": kept.id, "bytes": kept.bytes}

    @router.get("/healthz")
    async def alive() -> dict[str, str]:
        """The process answers."""
        return {"status": "alive"}

    @router.get("/readyz")
    async def ready() -> JSONResponse:
        """The database answers, is migrated, and its indexes are online."""
        problem = await readiness.problem()
        return JSONResponse(
            {"status": "not ready", "problem": problem} if problem else {"status": "ready"}, 503 if problem else 200
        )

    return router


async def told(_: Request, error: Exception) -> JSONResponse:
    """An expected error of a REST route, in the form GraphQL clients know."""
    assert isinstance(error, VoicegraphError)
    if isinstance(error, IssuerUnreachable):
        answer = _errors(error.http_status, error.code, error.message)
        answer.headers["retry-after"] = str(error.facts["seconds"])
        return answer
    if error.http_status >= 500 and not isinstance(error, TookTooLong):
        number = incident(error)
        return _errors(error.http_status, error.code, f"The service cannot do that now; incident {number}.")
    answer = _errors(error.http_status, error.code, error.message)
    if isinstance(error, RateLimited):
        answer.headers["retry-after"] = str(error.facts["seconds"])
    return answer


class Bounded:
    """Reads a request's body before the application does, up to a limit, and gives the answer a limited time.
    Uploads and deliveries stream past it with limits of their own."""

    def __init__(self, app: ASGIApp, config: HttpConfig) -> None:
        self._app, self._config = app, config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in STREAMED or scope["path"].startswith("/v1/hooks/"):
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(self._config.request_seconds):
                body = await self._body(scope, receive)
                await self._app(scope, _replayed(body, receive), watched)
        except (BodyTooLarge, TimeoutError) as error:
            if started:
                raise
            told_ = error if isinstance(error, BodyTooLarge) else TookTooLong(seconds=self._config.request_seconds)
            await _errors(told_.http_status, told_.code, told_.message)(scope, receive, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        limit = self._config.max_body_bytes
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > limit:
            raise BodyTooLarge(limit=limit)
        body, more = bytearray(), True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > limit:
                raise BodyTooLarge(limit=limit)
        return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _errors(http_status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"data": None, "errors": [{"message": message, "extensions": {"code": code}}]}, http_status)


async def _chunks(request: Request, seconds: float) -> AsyncIterator[bytes]:
    stream = request.stream().__aiter__()
    while True:
        try:
            async with asyncio.timeout(seconds):
                yield await anext(stream)
        except StopAsyncIteration:
            return
        except (TimeoutError, ClientDisconnect):
            raise UploadStalled(seconds=seconds) from None


async def _voices_alone(context: Context) -> bool:
    space = await context.services.graph.read(find_space, context.space)
    return space is not None and space.voice_access is VoiceAccess.OPEN
