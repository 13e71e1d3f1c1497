"""Which addresses are told of what happens here, and what became of each telling? For who administers the space; their secrets
are shown once, when they are made, and addresses without their query, which may hold another's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.bearers import is_issuers
from service.api.connections import After, Before, Connection, First, Last, connection
from service.api.context import Context, Info, global_id, local_id
from service.api.context import NotAllowed as Refused
from service.api.cursors import page
from service.api.jobs import once_per_key
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound, expected
from service.api.tokens import TokenFile
from service.errors import InvalidInput as BadInput
from service.graph.driver import Graph
from service.graph.webhook_deliveries import DeliveryStatus, WebhookDelivery, list_deliveries, replay_one
from service.graph.webhooks import (
    COMMAND_LINE,
    Webhook,
    WebhookStatus,
    WhyDisabled,
    forget_webhook,
    get_webhook,
    list_webhooks,
    set_status,
)
from service.graph.write_events import FORGOTTEN
from service.pipelines.viewer import with_leave
from service.pipelines.webhook_call import shown_url
from service.pipelines.webhooks import has_leave, whose_eyes
from service.types.events import EventKind
from service.types.ids import derived
from service.types.people import Principal
from service.types.plain import short

strawberry.enum(EventKind, name="EventKind", description="What happens that one can be told of.")
strawberry.enum(WebhookStatus, name="WebhookStatus", description="Whether it is told of anything.")
strawberry.enum(WhyDisabled, name="WhyDisabled", description="Why it is told of nothing.")
strawberry.enum(DeliveryStatus, name="WebhookDeliveryStatus", description="What became of telling it.")

WEBHOOK, DELIVERY = "Webhook", "WebhookDelivery"


@strawberry.type(name="Webhook", description="An address that is told of what happens in the space.")
class WebhookType:
    id: strawberry.ID = strawberry.field(description="Global id.")
    url: str = strawberry.field(description="The address, without its query.")
    kinds: list[EventKind] = strawberry.field(description="What it is told of.")
    person_id: strawberry.ID | None = strawberry.field(
        description="Global id of whose eyes it is told with; null: it is told of all of the space."
    )
    status: WebhookStatus = strawberry.field(description="Disabled, it is told of nothing; a replay tells it afterwards.")
    disabled_why: WhyDisabled | None = strawberry.field(description="Why it is disabled.")
    failures: int = strawberry.field(description="Deliveries in a row that were given up.")
    last_sent_at: datetime | None = strawberry.field(description="When one last arrived, UTC.")
    rotated_at: datetime | None = strawberry.field(description="When it got its newest secret, UTC; null: it has its first.")
    created_at: datetime = strawberry.field(description="When it was made, UTC.")

    @classmethod
    def from_record(cls, webhook: Webhook) -> WebhookType:
        return cls(
            id=strawberry.ID(global_id(WEBHOOK, webhook.id)),
            url=shown_url(webhook.url),
            kinds=list(webhook.kinds),
            person_id=strawberry.ID(global_id("Person", webhook.person_id)) if webhook.person_id else None,
            status=webhook.status,
            disabled_why=webhook.disabled_why,
            failures=webhook.failures,
            last_sent_at=webhook.last_sent_at,
            rotated_at=webhook.rotated_at,
            created_at=webhook.created_at,
        )


@strawberry.type(name="WebhookDelivery", description="One event for one webhook, without what it says.")
class WebhookDeliveryType:
    id: strawberry.ID = strawberry.field(description="Global id, for `replayWebhook`.")
    webhook_id: strawberry.ID = strawberry.field(description="Global id of the webhook.")
    event_id: strawberry.ID = strawberry.field(description="Of the event, as the header `webhook-id` has it.")
    kind: EventKind = strawberry.field(description="Of the event.")
    status: DeliveryStatus = strawberry.field(description="WITHHELD: there was nothing that it may be told.")
    attempts: int = strawberry.field(description="How often it was sent.")
    http_status: int | None = strawberry.field(description="Of the last answer.")
    error: str | None = strawberry.field(description="Code of what the last time ended with.")
    next_at: datetime | None = strawberry.field(description="When it is tried again, while it waits, UTC.")
    sent_at: datetime | None = strawberry.field(description="When it arrived, UTC.")
    created_at: datetime = strawberry.field(description="When it happened, or was to be told, UTC.")

    @classmethod
    def from_record(cls, one: WebhookDelivery) -> WebhookDeliveryType:
        return cls(
            id=strawberry.ID(global_id(DELIVERY, one.id)),
            webhook_id=strawberry.ID(global_id(WEBHOOK, one.webhook_id)),
            event_id=strawberry.ID(one.event_id),
            kind=one.kind,
            status=one.status,
            attempts=one.attempts,
            http_status=one.http_status,
            error=one.error,
            next_at=one.next_at if one.status is DeliveryStatus.WAITING else None,
            sent_at=one.sent_at,
            created_at=one.created_at,
        )


@strawberry.type(name="WebhookMade", description="A webhook has a new secret.")
class WebhookMadeType:
    webhook: WebhookType = strawberry.field(description="The webhook.")
    secret: str | None = strawberry.field(
        description="What is sent is signed with it (standardwebhooks.com). Shown once; null when the same key is used again."
    )


@strawberry.type(name="WebhookChanged", description="A webhook was changed.")
class WebhookChangedType:
    webhook: WebhookType | None = strawberry.field(description="As it is now; null: it is removed.")


@strawberry.type(name="WebhookReplayed", description="What happened is told again.")
class WebhookReplayedType:
    num_deliveries: int = strawberry.field(description="How many.")


@strawberry.type(name="WebhookTried", description="What came of sending a webhook something to try it.")
class WebhookTriedType:
    arrived: bool = strawberry.field(description="It was answered with success.")
    http_status: int | None = strawberry.field(description="Of the answer.")
    error: str | None = strawberry.field(
        description="timeout, unreachable, address_not_allowed, redirected or status; null: it arrived."
    )


WebhookMadeOutcome: TypeAlias = Annotated[
    WebhookMadeType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("WebhookMadeOutcome", description="The webhook and its secret, or why there is none."),
]
WebhookChangedOutcome: TypeAlias = Annotated[
    WebhookChangedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("WebhookChangedOutcome", description="The webhook, or why nothing changed."),
]
WebhookReplayedOutcome: TypeAlias = Annotated[
    WebhookReplayedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("WebhookReplayedOutcome", description="How much is told again, or why nothing is."),
]
WebhookTriedOutcome: TypeAlias = Annotated[
    WebhookTriedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("WebhookTriedOutcome", description="What came of it, or why nothing was sent."),
]

Key = Annotated[str, strawberry.argument(description="Of your making, one per request.")]
Which = Annotated[strawberry.ID, strawberry.argument(description="Global id of the webhook.")]
Url = Annotated[
    str, strawberry.argument(description="Where to: https, at a public address unless the service is set otherwise.")
]
Kinds = Annotated[list[EventKind], strawberry.argument(description="What it is to be told of.")]
Eyes = Annotated[
    strawberry.ID | None,
    strawberry.argument(
        description="With whose eyes it is told: the token's person, or one it may ask for. Without: of all of the space, "
        "which takes the scope `read_all`; a token without that has it told with its own person's."
    ),
]


async def webhooks(info: Info) -> list[WebhookType]:
    info.context.allowed("admin", "see the webhooks")
    found = await info.context.services.graph.read(list_webhooks, info.context.space)
    return [WebhookType.from_record(one) for one in found]


async def webhook_deliveries(
    info: Info,
    webhook_id: Annotated[strawberry.ID | None, strawberry.argument(description="Only to this webhook.")] = None,
    status: Annotated[list[DeliveryStatus] | None, strawberry.argument(description="Only these.")] = None,
    first: First = None,
    after: After = None,
    last: Last = None,
    before: Before = None,
) -> Connection[WebhookDeliveryType]:
    info.context.allowed("admin", "see what webhooks were told")
    found = await info.context.services.graph.read(
        list_deliveries,
        info.context.space,
        page=page(first, after, last, before),
        webhook_id=local_id(webhook_id, WEBHOOK) if webhook_id else None,
        statuses=status or (),
    )
    return connection(found, WebhookDeliveryType.from_record)


async def add_webhook(info: Info, url: Url, kinds: Kinds, idempotency_key: Key, person_id: Eyes = None) -> WebhookMadeOutcome:
    outcome: WebhookMadeOutcome = await expected(_add(info.context, url, kinds, person_id, idempotency_key))
    return outcome


async def _add(context: Context, url: str, kinds: list[EventKind], person_id: str | None, key: str) -> WebhookMadeType:
    principal = await _answers_for(context, "add a webhook")
    person = whose_eyes(principal, local_id(person_id) if person_id else None)
    id = derived("webhook", context.space, principal.account_id, short("idempotencyKey", key))
    secret: str | None = None

    async def do() -> Mapping[str, Any]:
        nonlocal secret
        made = await context.services.webhooks().add(
            context.space, url, kinds, person=person, made_by=principal.account_id, token_id=_token(context), id=id
        )
        secret = made.secret
        return {"webhook_id": made.webhook.id}

    body = {"url": url, "kinds": sorted(kinds), "person": person}
    done = await once_per_key(context, principal, "add_webhook", key, body, do)
    return WebhookMadeType(webhook=await _webhook(context, done["webhook_id"]), secret=secret)


async def rotate_webhook_secret(info: Info, id: Which, idempotency_key: Key) -> WebhookMadeOutcome:
    outcome: WebhookMadeOutcome = await expected(_rotate(info.context, local_id(id, WEBHOOK), idempotency_key))
    return outcome


async def _rotate(context: Context, id: str, key: str) -> WebhookMadeType:
    principal = context.allowed("admin", "make a webhook a new secret")
    secret: str | None = None

    async def do() -> Mapping[str, Any]:
        nonlocal secret
        made = await context.services.webhooks().rotate(context.space, id, actor=principal.account_id)
        secret = made.secret
        return {"webhook_id": made.webhook.id}

    await once_per_key(context, principal, "rotate_webhook", key, {"webhook": id}, do)
    return WebhookMadeType(webhook=await _webhook(context, id), secret=secret)


def _token(context: Context) -> str | None:
    return context.entry.id if context.entry else None


async def _answers_for(context: Context, to: str) -> Principal:
    """Who has the token, with whom it may ask for now. Raises NotAllowed for a token that an issuer gave: weeks later, when
    something is told, nobody can look up whether it still holds."""
    principal = context.allowed("admin", to)
    if is_issuers(_token(context)):
        raise Refused(reason=f"To {to}, a token of this service is needed: who answers for it is looked up at each telling.")
    return await with_leave(context.services.graph, context.space, principal)


async def leave_of(graph: Graph, tokens: TokenFile, webhook: Webhook) -> bool:
    """Whether who answers for it may have told now what it is told of: the token is live, and has the scopes and the person
    that it takes. What the command line made is the machine's. Raises TokensUnreadable."""
    if webhook.token_id is None:
        return webhook.made_by == COMMAND_LINE
    entry = next((one for one in await asyncio.to_thread(tokens.entries) if one.id == webhook.token_id), None)
    given = webhook.space
    space = given.removeprefix(FORGOTTEN).partition("/")[2] if given.startswith(FORGOTTEN) else given
    if entry is None or entry.space != space or not entry.is_live(datetime.now(UTC)):
        return False
    return has_leave(await with_leave(graph, space, entry.principal), webhook)


async def enable_webhook(
    info: Info,
    id: Which,
    idempotency_key: Key,
    enabled: Annotated[bool, strawberry.argument(description="Without: nothing is sent to it any more.")] = True,
) -> WebhookChangedOutcome:
    outcome: WebhookChangedOutcome = await expected(_enable(info.context, local_id(id, WEBHOOK), enabled, idempotency_key))
    return outcome


async def _enable(context: Context, id: str, enabled: bool, key: str) -> WebhookChangedType:
    principal = await _answers_for(context, "change a webhook") if enabled else context.allowed("admin", "change a webhook")
    status = WebhookStatus.ACTIVE if enabled else WebhookStatus.DISABLED

    async def do() -> Mapping[str, Any]:
        graph, space = context.services.graph, context.space
        if enabled:  # from now on who enables it answers for it
            whose_eyes(principal, (await graph.read(get_webhook, space, id)).person_id)
        await graph.write(set_status, space, id, status, actor=principal.account_id, token_id=_token(context))
        return {"webhook_id": id}

    await once_per_key(context, principal, "enable_webhook", key, {"webhook": id, "enabled": enabled}, do)
    return WebhookChangedType(webhook=await _webhook(context, id))


async def remove_webhook(info: Info, id: Which, idempotency_key: Key) -> WebhookChangedOutcome:
    outcome: WebhookChangedOutcome = await expected(_remove(info.context, local_id(id, WEBHOOK), idempotency_key))
    return outcome


async def _remove(context: Context, id: str, key: str) -> WebhookChangedType:
    principal = context.allowed("admin", "remove a webhook")

    async def do() -> Mapping[str, Any]:
        await context.services.graph.write(forget_webhook, context.space, id, actor=principal.account_id)
        return {"webhook_id": id}

    await once_per_key(context, principal, "remove_webhook", key, {"webhook": id}, do)
    return WebhookChangedType(webhook=None)


async def replay_webhook(
    info: Info,
    id: Which,
    idempotency_key: Key,
    delivery_id: Annotated[strawberry.ID | None, strawberry.argument(description="Only this delivery of it.")] = None,
    since: Annotated[
        datetime | None, strawberry.argument(description="All that happened from then on (with its zone).")
    ] = None,
    until: Annotated[datetime | None, strawberry.argument(description="Before then (with its zone).")] = None,
) -> WebhookReplayedOutcome:
    replayed = _replay(info.context, local_id(id, WEBHOOK), delivery_id, since, until, idempotency_key)
    outcome: WebhookReplayedOutcome = await expected(replayed)
    return outcome


async def _replay(
    context: Context, id: str, delivery_id: str | None, since: datetime | None, until: datetime | None, key: str
) -> WebhookReplayedType:
    principal = context.allowed("admin", "have a webhook told again")
    if (delivery_id is None) == (since is None):
        raise BadInput(what="what to tell again", given="both or neither", needed="either `deliveryId` or `since`")
    delivery = local_id(delivery_id, DELIVERY) if delivery_id else None

    async def do() -> Mapping[str, Any]:
        if delivery is not None:
            await context.services.graph.write(replay_one, context.space, id, delivery)
            return {"replayed": 1}
        assert since is not None
        return {"replayed": await context.services.webhooks().replay(context.space, id, since, until)}

    body = {"webhook": id, "delivery": delivery, "since": since, "until": until}
    done = await once_per_key(context, principal, "replay_webhook", key, body, do)
    return WebhookReplayedType(num_deliveries=done["replayed"])


async def try_webhook(info: Info, id: Which, idempotency_key: Key) -> WebhookTriedOutcome:
    outcome: WebhookTriedOutcome = await expected(_try(info.context, local_id(id, WEBHOOK), idempotency_key))
    return outcome


async def _try(context: Context, id: str, key: str) -> WebhookTriedType:
    principal = context.allowed("admin", "try a webhook out")

    async def do() -> Mapping[str, Any]:
        called = await context.services.webhooks().try_out(context.space, id)
        return {"arrived": called.arrived, "http_status": called.http_status, "error": called.error}

    return WebhookTriedType(**await once_per_key(context, principal, "try_webhook", key, {"webhook": id}, do))


async def _webhook(context: Context, id: str) -> WebhookType:
    return WebhookType.from_record(await context.services.graph.read(get_webhook, context.space, id))
