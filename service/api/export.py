"""How does somebody get everything that is kept of them? With their own token, as one JSON document, sent as it is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from service.api.context import Context, NotAllowed, Runtime
from service.errors import VoicegraphError
from service.pipelines.export import export_person

PATH = "/v1/export"
"""Sent as long as it takes: the limit on the time of an answer would cut it off."""


@dataclass(frozen=True, slots=True)
class ExportLimits:
    points: float = 100.0  # of the account's bucket (service.api.rates): five at once after a pause, then one in two seconds
    seconds: float = 3600.0  # until it is cut off: who reads so slowly reads nothing; by hand


class ExportRuns(VoicegraphError):
    code = "export_runs"
    says = "An export for this account is being sent already. Ask again once it is through."
    http_status = 429


def export_router(runtime: Runtime, limits: ExportLimits = ExportLimits()) -> APIRouter:
    router = APIRouter()
    running: set[str] = set()
    tokens = runtime.services.settings.tokens_file

    @router.post(PATH)
    async def export(request: Request, vectors: bool = False) -> StreamingResponse:
        """Of the person whose token it is; nobody else's, also for an administrator. One at a time; it stands in the audit."""
        context = await Context.admitted(runtime, request)
        principal = await context.holder()
        if principal is None or principal.person_id is None:
            raise NotAllowed(reason="What is kept of somebody is for that person's own token; a voice alone does not open it.")
        account = principal.account_id
        if account in running:
            raise ExportRuns()
        context.charge(limits.points - 1)  # `admit` took one
        running.add(account)
        try:
            reading = await context.reading()
            pieces = export_person(reading.graph, reading.scope, actor=account, tokens=tokens, vectors=vectors)
            first = await anext(pieces)  # what is refused is refused before anything is sent
        except BaseException:
            running.discard(account)
            raise
        return _Export(_with(first, pieces), running, account, limits.seconds)

    return router


class _Export(StreamingResponse):
    """However it ends, the account may ask again."""

    def __init__(self, pieces: AsyncIterator[str], running: set[str], account: str, seconds: float) -> None:
        headers = {"content-disposition": 'attachment; filename="voicegraph-export.json"'}
        super().__init__(pieces, media_type="application/json", headers=headers)
        self._running, self._account, self._seconds = running, account, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await super().__call__(scope, receive, send)
        finally:
            self._running.discard(self._account)


async def _with(first: str, rest: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for piece in rest:
        yield piece
