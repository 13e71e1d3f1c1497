"""Whose turn is it at a model that does one thing at a time? Whoever has stopped speaking goes before whoever still speaks."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Desk:
    """One a model; those of one urgency in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._taken = False

    @asynccontextmanager
    async def turn(self, *, urgent: bool) -> AsyncIterator[None]:
        if self._taken:
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (not urgent, next(self._numbers), place))
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self._next()  # called up and gone in the same moment
                raise
        self._taken = True
        try:
            yield
        finally:
            self._next()

    def _next(self) -> None:
        """Calls up whoever is first; the desk stays taken on their behalf."""
        while self._waiting:
            _, _, place = heapq.heappop(self._waiting)
            if not place.done():
                place.set_result(None)
                return
        self._taken = False
