"""Which of several recordings in one file is meant? NIST's formats name the recording in every line."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePath

from service.connectors.files.source import TranscriptUnreadable


def chosen(names: Collection[str], source: str) -> str | None:
    """The only one, else the one called like the file `source`; None of none. Raises TranscriptUnreadable."""
    if len(names) <= 1:
        return next(iter(names), None)
    if (stem := PurePath(source).stem) in names:
        return stem
    what = f"the file describes {len(names)} recordings; name it after the one that is meant."
    raise TranscriptUnreadable(source=source, place="the whole file", what=what)
