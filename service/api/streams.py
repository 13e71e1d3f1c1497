"""Which streams are open, and who follows them? What waits to be sent is bounded: nobody slow holds anybody up."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from service.errors import VoicegraphError
from service.streaming.told import MemoryReady, NotAnswered, Told
from service.types.ids import fresh

if TYPE_CHECKING:
    from service.api.context import Asked
    from service.api.tokens import TokenEntry


class TooManyStreams(VoicegraphError):
    code = "too_many_streams"
    says = "{open} streams are open already; at most {limit} are served at once. Close one, or try again later."
    http_status = 429


class ReadsTooSlowly(VoicegraphError):
    code = "reads_too_slowly"
    says = "{waiting} events wait to be read, and there is no room for more. Read as they come, on a connection that keeps up."
    http_status = 429


@dataclass(frozen=True, slots=True)
class StreamsConfig:
    max_open: int = 16  # at once in this process: ten that ask at once are answered by two cores, late; most only listen
    max_each: int = 4  # of one token
    max_followers: int = 4  # subscriptions to one stream
    max_waiting: int = 64  # events for one client: some ten seconds of talk
    memory_seconds: float = 5.0  # for a follower to take a memory: what they may see was looked at when it was made


class Outbox:
    """What one client is still to be sent. When it is full, the oldest that only shows progress makes room. A memory that has
    waited for longer than `memory_seconds` is not sent any more."""

    def __init__(self, limit: int, memory_seconds: float = math.inf) -> None:
        self._limit, self._memory_seconds = limit, memory_seconds
        self._waiting: deque[tuple[float, Told]] = deque()
        self._there = asyncio.Event()
        self._over = False

    def put(self, told: Told) -> None:
        """Raises ReadsTooSlowly when all that waits must be sent."""
        if len(self._waiting) >= self._limit:
            passing = next((one for one in self._waiting if not isinstance(one[1], MemoryReady | NotAnswered)), None)
            if passing is None:
                raise ReadsTooSlowly(waiting=len(self._waiting))
            self._waiting.remove(passing)
        self._waiting.append((time.monotonic(), told))
        self._there.set()

    def end(self) -> None:
        """Nothing more will come."""
        self._over = True
        self._there.set()

    async def get(self) -> Told | None:
        """The next; None once all was sent and nothing more will come."""
        while True:
            while self._waiting:
                put, told = self._waiting.popleft()
                if not isinstance(told, MemoryReady) or time.monotonic() - put <= self._memory_seconds:
                    return told
            if self._over:
                return None
            self._there.clear()
            await self._there.wait()


@dataclass(slots=True)
class OpenStream:
    """One that is open. It is followed with the token that opened it, and only where the same people hear what is told."""

    id: str
    space: str
    token_id: str
    asked: Asked
    outbox: Outbox
    opened_at: datetime
    """UTC"""
    followers: list[Outbox] = field(default_factory=list)

    def tell(self, told: Told) -> None:
        """Raises ReadsTooSlowly for the stream's own client; a follower who is too slow is left behind."""
        for follower in list(self.followers):
            try:
                follower.put(told)
            except ReadsTooSlowly:
                follower.end()
                self.followers.remove(follower)
        self.outbox.put(told)


class Streams:
    """One a process."""

    def __init__(self, config: StreamsConfig | None = None) -> None:
        self._config = config or StreamsConfig()
        self._open: dict[str, OpenStream] = {}

    @contextmanager
    def open(self, entry: TokenEntry, asked: Asked) -> Iterator[OpenStream]:
        """Raises TooManyStreams."""
        own = sum(stream.token_id == entry.id for stream in self._open.values())
        for count, limit in ((len(self._open), self._config.max_open), (own, self._config.max_each)):
            if count >= limit:
                raise TooManyStreams(open=count, limit=limit)
        stream = OpenStream(fresh(), entry.space, entry.id, asked, Outbox(self._config.max_waiting), datetime.now(UTC))
        self._open[stream.id] = stream
        try:
            yield stream
        finally:
            del self._open[stream.id]
            for outbox in (stream.outbox, *stream.followers):
                outbox.end()

    @contextmanager
    def follow(self, stream_id: str, entry: TokenEntry, asked: Asked) -> Iterator[Outbox | None]:
        """What is told on the stream from now on; None where there is none by this id that may be followed so. Raises
        TooManyStreams for too many followers."""
        stream = self._open.get(stream_id)
        if stream is None or stream.token_id != entry.id or stream.asked != asked:
            yield None
            return
        if len(stream.followers) >= self._config.max_followers:
            raise TooManyStreams(open=len(stream.followers), limit=self._config.max_followers)
        outbox = Outbox(self._config.max_waiting, self._config.memory_seconds)
        stream.followers.append(outbox)
        try:
            yield outbox
        finally:
            if outbox in stream.followers:
                stream.followers.remove(outbox)
