"""Who said it, to whom was it said, and what was said by and to somebody over time? GraphQL types and reads of the edges."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, TypeAlias

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Context, local_id
from service.api.facts import FactType
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType, PersonType, person_of
from service.api.outcomes import InvalidInput, NotAllowed, NotFound, VoiceNotAccepted
from service.api.search import AskerInput, Asking, FiltersInput, HitType, SearchExplanationType
from service.errors import InvalidInput as BadInput
from service.graph.directed import list_timeline
from service.graph.paging import Page
from service.retrieval.attribution import Attributed
from service.types.facts import KnownFact
from service.types.memory import Message
from service.types.search import Wants

strawberry.enum(Wants, name="WhoWants", description="Who is looked for: who said it, or to whom it was said.")


@strawberry.type(name="Attributed", description="Somebody who said it, or to whom it was said, with the messages that tell.")
class AttributedType:
    score: float = strawberry.field(description="How well it fits, [0, 1]; comparable within one answer.")
    voice: strawberry.ID | None = strawberry.field(description="The voice of the session, where it is nobody's yet.")
    evidence: list[HitType] = strawberry.field(
        description="What they said, or what was said to them: three messages at most, the best first.", metadata={"times": 2}
    )
    record: strawberry.Private[Attributed]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Who it is; null where that is not known, or not to the viewer.", metadata=LIST)
    async def person(self) -> PersonType | None:
        return await person_of(self.reading, self.record.person_id)

    @classmethod
    def from_record(cls, one: Attributed, reading: Reading, explain: bool) -> AttributedType:
        return cls(
            score=one.score,
            voice=strawberry.ID(one.voice) if one.voice else None,
            evidence=[HitType.from_record(hit, reading, explain) for hit in one.hits],
            record=one,
            reading=reading,
        )


@strawberry.type(name="WhoSaid", description="Who said it, or to whom, the likeliest first; empty where nothing found tells.")
class WhoSaidType:
    wants: Wants = strawberry.field(description="Who was looked for.")
    people: list[AttributedType] = strawberry.field(description="At most five.", metadata={"times": 3})
    explanation: SearchExplanationType | None = strawberry.field(description="Only with `explain`.")


WhoOutcome: TypeAlias = Annotated[
    WhoSaidType | NotFound | NotAllowed | VoiceNotAccepted | InvalidInput,
    strawberry.union("WhoOutcome", description="Who said it, or why nothing was looked for."),
]


class Part(StrEnum):
    SAID = "said"
    TOLD = "told"


strawberry.enum(Part, name="TimelinePart", description="Whether the person said it, or it was said to them.")


@strawberry.type(name="TimelineEntry", description="Something that somebody said, or that was said to them, or what it tells.")
class TimelineEntryType:
    at: datetime = strawberry.field(description="When it was said or, with a fact, when the time begins that it tells of; UTC.")
    part: Part = strawberry.field(description="Whether the person said it, or it was said to them.")
    fact: FactType | None = strawberry.field(
        description="What was or is to be at this time, as somebody said; null for what was said at it."
    )
    message_id: strawberry.Private[str]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="The message; of a fact, the one it was said in.")
    async def message(self) -> MessageType | None:
        message = await self.reading.messages.load(self.message_id)
        return MessageType.from_record(message, self.reading) if message else None

    @classmethod
    def from_record(cls, record: Message | KnownFact, person_id: str, reading: Reading) -> TimelineEntryType:
        told = record.speaker_id != person_id and person_id in {addressee.person_id for addressee in record.addressees}
        part = Part.TOLD if told else Part.SAID
        if isinstance(record, Message):
            reading.messages.prime(record.id, record)
            return cls(at=record.said_at, part=part, fact=None, message_id=record.id, reading=reading)
        at, fact = record.about.start if record.about else record.said_at, FactType.from_record(record, reading)
        return cls(at=at, part=part, fact=fact, message_id=record.evidence[0], reading=reading)


async def who(
    context: Context, said: str, by: list[strawberry.ID], to: list[strawberry.ID], explain: bool, filters: FiltersInput | None,
    asker: AskerInput | None, asked_at: datetime | None, zone: str | None,
) -> WhoSaidType:  # fmt: skip
    given = filters or FiltersInput()
    if (by and given.speakers) or (to and given.addressees):
        raise BadInput(what="the people of `who`", given="as arguments and as filters", needed="one of the two")
    asking = await Asking.of(
        context, replace(given, speakers=by or given.speakers, addressees=to or given.addressees), asker, asked_at, zone
    )
    answerer = await context.services.answer()
    found = await answerer.who(asking.reading.scope, said, asking.filters, asked_at=asking.asked_at, zone=asking.zone)
    return WhoSaidType(
        wants=found.wants,
        people=[AttributedType.from_record(one, asking.reading, explain) for one in found.people],
        explanation=SearchExplanationType.from_record(found.result) if explain else None,
    )


async def timeline(
    context: Context, person_id: str, since: datetime | None, until: datetime | None, page: Page
) -> Connection[TimelineEntryType]:
    for name, time in (("since", since), ("until", until)):
        if time is not None and time.tzinfo is None:
            raise BadInput(what=f"`{name}`", given=f"{time.isoformat()} without a zone", needed="a time with its zone")
    reading = await context.reading()
    paged = await reading.read(list_timeline, local_id(person_id), since, until, page=page)

    of = local_id(person_id)
    return connection(paged, lambda record: TimelineEntryType.from_record(record, of, reading))
