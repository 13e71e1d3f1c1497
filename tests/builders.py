"""Inputs of tests, made by what matters in them; everything else is a plain default."""

from __future__ import annotations

from service.memory.interactions import Spoken
from service.types.audio import Segment
from service.types.memory import Attendance


def a_turn(
    by: str | None,
    start: float,
    end: float,
    text: str | None = None,
    *,
    id: str = "",
    track: str = "",
    to: tuple[str, ...] = (),
) -> Spoken:
    """A turn of person `by` (None: unresolved) on a track of the same name."""
    return Spoken(id or f"m{start:g}", Segment(start, end), track or f"track-{by}", by, text, to)


def a_conversation(*turns: tuple[str | None, str]) -> list[Spoken]:
    """Turns of 2 s with 0.5 s between them; message ids m0, m1, …"""
    return [a_turn(by, 2.5 * i, 2.5 * i + 2.0, text, id=f"m{i}") for i, (by, text) in enumerate(turns)]


def there(person: str, *intervals: tuple[float, float], source: str = "platform") -> Attendance:
    return Attendance(person, tuple(Segment(*i) for i in intervals), source)
