"""Who may ask for whom? Leave that is given for a time, and taken back, as it is typed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.corrections import WhyOption
from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table

if TYPE_CHECKING:
    from service.graph.grants import Grant
    from service.types.people import Person
    from service.wiring import Services

group = typer.Typer(no_args_is_help=True, help="Leave to ask for somebody else.", rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="grants")


@group.command()
def add(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Who may ask: the account, as its issuer names it.")],
    person: Annotated[str, typer.Argument(metavar="PERSON", help="For whom: a name or an id.")],
    issuer: Annotated[
        str, typer.Option(help="Who vouches for the account: local for tokens of this service, an issuer's address, mailto, …")
    ] = "local",
    days: Annotated[int | None, typer.Option(min=1, max=366, help="Days that it holds. Default: 90.")] = None,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Let an account ask for a person, for a time: what they may know, and nothing that is theirs alone.

    Example: voicegraph grants add "kitchen speaker" Nora --days 90 --why "she set it up"
    """

    async def work(services: Services) -> dict[str, object]:
        from service.cli.who import the_person

        id = await the_person(services, person)
        grant_id, until = await grant(services, issuer, subject, id, days, why)
        return {"id": grant_id, "person_id": id, "until": until}

    made = with_services(work, space=space)
    show(made, as_json, lambda: f"{subject} may ask for {person} until {made['until']:%Y-%m-%d} (grant {made['id']}).")


async def grant(
    services: Services, issuer: str, subject: str, person_id: str, days: int | None, why: str
) -> tuple[str, datetime]:
    """Its id, and until when it holds. Raises NotFound, InvalidInput, TooManyGrants."""
    from service.cli.who import ACCOUNT
    from service.graph.write_grants import LONGEST, USUAL, NewGrant, save_grant
    from service.types.ids import fresh
    from service.types.meeting import AccountKey

    now = datetime.now(UTC)
    until = now + (USUAL if days is None else min(timedelta(days=days), LONGEST))
    key = AccountKey(issuer, subject)
    new = NewGrant(fresh(), services.settings.space, key, person_id, until, ACCOUNT, why, now)
    return await services.graph.write(save_grant, new), until


@group.command("list")
def list_all(
    ended: Annotated[bool, typer.Option("--all", help="Also those that hold no more.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """List who may ask for whom.

    Example: voicegraph grants list --all
    """
    now = datetime.now(UTC)

    async def work(services: Services) -> tuple[list[Grant], dict[str, Person]]:
        from service.cli.who import ACCOUNT, every, scope_of_all
        from service.graph.grants import list_grants
        from service.graph.people import find_people

        scope = await scope_of_all(services)
        found: list[Grant] = await every(services, list_grants, now=now, account=ACCOUNT, holding=not ended)
        people = await services.graph.read(find_people, scope, sorted({id for one in found if (id := one.shown_id)}))
        return found, people

    found, people = with_services(work, space=space)

    def called(one: Grant) -> str:
        shown = people.get(one.shown_id or "")
        return (shown.display_name if shown else None) or one.person_id

    columns = ("id", "issuer", "subject", "may ask for", "until", "last used", "by", "why")
    rows = [
        (
            one.id, one.issuer, one.subject, called(one), one.until if one.revoked_at is None else "revoked",
            one.used_at, one.by, one.why or None,
        )
        for one in found
    ]  # fmt: skip
    listed = [{**plain(one), "holds": one.holds(now)} for one in found]
    show(listed, as_json, lambda: table(columns, rows, empty="Nobody may ask for anybody else."))


@group.command()
def revoke(
    id: Annotated[str, typer.Argument(metavar="ID", help="Its id, from `voicegraph grants list`.")],
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Take leave back; it opens nothing from the next question on.

    Example: voicegraph grants revoke 0199-… --why "the speaker was sold"
    """

    async def work(services: Services) -> bool:
        from service.cli.who import ACCOUNT
        from service.graph.write_grants import revoke_grant

        at = datetime.now(UTC)
        return await services.graph.write(revoke_grant, services.settings.space, id, actor=ACCOUNT, why=why, at=at)

    new = with_services(work, space=space)
    show({"id": id, "revoked": new}, as_json, lambda: f"Grant {id} is revoked." if new else f"Grant {id} was revoked before.")
