"""Who spoke, when, and what was said: the GraphQL types of people, sessions and messages."""

from __future__ import annotations

from datetime import datetime

import strawberry

from service.api.connections import After, Before, Connection, First, Last, Node, connection
from service.api.context import global_id
from service.api.cursors import page
from service.api.loaders import Of, Reading
from service.types.memory import Addressee, How, Message, Session, SessionStatus
from service.types.people import Heard, Person
from service.types.told import Image

strawberry.enum(How, name="How", description="How we know to whom something was said.")
strawberry.enum(SessionStatus, name="SessionStatus", description="How far the writing of a session is.")
LIST = {"weight": 5}
"""A list below another object is a query of its own."""


@strawberry.type(name="Person", description="Somebody who spoke or is known, as the viewer may see them.")
class PersonType(Node):
    display_name: str | None = strawberry.field(description="Name shown; null while anonymous.")
    aliases: list[str] = strawberry.field(description="Other names.")
    kind: str = strawberry.field(description="anonymous, named or bot.")
    encoders: list[str] = strawberry.field(description="Speaker encoders in whose space a voiceprint is kept.")
    created_at: datetime = strawberry.field(description="When they were first heard or enrolled, UTC.")
    person_id: strawberry.Private[str]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Turns attributed to them.")
    async def num_turns(self) -> int:
        return (await self._heard()).num_turns

    @strawberry.field(description="Seconds of speech heard of them alone.")
    async def net_speech(self) -> float:
        return (await self._heard()).net_speech

    async def _heard(self) -> Heard:
        return await self.reading.heard.load(self.person_id) or Heard()

    @strawberry.field(description="What they said, as far as the viewer may read it, in spoken order.", metadata=LIST)
    async def messages(
        self, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[MessageType]:
        return await _messages(self.reading, "speaker", self.person_id, first, after, last, before)

    @classmethod
    def from_record(cls, person: Person, reading: Reading) -> PersonType:
        return cls(
            id=strawberry.ID(global_id("Person", person.id)),
            display_name=person.display_name,
            aliases=list(person.aliases),
            kind=person.kind,
            encoders=list(person.encoders),
            created_at=person.created_at,
            person_id=person.id,
            reading=reading,
        )


@strawberry.type(name="Session", description="One conversation: a recording, a meeting, a day at home.")
class SessionType(Node):
    title: str = strawberry.field(description="For people.")
    started_at: datetime = strawberry.field(description="Start, UTC.")
    zone: str | None = strawberry.field(description="The original time zone, as given.")
    source: str = strawberry.field(description="file, upload or a connector's name.")
    external_id: str | None = strawberry.field(description="The source's own id; for a file the hash of its sound.")
    status: SessionStatus = strawberry.field(description="open while it is being written or was broken off.")
    duration: float = strawberry.field(description="Length in seconds.")
    num_messages: int = strawberry.field(description="How many of its messages the viewer may read.")
    created_at: datetime = strawberry.field(description="When it was first written, UTC.")
    sound_lost: bool = strawberry.field(
        description="Of a meeting: sound of it lay where no service looked when it was closed, and was not listened to."
    )
    revision: int = strawberry.field(
        description="1, and one more each time that its recording was processed again, in place of what was there."
    )
    session_id: strawberry.Private[str]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Its messages, as far as the viewer may read them, in spoken order.", metadata=LIST)
    async def messages(
        self, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[MessageType]:
        return await _messages(self.reading, "session", self.session_id, first, after, last, before)

    @classmethod
    def from_record(cls, session: Session, reading: Reading) -> SessionType:
        return cls(
            id=strawberry.ID(global_id("Session", session.id)),
            title=session.title,
            started_at=session.started_at,
            zone=session.zone,
            source=session.source,
            external_id=session.external_id,
            status=session.status,
            duration=session.duration,
            num_messages=session.num_messages,
            created_at=session.created_at,
            sound_lost=session.sound_lost,
            revision=session.revision,
            session_id=session.id,
            reading=reading,
        )


@strawberry.type(name="Addressee", description="Somebody to whom a message was said.")
class AddresseeType:
    confidence: float = strawberry.field(description="How sure that is, in [0, 1].")
    how: How = strawberry.field(description="How we know.")
    record: strawberry.Private[Addressee]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Who it is; null where the viewer may not know.")
    async def person(self) -> PersonType | None:
        return await person_of(self.reading, self.record.person_id)


@strawberry.type(name="Decision", description="Why a message is held to be this speaker's.")
class DecisionType:
    kind: str = strawberry.field(description="link, create, assigned, corrected or unresolved.")
    cosine: float | None = strawberry.field(description="Score of the person decided for, in [-1, 1].")
    margin: float | None = strawberry.field(description="How far ahead of the best other person, in [0, 2].")
    threshold: float | None = strawberry.field(description="What the score was compared with.")


@strawberry.type(name="Image", description="An image shown with a message.")
class ImageType:
    id: strawberry.ID = strawberry.field(description="To find others like it by.")
    reference: str | None = strawberry.field(description="Address or name as delivered; nobody has opened it.")
    caption: str | None = strawberry.field(description="What it shows, in words.")

    @classmethod
    def from_record(cls, id: str, image: Image) -> ImageType:
        return cls(id=strawberry.ID(global_id("Image", id)), reference=image.reference, caption=image.caption)


@strawberry.type(name="Message", description="One speaker turn, as the viewer may read it.")
class MessageType(Node):
    index: int = strawberry.field(description="Position in its session, from 0.")
    text: str | None = strawberry.field(description="What was said; null when nobody wrote it down.")
    language: str | None = strawberry.field(description="BCP 47.")
    start: float = strawberry.field(description="Seconds from the start of the session.")
    end: float = strawberry.field(description="Seconds from the start of the session.")
    said_at: datetime = strawberry.field(description="When it was said, UTC.")
    local_speaker: strawberry.ID = strawberry.field(
        description="The voice within the session: tells voices apart before their person is decided."
    )
    addressees: list[AddresseeType] = strawberry.field(description="To whom it was said, the surest first.")
    decision: DecisionType | None = strawberry.field(description="Why it is held to be this speaker's.")
    record: strawberry.Private[Message]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Who said it; null while the voice is unresolved, or where the viewer may not know.")
    async def speaker(self) -> PersonType | None:
        return await person_of(self.reading, self.record.speaker_id)

    @strawberry.field(description="The session it was said in.")
    async def session(self) -> SessionType | None:
        session = await self.reading.sessions.load(self.record.session_id)
        return SessionType.from_record(session, self.reading) if session else None

    @strawberry.field(description="Images shown with it, in their order; at most 20.", metadata=LIST)
    async def images(self) -> list[ImageType]:
        return [ImageType.from_record(known.id, known.image) for known in await self.reading.images.load(self.record.id)]

    @strawberry.field(description="The message it answers; null where the viewer may not read that one.")
    async def reply_to(self) -> MessageType | None:
        reply = self.record.reply_to and await self.reading.messages.load(self.record.reply_to)
        return MessageType.from_record(reply, self.reading) if reply else None

    @classmethod
    def from_record(cls, message: Message, reading: Reading) -> MessageType:
        decision = message.decision and DecisionType(
            kind=message.decision, cosine=message.cosine, margin=message.margin, threshold=message.threshold
        )
        return cls(
            id=strawberry.ID(global_id("Message", message.id)),
            index=message.index,
            text=message.text,
            language=message.language,
            start=message.start,
            end=message.end,
            said_at=message.said_at,
            local_speaker=strawberry.ID(message.local_speaker),
            addressees=[
                AddresseeType(confidence=a.confidence, how=a.how, record=a, reading=reading) for a in message.addressees
            ],
            decision=decision or None,
            record=message,
            reading=reading,
        )


async def person_of(reading: Reading, person_id: str | None) -> PersonType | None:
    person = person_id and await reading.people.load(person_id)
    return PersonType.from_record(person, reading) if person else None


async def _messages(
    reading: Reading, of: Of, id: str, first: int | None, after: str | None, last: int | None, before: str | None
) -> Connection[MessageType]:
    paged = await reading.messages_of.load((of, id, page(first, after, last, before)))
    return connection(paged, lambda m: MessageType.from_record(m, reading))
