"""What does one viewer see during one operation? Loaders made with its scope, so that no resolver needs a second gate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from strawberry.dataloader import DataLoader

from service.graph.access import ReadScope
from service.graph.driver import Graph, Tx
from service.graph.messages import find_messages, list_messages
from service.graph.paging import Page, Paged
from service.graph.people import find_people
from service.graph.sessions import find_sessions
from service.types.memory import Message, Session
from service.types.people import Person, Viewer

P = ParamSpec("P")
T = TypeVar("T")


class Reading:
    """One viewer's view of the graph. Every GraphQL object keeps the one it was read with and reads on with it: the
    answer to "ask as Ana" leads to Ana's messages, whoever the request itself is from."""

    def __init__(self, graph: Graph, viewer: Viewer, scope: ReadScope) -> None:
        self._graph = graph
        self.viewer = viewer
        self.scope = scope
        self.people: DataLoader[str, Person | None] = DataLoader(self._by_id(find_people))
        self.sessions: DataLoader[str, Session | None] = DataLoader(self._by_id(find_sessions))
        self.messages: DataLoader[str, Message | None] = DataLoader(self._by_id(find_messages))
        self.messages_of: DataLoader[tuple[str, str, Page], Paged[Message]] = DataLoader(self._pages)

    async def read(self, work: Callable[Concatenate[Tx, ReadScope, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(tx, scope, …)` in a read transaction."""
        return await self._graph.read(work, self.scope, *args, **kwargs)

    def _by_id(
        self, find: Callable[[Tx, ReadScope, Sequence[str]], Awaitable[Mapping[str, T]]]
    ) -> Callable[[list[str]], Awaitable[list[T | None]]]:
        async def load(ids: list[str]) -> list[T | None]:
            found = await self.read(find, ids)
            return [found.get(id) for id in ids]

        return load

    async def _pages(self, wanted: list[tuple[str, str, Page]]) -> list[Paged[Message]]:
        return await self.read(_list_pages, wanted)


async def _list_pages(tx: Tx, scope: ReadScope, wanted: Sequence[tuple[str, str, Page]]) -> list[Paged[Message]]:
    """A page of messages for each (`session_id` or `speaker_id`, id, page)."""
    return [await list_messages(tx, scope, page=page, **{of: id}) for of, id, page in wanted]
