"""What do meetings' backends deliver here, and what could not be taken in? For who administers the space: ids, times and codes;
what was said, by whom, and secrets are not among them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Context, global_id, local_id
from service.api.jobs import once_per_key
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.connectors.live.checks import problem_of
from service.connectors.live.sources import Source
from service.errors import InvalidInput as BadInput
from service.graph.dead_letters import forget_dead
from service.graph.deliveries import DeliveryShown, DeliveryStatus, count_waiting, list_deliveries
from service.graph.paging import Page
from service.pipelines.dead_letters import retry_dead_letters

strawberry.enum(DeliveryStatus, name="DeliveryStatus", description="What became of a delivery.")

MAX_LETTERS = 100
"""Dead letters in one request, as in a page of them."""


@strawberry.type(name="Delivery", description="One webhook or message of a meeting's backend, without what it says.")
class DeliveryType:
    id: strawberry.ID = strawberry.field(description="Global id.")
    source: str = strawberry.field(description="The configured source that it came to.")
    provider: str = strawberry.field(description="What reads it.")
    meeting: str | None = strawberry.field(description="The provider's id of the meeting; null where it could not be read.")
    status: DeliveryStatus = strawberry.field(description="DEAD: it could not be taken in, and is not tried again by itself.")
    attempts: int = strawberry.field(description="How often it could not be taken in.")
    error: str | None = strawberry.field(description="Code and message of the last time.")
    num_bytes: int = strawberry.field(description="How long it is.")
    received_at: datetime = strawberry.field(description="When it came, UTC.")
    next_at: datetime | None = strawberry.field(description="From when on it is to be taken in, while it waits, UTC.")
    expires_at: datetime | None = strawberry.field(description="When it is deleted, UTC; null while its meeting goes on.")

    @classmethod
    def from_record(cls, shown: DeliveryShown) -> DeliveryType:
        return cls(
            id=strawberry.ID(global_id("Delivery", shown.id)),
            source=shown.source,
            provider=shown.provider,
            meeting=shown.meeting,
            status=shown.status,
            attempts=shown.attempts,
            error=shown.error,
            num_bytes=shown.num_bytes,
            received_at=shown.received_at,
            next_at=shown.next_at,
            expires_at=shown.expires_at,
        )


@strawberry.type(name="MeetingSource", description="A backend that may deliver meetings into this space.")
class MeetingSourceType:
    name: str = strawberry.field(description="As in its address: POST /v1/hooks/{name}.")
    provider: str = strawberry.field(description="What reads its deliveries.")
    takes_sound: bool = strawberry.field(description="Its sound is taken in, and voices are told apart in it.")
    idle_minutes: float = strawberry.field(description="After so long without a delivery a meeting counts as ended.")
    num_waiting: int = strawberry.field(description="Deliveries that are not taken in yet.")
    problem: str | None = strawberry.field(description="Why it cannot deliver now: a code; null when it can.")


@strawberry.type(name="StillDead", description="A dead letter that cannot be read today either.")
class StillDeadType:
    id: strawberry.ID = strawberry.field(description="Global id.")
    error: str = strawberry.field(description="Code and message.")


@strawberry.type(name="DeliveriesRetried", description="What became of dead letters that were to be tried again.")
class DeliveriesRetriedType:
    waiting_ids: list[strawberry.ID] = strawberry.field(description="Those that wait to be taken in; one may have another id.")
    still_dead: list[StillDeadType] = strawberry.field(description="Those that cannot be read.")
    num_deleted: int = strawberry.field(description="Those that say nothing which concerns us, as it turns out.")


@strawberry.type(name="DeliveriesForgotten", description="Dead letters were deleted.")
class DeliveriesForgottenType:
    num_deleted: int = strawberry.field(description="How many; those that are no dead letters stay.")


RetryOutcome: TypeAlias = Annotated[
    DeliveriesRetriedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("RetryOutcome", description="What became of them, or why nothing was tried."),
]
ForgetOutcome: TypeAlias = Annotated[
    DeliveriesForgottenType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("ForgetOutcome", description="What is gone, or why nothing is."),
]


async def deliveries(
    context: Context, statuses: list[DeliveryStatus] | None, source: str | None, page: Page
) -> Connection[DeliveryType]:
    context.allowed("admin", "see what was delivered")
    found = await context.services.graph.read(
        list_deliveries, context.space, page=page, statuses=statuses or tuple(DeliveryStatus), source=source
    )
    return connection(found, DeliveryType.from_record)


async def sources(context: Context) -> list[MeetingSourceType]:
    """Raises SourcesUnreadable."""
    context.allowed("admin", "see which backends may deliver")
    waiting = await context.services.graph.read(count_waiting)
    found = context.services.sources.all().values()
    return [_source(context, one, waiting) for one in found if one.space == context.space]


def _source(context: Context, source: Source, waiting: Mapping[tuple[str, str], int]) -> MeetingSourceType:
    problem = problem_of(source, context.services.sources, datetime.now(UTC))
    return MeetingSourceType(
        name=source.name,
        provider=source.provider,
        takes_sound=source.listen,
        idle_minutes=source.idle_minutes,
        num_waiting=waiting.get((source.space, source.name), 0),
        problem=problem.code if problem is not None else None,
    )


async def retry(context: Context, ids: list[strawberry.ID], key: str) -> DeliveriesRetriedType:
    principal, named = context.allowed("admin", "try dead letters again"), _named(ids)
    services = context.services

    async def do() -> Mapping[str, Any]:
        done = await retry_dead_letters(services.graph, services.sources, context.space, named)
        return {"waiting": done.waiting, "still_dead": done.still_dead, "deleted": len(done.nothing)}

    done = await once_per_key(context, principal, "retry_deliveries", key, {"ids": named}, do)
    context.runtime.reception.inbox.pressure.look()
    return DeliveriesRetriedType(
        waiting_ids=[strawberry.ID(global_id("Delivery", id)) for id in done["waiting"]],
        still_dead=[StillDeadType(id=strawberry.ID(global_id("Delivery", id)), error=why) for id, why in done["still_dead"]],
        num_deleted=done["deleted"],
    )


async def forget(context: Context, ids: list[strawberry.ID], key: str) -> DeliveriesForgottenType:
    principal, named = context.allowed("admin", "delete dead letters"), _named(ids)

    async def do() -> Mapping[str, Any]:
        return {"deleted": await context.services.graph.write(forget_dead, context.space, named)}

    done = await once_per_key(context, principal, "forget_deliveries", key, {"ids": named}, do)
    return DeliveriesForgottenType(num_deleted=done["deleted"])


def _named(ids: list[strawberry.ID]) -> list[str]:
    if not 0 < len(ids) <= MAX_LETTERS:
        raise BadInput(what="ids", given=f"{len(ids)}", needed=f"1 to {MAX_LETTERS}")
    return [local_id(id, "Delivery") for id in ids]
