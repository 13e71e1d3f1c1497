"""How am I, and what am I like? GraphQL types and reads of feelings, attitudes and traits: for the person themselves alone."""

from __future__ import annotations

from datetime import UTC, datetime

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Context, global_id, local_id
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType, PersonType, person_of
from service.errors import InvalidInput
from service.graph.paging import Page, Paged
from service.graph.personas import Felt, find_subject, list_felt
from service.memory.right_brain import said
from service.pipelines.personas import find_personas
from service.types.affect import Aspect, Emotion, Mark, Persona, PersonaKind
from service.types.facts import ADDRESSEE

strawberry.enum(Emotion, name="Emotion", description="What somebody says to feel.")
strawberry.enum(Aspect, name="Aspect", description="A feeling, a liking, or what somebody says they are.")
strawberry.enum(PersonaKind, name="PersonaKind", description="Of the person alone, or toward something or somebody.")
PERSONA = "Persona"
MAX = 100
"""Attitudes and traits, the strongest: more tells nobody what they are like."""


@strawberry.type(
    name="Persona",
    description="An attitude or trait of the asker that showed on several occasions in what they said; nobody else's to see, "
    "but for those whom they let know of it.",
)
class PersonaType:
    id: strawberry.ID = strawberry.field(description="For `sharePersona`; means nothing to anybody else.")
    kind: PersonaKind = strawberry.field(description="Of the person alone, or toward something or somebody.")
    aspect: Aspect = strawberry.field(description="A feeling, a liking, or what they say they are.")
    emotion: Emotion | None = strawberry.field(description="Of a feeling.")
    polarity: float = strawberry.field(description="Against to for, unpleasant to pleasant, in [-1, 1].")
    intensity: float = strawberry.field(description="In [0, 1]; fades with the time since it last showed.")
    support: int = strawberry.field(description="Messages that show it.")
    num_sessions: int = strawberry.field(description="Sessions that these are from.")
    since: datetime = strawberry.field(description="When it first showed and not otherwise since, UTC.")
    last: datetime = strawberry.field(description="When it last showed, UTC.")
    record: strawberry.Private[Persona]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="In words, with the names that the viewer may know.", metadata={"weight": 1})
    async def text(self) -> str:
        return await in_words(self.record, self.reading)

    @strawberry.field(description="Whom it concerns, where that is a person that the viewer may know.")
    async def concerns(self) -> PersonType | None:
        return await person_of(self.reading, said.person_of(self.record))

    @strawberry.field(description="The newest messages that show it, at most 20.", metadata={**LIST, "times": 5})
    async def evidence(self) -> list[MessageType]:
        messages = await self.reading.messages.load_many(self.record.evidence)
        return [MessageType.from_record(m, self.reading) for m in messages if m]

    @strawberry.field(description="Whom the asker lets know of it, as far as they know them.", metadata=LIST)
    async def shared_with(self) -> list[PersonType]:
        ids = [self.record.trait_of(id) for id in self.reading.scope.own]
        shown = dict.fromkeys(share.to_shown for each in await self.reading.shares.load_many(ids) for share in each)
        people = await self.reading.people.load_many(list(shown))
        return [PersonType.from_record(person, self.reading) for person in people if person]

    @classmethod
    def from_record(cls, persona: Persona, reading: Reading) -> PersonaType:
        return cls(
            id=strawberry.ID(global_id(PERSONA, persona.trait_of(reading.scope.own[0]))),
            kind=persona.kind,
            aspect=persona.aspect,
            emotion=persona.emotion,
            polarity=persona.polarity,
            intensity=persona.intensity,
            support=persona.support,
            num_sessions=persona.num_sessions,
            since=persona.since,
            last=persona.last,
            record=persona,
            reading=reading,
        )


@strawberry.type(name="Mark", description="One thing that a message shows of its speaker.")
class MarkType:
    aspect: Aspect = strawberry.field(description="A feeling, a liking, or what they say they are.")
    emotion: Emotion | None = strawberry.field(description="Of a feeling.")
    polarity: float = strawberry.field(description="Against to for, unpleasant to pleasant, in [-1, 1].")
    intensity: float = strawberry.field(description="In [0, 1].")
    target: str | None = strawberry.field(
        description="Whom or what it concerns, as said; null for whom the message is said to."
    )
    to_addressee: bool = strawberry.field(description="It concerns whom the message is said to.")
    cause: str | None = strawberry.field(description="Why, as said.")

    @classmethod
    def from_record(cls, mark: Mark) -> MarkType:
        to_addressee = mark.target == ADDRESSEE
        return cls(
            aspect=mark.aspect,
            emotion=mark.emotion,
            polarity=mark.polarity,
            intensity=mark.intensity,
            target=None if to_addressee else mark.target,
            to_addressee=to_addressee,
            cause=mark.cause,
        )


@strawberry.type(name="Affect", description="How the asker was in one message of theirs, as far as words and voice tell.")
class AffectType:
    said_at: datetime = strawberry.field(description="When it was said, UTC.")
    valence: float = strawberry.field(description="Unpleasant to pleasant, by its words, in [-1, 1].")
    arousal: float = strawberry.field(description="Quiet to stirred, by words and by the voice against its usual, in [0, 1].")
    emotion: Emotion | None = strawberry.field(description="That they say to feel.")
    pitch: float | None = strawberry.field(description="Median pitch, Hz; null where the sound was not measured.")
    speech_rate: float | None = strawberry.field(description="Words a second; null where the sound was not measured.")
    marks: list[MarkType] = strawberry.field(description="What it shows of them.", metadata={"times": 2})
    record: strawberry.Private[Felt]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="The message.")
    async def message(self) -> MessageType | None:
        message = await self.reading.messages.load(self.record.message_id)
        return MessageType.from_record(message, self.reading) if message else None

    @classmethod
    def from_record(cls, felt: Felt, reading: Reading) -> AffectType:
        return cls(
            said_at=felt.said_at,
            valence=felt.affect.valence,
            arousal=felt.affect.arousal,
            emotion=felt.affect.emotion,
            pitch=felt.pitch,
            speech_rate=felt.speech_rate,
            marks=[MarkType.from_record(mark) for mark in felt.marks],
            record=felt,
            reading=reading,
        )


async def in_words(persona: Persona, reading: Reading) -> str:
    """With the name of whom it concerns, where the viewer knows one."""
    target = said.person_of(persona)
    concerned = await person_of(reading, target)
    return said.in_words(persona, {target: concerned.display_name} if target and concerned else {})


async def personas(context: Context, person_id: str | None, asked_at: datetime | None) -> list[PersonaType]:
    if asked_at is not None and asked_at.tzinfo is None:
        raise InvalidInput(what="`askedAt`", given=f"{asked_at.isoformat()} without a zone", needed="a time with its zone")
    reading = await context.reading()
    found = await reading.read(find_personas, person_id and local_id(person_id), asked_at or datetime.now(UTC))
    return [PersonaType.from_record(persona, reading) for persona in (found or ())[:MAX]]


async def affect(context: Context, person_id: str | None, page: Page) -> Connection[AffectType]:
    reading = await context.reading()
    subject = await reading.read(find_subject, person_id and local_id(person_id))
    found: Paged[Felt] = await reading.read(list_felt, subject, page=page)
    return connection(found, lambda felt: AffectType.from_record(felt, reading))
