"""What do tables call who, when and what? Columns and keys as tools name them, brought to one set, with times in seconds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from service.connectors.files.clock import clock_seconds, moment, with_ends
from service.connectors.files.source import TranscriptUnreadable, described

Refuse = Callable[[int, str, str], TranscriptUnreadable]
"""Of the index of an item, one of its keys (or nothing) and a complaint."""

_SECONDS, _MILLISECONDS = ("", "s", "sec", "seconds", "insec", "inseconds"), ("ms", "millis", "msec", "milliseconds", "inms")
_NAMES: Mapping[str, Sequence[str]] = {
    "start": ("start", "starttime", "begin", "begintime", "from", "starttimestamp", "time", "timestamp", "timecode", "offset"),
    "end": ("end", "endtime", "stop", "stoptime", "to", "endtimestamp"),
    "duration": ("duration", "dur"),
    "text": ("text", "transcript", "content", "sentence", "utterance", "caption", "message", "said", "transcription"),
    "speaker": ("speaker", "speakername", "speakerlabel", "participant", "who", "name", "speakerid"),
}
"""Field → its names without blanks, lines and capitals; the first of them that a row has counts."""
_TIMES = {"start", "end", "duration"}
_KNOWN: Mapping[str, tuple[str, int, float]] = {
    name + unit: (field, place, per_second)
    for field, names in _NAMES.items()
    for place, name in enumerate(names)
    for units, per_second in ((_SECONDS, 1.0), (_MILLISECONDS, 1000.0))
    for unit in (units if field in _TIMES else ("",))
}
EPOCH = 1e9
"""Seconds from which a time can only count from 1970: nobody speaks for 31 years."""
LONGEST = 7 * 86_400.0
"""Seconds from the first date of a file to its last."""
_BACK = 3000.0
"""Seconds that local times may not go back from one row to the next: a clock was put back, and the order is lost."""


@dataclass(frozen=True, slots=True)
class Rows:
    items: Sequence[Mapping[str, Any]]
    """With start and end in seconds, wherever the source has them under any known name."""
    started_at: datetime | None = None
    """Of second 0, where times were dates with a zone."""


def known_fields(names: Sequence[str]) -> frozenset[str]:
    """Which of start, end, duration, text, speaker are among `names`."""
    return frozenset(_KNOWN[normal][0] for name in names if (normal := _normal(name)) in _KNOWN)


def rows(items: Sequence[Any], refuse: Refuse) -> Rows:
    """Items that are no objects, or have the names already, stay as they are.

    Raises what `refuse` makes of a complaint: of a time that cannot be read, of two time bases in one file, and of local times
    that go back."""
    if all(isinstance(item, Mapping) and _plain(item) for item in items):
        return Rows(items)
    found = [_canonical(item, place, refuse) if isinstance(item, Mapping) else item for place, item in enumerate(items)]
    times = [_start(item) for item in found]
    dates = [time for time in times if time is not None and time >= EPOCH]
    if not dates:
        return Rows(_ended(found))
    base = min(dates)
    for place, time in enumerate(times):
        if time is not None and not 0 <= time - base <= LONGEST:
            raise refuse(place, "", f"the start {time:g} is no date near the others; needed: one time base, and one meeting.")
    _check_order(found, refuse)
    has_zone = not any(item.get("_naive") for item in found if isinstance(item, Mapping))
    started_at = datetime.fromtimestamp(base, UTC) if has_zone and base < 32e9 else None
    found = [_relative(item, base) if isinstance(item, Mapping) else item for item in found]
    return Rows(_ended(found), started_at)


def _plain(item: Mapping[str, Any]) -> bool:
    """Whether nothing is to be done: the names are ours, and the times numbers that count from the start."""
    times = (item.get("start"), item.get("end"))
    if not all(isinstance(time, int | float) and not isinstance(time, bool) and abs(time) < EPOCH for time in times):
        return False
    return ("text" in item or "words" in item) and ("speaker" in item or not any(_known(key) == "speaker" for key in item))


def _known(key: str) -> str | None:
    found = _KNOWN.get(_normal(key))
    return found[0] if found else None


def _canonical(item: Mapping[str, Any], place: int, refuse: Refuse) -> dict[str, Any]:
    best: dict[str, tuple[int, str, float]] = {}
    for key, value in item.items():
        known = _KNOWN.get(_normal(key)) if value is not None and value != "" else None
        if known is not None and (known[0] not in best or known[1] < best[known[0]][0]):
            best[known[0]] = (known[1], key, known[2])
    found = dict(item)
    for field, (_, key, per_second) in best.items():
        found[field] = item[key]
        if field in _TIMES:
            found[field], naive = _seconds(item[key], per_second)
            if found[field] is None:
                what = f"{described(item[key])} is not a time: seconds, h:mm:ss, or a date with its zone."
                raise refuse(place, key, what)
            if naive:
                found["_naive"] = True
    for field in ("start", "end"):
        if field not in best:
            found.pop(field, None)
    if "text" not in best and isinstance(found.get("word"), str):
        found["text"] = found["word"]
    if "end" not in best and "start" in best and isinstance(found.get("duration"), float):
        found["end"] = found["start"] + found["duration"]
    return found


def _seconds(value: Any, per_second: float) -> tuple[float | None, bool]:
    """And whether it is a local time without a zone."""
    if isinstance(value, str):
        if (date := moment(value)) is not None:
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp(), date.tzinfo is None
        if (clock := clock_seconds(value)) is not None:
            return clock, False
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None, False
    if not math.isfinite(number):
        return None, False
    return (number / 1000 if number >= EPOCH * 1000 else number / per_second), False


def _check_order(items: Sequence[Any], refuse: Refuse) -> None:
    before: float | None = None
    for place, item in enumerate(items):
        time = _start(item)
        if time is None or not item.get("_naive"):
            continue
        if before is not None and time < before - _BACK:
            raise refuse(place, "", "local times go back here, as when clocks change; needed: times with their zone.")
        before = time


def _relative(item: Mapping[str, Any], base: float) -> dict[str, Any]:
    ends = [field for field in ("start", "end") if isinstance(item.get(field), float) and item[field] >= EPOCH]
    words = item.get("words")
    told = {"words": [_relative_word(word, base) for word in words]} if isinstance(words, list) else {}
    return {**item, **{field: item[field] - base for field in ends}, **told}


def _relative_word(word: Any, base: float) -> Any:
    """With times that count from `base` where they counted from 1970, and as they are where they did not."""
    if not isinstance(word, Mapping):
        return word
    times = {field: _seconds(word[field], 1.0)[0] for field in ("start", "end") if word.get(field) is not None}
    return {**word, **{field: time - base for field, time in times.items() if time is not None and time >= EPOCH}}


def _ended(items: Sequence[Any]) -> list[Any]:
    """With an end for whoever has only a start."""
    open = [place for place, item in enumerate(items) if _start(item) is not None and item.get("end") is None]
    starts, texts = [items[place]["start"] for place in open], [str(items[place].get("text") or "") for place in open]
    all_starts = starts + [time for item in items if (time := _start(item)) is not None]
    padded = with_ends(all_starts, texts + [""] * (len(all_starts) - len(texts)))
    ends = dict(zip(open, padded, strict=False))
    return [{**item, "end": ends[place].end} if place in ends else item for place, item in enumerate(items)]


def _start(item: Any) -> float | None:
    start = item.get("start") if isinstance(item, Mapping) else None
    return start if isinstance(start, float) else None


@lru_cache(maxsize=1_000)
def _normal(name: str) -> str:
    return re.sub(r"[^0-9a-z]", "", name.lower()) if len(name) <= 40 else ""
