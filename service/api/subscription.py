"""What can be followed? The subscriptions of the GraphQL schema."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Annotated

import strawberry

from service.api import events, jobs, listening
from service.api.context import Info
from service.api.events import EventOutcome
from service.api.jobs import JobOutcome
from service.api.listening import ListeningOutcome
from service.api.mutations import Id
from service.types.events import EventKind


@strawberry.type(
    description="What goes on, over a websocket with the subprotocol graphql-transport-ws, which always needs a token."
)
class Subscription:
    @strawberry.subscription(description="A job of this account now and after each change, until it is over.")
    async def job_progress(self, info: Info, id: Id) -> AsyncGenerator[JobOutcome, None]:
        async for outcome in jobs.follow(info.context, id):
            yield outcome

    @strawberry.subscription(
        description="What happens in the space, as far as the viewer may know of it: sessions that are ready, voices of nobody "
        "known, changes of who is who, what is erased. Each with the id that webhooks are told it with."
    )
    async def events(
        self,
        info: Info,
        kinds: Annotated[list[EventKind] | None, strawberry.argument(description="Only these.")] = None,
        since: Annotated[
            datetime | None,
            strawberry.argument(description="Also what has happened since (with its zone), seven days ago at most."),
        ] = None,
    ) -> AsyncGenerator[EventOutcome, None]:
        async for outcome in events.follow(info.context, kinds, since):
            yield outcome

    @strawberry.subscription(
        description="What is told on an open stream (`/stream`) from now on. For the token that opened it, and with the same "
        "people named as listening."
    )
    async def listening(
        self,
        info: Info,
        stream_id: Annotated[strawberry.ID, strawberry.argument(description="As the stream's `ready` told it.")],
    ) -> AsyncGenerator[ListeningOutcome, None]:
        async for outcome in listening.follow(info.context, stream_id):
            yield outcome
