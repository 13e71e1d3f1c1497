"""What does one viewer see during one operation? Loaders made with its scope, so that no resolver needs a second gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Concatenate, Literal, ParamSpec, TypeAlias, TypeVar

from strawberry.dataloader import DataLoader

from service.graph.access import ReadScope
from service.graph.aliases import list_aliases
from service.graph.driver import Graph, Tx
from service.graph.entities import list_mentions
from service.graph.facts import find_facts, list_histories
from service.graph.images import list_images
from service.graph.message_pages import list_message_pages
from service.graph.messages import find_messages
from service.graph.paging import Page, Paged
from service.graph.people import find_people, heard_of
from service.graph.revisions import list_revisions
from service.graph.sessions import find_sessions
from service.graph.shares import Share
from service.pipelines.known_entities import entities_by_id, related_entities, related_themes
from service.pipelines.shares import find_shares
from service.types.entities import JoinedName, KnownEntity, Related, RelatedTheme
from service.types.facts import KnownFact
from service.types.images import KnownImage
from service.types.memory import Message, Session
from service.types.people import Heard, Person, Viewer
from service.types.revisions import Revision

P = ParamSpec("P")
T = TypeVar("T")
Of: TypeAlias = Literal["session", "speaker"]
"""Whose messages a list has."""


class Reading:
    """One viewer's view of the graph. Every GraphQL object keeps the one it was read with and reads on with it: the
    answer to "ask as Ana" leads to Ana's messages, whoever the request itself is from."""

    def __init__(self, graph: Graph, viewer: Viewer, scope: ReadScope) -> None:
        self.graph = graph
        self.viewer = viewer
        self.scope = scope
        self.people: DataLoader[str, Person | None] = DataLoader(self._by_id(find_people))
        self.heard: DataLoader[str, Heard | None] = DataLoader(self._by_id(heard_of))
        self.sessions: DataLoader[str, Session | None] = DataLoader(self._by_id(find_sessions))
        self.messages: DataLoader[str, Message | None] = DataLoader(self._by_id(find_messages))
        self.images: DataLoader[str, Sequence[KnownImage]] = DataLoader(self._images)
        self.facts: DataLoader[str, KnownFact | None] = DataLoader(self._by_id(find_facts))
        self.entities: DataLoader[str, KnownEntity | None] = DataLoader(self._by_id(entities_by_id))
        self.mentions: DataLoader[tuple[str, Page], Paged[str]] = DataLoader(self._mentions)
        self.related: DataLoader[str, tuple[Related, ...] | None] = DataLoader(self._by_id(related_entities))
        self.aliases: DataLoader[str, tuple[JoinedName, ...] | None] = DataLoader(self._by_id(list_aliases))
        self.related_themes: DataLoader[str, tuple[RelatedTheme, ...]] = DataLoader(self._related_themes)
        self.shares: DataLoader[str, tuple[Share, ...]] = DataLoader(self._shares)
        self.histories: DataLoader[str, tuple[KnownFact, ...] | None] = DataLoader(self._by_id(list_histories))
        self.revisions: DataLoader[str, tuple[Revision, ...] | None] = DataLoader(self._by_id(list_revisions))
        self.messages_of: DataLoader[tuple[Of, str, Page], Paged[Message]] = DataLoader(self._pages)

    async def read(self, work: Callable[Concatenate[Tx, ReadScope, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(tx, scope, …)` in a read transaction."""
        return await self.graph.read(work, self.scope, *args, **kwargs)

    def _by_id(
        self, find: Callable[[Tx, ReadScope, Sequence[str]], Awaitable[Mapping[str, T]]]
    ) -> Callable[[list[str]], Awaitable[list[T | None]]]:
        async def load(ids: list[str]) -> list[T | None]:
            found = await self.read(find, ids)
            return [found.get(id) for id in ids]

        return load

    async def _images(self, message_ids: list[str]) -> list[Sequence[KnownImage]]:
        found = await self.read(list_images, message_ids)
        return [found.get(id, ()) for id in message_ids]

    async def _related_themes(self, labels: list[str]) -> list[tuple[RelatedTheme, ...]]:
        """All of them are read at once, however many are asked for."""
        found = await self.read(related_themes)
        return [found.get(label, ()) for label in labels]

    async def _shares(self, traits: list[str]) -> list[tuple[Share, ...]]:
        """All that the asker shares is read at once."""
        found = await self.read(find_shares)
        return [found.get(trait, ()) for trait in traits]

    async def _mentions(self, wanted: list[tuple[str, Page]]) -> list[Paged[str]]:
        """A query for each page asked for, not for each entity."""
        groups: dict[Page, list[str]] = defaultdict(list)
        for id, page in wanted:
            groups[page].append(id)
        found = {page: await self.read(list_mentions, ids, page=page) for page, ids in groups.items()}
        return [found[page][id] for id, page in wanted]

    async def _pages(self, wanted: list[tuple[Of, str, Page]]) -> list[Paged[Message]]:
        """A query for each kind of list and each page asked for, not for each session or speaker."""
        groups: dict[tuple[Of, Page], list[str]] = defaultdict(list)
        for of, id, page in wanted:
            groups[of, page].append(id)
        found = {(of, page): await self.read(list_message_pages, of, ids, page=page) for (of, page), ids in groups.items()}
        return [found[of, page][id] for of, id, page in wanted]
