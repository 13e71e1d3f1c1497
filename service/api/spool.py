"""Where does the sound of a stream wait while it lasts? Beside its account's uploads, with a note of whose it is: both outlive
the process that writes them, and another one takes up what was left."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from service.api.uploads import NoRoom, Upload, UploadTooLarge
from service.types.ids import derived

WAV_HEADER = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\xff\xff\xff\xff"
"""Of PCM, 16 bit, mono, 16 kHz, whose length is not known yet."""
_SOUND, _NOTE = ".stream-", ".json"


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


class Spool:
    """The sound of one stream. A lock, which ends with the process, tells others that somebody writes it or takes it up."""

    def __init__(self, sound: Path, note: StreamNote, descriptor: int) -> None:
        """Made by `begun` and `left_behind`."""
        self.path, self.note = sound, note
        self._descriptor = descriptor
        self._bytes = os.fstat(descriptor).st_size

    @classmethod
    def begun(cls, folder: Path, note: StreamNote) -> Spool:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        sound = folder / f"{_SOUND}{note.id}"
        descriptor = os.open(sound, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        spool = cls(sound, note, descriptor)
        spool._save(note)
        return spool

    def write(self, sound: bytes, *, limit: int) -> None:
        """Raises UploadTooLarge above `limit` bytes, and NoRoom."""
        if self._bytes + len(sound) > limit:
            raise UploadTooLarge(limit_mb=limit / 1e6)
        try:
            self._bytes += os.write(self._descriptor, sound)  # 3 KB a tenth of a second: quicker than a thread's hand-over
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoRoom from error
            raise

    def finish(self) -> Upload:
        """Its sound becomes an upload of the account; the note names it until `taken`. Reads all of it."""
        if self.note.upload is None:
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            self.note = replace(self.note, upload=digest)
            self._save(self.note)
        upload = self.path.with_name(str(self.note.upload))
        if self.path.exists():
            self.path.replace(upload)
        return Upload(upload.name, self._bytes)

    def taken(self) -> None:
        """Somebody goes on with the upload: the note is needed no more."""
        _note_of(self.path).unlink(missing_ok=True)
        self.close()

    def discard(self) -> None:
        """Nothing is left of it."""
        self.path.unlink(missing_ok=True)
        self.taken()

    def close(self) -> None:
        """Leaves it as it is, for others to take up."""
        os.close(self._descriptor)

    def _save(self, note: StreamNote) -> None:
        """Whole or not at all, and before the sound is moved."""
        beside = _note_of(self.path).with_suffix(".part")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(note), file)
        beside.replace(_note_of(self.path))


def left_behind(uploads: Path) -> Iterator[Spool]:
    """What streams of processes that are gone left under the upload directory, the sound still as they wrote it or an upload
    already. Each is this process's from then on: to be `taken`, discarded or closed."""
    for note_path in sorted(uploads.glob(f"*/{_SOUND}*{_NOTE}")):
        sound = note_path.with_name(note_path.name.removesuffix(_NOTE))
        note = _read(note_path)
        where = sound if sound.exists() or note is None or note.upload is None else sound.with_name(note.upload)
        if note is None or not where.exists():  # swept, or taken up meanwhile
            note_path.unlink(missing_ok=True)
            continue
        descriptor = os.open(where, os.O_RDWR | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        yield Spool(sound, note, descriptor)


def _note_of(sound: Path) -> Path:
    return sound.with_name(sound.name + _NOTE)


def _read(path: Path) -> StreamNote | None:
    """None where it is gone."""
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return StreamNote(**told)
