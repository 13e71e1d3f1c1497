"""Who may ask for whom? GraphQL types, the list, and the mutations that let an account ask for somebody and end that.

A person lets others ask for them with their own token, with nobody listening; an administrator does it for anybody, but not for
an account of their own. Who holds a grant asks for that person (`x-voicegraph-acting-for`) and lets nobody else do so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Context, global_id, local_id
from service.api.context import NotAllowed as Refused
from service.api.corrections import why_of
from service.api.jobs import once_per_key
from service.api.loaders import Reading
from service.api.memory import PersonType
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.errors import InvalidInput as BadInput
from service.errors import NotFound as Missing
from service.graph.accounts import account_id, own_alone
from service.graph.grants import Grant, is_own_grant, list_grants
from service.graph.paging import Page
from service.graph.write_grants import USUAL, NewGrant, revoke_grant, save_grant
from service.types.ids import derived
from service.types.meeting import AccountKey
from service.types.people import Principal
from service.types.plain import MAX_TEXT, short

GRANT = "Grant"


@strawberry.type(name="Grant", description="Leave that an account has to ask for a person, for a time.")
class GrantType:
    id: strawberry.ID = strawberry.field(description="Global id.")
    issuer: str = strawberry.field(description="Who vouches for the account: `local` for tokens of this service.")
    subject: str = strawberry.field(description="Who may ask, as the issuer names them.")
    granted_at: datetime = strawberry.field(description="Since when, UTC.")
    until: datetime = strawberry.field(description="From then on it holds no more, UTC.")
    revoked_at: datetime | None = strawberry.field(description="When it was taken back, UTC; null: it was not.")
    used_at: datetime | None = strawberry.field(description="When it last opened something, to ten minutes, UTC.")
    holds: bool = strawberry.field(description="It does now.")
    granted_by: str | None = strawberry.field(description="Account that gave it; only for who reads everything or gave it.")
    why: str = strawberry.field(description="The reason given; only for who reads everything or gave it.")
    record: strawberry.Private[Grant]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Whom the account may ask for, as merges show them.")
    async def person(self) -> PersonType | None:
        person = await self.reading.people.load(self.record.shown_id) if self.record.shown_id else None
        return PersonType.from_record(person, self.reading) if person else None

    @classmethod
    def from_record(cls, grant: Grant, reading: Reading, now: datetime) -> GrantType:
        return cls(
            id=strawberry.ID(global_id(GRANT, grant.id)),
            issuer=grant.issuer,
            subject=grant.subject,
            granted_at=grant.created_at,
            until=grant.until,
            revoked_at=grant.revoked_at,
            used_at=grant.used_at,
            holds=grant.holds(now),
            granted_by=grant.by,
            why=grant.why,
            record=grant,
            reading=reading,
        )


@strawberry.type(name="GrantChanged", description="Leave was given or taken back, and that holds from the next question on.")
class GrantChangedType:
    grant_id: strawberry.ID = strawberry.field(description="Global id, for `revokeGrant`.")
    until: datetime | None = strawberry.field(description="Until when it holds, UTC; null: it holds no more.")


GrantOutcome: TypeAlias = Annotated[
    GrantChangedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("GrantOutcome", description="What holds now, or why nothing was changed."),
]


async def grants(context: Context, holding: bool, page: Page) -> Connection[GrantType]:
    reading, principal, now = await context.reading(), context.principal, datetime.now(UTC)
    account = principal.account_id if principal else None
    found = await reading.read(list_grants, page=page, now=now, account=account, holding=holding)
    return connection(found, lambda grant: GrantType.from_record(grant, reading, now))


async def add(
    context: Context, person_id: str, issuer: str, subject: str, until: datetime | None, why: str, key: str
) -> GrantChangedType:
    principal, person, why = context.allowed("ask", "let somebody ask for a person"), local_id(person_id), why_of(why)
    account = AccountKey(short("issuer", issuer), short("subject", subject))
    if until is not None and until.tzinfo is None:
        raise BadInput(what="`until`", given=until.isoformat(), needed="a time with its zone")
    if not await _is_theirs(context, person):
        _administers(principal)
        if account_id(context.space, account) == principal.account_id and "read_all" not in principal.scopes:
            raise Refused(reason="A token for this account would read as that person: somebody else has to let it.")
    now = datetime.now(UTC)
    id = derived("grant", context.space, principal.account_id, short("idempotencyKey", key))

    async def do() -> Mapping[str, Any]:
        new = NewGrant(id, context.space, account, person, until or now + USUAL, principal.account_id, why, now)
        await context.services.graph.write(save_grant, new)
        return {"until": new.until.astimezone(UTC).isoformat()}

    body = {
        "issuer": account.issuer,
        "subject": account.subject,
        "person": person,
        "until": until and until.isoformat(),
        "why": why,
    }
    done = await once_per_key(context, principal, "add_grant", key, body, do)
    return GrantChangedType(grant_id=strawberry.ID(global_id(GRANT, id)), until=datetime.fromisoformat(done["until"]))


async def revoke(context: Context, grant: str, why: str, key: str) -> GrantChangedType:
    id, why = local_id(grant, GRANT), why_of(why)
    principal = context.allowed("ask", "take leave back")
    if "admin" not in principal.scopes and not await (await context.reading()).read(is_own_grant, id):
        raise Missing(kind="grant", id=id[:MAX_TEXT])

    async def do() -> Mapping[str, Any]:
        at, actor = datetime.now(UTC), principal.account_id
        await context.services.graph.write(revoke_grant, context.space, id, actor=actor, why=why, at=at)
        return {}

    await once_per_key(context, principal, "revoke_grant", key, {"grant": id, "why": why}, do)
    return GrantChangedType(grant_id=strawberry.ID(global_id(GRANT, id)), until=None)


async def _is_theirs(context: Context, person: str) -> bool:
    """Whether the token is this person's own, and nobody else asks or listens."""
    principal = context.principal
    if principal is None or not principal.scopes & {"ask", "read_all"}:
        return False
    return person in own_alone((await context.reading()).scope)


def _administers(principal: Principal) -> None:
    if "admin" not in principal.scopes:
        raise Refused(reason="To let somebody ask for a person, that person's own token is needed, or the scope `admin`.")
