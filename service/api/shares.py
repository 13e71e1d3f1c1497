"""Whom do I let know what I am like, and what did others let me know? GraphQL types, reads and mutations of sharing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.context import Context, global_id, local_id
from service.api.context import NotAllowed as Refused
from service.api.jobs import once_per_key
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType, PersonType, person_of
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.api.personas import PERSONA, in_words
from service.memory.right_brain import said
from service.pipelines.shares import SharedPersona, find_shared, share_persona, unshare_persona
from service.types.affect import Aspect, Emotion, PersonaKind


@strawberry.type(
    name="SharedPersona",
    description="An attitude or trait that its subject lets the asker know of, as it stands now; seen by them alone.",
)
class SharedPersonaType:
    kind: PersonaKind = strawberry.field(description="Of the person alone, or toward something or somebody.")
    aspect: Aspect = strawberry.field(description="A feeling, a liking, or what they say they are.")
    emotion: Emotion | None = strawberry.field(description="Of a feeling.")
    polarity: float = strawberry.field(description="Against to for, unpleasant to pleasant, in [-1, 1].")
    intensity: float = strawberry.field(description="In [0, 1]; fades with the time since it last showed.")
    shared_at: datetime = strawberry.field(description="When they let the asker know, UTC.")
    record: strawberry.Private[SharedPersona]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Whose it is.")
    async def by(self) -> PersonType | None:
        return await person_of(self.reading, self.record.by)

    @strawberry.field(description="In words, with the names that the viewer may know.", metadata={"weight": 1})
    async def text(self) -> str:
        return await in_words(self.record.persona, self.reading)

    @strawberry.field(description="Whom it concerns, where that is a person that the viewer may know.")
    async def concerns(self) -> PersonType | None:
        return await person_of(self.reading, said.person_of(self.record.persona))

    @strawberry.field(
        description="Of the newest messages that show it, those that the viewer may read.", metadata={**LIST, "times": 5}
    )
    async def evidence(self) -> list[MessageType]:
        messages = await self.reading.messages.load_many(self.record.persona.evidence)
        return [MessageType.from_record(m, self.reading) for m in messages if m]

    @classmethod
    def from_record(cls, shared: SharedPersona, reading: Reading) -> SharedPersonaType:
        one = shared.persona
        return cls(
            kind=one.kind,
            aspect=one.aspect,
            emotion=one.emotion,
            polarity=one.polarity,
            intensity=one.intensity,
            shared_at=shared.at,
            record=shared,
            reading=reading,
        )


@strawberry.type(name="PersonaSharing", description="Whether somebody is let know of an attitude or trait of the asker now.")
class PersonaSharingType:
    persona_id: strawberry.ID = strawberry.field(description="Global id of the attitude or trait.")
    person_id: strawberry.ID = strawberry.field(description="Global id of the person.")
    shared: bool = strawberry.field(description="They are.")


ShareOutcome: TypeAlias = Annotated[
    PersonaSharingType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("ShareOutcome", description="Whether it is shared now, or why nothing changed."),
]


async def shared_personas(context: Context, person_id: str | None) -> list[SharedPersonaType]:
    reading = await context.reading()
    found = await reading.read(find_shared, datetime.now(UTC), person_id and local_id(person_id))
    return [SharedPersonaType.from_record(one, reading) for one in found]


async def share(context: Context, persona_id: str, person_id: str, key: str) -> PersonaSharingType:
    trait, to = local_id(persona_id, PERSONA), local_id(person_id)

    async def do(reading: Reading) -> None:
        await reading.graph.write(share_persona, reading.scope, trait, to, datetime.now(UTC))

    return await _once(context, "share_persona", key, trait, to, do, shared=True)


async def unshare(context: Context, persona_id: str, person_id: str, key: str) -> PersonaSharingType:
    trait, to = local_id(persona_id, PERSONA), local_id(person_id)

    async def do(reading: Reading) -> None:
        await reading.graph.write(unshare_persona, reading.scope, trait, to, datetime.now(UTC))

    return await _once(context, "unshare_persona", key, trait, to, do, shared=False)


async def _once(
    context: Context, kind: str, key: str, trait: str, to: str, do: Callable[[Reading], Awaitable[None]], *, shared: bool
) -> PersonaSharingType:
    """Raises NotAllowed for a token that is nobody's own: only they themselves let others know what they are like."""
    principal = await context.holder()
    if principal is None or principal.person_id is None:
        raise Refused(reason="To share what somebody is like, the token must be that person's own.")

    async def kept() -> Mapping[str, Any]:
        await do(await context.reading())
        return {}  # what and with whom stays on the share alone, which goes when it is taken back

    await once_per_key(context, principal, kind, key, {"trait": trait, "to": to}, kept)
    return PersonaSharingType(
        persona_id=strawberry.ID(global_id(PERSONA, trait)),
        person_id=strawberry.ID(global_id("Person", to)),
        shared=shared,
    )
