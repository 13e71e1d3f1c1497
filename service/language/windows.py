"""Which turns does a language model read at once? Only those that have the same readers, so that nothing that it makes of one
tells of another that somebody may not read; and what becomes of those that it reads in vain."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from service.errors import VoicegraphError
from service.language.chat import ChatAnswerUnfit

T = TypeVar("T")
MOST_BEFORE = 3
"""Turns before it that one may be read with (VoxPolyMem, facts)."""


class Readable(Protocol):
    """A turn."""

    @property
    def text(self) -> str: ...
    @property
    def audience(self) -> str | None:
        """Equal for what may be read together; None: with none but the `may_use` before it."""
        ...

    @property
    def may_use(self) -> int:
        """How many of the turns right before may be read with it."""
        ...


@dataclass(frozen=True, slots=True)
class Window:
    """Turns of a session that are shown at once: [`first`, `end`) are read, those from `start` on are read with them. All that
    is shown, everybody may read who may read any of [`first`, `end`)."""

    start: int
    first: int
    end: int


def windows(turns: Sequence[Readable], batch: int) -> list[Window]:
    """Of turns in a row that have the same readers, at most `batch` at once; those without words are read of by none."""
    found: list[Window] = []
    for row, turn in enumerate(turns):
        last = found[-1] if found else None
        if (
            last is not None
            and last.end == row
            and last.end - last.first < batch
            and turn.audience is not None
            and turn.audience == turns[row - 1].audience
        ):
            found[-1] = Window(last.start, last.first, row + 1)
        else:
            found.append(Window(start(turns, row), row, row + 1))
    return [window for window in found if any(re.search(r"\w", turn.text) for turn in turns[window.first : window.end])]


def start(turns: Sequence[Readable], row: int) -> int:
    """The first that may be read with it."""
    return row - max(0, min(turns[row].may_use, MOST_BEFORE, row))


async def answered(
    turns: Sequence[Readable],
    shown: Sequence[Window],
    ask: Callable[[Window], Awaitable[T]],
    *,
    at_once: int,
    max_unread: float,
    dropped: Counter[str],
) -> list[tuple[Window, T]]:
    """What `ask` answers over each of the windows `shown`, in their order; over both halves of one, where it came to no fit
    answer over the whole. Raises the first error that it met, once those asked at the same time came to their end, and what it
    says where more than the share `max_unread` of the turns, but one at least, got no fit answer; these count as `dropped`."""
    given, problems = list[tuple[Window, T]](), list[VoicegraphError]()
    unread = 0  # of these turns: `dropped` may count those of many calls
    slots = asyncio.Semaphore(at_once)

    async def read(window: Window) -> None:
        nonlocal unread
        async with slots:
            if problems:
                return
            try:
                answers = await _over(turns, window, ask)
            except VoicegraphError as problem:  # raised below
                problems.append(problem)
                return
        for part, answer in answers:
            if not isinstance(answer, ChatAnswerUnfit):
                given.append((part, answer))
                continue
            dropped["not read"] += 1
            unread += 1
            if unread > max(1.0, max_unread * len(turns)) or len(turns) == 1:
                problems.append(answer)

    await asyncio.gather(*map(read, shown))
    if problems:
        raise problems[0]
    return sorted(given, key=lambda one: one[0].first)


async def _over(
    turns: Sequence[Readable], window: Window, ask: Callable[[Window], Awaitable[T]]
) -> list[tuple[Window, T | ChatAnswerUnfit]]:
    try:
        given = await ask(window)
    except ChatAnswerUnfit as problem:
        if window.end - window.first == 1:
            return [(window, problem)]
        middle = (window.first + window.end) // 2
        halves = (Window(window.start, window.first, middle), Window(start(turns, middle), middle, window.end))
        return [answer for half in halves for answer in await _over(turns, half, ask)]
    return [(window, given)]
