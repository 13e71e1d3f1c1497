"""How long is what kept here? The schedule of the space, over GraphQL and as a page that anybody may be shown."""

from __future__ import annotations

import strawberry
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from service.api.context import Context, Runtime
from service.graph.spaces import find_space
from service.pipelines.retention import Kept, schedule
from service.pipelines.retention_page import as_page
from service.types.people import SpaceSettings


@strawberry.type(name="Kept", description="How long what is kept, in one place where personal data lives.")
class KeptType:
    store: str = strawberry.field(description="The place's name.")
    holds: str = strawberry.field(description="What it holds.")
    where: str = strawberry.field(description="Where it is.")
    until: str = strawberry.field(description="How long, with the days of the space's policies.")
    erased: str = strawberry.field(description="How it goes besides.")


async def retention(context: Context) -> list[KeptType]:
    return [
        KeptType(store=one.store, holds=one.holds, where=one.where, until=one.until, erased=one.erased)
        for one in (await _kept(context))[1]
    ]


def retention_router(runtime: Runtime) -> APIRouter:
    router = APIRouter()

    @router.get("/v1/retention", response_class=HTMLResponse)
    async def page(request: Request) -> HTMLResponse:
        """The schedule of the token's space, or of the one that voices without a token ask in: to be shown to whom it is of."""
        context = await Context.admitted(runtime, request)
        space, kept = await _kept(context)
        return HTMLResponse(as_page(space, kept))

    return router


async def _kept(context: Context) -> tuple[str, tuple[Kept, ...]]:
    settings = await context.services.graph.read(find_space, context.space) or SpaceSettings(context.space)
    return settings.id, schedule(settings, context.services.settings.question_days)
