"""What was understood of what was said? GraphQL types and reads of facts: each with its evidence, and what was said before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from service.api.connections import Connection, Node, connection
from service.api.context import Context, global_id, local_id
from service.api.loaders import Reading
from service.api.memory import LIST, AddresseeType, MessageType, PersonType, SessionType, person_of
from service.graph.facts import FactFilters, list_facts
from service.graph.paging import Page
from service.graph.revisions import find_lag
from service.memory.statements import people_of, read_out, value_read_out
from service.memory.updater import REVISER
from service.types.facts import FactKind, KnownFact, Precision, TimeSpan
from service.types.revisions import Change, Revision, is_cancelled

strawberry.enum(FactKind, name="FactKind", description="What somebody does by saying it.")
strawberry.enum(Change, name="FactChange", description="What a newer fact does to an older one.")
strawberry.enum(Precision, name="TimePrecision", description="How exactly a time was said.")
FACT = "Fact"


@strawberry.type(name="TimeMeant", description="The time that something said is about.")
class TimeMeantType:
    start: datetime = strawberry.field(description="Its beginning, UTC.")
    end: datetime = strawberry.field(description="Its end, UTC; not within it.")
    precision: Precision = strawberry.field(description="How exactly it was said.")
    words: str = strawberry.field(description="As it was said: last Friday.")

    @classmethod
    def from_record(cls, span: TimeSpan) -> TimeMeantType:
        return cls(start=span.start, end=span.end, precision=span.precision, words=span.words)


@strawberry.type(
    name="Fact", description="A statement understood without its context. Seen by who may read every message it is made from."
)
class FactType(Node):
    kind: FactKind = strawberry.field(description="Statement, plan, preference, commitment or question.")
    said_at: datetime = strawberry.field(description="When it was said, UTC.")
    about: TimeMeantType | None = strawberry.field(description="The time it speaks of; null where it names none.")
    attribute: str | None = strawberry.field(
        description="What it tells of its speaker, without the value: favourite food. A newer one supersedes it."
    )
    confidence: float = strawberry.field(description="How sure the extractor was, in [0, 1].")
    extractor: str = strawberry.field(description="Name and version of what understood it.")
    record: strawberry.Private[KnownFact]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="In words, with the names that the viewer may know.", metadata={"weight": 1})
    async def text(self) -> str:
        return read_out(self.record, await self._names())

    @strawberry.field(description="The value of its attribute.", metadata={"weight": 1})
    async def value(self) -> str | None:
        return value_read_out(self.record, await self._names())

    async def _names(self) -> dict[str, str | None]:
        ids = people_of([self.record])
        people = await self.reading.people.load_many(ids)
        return {id: person.display_name for id, person in zip(ids, people, strict=True) if person}

    @strawberry.field(description="Who said it; null while the voice is unresolved, or where the viewer may not know.")
    async def speaker(self) -> PersonType | None:
        return await person_of(self.reading, self.record.speaker_id)

    @strawberry.field(description="To whom it was said, the surest first.")
    async def addressees(self) -> list[AddresseeType]:
        return [
            AddresseeType(confidence=a.confidence, how=a.how, record=a, reading=self.reading) for a in self.record.addressees
        ]

    @strawberry.field(description="The session it was said in.")
    async def session(self) -> SessionType | None:
        session = await self.reading.sessions.load(self.record.session_id)
        return SessionType.from_record(session, self.reading) if session else None

    @strawberry.field(description="The messages it is made from, the one it was said in first.", metadata={**LIST, "times": 2})
    async def evidence(self) -> list[MessageType]:
        messages = await self.reading.messages.load_many(self.record.evidence)
        return [MessageType.from_record(m, self.reading) for m in messages if m]

    @strawberry.field(
        description="Itself and what else its speaker said of the same attribute, newest first: the first holds.",
        metadata={**LIST, "times": 3},
    )
    async def history(self) -> list[FactType]:
        return facts_from(await self.reading.histories.load(self.record.id) or (), self.reading)

    @strawberry.field(description="What newer facts of its speaker do to it, newest first.", metadata={**LIST, "times": 2})
    async def revisions(self) -> list[RevisionType]:
        return [RevisionType.from_record(one) for one in await self.reading.revisions.load(self.record.id) or ()]

    @strawberry.field(
        description="Whether its speaker said since that it is off, as far as the viewer knows.", metadata={"weight": 1}
    )
    async def cancelled(self) -> bool:
        return is_cancelled(await self.reading.revisions.load(self.record.id) or ())

    @classmethod
    def from_record(cls, fact: KnownFact, reading: Reading) -> FactType:
        return cls(
            id=strawberry.ID(global_id(FACT, fact.id)),
            kind=fact.kind,
            said_at=fact.said_at,
            about=TimeMeantType.from_record(fact.about) if fact.about else None,
            attribute=fact.attribute,
            confidence=fact.confidence,
            extractor=fact.extractor,
            record=fact,
            reading=reading,
        )


@strawberry.type(name="Revision", description="What a newer fact of the same speaker does to an older one.")
class RevisionType:
    change: Change = strawberry.field(description="Update, delete (what was said is off), or keep (it was said again).")
    fact_id: strawberry.ID = strawberry.field(description="Global id of the newer fact.")
    said_at: datetime = strawberry.field(description="When that was said, UTC.")

    @classmethod
    def from_record(cls, revision: Revision) -> RevisionType:
        return cls(change=revision.change, fact_id=strawberry.ID(global_id(FACT, revision.fact_id)), said_at=revision.said_at)


@strawberry.type(name="MemoryLag", description="How far the comparing of facts is behind, over what the viewer may read.")
class MemoryLagType:
    pending: int = strawberry.field(description="Facts that are not compared with others of their speaker yet.")
    oldest: datetime | None = strawberry.field(description="When the first of them was said, UTC.")


@strawberry.input(description="Narrows a list of facts; never widens what may be seen.")
class FactFiltersInput:
    speaker: strawberry.ID | None = strawberry.field(default=None, description="Said by this person.")
    addressee: strawberry.ID | None = strawberry.field(default=None, description="Said to this person.")
    session: strawberry.ID | None = strawberry.field(default=None, description="Said in this session.")
    kinds: list[FactKind] = strawberry.field(default_factory=list, description="Of one of these kinds.")

    def filters(self) -> FactFilters:
        return FactFilters(
            speakers=_one(self.speaker),
            addressees=_one(self.addressee),
            sessions=_one(self.session, "Session"),
            kinds=tuple(dict.fromkeys(self.kinds)),
        )


FactsNarrowed = Annotated[FactFiltersInput | None, strawberry.argument(description="Narrows the list.")]
Of = Annotated[strawberry.ID | None, strawberry.argument(description="Only what this person promised.")]
To = Annotated[strawberry.ID | None, strawberry.argument(description="Only what was promised to this person.")]


async def fact(context: Context, id: str) -> FactType | None:
    reading = await context.reading()
    record = await reading.facts.load(local_id(id, FACT))
    return FactType.from_record(record, reading) if record else None


async def memory_lag(context: Context) -> MemoryLagType:
    lag = await (await context.reading()).read(find_lag, REVISER)
    return MemoryLagType(pending=lag.pending, oldest=lag.oldest)


async def facts(context: Context, narrowed: FactFiltersInput | None, page: Page) -> Connection[FactType]:
    return await _facts(context, (narrowed or FactFiltersInput()).filters(), page)


async def commitments(context: Context, of: str | None, to: str | None, page: Page) -> Connection[FactType]:
    return await _facts(context, FactFilters(_one(of), _one(to), kinds=(FactKind.COMMITMENT,)), page)


async def _facts(context: Context, filters: FactFilters, page: Page) -> Connection[FactType]:
    reading = await context.reading()
    found = await reading.read(list_facts, page=page, filters=filters)
    return connection(found, lambda f: FactType.from_record(f, reading))


def facts_from(records: Sequence[KnownFact], reading: Reading) -> list[FactType]:
    return [FactType.from_record(record, reading) for record in records]


def _one(id: str | None, kind: str = "Person") -> tuple[str, ...]:
    return (local_id(id, kind),) if id else ()
