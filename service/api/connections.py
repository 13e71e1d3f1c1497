"""What is a list in this API? A Relay connection over keyset pages: capped, gated where it is read, counted on demand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Generic, TypeVar

import strawberry

from service.api.cursors import DEFAULT_FIRST, encode
from service.graph.paging import MAX_PAGE, Paged

NodeT = TypeVar("NodeT")
T = TypeVar("T")

First = Annotated[
    int | None,
    strawberry.argument(description=f"How many items, from the start: {DEFAULT_FIRST} unless told, {MAX_PAGE} at most."),
]
After = Annotated[str | None, strawberry.argument(description="Only items after the one with this cursor.")]
Last = Annotated[int | None, strawberry.argument(description="How many items, from the end, instead of `first`.")]
Before = Annotated[str | None, strawberry.argument(description="Only items before the one with this cursor.")]


@strawberry.interface(description="Whatever has an id of its own and can be read again by `node(id)`.")
class Node:
    id: strawberry.ID = strawberry.field(description="Global id: the type, a colon, and the id in the graph.")


@strawberry.type(description="Where a page stands in its list.")
class PageInfo:
    has_next_page: bool = strawberry.field(description="There are items after this page.")
    has_previous_page: bool = strawberry.field(description="There are items before this page.")
    start_cursor: str | None = strawberry.field(description="Cursor of the first item here; null when there is none.")
    end_cursor: str | None = strawberry.field(description="Cursor of the last item here; pass it as `after` to go on.")


@strawberry.type(description="An item and where it stands.")
class Edge(Generic[NodeT]):
    cursor: str = strawberry.field(description="Opaque; stays valid while the item exists.")
    node: NodeT = strawberry.field(description="The item.")


@strawberry.type(description="One page of a list.")
class Connection(Generic[NodeT]):
    edges: list[Edge[NodeT]] = strawberry.field(description="The items of this page.")
    page_info: PageInfo = strawberry.field(description="Where this page stands.")
    count: strawberry.Private[Callable[[], Awaitable[int]] | None] = None

    @strawberry.field(
        description="How many items the viewer may see in the whole list; counted only when asked for. "
        "Null where the list cannot be counted cheaply.",
        metadata={"weight": 10},
    )
    async def total_count(self) -> int | None:
        return await self.count() if self.count else None


def connection(
    paged: Paged[T], node: Callable[[T], NodeT], count: Callable[[], Awaitable[int]] | None = None
) -> Connection[NodeT]:
    cursors = [encode(cursor) for cursor in paged.cursors]
    return Connection(
        edges=[Edge(cursor=c, node=node(item)) for c, item in zip(cursors, paged.items, strict=True)],
        page_info=PageInfo(
            has_next_page=paged.has_next,
            has_previous_page=paged.has_previous,
            start_cursor=cursors[0] if cursors else None,
            end_cursor=cursors[-1] if cursors else None,
        ),
        count=count,
    )


__all__ = ["After", "Before", "Connection", "Edge", "First", "Last", "Node", "PageInfo", "connection"]
