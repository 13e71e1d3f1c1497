"""Commands about webhooks: which addresses are told of what happens here, and what became of each telling."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table
from service.errors import InvalidInput

if TYPE_CHECKING:
    from service.graph.webhook_deliveries import WebhookDelivery
    from service.graph.webhooks import Webhook
    from service.pipelines.webhook_call import Called
    from service.pipelines.webhooks import WithSecret
    from service.types.events import EventKind
    from service.wiring import Services

group = typer.Typer(no_args_is_help=True, help="Addresses that are told of what happens here.", rich_markup_mode=None)

Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, from `voicegraph webhooks list`.")]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="session.ready, person.unresolved, identity.revised or erased; may be repeated. Default: all of them.",
    ),
]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="webhooks")


@group.command()
def add(
    url: Annotated[str, typer.Argument(help="Where to: https, at a public address (else: the setting `webhook_private`).")],
    kind: Kinds = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="PERSON", help="Told what this person may know: a name or an id. Default: all of the space."
        ),
    ] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Have an address told of what happens, signed; its secret is shown now, and never again.

    Sent are ids and counts, no words and no names, by the service (`voicegraph serve`).

    Example: voicegraph webhooks add https://example.org/hook --kind session.ready
    """

    async def work(services: Services) -> WithSecret:
        from service.cli.who import ACCOUNT, the_person

        kinds = _kinds(kind)
        id = await the_person(services, person) if person else None
        return await services.webhooks().add(services.settings.space, url, kinds, person=id, made_by=ACCOUNT)

    made = with_services(work, space=space)
    told = f"{made.webhook.id}\n{made.secret}\nWith this secret everything is signed; it is not shown again."
    show({**_plain(made.webhook), "secret": made.secret}, as_json, lambda: told)


@group.command("list")
def list_all(space: SpaceName = None, as_json: AsJson = False) -> None:
    """Show which addresses are told of what. Secrets are not shown.

    Example: voicegraph webhooks list
    """

    async def work(services: Services) -> list[Webhook]:
        from service.graph.webhooks import list_webhooks

        return await services.graph.read(list_webhooks, services.settings.space)

    found = with_services(work, space=space)
    columns = ("id", "address", "told of", "as", "status", "given up", "last arrived")
    rows = [_row(one) for one in found]
    empty = "No webhooks. `voicegraph webhooks add URL` makes one."
    show([_plain(one) for one in found], as_json, lambda: table(columns, rows, empty=empty))


def _row(one: Webhook) -> tuple[object, ...]:
    from service.pipelines.webhook_call import shown_url

    status = one.status.value if one.disabled_why is None else f"{one.status.value}: {one.disabled_why.value}"
    kinds, eyes = ", ".join(k.value for k in one.kinds), one.person_id or "all of the space"
    return one.id, shown_url(one.url), kinds, eyes, status, one.failures, _time(one.last_sent_at)


@group.command()
def remove(id: Id, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Tell an address of nothing any more, and forget what it was told.

    Example: voicegraph webhooks remove 0199-…
    """

    async def work(services: Services) -> None:
        from service.cli.who import ACCOUNT
        from service.graph.webhooks import forget_webhook

        await services.graph.write(forget_webhook, services.settings.space, id, actor=ACCOUNT)

    with_services(work, space=space)
    show({"removed": id}, as_json, lambda: "It is told of nothing any more.")


@group.command()
def enable(
    id: Id,
    off: Annotated[bool, typer.Option("--off", help="Disable it instead.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Have an address told again that was disabled; what happened meanwhile is told by `replay`.

    Example: voicegraph webhooks enable 0199-…
    """

    async def work(services: Services) -> Webhook:
        from service.cli.who import ACCOUNT
        from service.graph.webhooks import WebhookStatus, set_status

        status = WebhookStatus.DISABLED if off else WebhookStatus.ACTIVE
        return await services.graph.write(set_status, services.settings.space, id, status, actor=ACCOUNT)

    changed = with_services(work, space=space)
    show(_plain(changed), as_json, lambda: f"It is {changed.status.value}.")


@group.command()
def rotate(id: Id, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Make a webhook a new secret and show it, once. The one before signs, too, for a day.

    Example: voicegraph webhooks rotate 0199-…
    """

    async def work(services: Services) -> WithSecret:
        from service.cli.who import ACCOUNT

        return await services.webhooks().rotate(services.settings.space, id, actor=ACCOUNT)

    made = with_services(work, space=space)
    show({**_plain(made.webhook), "secret": made.secret}, as_json, lambda: made.secret)


@group.command()
def deliveries(
    id: Annotated[str | None, typer.Argument(metavar="ID", help="Only to this webhook.")] = None,
    status: Annotated[
        list[str] | None, typer.Option(metavar="STATUS", help="waiting, sent, dead or withheld; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many, the newest.")] = 20,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what became of each telling, newest first. What was sent is not kept.

    Example: voicegraph webhooks deliveries --status dead
    """

    async def work(services: Services) -> tuple[WebhookDelivery, ...]:
        from service.graph.paging import Page
        from service.graph.webhook_deliveries import DeliveryStatus, list_deliveries

        wanted = [DeliveryStatus(one) for one in _of([s.value for s in DeliveryStatus], status or [], "the status")]
        found = await services.graph.read(
            list_deliveries, services.settings.space, page=Page(first=limit), webhook_id=id, statuses=wanted
        )
        return found.items

    found = with_services(work, space=space)
    columns = ("id", "happened", "kind", "status", "tries", "answer", "next")
    rows = [(d.id, _time(d.created_at), d.kind, d.status, d.attempts, d.http_status or d.error, _next(d)) for d in found]
    show(found, as_json, lambda: table(columns, rows, empty="Nothing was to be told, or it is forgotten by now."))


@group.command()
def replay(
    id: Id,
    delivery: Annotated[str | None, typer.Option(metavar="ID", help="Only this delivery, from `deliveries`.")] = None,
    since: Annotated[
        datetime | None, typer.Option(metavar="TIME", help="All that happened from then on: 2026-11-30T08:00 in UTC.")
    ] = None,
    until: Annotated[datetime | None, typer.Option(metavar="TIME", help="Before then, in UTC. Default: now.")] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Have a webhook told again, with the same ids, by the service that runs; of the last seven days.

    Example: voicegraph webhooks replay 0199-… --since 2026-11-30
    """

    async def work(services: Services) -> int:
        from service.graph.webhook_deliveries import replay_one

        if (delivery is None) == (since is None):
            raise InvalidInput(what="what to tell again", given="both or neither", needed="either --delivery or --since")
        if delivery is not None:
            await services.graph.write(replay_one, services.settings.space, id, delivery)
            return 1
        assert since is not None
        return await services.webhooks().replay(services.settings.space, id, _utc(since), until and _utc(until))

    count = with_services(work, space=space)
    show({"replayed": count}, as_json, lambda: f"{count} to be told again.")


@group.command()
def test(id: Id, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Send an event of the type `test` now, and say what was answered. Exit code 1 when it did not arrive.

    Example: voicegraph webhooks test 0199-…
    """

    async def work(services: Services) -> Called:
        return await services.webhooks().try_out(services.settings.space, id)

    called = with_services(work, space=space)
    answer = f"HTTP {called.http_status}" if called.http_status else called.error
    told = f"It arrived: {answer}." if called.arrived else f"It did not arrive: {answer}."
    show({**plain(called), "arrived": called.arrived}, as_json, lambda: told)
    if not called.arrived:
        raise typer.Exit(1)


def _kinds(given: list[str] | None) -> list[EventKind]:
    from service.types.events import EventKind

    known = [kind.value for kind in EventKind]
    return [EventKind(kind) for kind in _of(known, given or known, "the kind")]


def _of(known: list[str], given: list[str], what: str) -> list[str]:
    """`given`, all of them known. Raises InvalidInput."""
    for one in given:
        if one not in known:
            raise InvalidInput(what=what, given=repr(one), needed=f"one of {', '.join(known)}")
    return given


def _plain(webhook: Webhook) -> dict[str, Any]:
    from service.pipelines.webhook_call import shown_url

    return {**plain(webhook), "url": shown_url(webhook.url)}


def _utc(given: datetime) -> datetime:
    from datetime import UTC

    return given.replace(tzinfo=UTC)


def _time(at: datetime | None) -> str | None:
    return None if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def _next(one: WebhookDelivery) -> str | None:
    return _time(one.next_at) if one.status == "waiting" else None
