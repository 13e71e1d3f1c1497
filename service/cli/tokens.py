"""Who may use the API of this machine? Tokens are shown once and kept as hashes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table
from service.errors import VoicegraphError

if TYPE_CHECKING:
    from service.api.tokens import TokenEntry
    from service.wiring import Services


class BotReadsNothing(VoicegraphError):
    code = "bot_reads_nothing"
    says = (
        "{name} is a bot, and a token as it would read nothing. Name whom it works for instead (--act-for), or take back that "
        "it is one (`voicegraph people corrections`)."
    )
    http_status = 409


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
        list[str] | None,
        typer.Option(
            metavar="PERSON", help="Somebody it may ask for, by a grant as of `voicegraph grants add`. May be repeated."
        ),
    ] = None,
    scope: Scopes = None,
    issuer: Annotated[
        str, typer.Option(help="Who knows them by SUBJECT, as in `voicegraph people account`: mailto for an e-mail address.")
    ] = "local",
    days: Annotated[int | None, typer.Option(min=1, help="Days until it expires. Default: never; grants: 90.")] = None,
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
    ids = _people_and_grants([person] if person else [], act_for or (), issuer, holder, days, space)
    settings = load_settings(space=space)
    token, entry = issue(
        settings.tokens_file,
        subject=holder,
        space=settings.space,
        scopes=scope or ["ask"],
        person_id=ids[0] if person else None,
        issuer=issuer,
        expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
    )
    show({"token": token, **_shown(entry)}, as_json, lambda: token)


def _people_and_grants(
    named: Sequence[str], act_for: Sequence[str], issuer: str, subject: str, days: int | None, space: str | None
) -> list[str]:
    """Ids of the `named`, once it is recorded that the account may ask for the others; raises NotFound and InvalidInput as
    `the_person` does, and BotReadsNothing, before anything is. The database is not asked about nobody."""
    from service.cli.grants import grant
    from service.cli.who import the_person

    if not named and not act_for:
        return []

    async def work(services: Services) -> list[str]:
        ids = [await the_person(services, name) for name in (*named, *act_for)]
        for name, person in zip((*named, *act_for), ids, strict=True):
            await _refuse_bot(services, name, person)
        for person in ids[len(named) :]:
            await grant(services, issuer, subject, person, days, "")
        return ids[: len(named)]

    return with_services(work, space=space)


async def _refuse_bot(services: Services, name: str, person: str) -> None:
    """Raises BotReadsNothing."""
    from service.cli.who import scope_of_all
    from service.graph.people import find_person

    found = await services.graph.read(find_person, await scope_of_all(services), person)
    if found is not None and found.kind == "bot":
        raise BotReadsNothing(name=name)


def _shown(entry: TokenEntry) -> dict[str, object]:
    """Without what its secrets are told by."""
    return {name: value for name, value in plain(entry).items() if name not in ("sha256", "before", "may_act_for")}


@group.command("list")
def list_all(as_json: AsJson = False) -> None:
    """Show which tokens there are, not the tokens themselves.

    Example: voicegraph token list --json
    """
    from service.api.tokens import list_tokens
    from service.api.uses import last_uses
    from service.settings import load_settings

    settings = load_settings()
    entries, used = list_tokens(settings.tokens_file), last_uses(settings.token_uses_file)
    columns = ("id", "for", "space", "scopes", "person", "expires", "last used")
    rows = [
        (
            e.id,
            e.subject,
            e.space,
            ", ".join(sorted(e.scopes)),
            e.person_id,
            e.expires_at,
            used.get(e.id),
        )
        for e in entries
    ]
    listed = [{**_shown(e), "used_at": used.get(e.id)} for e in entries]
    show(listed, as_json, lambda: table(columns, rows, empty="No tokens. `voicegraph token create NAME` makes one."))


@group.command()
def rotate(
    id: Annotated[str, typer.Argument(help="Its id, from `voicegraph token list`.")],
    hours: Annotated[
        float, typer.Option(min=0, max=24 * 30, help="Hours that the secret of before is taken, too. 0: from now on it is not.")
    ] = 24.0,
    as_json: AsJson = False,
) -> None:
    """Give a token a new secret and show it, once. Whose it is and what it may do stay, and what names its id goes on.

    Example: voicegraph token rotate 0199-… --hours 0
    """
    from service.api.tokens import rotate as rotate_token
    from service.settings import load_settings

    token, entry = rotate_token(load_settings().tokens_file, id, overlap=timedelta(hours=hours))
    show({"token": token, **_shown(entry)}, as_json, lambda: token)


@group.command()
def revoke(id: Annotated[str, typer.Argument(help="Its id, from `voicegraph token list`.")], as_json: AsJson = False) -> None:
    """Take a token back; it stops working at the next request.

    Example: voicegraph token revoke 0199-…
    """
    from service.api.tokens import revoke as revoke_token
    from service.settings import load_settings

    gone = revoke_token(load_settings().tokens_file, id)
    show(_shown(gone), as_json, lambda: f"The token of {gone.subject} is revoked.")
