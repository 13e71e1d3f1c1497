"""Commands that say whose the logins are that people join meetings with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.corrections import WhyOption, named_person
from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table

if TYPE_CHECKING:
    from service.graph.accounts import Account
    from service.pipelines.accounts import AccountChanged, Accounts
    from service.types.people import Person
    from service.wiring import Services

account = typer.Typer(
    no_args_is_help=True, help="Logins that people join meetings with, and whose they are.", rich_markup_mode=None
)

IssuerArgument = Annotated[
    str,
    typer.Argument(
        metavar="ISSUER", help="Who vouches for it, as listed: zoom, jitsi:SOURCE, …; mailto for an e-mail address."
    ),
]
SubjectArgument = Annotated[str, typer.Argument(metavar="SUBJECT", help="Who it is there: an id, an address.")]
PersonArgument = Annotated[str, typer.Argument(metavar="PERSON", help="Whose it is: a name or an id.")]


def add_to(people: typer.Typer) -> None:
    people.add_typer(account, name="account")


@account.command("list")
def list_all(
    unbound: Annotated[bool, typer.Option("--unbound", help="Only those that are nobody's yet.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """List the logins of meetings, whose they are, and whose they may be by the name they show.

    Example: voicegraph people account list --unbound
    """

    async def work(services: Services) -> tuple[list[Account], dict[str, tuple[str, ...]], dict[str, Person]]:
        from service.cli.who import every, scope_of_all
        from service.graph.accounts import list_accounts
        from service.graph.people import find_people
        from service.pipelines.accounts import list_suggested

        scope = await scope_of_all(services)
        found: list[Account] = await every(services, list_accounts, bound=False if unbound else None)
        suggested = await services.graph.read(list_suggested, scope, found)
        people = {id for a in found if (id := a.shown_id)} | {id for ids in suggested.values() for id in ids}
        return found, suggested, await services.graph.read(find_people, scope, sorted(people))

    found, suggested, people = with_services(work, space=space)

    def called(person: str | None) -> str | None:
        return (people[person].display_name if person in people else None) or person if person else None

    columns = ("issuer", "subject", "shown as", "sessions", "a room's in", "whose", "may be", "why")
    rows = [
        (
            a.issuer,
            a.subject,
            a.name,
            a.num_sessions,
            a.num_several or None,
            "several people" if a.shared else called(a.shown_id),
            "\n".join(called(id) or id for id in suggested.get(a.id, ())) or None,
            a.why or None,
        )
        for a in found
    ]
    listed = [{**plain(a), "suggested": list(suggested.get(a.id, ()))} for a in found]
    show(listed, as_json, lambda: table(columns, rows, empty="No logins were heard of."))


@account.command()
def bind(
    issuer: IssuerArgument,
    subject: SubjectArgument,
    person: PersonArgument,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Say whose a login is. What was said with it and no voice decided is theirs, in meetings before, too.

    Example: voicegraph people account bind mailto dana@example.org Dana --why "her work address"
    """

    async def change(services: Services, accounts: Accounts, actor: str) -> AccountChanged:
        from service.types.meeting import AccountKey

        one = await named_person(services, person)
        return await accounts.bind(services.settings.space, AccountKey(issuer, subject), one, actor=actor, why=why)

    _changed(change, space, as_json, f"{issuer} {subject} is {person}'s")


@account.command()
def unbind(
    issuer: IssuerArgument, subject: SubjectArgument, why: WhyOption = "", space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Say that a login is not theirs. What followed from it alone is taken back, in all meetings.

    Example: voicegraph people account unbind zoom u-4711 --why "somebody else has it now"
    """

    async def change(services: Services, accounts: Accounts, actor: str) -> AccountChanged:
        return await accounts.unbind(services.settings.space, _id(services, issuer, subject), actor=actor, why=why)

    _changed(change, space, as_json, f"{issuer} {subject} is nobody's")


@account.command()
def shared(
    issuer: IssuerArgument,
    subject: SubjectArgument,
    by_one: Annotated[bool, typer.Option("--not", help="It is one person's after all; then bind it.")] = False,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Say that several people use a login, as that of a meeting room: nothing follows from it.

    Example: voicegraph people account shared zoom rooms-3rd-floor
    """

    async def change(services: Services, accounts: Accounts, actor: str) -> AccountChanged:
        id = _id(services, issuer, subject)
        return await accounts.share(services.settings.space, id, not by_one, actor=actor, why=why)

    _changed(change, space, as_json, f"{issuer} {subject} is " + ("one person's" if by_one else "used by several people"))


def _id(services: Services, issuer: str, subject: str) -> str:
    from service.graph.accounts import account_id
    from service.types.meeting import AccountKey

    return account_id(services.settings.space, AccountKey(issuer, subject))


def _changed(
    change: Callable[[Services, Accounts, str], Awaitable[AccountChanged]], space: str | None, as_json: bool, says: str
) -> None:
    async def work(services: Services) -> AccountChanged:
        from service.cli.who import ACCOUNT

        return await change(services, await services.accounts(), ACCOUNT)

    done = with_services(work, space=space)
    number = "1 message" if done.num_turns == 1 else f"{done.num_turns} messages"
    meetings = "1 meeting" if done.num_sessions == 1 else f"{done.num_sessions} meetings"
    show(done, as_json, lambda: f"{says}; {number} of {meetings} changed hands.")
