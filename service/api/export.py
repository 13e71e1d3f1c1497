"""How does somebody get everything that is kept of them? With their own token, as one JSON document, sent as it is read."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from service.api.context import Context, Credentials, NotAllowed, Runtime
from service.pipelines.export import export_person

PATH = "/v1/export"
"""Sent as long as it takes: a limit on the time of an answer would cut it off."""


def export_router(runtime: Runtime) -> APIRouter:
    router = APIRouter()

    @router.post(PATH)
    async def export(request: Request, vectors: bool = False) -> StreamingResponse:
        """Of the person whose token it is; nobody else's, also for an administrator. It stands in the audit."""
        context = (await Context(runtime, Credentials.of(request.headers)).prepared()).admit(request)
        principal = await context.holder()
        if principal is None or principal.person_id is None:
            raise NotAllowed(reason="What is kept of somebody is for that person's own token; a voice alone does not open it.")
        reading = await context.reading()
        pieces = export_person(reading.graph, reading.scope, actor=principal.account_id, vectors=vectors)
        first = await anext(pieces)  # what is refused is refused before anything is sent
        headers = {"content-disposition": 'attachment; filename="voicegraph-export.json"'}
        return StreamingResponse(_with(first, pieces), media_type="application/json", headers=headers)

    return router


async def _with(first: str, rest: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for piece in rest:
        yield piece
