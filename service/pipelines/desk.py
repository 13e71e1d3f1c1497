"""Whose turn is it at a model that does one thing at a time? Whoever has stopped speaking goes before whoever still speaks;
what is only shown meanwhile has what is left, and is put off where nothing is."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass


class Desk:
    """One a model; those of one urgency in the order in which they came. `places`: how many are served at once."""

    def __init__(self, places: int = 1) -> None:
        self._free = places
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self.urgent = 0
        """How many who are urgent wait or are served."""

    @property
    def crowded(self) -> bool:
        """Somebody waits who is urgent."""
        return any(not later and not place.done() for later, _, place in self._waiting)

    @asynccontextmanager
    async def turn(self, *, urgent: bool) -> AsyncIterator[None]:
        self.urgent += urgent
        try:
            await self._called(urgent)
            try:
                yield
            finally:
                self._next()
        finally:
            self.urgent -= urgent

    async def _called(self, urgent: bool) -> None:
        if self._free:
            self._free -= 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not urgent, next(self._numbers), place))
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._next()  # called up and gone in the same moment
            raise

    def _next(self) -> None:
        """Calls up whoever is first; the place stays taken on their behalf."""
        while self._waiting:
            _, _, place = heapq.heappop(self._waiting)
            if not place.done():
                place.set_result(None)
                return
        self._free += 1


@dataclass(frozen=True, slots=True)
class FrontConfig:
    looks: int = (
        2  # searches of streams at once: half of one is Neo4j's work, half is this process's, which has one core for it
    )
    share: float = 0.5  # seconds a second that what is only shown may take, of two cores: one stream takes 0.25 when quiet
    ahead: float = 0.4  # seconds of it that may be taken in one go: words and voice of one stream fall together


class Front:
    """One a process: the desks of what streams need, and what is left beside them."""

    def __init__(self, config: FrontConfig | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._config, self._clock = config or FrontConfig(), clock
        self.words, self.voices, self.looks = Desk(), Desk(), Desk(self._config.looks)
        self._spent, self._since, self._showing = 0.0, clock(), False

    @property
    def crowded(self) -> bool:
        """Somebody who has stopped speaking waits: matches, too, are put off."""
        return any(desk.crowded for desk in (self.words, self.voices, self.looks))

    @property
    def spare(self) -> bool:
        """Nobody's answer is worked on, and what is only shown has not had its share."""
        urgent = self.words.urgent or self.voices.urgent or self.looks.urgent
        return not (urgent or self._showing) and self._owed() < self._config.ahead

    @asynccontextmanager
    async def showing(self, desk: Desk) -> AsyncIterator[None]:
        """A turn for what is only shown; asked for where there is `spare`."""
        self._showing = True
        began = self._clock()
        try:
            async with desk.turn(urgent=False):
                yield
        finally:
            self._showing = False
            self._spent = self._owed() + self._clock() - began

    def _owed(self) -> float:
        """Seconds taken and not yet paid for by time that went by."""
        now = self._clock()
        self._spent = max(0.0, self._spent - self._config.share * (now - self._since))
        self._since = now
        return self._spent
