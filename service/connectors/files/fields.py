"""How is a field of a JSON document read so that what is wrong with it names its place?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.connectors.files.source import MAX_NAME, TranscriptUnreadable, Written, clean, described, speaker_label
from service.types.audio import Segment


@dataclass(frozen=True, slots=True)
class Field:
    """A value and the way to it, `results.channels[0].words[3]`. What is absent is None, as JSON's null is."""

    value: Any
    place: str
    source: str

    @classmethod
    def whole(cls, written: Written) -> Field:
        """Raises TranscriptUnreadable for what is no JSON."""
        return cls(written.document(), "", written.name)

    def __getitem__(self, key: str) -> Field:
        """Raises TranscriptUnreadable where this is no object."""
        if self.value is None:
            return Field(None, self._inner(key), self.source)
        if not isinstance(self.value, dict):  # as json makes them; an abstract Mapping takes ten times as long to ask for
            raise self.refuse("an object")
        return Field(self.value.get(key), self._inner(key), self.source)

    def first_of(self, *keys: str) -> Field:
        """The first of `keys` that is there; else the first of them, absent."""
        found = [self[key] for key in keys]
        return next((field for field in found if field.value is not None), found[0])

    def __iter__(self) -> Iterator[Field]:
        """Of a list; of nothing where it is absent. Raises TranscriptUnreadable for anything else."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.refuse("a list")
        for index, value in enumerate(self.value):
            yield Field(value, f"{self.place}[{index}]", self.source)

    def refuse(self, needed: str) -> TranscriptUnreadable:
        what = f"{described(self.value)}; needed: {needed}."
        return TranscriptUnreadable(source=self.source, place=self.place or "the whole file", what=what)

    def need_turns(self, turns: Sequence[object], *texts: Field) -> None:
        """Raises TranscriptUnreadable where `texts` say something and none of it became one of `turns`, which stand here."""
        if not turns and any(text.text() for text in texts):
            raise self.refuse("words with times, for the file has text")

    def text(self) -> str | None:
        """One clean line; None when absent or blank."""
        if self.value is None:
            return None
        if not isinstance(self.value, str):
            raise self.refuse("text")
        return clean(self.value) or None

    def key(self) -> str | None:
        """An id as text; None for what names nothing."""
        is_key = isinstance(self.value, str | int) and not isinstance(self.value, bool)
        return clean(str(self.value)) or None if is_key else None

    def label(self, numbered: str = "Speaker") -> str | None:
        """A speaker; a number is `numbered` with it. None also for what only says that nobody knows."""
        if isinstance(self.value, bool | list | Mapping):
            raise self.refuse("a speaker's label")
        if isinstance(self.value, int):
            return f"{numbered} {self.value}"[:MAX_NAME]
        if isinstance(self.value, float):
            return f"{numbered} {self.value:g}" if math.isfinite(self.value) else None
        return speaker_label(self.text())

    def number(self) -> float | None:
        """Finite; also of a string."""
        if self.value is None or self.value == "":
            return None
        try:
            number = math.nan if isinstance(self.value, bool) else float(self.value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.refuse("a number")
        return number

    def seconds(self, per_second: float = 1.0) -> float | None:
        number = self.number()
        return None if number is None else number / per_second

    def share(self) -> float:
        """A confidence in [0, 1]; 1 when absent."""
        number = self.number()
        return 1.0 if number is None else min(max(number, 0.0), 1.0)

    def _inner(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key


def span(start: float | None, end: float | None) -> Segment | None:
    """None without both; an end before its start is a moment."""
    return None if start is None or end is None else Segment(start, max(start, end))


def has(value: Any, *keys: str) -> bool:
    """Whether `value` is an object with all of `keys`."""
    return isinstance(value, Mapping) and all(key in value for key in keys)


def first(value: Any) -> Any:
    """The first of a list; None without one."""
    return value[0] if isinstance(value, list) and value else None
