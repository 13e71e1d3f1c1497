"""Who may use the API of this machine? Tokens are shown once and kept as hashes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from service.cli.running import AsJson, SpaceName
from service.cli.shown import show, table

group = typer.Typer(no_args_is_help=True, help="Tokens for the API.", rich_markup_mode=None)

Scopes = Annotated[
    list[str] | None, typer.Option("--scope", help="ask, ingest, read_all or admin; may be repeated. Default: ask.")
]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="token")


@group.command()
def create(
    subject: Annotated[str, typer.Argument(help="Who gets it: a name, an e-mail address, a device.")],
    scope: Scopes = None,
    person: Annotated[str | None, typer.Option(metavar="ID", help="The person whose token it is.")] = None,
    act_for: Annotated[list[str] | None, typer.Option(metavar="ID", help="A person it may ask for; may be repeated.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Days until it expires. Default: never.")] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and show it, once.

    Example: voicegraph token create "kitchen speaker" --scope ask --act-for 0199-… --days 90
    """
    from service.api.tokens import issue
    from service.settings import load_settings

    settings = load_settings(space=space)
    token, entry = issue(
        settings.tokens_file,
        subject=subject,
        space=settings.space,
        scopes=scope or ["ask"],
        person_id=person,
        may_act_for=act_for or [],
        expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
    )
    show({"token": token, "id": entry.id, "space": entry.space, "scopes": entry.scopes}, as_json, lambda: token)


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
