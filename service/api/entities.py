"""What is spoken of? GraphQL types and reads of entities and themes: what a viewer may read decides what there is."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from service.api.connections import After, Before, Connection, First, Last, Node, connection
from service.api.context import Context, global_id, local_id
from service.api.cursors import page as page_of
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType
from service.graph.entities import EntityFilters
from service.graph.paging import Page, Paged
from service.pipelines.known_entities import entities_page, themes_now
from service.types.entities import EntityType, JoinedName, KnownEntity, Related, RelatedTheme, Strength, Theme
from service.types.memory import Message
from service.types.names import normal

strawberry.enum(EntityType, name="EntityType", description="What kind of thing is spoken of.")
strawberry.enum(Strength, name="Strength", description="Whether two things are spoken of together often and lately.")
ENTITY = "Entity"


@strawberry.type(name="RelatedEntity", description="What turns speak of together with an entity.")
class RelatedEntityType:
    id: strawberry.ID = strawberry.field(description="Global id of the other entity.")
    name: str = strawberry.field(description="As it was said most often.")
    type: EntityType = strawberry.field(description="What kind of thing it is.")
    weight: float = strawberry.field(description="Turns that mention both, each halved with every 30 days since.")
    strength: Strength = strawberry.field(description="Strong from a weight of two turns on.")

    @classmethod
    def from_record(cls, related: Related) -> RelatedEntityType:
        return cls(
            id=strawberry.ID(global_id(ENTITY, related.id)),
            name=related.name,
            type=related.type,
            weight=related.weight,
            strength=related.strength,
        )


@strawberry.type(name="JoinedName", description="An entity that somebody held to be another name of one.")
class JoinedNameType:
    id: strawberry.ID = strawberry.field(description="Global id of the entity, for `separateEntity`.")
    name: str = strawberry.field(description="As it was said most often.")
    type: EntityType = strawberry.field(description="What kind of thing it is by itself.")
    of_id: strawberry.ID = strawberry.field(description="Global id of the entity that it was joined to.")
    by: str | None = strawberry.field(description="Account that said so; only for who reads everything.")
    why: str | None = strawberry.field(description="Reason given; only for who reads everything.")

    @classmethod
    def from_record(cls, joined: JoinedName) -> JoinedNameType:
        return cls(
            id=strawberry.ID(global_id(ENTITY, joined.id)),
            name=joined.name,
            type=joined.type,
            of_id=strawberry.ID(global_id(ENTITY, joined.of)),
            by=joined.by,
            why=joined.why,
        )


@strawberry.type(
    name="Entity",
    description="A person, place, organisation, thing, event or topic spoken of. There is one where the viewer may read a "
    "mention, and everything told of it is counted over such mentions.",
)
class EntityNode(Node):
    name: str = strawberry.field(description="As it was said most often.")
    type: EntityType = strawberry.field(description="What kind of thing it is.")
    theme: str = strawberry.field(description="Label of the one theme that it belongs to.")
    aliases: list[str] = strawberry.field(description="Other names of it that were said, where somebody held them to be one.")
    num_mentions: int = strawberry.field(description="How often it is spoken of.")
    first_at: datetime = strawberry.field(description="When first, UTC.")
    last_at: datetime = strawberry.field(description="When last, UTC.")
    weight: float = strawberry.field(description="Mentions, each halved with every 30 days since.")
    record: strawberry.Private[KnownEntity]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="What is spoken of together with it, the weightiest first; ten at most.", metadata=LIST)
    async def related(self) -> list[RelatedEntityType]:
        return [RelatedEntityType.from_record(one) for one in await self.reading.related.load(self.record.id) or ()]

    @strawberry.field(description="What was joined to it, as far as the viewer may know of both.", metadata=LIST)
    async def joined(self) -> list[JoinedNameType]:
        return [JoinedNameType.from_record(one) for one in await self.reading.aliases.load(self.record.id) or ()]

    @strawberry.field(description="The messages that speak of it, newest first.", metadata=LIST)
    async def mentions(
        self, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[MessageType]:
        found = await self.reading.mentions.load((self.record.id, page_of(first, after, last, before)))
        messages = await self.reading.messages.load_many(found.items)
        kept = [(cursor, m) for cursor, m in zip(found.cursors, messages, strict=True) if m is not None]
        paged: Paged[Message] = Paged(
            tuple(m for _, m in kept), tuple(cursor for cursor, _ in kept), found.has_next, found.has_previous
        )
        return connection(paged, lambda m: MessageType.from_record(m, self.reading))

    @classmethod
    def from_record(cls, entity: KnownEntity, reading: Reading) -> EntityNode:
        return cls(
            id=strawberry.ID(global_id(ENTITY, entity.id)),
            name=entity.name,
            type=entity.type,
            theme=entity.theme,
            aliases=list(entity.aliases),
            num_mentions=entity.num_mentions,
            first_at=entity.first_at,
            last_at=entity.last_at,
            weight=entity.weight,
            record=entity,
            reading=reading,
        )


@strawberry.type(name="RelatedTheme", description="What turns speak of together with a theme.")
class RelatedThemeType:
    label: str = strawberry.field(description="What the other theme is called.")
    num_messages: int = strawberry.field(description="How many messages speak of both.")
    weight: float = strawberry.field(description="These messages, each halved with every 30 days since.")
    strength: Strength = strawberry.field(
        description="Strong from a weight of two messages and of a tenth of the lighter theme's on."
    )

    @classmethod
    def from_record(cls, related: RelatedTheme) -> RelatedThemeType:
        return cls(
            label=related.label, num_messages=related.num_messages, weight=related.weight, strength=related.strength
        )  # fmt: skip


@strawberry.type(name="Theme", description="A theme of what is spoken of, counted over what the viewer may read.")
class ThemeType:
    label: str = strawberry.field(description="What it is called.")
    num_entities: int = strawberry.field(description="How many entities belong to it.")
    num_mentions: int = strawberry.field(description="How often they are spoken of.")
    last_at: datetime = strawberry.field(description="When last, UTC.")
    weight: float = strawberry.field(description="Mentions, each halved with every 30 days since.")
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Themes spoken of together with it, the weightiest first; ten at most.", metadata=LIST)
    async def related(self) -> list[RelatedThemeType]:
        return [RelatedThemeType.from_record(one) for one in await self.reading.related_themes.load(self.label)]

    @classmethod
    def from_record(cls, theme: Theme, reading: Reading) -> ThemeType:
        return cls(
            label=theme.label,
            num_entities=theme.num_entities,
            num_mentions=theme.num_mentions,
            last_at=theme.last_at,
            weight=theme.weight,
            reading=reading,
        )


Types = Annotated[list[EntityType] | None, strawberry.argument(description="Only of one of these types.")]
OfTheme = Annotated[str | None, strawberry.argument(description="Only of the theme with this label.")]
Named = Annotated[str | None, strawberry.argument(description="Only what is called so: in any case, nouns in the singular.")]


async def entity(context: Context, id: str) -> EntityNode | None:
    reading = await context.reading()
    record = await reading.entities.load(local_id(id, ENTITY))
    return EntityNode.from_record(record, reading) if record else None


async def entities(
    context: Context, types: list[EntityType] | None, theme: str | None, name: str | None, page: Page
) -> Connection[EntityNode]:
    reading = await context.reading()
    filters = EntityFilters(tuple(dict.fromkeys(types or ())), theme, None if name is None else normal(name))
    found = await reading.read(entities_page, page=page, filters=filters)
    return connection(found, lambda e: EntityNode.from_record(e, reading))


async def themes(context: Context) -> list[ThemeType]:
    reading = await context.reading()
    return [ThemeType.from_record(theme, reading) for theme in await reading.read(themes_now)]
