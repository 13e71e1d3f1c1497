"""How much is being delivered here just now? Whoever takes in gives way to who acknowledges: what waits to be acknowledged is
delivered again elsewhere, what waits to be taken in only waits."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from service.graph.deliveries import NewDelivery


@dataclass(frozen=True, slots=True)
class PressureConfig:
    busy: float = 20.0  # deliveries a second from which on they come first: below, two idle cores take each in as it comes
    over: float = 2.0  # seconds that this is counted over
    longest: float = 0.05  # seconds that taking in waits at a time until nobody waits: else, at 200 a second, it never would
    meetings: int = 10_000  # that are remembered as having got something; of more the inbox itself is asked


class Pressure:
    """Of one process: its inbox says what comes, its worker asks."""

    def __init__(self, config: PressureConfig | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._config, self._clock = config or PressureConfig(), clock
        self.arrived = asyncio.Event()
        """Set after each transaction that kept something; who takes in clears it."""
        self._kept: deque[tuple[float, int]] = deque()
        self._came: dict[str, str] = {}
        self._look = False
        self._waiting = 0
        self._nobody_waits = asyncio.Event()
        self._nobody_waits.set()

    def waits(self, count: int) -> None:
        """So many deliveries more (or less) wait to be acknowledged."""
        self._waiting += count
        if self._waiting > 0:
            self._nobody_waits.clear()
        else:
            self._nobody_waits.set()

    def kept(self, deliveries: Sequence[NewDelivery]) -> None:
        """They are in the inbox."""
        self._kept.append((self._clock(), len(deliveries)))
        self._forget()
        if len(self._came) < self._config.meetings:
            self._came |= {one.meeting_id: one.space for one in deliveries}
        self.arrived.set()

    def look(self) -> None:
        """Something waits in the inbox that was not kept here just now."""
        self._look = True
        self.arrived.set()

    def take_look(self) -> bool:
        """Whether that was said since this was asked for last."""
        look, self._look = self._look, False
        return look

    def take_came(self) -> dict[str, str]:
        """Id → space of the meetings that got something since this was asked for last."""
        came, self._came = self._came, {}
        return came

    @property
    def is_busy(self) -> bool:
        """Whether so much comes that it goes first."""
        self._forget()
        return sum(count for _, count in self._kept) >= self._config.busy * self._config.over

    async def give_way(self) -> None:
        """While much comes, wait a moment until nobody waits to be acknowledged."""
        if self.is_busy:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._config.longest):
                    await self._nobody_waits.wait()

    def _forget(self) -> None:
        since = self._clock() - self._config.over
        while self._kept and self._kept[0][0] < since:
            self._kept.popleft()
