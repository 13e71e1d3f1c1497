"""When is something told whose time must not tell anything? At even moments, counted from when the operation began."""

from __future__ import annotations

import asyncio
import math
import random
import time
from dataclasses import dataclass

COARSE = 0.002
"""Seconds before the moment, from which on the clock is looked at instead of a timer: those of an event loop are late by up to
a millisecond, by how much their time is no whole one."""

SCATTERED = 0.1
"""Of a step, how much later than the moment at most, by lot: what is left to do then takes some 0.2 ms less where the machine
had something to do just before, and that would tell."""
_lots = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class MomentsConfig:
    nothing: float = 0.05
    """Seconds from one moment to the next at which it is told that an id led to nothing. On two cores an id of nothing takes
    some 6 ms, and that of somebody hidden who said 10,000 turns 20 ms more (tests/bench/README.md, "What must not show"):
    both are told at the first, also by a machine that has as much again to do. Who asks by an id that they were given seldom
    asks for nothing, so that hardly anybody waits for it."""
    scope: float = 0.01
    """The same for what may be seen where others are named as listening: it takes 2 to 6 ms, more where they are known. The
    answer itself takes as long for one as for the other."""


def left_until(elapsed: float, step: float) -> float:
    """Seconds from `elapsed` (seconds of an operation) to the next multiple of `step`, which is never the start itself."""
    return max(math.ceil(elapsed / step), 1) * step - elapsed


async def even_moment(began: float, step: float) -> None:
    """Returns at the next multiple of `step` (seconds) after `began` (by the monotonic clock), or later by a part of the step
    that lots decide, and nothing else."""
    now = time.monotonic()
    moment = now + left_until(now - began, step) + _lots.uniform(0.0, SCATTERED * step)
    await asyncio.sleep(max(0.0, moment - now - COARSE))
    while time.monotonic() < moment:  # noqa: ASYNC110 - no event tells the time
        await asyncio.sleep(0)
