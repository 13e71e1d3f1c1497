"""When is it, as tables and notes write it: seconds, a clock from the start, or a date with a time?"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from service.types.audio import Segment

_CLOCK = re.compile(r"^(?:([0-9]{1,6}):)?([0-9]{1,6}):([0-5]?[0-9])(?:[.,]([0-9]{1,6}))?$")
_CHARACTERS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LETTERS = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]")
_DATE = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}")


@dataclass(frozen=True, slots=True)
class EndsConfig:
    """When a turn ends of which only the start is written: where the next one starts, yet not long after its words."""

    slow: float = 1.0
    """Words a second of a slow speaker …"""
    rest: float = 2.0
    """… and the seconds allowed beyond them. By hand."""
    usual: float = 2.5
    """Words a second of the last turn, which nothing follows: 150 words a minute."""
    characters: float = 2.0
    """Chinese and Japanese characters that last as long as a word: some five are said a second. By hand."""
    letters: float = 5.0
    """… and letters of scripts that put no blanks between words (Thai, Lao, Burmese, Khmer, Tibetan)."""


def plain_seconds(column: str) -> float | None:
    """Of `12.5`; None for anything else, for what is not finite, and before 0."""
    try:
        value = float(column)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def clock_seconds(text: str) -> float | None:
    """Of `1:02:03.5`, `02:03`, `75:00`; None for anything else."""
    found = _CLOCK.match(text.strip())
    if found is None:
        return None
    hours, minutes, seconds, fraction = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{fraction or 0}")


def moment(text: str) -> datetime | None:
    """Of `2026-03-29T02:30:00+01:00`, with or without a zone; None for anything else, and for times not near ours."""
    if not _DATE.match(text.strip()):
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if 1970 < found.year < 2200 else None


def _num_words(text: str, config: EndsConfig) -> float:
    characters, letters = len(_CHARACTERS.findall(text)), len(_LETTERS.findall(text))
    others = len(_LETTERS.sub(" ", _CHARACTERS.sub(" ", text)).split())
    return others + characters / config.characters + letters / config.letters


def with_ends(starts: Sequence[float], texts: Sequence[str], config: EndsConfig | None = None) -> list[Segment]:
    """A segment for each start, in the order given; the next start is the nearest later one of the list."""
    config = config or EndsConfig()
    ordered = sorted(set(starts))
    following = dict(pairwise(ordered))
    segments = []
    for start, text in zip(starts, texts, strict=True):
        words = _num_words(text, config)
        end = start + words / config.usual
        if start in following:
            end = min(following[start], start + words / config.slow + config.rest)
        segments.append(Segment(start, end))
    return segments
