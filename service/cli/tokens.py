"""Who may use the API of this machine? Tokens are shown once and kept as hashes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table

if TYPE_CHECKING:
    from service.wiring import Services

group = typer.Typer(no_args_is_help=True, help="Tokens for the API.", rich_markup_mode=None)

Scopes = Annotated[
    list[str] | None, typer.Option("--scope", help="ask, ingest, read_all or admin; may be repeated. Default: ask.")
]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="token")


@group.command()
def create(
    subject: Annotated[str | None, typer.Argument(help="Who gets it: a name, an address, a device. Default: --as.")] = None,
    person: Annotated[str | None, typer.Option("--as", metavar="PERSON", help="Whose token it is: a name or an id.")] = None,
    act_for: Annotated[
        list[str] | None, typer.Option(metavar="PERSON", help="Somebody it may ask for: a name or an id. May be repeated.")
    ] = None,
    scope: Scopes = None,
    issuer: Annotated[
        str, typer.Option(help="Who knows them by SUBJECT, as in `voicegraph people account`: mailto for an e-mail address.")
    ] = "local",
    days: Annotated[int | None, typer.Option(min=1, help="Days until it expires. Default: never.")] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and show it, once.

    Example: voicegraph token create "kitchen speaker" --scope ask --act-for Nora --act-for Ben --days 90
    """
    from service.api.tokens import issue
    from service.settings import load_settings

    holder = subject or person
    if not holder:
        raise typer.BadParameter("Say who gets the token: a SUBJECT, or --as PERSON.")
    named = [person] if person else []
    ids = dict(zip((*named, *(act_for or ())), _people((*named, *(act_for or ())), space), strict=True))
    settings = load_settings(space=space)
    token, entry = issue(
        settings.tokens_file,
        subject=holder,
        space=settings.space,
        scopes=scope or ["ask"],
        person_id=ids[person] if person else None,
        may_act_for=[ids[name] for name in act_for or ()],
        issuer=issuer,
        expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
    )
    show({"token": token, **plain(entry)}, as_json, lambda: token)


def _people(names: Sequence[str], space: str | None) -> list[str]:
    """Their ids; raises NotFound and InvalidInput as `the_person` does. The database is not asked about nobody."""
    from service.cli.who import the_person

    if not names:
        return []

    async def work(services: Services) -> list[str]:
        return [await the_person(services, name) for name in names]

    return with_services(work, space=space)


@group.command("list")
def list_all(as_json: AsJson = False) -> None:
    """Show which tokens there are, not the tokens themselves.

    Example: voicegraph token list --json
    """
    from service.api.tokens import list_tokens
    from service.settings import load_settings

    entries = list_tokens(load_settings().tokens_file)
    columns = ("id", "for", "space", "scopes", "person", "may act for", "expires")
    rows = [
        (
            e.id,
            e.subject,
            e.space,
            ", ".join(sorted(e.scopes)),
            e.person_id,
            ", ".join(sorted(e.may_act_for)) or None,
            e.expires_at,
        )
        for e in entries
    ]
    show(entries, as_json, lambda: table(columns, rows, empty="No tokens. `voicegraph token create NAME` makes one."))


@group.command()
def revoke(id: Annotated[str, typer.Argument(help="Its id, from `voicegraph token list`.")], as_json: AsJson = False) -> None:
    """Take a token back; it stops working at the next request.

    Example: voicegraph token revoke 0199-…
    """
    from service.api.tokens import revoke as revoke_token
    from service.settings import load_settings

    gone = revoke_token(load_settings().tokens_file, id)
    show(gone, as_json, lambda: f"The token of {gone.subject} is revoked.")
