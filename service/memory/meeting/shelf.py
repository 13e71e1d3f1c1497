"""How does a large mapping grow without being copied, and without changing for who holds it as it was? In levels.

What is new goes into a small level; a level as large as the one under it is merged into it. So n additions copy n·log n items,
and a look is one into each of log n levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Shelf(Generic[K, V]):
    """Immutable. None stands for what was taken away, and is never a value."""

    levels: tuple[Mapping[K, V | None], ...] = ()
    """The newest first."""

    def get(self, key: K) -> V | None:
        for level in self.levels:
            if key in level:
                return level[key]
        return None

    def __contains__(self, key: K) -> bool:
        return self.get(key) is not None

    def having(self, new: Mapping[K, V | None]) -> Shelf[K, V]:
        """With what `new` says, too; None takes away."""
        if not new:
            return self
        top, rest = dict(new), self.levels
        while rest and len(top) >= len(rest[0]):
            top, rest = {**rest[0], **top}, rest[1:]
        if not rest:
            top = {key: value for key, value in top.items() if value is not None}
        return Shelf((top, *rest))

    def items(self) -> Iterator[tuple[K, V]]:
        """In no order that means anything."""
        whole: dict[K, V | None] = {}
        for level in reversed(self.levels):
            whole.update(level)
        return ((key, value) for key, value in whole.items() if value is not None)


class Draft(Generic[K, V]):
    """A shelf while one step changes it."""

    def __init__(self, shelf: Shelf[K, V]) -> None:
        self._shelf = shelf
        self._new: dict[K, V | None] = {}

    def get(self, key: K) -> V | None:
        return self._new[key] if key in self._new else self._shelf.get(key)

    def __contains__(self, key: K) -> bool:
        return self.get(key) is not None

    def put(self, key: K, value: V) -> None:
        self._new[key] = value

    def drop(self, key: K) -> None:
        if key in self:
            self._new[key] = None

    def items(self) -> Iterator[tuple[K, V]]:
        return self.done().items()

    def done(self) -> Shelf[K, V]:
        return self._shelf.having(self._new)
