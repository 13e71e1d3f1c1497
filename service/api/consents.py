"""What did I agree to? GraphQL types and reads of consents, and what shows that somebody gave one."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import datetime
from pathlib import Path

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Context, global_id, local_id
from service.errors import InvalidInput
from service.graph.consents import list_consents
from service.graph.paging import Page, Paged
from service.graph.people import list_same_people
from service.graph.personas import find_subject
from service.types.consents import ConsentRecord
from service.types.people import Consent, ConsentPurpose
from service.types.plain import short

strawberry.enum(Consent, name="ConsentState", description="State of a consent.")
strawberry.enum(ConsentPurpose, name="ConsentPurpose", description="What somebody may agree to.")


@strawberry.type(name="ConsentRecord", description="One thing that somebody said about being known, heard or read.")
class ConsentRecordType:
    id: strawberry.ID = strawberry.field(description="Id of the record in the graph.")
    person_id: strawberry.ID = strawberry.field(description="Global id of who said it.")
    purpose: ConsentPurpose = strawberry.field(description="To what.")
    state: Consent = strawberry.field(
        description="What they said; of a purpose the newest by `saidAt` holds, of several then the last recorded."
    )
    text_version: str = strawberry.field(description="Version of the text that they were shown.")
    channel: str = strawberry.field(description="How they said so.")
    said_at: datetime = strawberry.field(description="When they said so, UTC.")
    recorded_at: datetime = strawberry.field(description="When it was recorded, UTC.")
    evidence: str | None = strawberry.field(description="What proves it: a reference, or `sha256:` and the hash of an upload.")

    @classmethod
    def from_record(cls, record: ConsentRecord) -> ConsentRecordType:
        said = record.said
        return cls(
            id=strawberry.ID(record.id),
            person_id=strawberry.ID(global_id("Person", record.person_id)),
            purpose=said.purpose,
            state=said.state,
            text_version=said.text_version,
            channel=said.channel,
            said_at=said.at,
            recorded_at=record.recorded_at,
            evidence=said.evidence,
        )


async def consents(context: Context, person_id: str | None, page: Page) -> Connection[ConsentRecordType]:
    """The asker's own while nobody else listens; anybody's with the scope `admin`."""
    reading = await context.reading()
    person = local_id(person_id) if person_id else None
    subject = await reading.read(find_subject, person)
    principal, asked = context.principal, context.credentials.asked
    alone = not (asked.heard_by or asked.heard_by_voices)
    if not subject and person is not None and alone and principal is not None and "admin" in principal.scopes:
        subject = await reading.read(list_same_people, [person])
    found: Paged[ConsentRecord] = await reading.read(list_consents, subject, page=page)
    return connection(found, ConsentRecordType.from_record)


async def evidence_of(context: Context, reference: str | None, upload_id: str | None) -> str | None:
    """What is kept of the proof of a consent. Raises InvalidInput where two are given, and as an upload does."""
    if reference is not None and upload_id is not None:
        raise InvalidInput(what="`evidence`", given="a reference and an upload", needed="one of them")
    if upload_id is None:
        return short("evidence", reference) if reference is not None else None
    return f"sha256:{await asyncio.to_thread(_hash, context.upload(upload_id))}"


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
