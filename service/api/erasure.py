"""Who may have what erased, and who is shown that it was? Mutations that hide at once, and receipts.

A person's own token erases what is theirs: themselves, what they said, facts read from it. Everything else takes the scope
`admin`; a session is of several people. Leave to ask for somebody, or their voice, erases nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.connections import Connection, Node, connection
from service.api.context import Asked, Context, global_id, local_id
from service.api.context import NotAllowed as Refused
from service.api.jobs import once_per_key
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.errors import NotFound as Missing
from service.graph.erase import find_source_of_fact
from service.graph.merges import list_merges
from service.graph.messages import find_own
from service.graph.paging import Page
from service.graph.receipts import find_receipt, list_receipts
from service.types.erasure import Receipt, Subject, SubjectKind
from service.types.people import Principal
from service.types.plain import short

RECEIPT = "Receipt"

strawberry.enum(SubjectKind, name="ErasureKind", description="What is erased.")


@strawberry.type(name="ErasedCount", description="How much of one kind is gone.")
class ErasedCountType:
    kind: str = strawberry.field(description="Messages, facts, voices, …")
    count: int = strawberry.field(description="How many.")


@strawberry.type(name="Receipt", description="Something was erased, and nothing of it was found anywhere afterwards.")
class ReceiptType(Node):
    kind: SubjectKind = strawberry.field(description="What it was.")
    subject_id: strawberry.ID = strawberry.field(description="Its id in the graph.")
    asked_at: datetime = strawberry.field(description="Since when nobody is shown it, UTC.")
    completed_at: datetime = strawberry.field(description="When nothing was left of it, UTC.")
    counts: list[ErasedCountType] = strawberry.field(description="What is gone.")
    document: str = strawberry.field(
        description="JSON that is signed: all of this, what was done in each place where personal data lives, and what was "
        "looked for afterwards."
    )
    signature: str = strawberry.field(description="Ed25519 over the UTF-8 bytes of `document`, base64.")
    key: str = strawberry.field(description="Public key it is signed with: base64 of 32 bytes.")

    @classmethod
    def from_record(cls, receipt: Receipt) -> ReceiptType:
        return cls(
            id=strawberry.ID(global_id(RECEIPT, receipt.id)),
            kind=receipt.subject.kind,
            subject_id=strawberry.ID(receipt.subject.id),
            asked_at=receipt.asked_at,
            completed_at=receipt.completed_at,
            counts=[ErasedCountType(kind=kind, count=count) for kind, count in sorted(receipt.counts.items())],
            document=receipt.document,
            signature=receipt.signature,
            key=receipt.key,
        )


@strawberry.type(name="Erasure", description="From now on nobody is shown it; what is stored of it goes in the background.")
class ErasureType:
    receipt_id: strawberry.ID = strawberry.field(description="Of the receipt that `receipt` gives once nothing is left.")


EraseOutcome: TypeAlias = Annotated[
    ErasureType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("EraseOutcome", description="What is being erased, or why nothing is."),
]


async def erase_person(context: Context, person_id: str, why: str, key: str) -> ErasureType:
    subject = Subject(SubjectKind.PERSON, local_id(person_id))
    principal = await _holder(context)

    async def own() -> bool:
        themself = await _is_themself(context, principal, subject.id)
        if not themself:
            _admin(principal)
        return themself and "admin" not in principal.scopes

    return await _erased(context, principal, subject, why, key, own=own)


async def erase_session(context: Context, session_id: str, why: str, key: str) -> ErasureType:
    subject = Subject(SubjectKind.SESSION, local_id(session_id, "Session"))
    principal = await _holder(context)
    _admin(principal)
    return await _erased(context, principal, subject, why, key)


async def erase_message(context: Context, message_id: str, why: str, key: str) -> ErasureType:
    subject = Subject(SubjectKind.MESSAGE, local_id(message_id, "Message"))
    principal = await _holder(context)
    source = None if "admin" in principal.scopes else _itself(subject.id)
    return await _erased(context, principal, subject, why, key, source=source)


async def erase_fact(context: Context, fact_id: str, why: str, key: str) -> ErasureType:
    subject = Subject(SubjectKind.FACT, local_id(fact_id, "Fact"))
    principal = await _holder(context)

    async def said() -> str:
        return await context.services.graph.read(find_source_of_fact, context.space, subject.id) or ""

    return await _erased(context, principal, subject, why, key, source=None if "admin" in principal.scopes else said)


async def receipt(context: Context, receipt_id: str) -> ReceiptType | None:
    """None for one that is not there (yet), and for somebody else's."""
    principal = await _holder(context)
    found = await context.services.graph.read(find_receipt, context.space, local_id(receipt_id, RECEIPT))
    shown = found is not None and ("admin" in principal.scopes or {found.subject.id, found.asked_by} & _ids(principal))
    return ReceiptType.from_record(found) if found is not None and shown else None


async def receipts(context: Context, page: Page) -> Connection[ReceiptType]:
    """All of the space for an administrator; else of what the token's person is, or its account asked for."""
    principal = await _holder(context)
    of = None if "admin" in principal.scopes else tuple(sorted(_ids(principal)))
    found = await context.services.graph.read(list_receipts, context.space, page=page, of=of)
    return connection(found, ReceiptType.from_record)


def _itself(message_id: str) -> Callable[[], Awaitable[str]]:
    async def said() -> str:
        return message_id

    return said


async def _erased(
    context: Context,
    principal: Principal,
    subject: Subject,
    why: str,
    key: str,
    *,
    own: Callable[[], Awaitable[bool]] | None = None,
    source: Callable[[], Awaitable[str]] | None = None,
) -> ErasureType:
    """`own`: whether it is the token's own person; `source`: the message that they must have said. Both are looked at only
    where the same was not asked for before: then it is erased."""
    why = short("why", why) if why else ""

    async def do() -> Mapping[str, Any]:
        if source is not None:
            await _own_turn(context, await source(), subject)
        by_themself = own is not None and await own()
        erase = await context.services.erase()
        begun = await erase.begin(context.space, subject, asked_by=principal.account_id, why=why, own=by_themself)
        erase.go_on(context.space, subject)
        return {"receipt_id": begun.id}

    body = {"kind": subject.kind.value, "id": subject.id, "why": why}
    done = await once_per_key(context, principal, f"erase_{subject.kind.value}", key, body, do)
    return ErasureType(receipt_id=strawberry.ID(global_id(RECEIPT, done["receipt_id"])))


async def _holder(context: Context) -> Principal:
    principal = await context.holder()
    if principal is None:
        raise Refused(reason="To erase anything, or to see what was, a token is needed.")
    return principal


def _admin(principal: Principal) -> None:
    if "admin" not in principal.scopes:
        raise Refused(reason="To erase what is not one's own, a token with the scope `admin` is needed.")


async def _is_themself(context: Context, principal: Principal, person_id: str) -> bool:
    """The token's own person, or whom they are shown as since a merge that somebody confirmed."""
    if principal.person_id is None or principal.person_id == person_id:
        return principal.person_id is not None
    merges = await context.services.graph.read(list_merges, context.space, [principal.person_id])
    path = merges.path(principal.person_id, person_id)
    return path is not None and all(edge.confirmed for edge in path)


async def _own_turn(context: Context, message_id: str, subject: Subject) -> None:
    """Raises NotFound for what the token's own person did not say, whoever the request asks for, as for what there is not."""
    reading = await context.reading(Asked())
    if message_id not in await reading.read(find_own, [message_id]):
        raise Missing(kind=subject.kind.value, id=subject.id)


def _ids(principal: Principal) -> set[str]:
    return {principal.account_id, *([principal.person_id] if principal.person_id else [])}
