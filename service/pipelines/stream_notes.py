"""Where does the sound of a stream lie that is to be remembered, and whose is it? Beside its account's uploads, with a note:
until its job is over, or its space is forgotten."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from service.types.ids import derived

log = logging.getLogger(__name__)
SOUND, NOTE = ".stream-", ".json"


@dataclass(frozen=True, slots=True)
class StreamNote:
    """Whose stream it is, and what it is to be remembered as."""

    id: str
    space: str
    account: str
    token_id: str
    title: str
    zone: str | None
    started_at: str
    """ISO 8601, UTC."""
    upload: str | None = None
    """Once its sound is whole: the upload that it became."""

    @property
    def session_id(self) -> str:
        """As the ingest of a stream makes it."""
        return derived("session", self.space, f"stream:{self.id}")

    @property
    def began(self) -> datetime:
        return datetime.fromisoformat(self.started_at)


@dataclass(frozen=True, slots=True)
class Noted:
    """A note as it lies there."""

    path: Path
    note: StreamNote

    @property
    def sound(self) -> Path:
        """Where it was written."""
        return self.path.with_name(self.path.name.removesuffix(NOTE))

    @property
    def upload(self) -> Path | None:
        """What it became, or will."""
        return self.path.with_name(self.note.upload) if self.note.upload else None

    def forget_sound(self) -> None:
        self.sound.unlink(missing_ok=True)
        if self.upload is not None:
            self.upload.unlink(missing_ok=True)


def note_of(sound: Path) -> Path:
    return sound.with_name(sound.name + NOTE)


def noted(uploads: Path) -> Iterator[tuple[Noted, Path | None]]:
    """Every note under the upload directory, and where its sound is; None: it is gone."""
    for path in sorted(uploads.glob(f"*/{SOUND}*{NOTE}")):
        sound = path.with_name(path.name.removesuffix(NOTE))
        as_written = sound.exists()  # before the note is read: that names the upload before the sound becomes it
        if (note := _read(path)) is None:
            continue
        found = Noted(path, note)
        upload = found.upload
        yield found, sound if as_written else upload if upload is not None and upload.exists() else None


def forget_streams(uploads: Path, space: str) -> int:
    """What is kept of the streams of `space`, over or not, is deleted; of how many. Who still writes one finds it gone."""
    gone = [found for found, _ in noted(uploads) if found.note.space == space]
    for found in gone:
        found.forget_sound()
        found.path.unlink(missing_ok=True)  # last: broken off, it is forgotten the next time
    return len(gone)


def _read(path: Path) -> StreamNote | None:
    """None where it is gone, or is no note that this version reads: said, and left where it is."""
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return StreamNote(**told)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, RecursionError) as error:
        log.warning("the note of a stream %s cannot be read (%s); it stays, with its sound", path.name, type(error).__name__)
        return None
