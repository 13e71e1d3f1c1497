"""Which part of a list is wanted? Keyset pages: a page goes on from the sort key of an item, never from a position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from service.errors import InvalidInput

MAX_PAGE = 100
"""Items; larger pages cost more than another round trip."""

T = TypeVar("T")
Cursor = tuple[int, str]
"""Sort key (for times: nanoseconds since 1970, exact in Neo4j and in 64 bits) and id of an item."""


@dataclass(frozen=True, slots=True)
class Page:
    """Either the `first` items after `after`, or the `last` items before `before` (both in the list's own order)."""

    first: int | None = None
    after: Cursor | None = None
    last: int | None = None
    before: Cursor | None = None

    def __post_init__(self) -> None:
        if (self.first is None) == (self.last is None):
            raise InvalidInput(what="the page", given="first and last", needed="exactly one of `first` and `last`")
        if not 0 <= self.size <= MAX_PAGE:
            raise InvalidInput(what="the page size", given=self.size, needed=f"0 to {MAX_PAGE}")

    @property
    def size(self) -> int:
        return self.first if self.first is not None else self.last or 0

    @property
    def backward(self) -> bool:
        return self.last is not None


@dataclass(frozen=True, slots=True)
class Paged(Generic[T]):
    """One page, in the list's own order."""

    items: tuple[T, ...]
    cursors: tuple[Cursor, ...]
    """Of each item."""
    has_next: bool
    """There are items after the last one here."""
    has_previous: bool
    """There are items before the first one here."""


def parameters(page: Page, *, newest_first: bool = False) -> dict[str, object]:
    """What the paging queries take: the exclusive limits `above` and `below` on [key, id], whether to read in `reverse`
    of their ascending order, and `limit`, one more than wanted, to see whether there is more."""
    above, below = (page.before, page.after) if newest_first else (page.after, page.before)
    return {
        "above": list(above) if above else None,
        "below": list(below) if below else None,
        "reverse": page.backward != newest_first,
        "limit": page.size + 1,
    }


def paged(page: Page, places: Sequence[Sequence[Any]], records: Mapping[str, T]) -> Paged[T]:
    """The page of `places` ([key, id] in the order they were read, one more than wanted) with the record of each.

    Whether there is something on the other side is known without asking: a cursor was given that leads there. A place
    without a record is left out: Neo4j reads what is committed, so that what was there for one statement may be nobody's
    to see in the next."""
    more, kept = len(places) > page.size, [place for place in places[: page.size] if place[1] in records]
    if page.backward:
        kept = kept[::-1]
    return Paged(
        tuple(records[id] for _, id in kept),
        tuple((key, id) for key, id in kept),
        has_next=page.before is not None if page.backward else more,
        has_previous=more if page.backward else page.after is not None,
    )
