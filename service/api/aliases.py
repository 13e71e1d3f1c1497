"""Which names mean the same, and who says so? GraphQL mutations that join two entities, and take that back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.context import Asked, Context, global_id, local_id
from service.api.corrections import why_of
from service.api.entities import ENTITY
from service.api.jobs import once_per_key
from service.api.loaders import Reading
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.errors import NotFound as Missing
from service.errors import VoicegraphError
from service.graph.write_entities import AliasAlready, AliasesTooLong, forget_alias, save_alias
from service.types.plain import MAX_TEXT


class NotJoined(VoicegraphError):
    """AliasAlready and AliasesTooLong for who may not know all the names that these go by: the same words for each, and none
    about what there is."""

    code = "not_joined"
    says = "The two cannot be joined as things are. Who reads everything can tell why."
    http_status = 409


@strawberry.type(name="EntityJoined", description="What an entity is now: another name of one, or one of its own.")
class EntityJoinedType:
    entity_id: strawberry.ID = strawberry.field(description="Global id of the entity.")
    of_id: strawberry.ID | None = strawberry.field(description="Global id of what it is another name of; null: of its own.")


EntityOutcome: TypeAlias = Annotated[
    EntityJoinedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("EntityOutcome", description="What became of the entity, or why nothing did."),
]


async def join(context: Context, entity_id: str, of_id: str, why: str, key: str) -> EntityJoinedType:
    principal = context.allowed("admin", "say that entities are one")
    entity, of, why = local_id(entity_id, ENTITY), local_id(of_id, ENTITY), why_of(why)

    async def do() -> Mapping[str, Any]:
        reading = await context.reading(Asked())
        for id in (entity, of):
            if await reading.entities.load(id) is None:
                raise Missing(kind="entity", id=id[:MAX_TEXT])
        try:
            await reading.graph.write(save_alias, context.space, entity, of, by=principal.account_id, why=why)
        except (AliasAlready, AliasesTooLong) as why_not:
            known = isinstance(why_not, AliasAlready) and await _joined(reading, entity)
            if known or reading.scope.reads_all:
                raise
            raise NotJoined() from None
        return {"entity": entity, "of": of}

    body = {"entity": entity, "of": of, "why": why}
    return _told(await once_per_key(context, principal, "join_entities", key, body, do))


async def separate(context: Context, entity_id: str, why: str, key: str) -> EntityJoinedType:
    principal = context.allowed("admin", "say that entities are not one")
    entity, why = local_id(entity_id, ENTITY), why_of(why)

    async def do() -> Mapping[str, Any]:
        reading = await context.reading(Asked())
        if not await _joined(reading, entity):
            raise Missing(kind="alias", id=entity[:MAX_TEXT])
        await reading.graph.write(forget_alias, context.space, entity, by=principal.account_id, why=why)
        return {"entity": entity, "of": None}

    return _told(await once_per_key(context, principal, "separate_entity", key, {"entity": entity, "why": why}, do))


async def _joined(reading: Reading, entity: str) -> bool:
    """Whether the viewer may know that it is another name of something, and of what."""
    return any(one.id == entity for one in await reading.aliases.load(entity) or ())


def _told(done: Mapping[str, Any]) -> EntityJoinedType:
    return EntityJoinedType(
        entity_id=strawberry.ID(global_id(ENTITY, done["entity"])),
        of_id=strawberry.ID(global_id(ENTITY, done["of"])) if done["of"] else None,
    )
