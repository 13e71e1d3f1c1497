"""Whose are the logins that people join meetings with? GraphQL types, the list, and the mutations that say it.

Who reads everything sees all of them, an administrator binds, and whoever holds a person's own token sees those that are bound
to that person and can give one back. A login is shown to nobody else, and none opens anything but what its person may read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Asked, Context, global_id, local_id
from service.api.context import NotAllowed as Refused
from service.api.corrections import why_of
from service.api.jobs import once_per_key
from service.api.loaders import Reading
from service.api.memory import LIST, PersonType
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.errors import NotFound as Missing
from service.graph.accounts import Account, account_id, is_own, list_accounts
from service.graph.paging import Page
from service.pipelines.accounts import AccountChanged, Accounts, list_suggested
from service.types.meeting import AccountKey
from service.types.people import Principal
from service.types.plain import MAX_TEXT, short

ACCOUNT = "Account"


@strawberry.type(name="Account", description="A login that people join meetings with: evidence of who they are, once bound.")
class AccountType:
    id: strawberry.ID = strawberry.field(description="Global id.")
    issuer: str = strawberry.field(
        description="Who vouches for it: a provider; `mailto` for an e-mail address that a platform verified."
    )
    subject: str = strawberry.field(description="Who it is there.")
    name: str | None = strawberry.field(description="Display name that its platform gave last. Anybody can type any name.")
    shared: bool = strawberry.field(description="Several people use it, as that of a meeting room: nothing follows from it.")
    num_sessions: int = strawberry.field(description="In how many sessions somebody with it took part.")
    num_several: int = strawberry.field(
        description="In how many of these several people were behind it: perhaps it is a room's (`shareAccount`)."
    )
    bound_at: datetime | None = strawberry.field(description="When it was said whose it is, UTC; null for nobody's.")
    bound_by: str | None = strawberry.field(description="Account that said so; only for who reads everything.")
    why: str | None = strawberry.field(description="The reason given; only for who reads everything.")
    record: strawberry.Private[Account]
    suggested: strawberry.Private[Sequence[str]]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Whose it is, as merges show them; null for nobody's.")
    async def person(self) -> PersonType | None:
        person = await self.reading.people.load(self.record.shown_id) if self.record.shown_id else None
        return PersonType.from_record(person, self.reading) if person else None

    @strawberry.field(
        description="Whose it may be: people of the name that its platform shows, for somebody to decide.",
        metadata={**LIST, "times": 5},
    )
    async def suggestions(self) -> list[PersonType]:
        found = await self.reading.people.load_many(list(self.suggested))
        return [PersonType.from_record(person, self.reading) for person in found if person is not None]

    @classmethod
    def from_record(cls, account: Account, suggested: Sequence[str], reading: Reading) -> AccountType:
        return cls(
            id=strawberry.ID(global_id(ACCOUNT, account.id)),
            issuer=account.issuer,
            subject=account.subject,
            name=account.name,
            shared=account.shared,
            num_sessions=account.num_sessions,
            num_several=account.num_several,
            bound_at=account.at,
            bound_by=account.by,
            why=account.why,
            record=account,
            suggested=suggested,
            reading=reading,
        )


@strawberry.type(name="AccountChanged", description="It was said whose an account is, and took effect at once.")
class AccountChangedType:
    account_id: strawberry.ID = strawberry.field(description="Global id, for `unbindAccount`.")
    person_id: strawberry.ID | None = strawberry.field(description="Global id of whose it is now; null for nobody's.")
    num_turns: int = strawberry.field(description="How many messages of all meetings became theirs, or are theirs no more.")
    num_sessions: int = strawberry.field(description="In how many sessions.")


AccountOutcome: TypeAlias = Annotated[
    AccountChangedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("AccountOutcome", description="Whose the account is now, or why nothing was changed."),
]


async def accounts(context: Context, bound: bool | None, page: Page) -> Connection[AccountType]:
    reading = await context.reading()
    found = await reading.read(list_accounts, page=page, bound=bound)
    suggested = await reading.read(list_suggested, found.items)
    return connection(found, lambda account: AccountType.from_record(account, suggested.get(account.id, ()), reading))


async def bind(context: Context, issuer: str, subject: str, person_id: str, why: str, key: str) -> AccountChangedType:
    principal = context.allowed("admin", "say whose an account is")
    account = AccountKey(short("issuer", issuer), short("subject", subject))
    person, why = local_id(person_id), why_of(why)
    if account_id(context.space, account) == principal.account_id and "read_all" not in principal.scopes:
        raise Refused(reason="A token for this account would read as that person: somebody else has to say that it is theirs.")

    async def change(accounts: Accounts) -> AccountChanged:
        return await accounts.bind(context.space, account, person, actor=principal.account_id, why=why)

    body = {"issuer": account.issuer, "subject": account.subject, "person": person, "why": why}
    return await _once(context, principal, "bind_account", key, body, change)


async def unbind(context: Context, account: str, why: str, key: str) -> AccountChangedType:
    id, why = local_id(account, ACCOUNT), why_of(why)
    principal = context.allowed("ask", "give an account back")
    if "admin" not in principal.scopes and not await (await context.reading(Asked())).read(is_own, id):
        raise Missing(kind="account", id=id[:MAX_TEXT])

    async def change(accounts: Accounts) -> AccountChanged:
        return await accounts.unbind(context.space, id, actor=principal.account_id, why=why)

    return await _once(context, principal, "unbind_account", key, {"account": id, "why": why}, change)


async def share(context: Context, account: str, shared: bool, why: str, key: str) -> AccountChangedType:
    principal = context.allowed("admin", "say who uses an account")
    id, why = local_id(account, ACCOUNT), why_of(why)

    async def change(accounts: Accounts) -> AccountChanged:
        return await accounts.share(context.space, id, shared, actor=principal.account_id, why=why)

    return await _once(context, principal, "share_account", key, {"account": id, "shared": shared, "why": why}, change)


async def _once(
    context: Context,
    principal: Principal,
    kind: str,
    key: str,
    body: Mapping[str, Any],
    change: Callable[[Accounts], Awaitable[AccountChanged]],
) -> AccountChangedType:
    async def kept() -> Mapping[str, Any]:
        return asdict(await change(await context.services.accounts()))

    done = await once_per_key(context, principal, kind, key, body, kept)
    return AccountChangedType(
        account_id=strawberry.ID(global_id(ACCOUNT, done["account_id"])),
        person_id=strawberry.ID(global_id("Person", done["person_id"])) if done["person_id"] else None,
        num_turns=done["num_turns"],
        num_sessions=done["num_sessions"],
    )
