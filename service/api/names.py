"""Which names are proposed, and who says whether they are right? GraphQL types, reads and mutations of name proposals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Asked, Context, global_id, local_id
from service.api.context import NotAllowed as Refused
from service.api.jobs import once_per_key
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType, PersonType
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.errors import NotFound as Missing
from service.graph.names import ProposedName, find_names, list_names
from service.graph.paging import Page
from service.pipelines.naming import NameVerdict, apply_name, reject_name

PROPOSAL = "NameProposal"


class NameStatus(StrEnum):
    OPEN = "open"
    APPLIED = "applied"
    REJECTED = "rejected"


strawberry.enum(NameStatus, name="NameStatus", description="What became of a proposed name.")


@strawberry.type(
    name="NameProposal", description="A name that somebody may have. Seen by who may read every message that it rests on."
)
class NameProposalType:
    id: strawberry.ID = strawberry.field(description="For `applyName` and `rejectName`.")
    name: str = strawberry.field(description="As said or labelled.")
    sources: list[str] = strawberry.field(
        description="Kinds of evidence: self_introduction, addressed, platform_label …; against it: denied, calls."
    )
    confidence: float = strawberry.field(description="How sure, in [0, 1].")
    status: NameStatus = strawberry.field(description="Whether somebody, or the service by itself, decided already.")
    held: str | None = strawberry.field(
        description="Why it was not applied by itself: contradicted, taken or unsure; only for who reads everything."
    )
    created_at: datetime = strawberry.field(description="When it was first proposed, UTC.")
    local_speaker: strawberry.ID | None = strawberry.field(
        description="The voice of a session that it is about; null once that voice is known to be a person's."
    )
    num_evidence: int = strawberry.field(description="How many messages it rests on.")
    record: strawberry.Private[ProposedName]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Whom it is about; null while that is only a voice.")
    async def person(self) -> PersonType | None:
        return PersonType.from_record(self.record.person, self.reading) if self.record.person else None

    @strawberry.field(description="Messages that it rests on, the first ones, in spoken order.", metadata={**LIST, "times": 5})
    async def evidence(self) -> list[MessageType]:
        return await messages(self.reading, self.record.evidence)

    @classmethod
    def from_record(cls, name: ProposedName, reading: Reading) -> NameProposalType:
        return cls(
            id=strawberry.ID(global_id(PROPOSAL, name.id)),
            name=name.name,
            sources=list(name.sources),
            confidence=name.confidence,
            status=NameStatus(name.status),
            held=name.held,
            created_at=name.created_at,
            local_speaker=strawberry.ID(name.local_speaker) if name.local_speaker else None,
            num_evidence=name.num_evidence,
            record=name,
            reading=reading,
        )


@strawberry.type(name="NameDecided", description="A proposed name was applied or rejected.")
class NameDecidedType:
    proposal_id: strawberry.ID = strawberry.field(description="Id of the proposal.")
    status: NameStatus = strawberry.field(description="What it is now.")
    subject_id: strawberry.ID = strawberry.field(
        description="Id in the graph of the person it is about, or of the voice of a session that is nobody's yet."
    )


NameDecision: TypeAlias = Annotated[
    NameDecidedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("NameDecision", description="What became of the proposal, or why nothing did."),
]


async def name_proposals(context: Context, status: NameStatus, page: Page) -> Connection[NameProposalType]:
    reading = await context.reading()
    names = await reading.read(list_names, status=status.value, page=page)
    return connection(names, lambda n: NameProposalType.from_record(n, reading))


async def apply(context: Context, proposal_id: str, key: str) -> NameDecidedType:
    return await _decide(context, proposal_id, key, NameStatus.APPLIED)


async def reject(context: Context, proposal_id: str, key: str) -> NameDecidedType:
    return await _decide(context, proposal_id, key, NameStatus.REJECTED)


async def _decide(context: Context, proposal_id: str, key: str, status: NameStatus) -> NameDecidedType:
    id = local_id(proposal_id, PROPOSAL)
    principal = await context.holder()
    if principal is None or not ("admin" in principal.scopes or principal.person_id):
        raise Refused(reason="To decide about a name, the token must be that person's own, or have the scope `admin`.")
    graph, space, actor = context.services.graph, context.space, principal.account_id

    async def do() -> Mapping[str, Any]:
        if "admin" not in principal.scopes:
            await _only_about_oneself(context, id)
        if status is NameStatus.APPLIED:
            verdict = await apply_name(graph, space=space, proposal_id=id, actor=actor)
        else:
            verdict = await reject_name(graph, space=space, proposal_id=id, actor=actor)
        return _kept(verdict)

    kind = "apply_name" if status is NameStatus.APPLIED else "reject_name"
    done = await once_per_key(context, principal, kind, key, {"proposal": id}, do)
    return NameDecidedType(
        proposal_id=strawberry.ID(global_id(PROPOSAL, done["proposal_id"])),
        status=NameStatus(done["status"]),
        subject_id=strawberry.ID(done["subject_id"]),
    )


def _kept(verdict: NameVerdict) -> dict[str, Any]:
    """Ids only: a job keeps no names."""
    return {"proposal_id": verdict.proposal_id, "subject_id": verdict.person_id, "status": verdict.status}


async def _only_about_oneself(context: Context, id: str) -> None:
    """Raises NotFound for a name of anybody but the token's own person, whoever the request asks for, as for a name that
    was never proposed."""
    reading = await context.reading(Asked())
    found = await reading.read(find_names, [id])
    if id not in found or found[id].about not in reading.scope.themselves:
        raise Missing(kind="name proposal", id=id)


async def messages(reading: Reading, ids: tuple[str, ...]) -> list[MessageType]:
    """Those of `ids` that the viewer may read, in their order."""
    found = await reading.messages.load_many(list(ids))
    return [MessageType.from_record(m, reading) for m in found if m is not None]
