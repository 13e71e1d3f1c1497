"""Where does the sound of a stream wait while it lasts? Beside its account's uploads, with a note of whose it is: both outlive
the process that writes them, and another one takes up what was left."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from service.api.uploads import NoRoom, Upload, UploadTooLarge
from service.errors import VoicegraphError
from service.pipelines.stream_notes import SOUND, Noted, StreamNote, note_of, noted

WAV_HEADER = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\xff\xff\xff\xff"
"""Of PCM, 16 bit, mono, 16 kHz, whose length is not known yet."""


class StreamForgotten(VoicegraphError):
    code = "stream_forgotten"
    says = "The space of this stream was forgotten; nothing of it is kept. Open another."
    http_status = 410


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
        sound = folder / f"{SOUND}{note.id}"
        descriptor = os.open(sound, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        spool = cls(sound, note, descriptor)
        spool._save(note)
        return spool

    def write(self, sound: bytes, *, limit: int) -> None:
        """Raises UploadTooLarge above `limit` bytes, NoRoom, and StreamForgotten."""
        self._still_there()
        if self._bytes + len(sound) > limit:
            raise UploadTooLarge(limit_mb=limit / 1e6)
        try:
            self._bytes += os.write(self._descriptor, sound)  # 3 KB a tenth of a second: quicker than a thread's hand-over
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoRoom from error
            raise

    def finish(self) -> Upload:
        """Its sound becomes an upload of the account; the note names it until `taken`. Reads all of it. Raises
        StreamForgotten."""
        self._still_there()
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
        """What was to be made of the upload is made: the note is needed no more."""
        note_of(self.path).unlink(missing_ok=True)
        self.close()

    def discard(self) -> None:
        """Nothing is left of it, nor of the upload that it became."""
        Noted(note_of(self.path), self.note).forget_sound()
        self.taken()

    def close(self) -> None:
        """Leaves it as it is, for others to take up."""
        os.close(self._descriptor)

    def _still_there(self) -> None:
        if not os.fstat(self._descriptor).st_nlink:
            raise StreamForgotten

    def _save(self, note: StreamNote) -> None:
        """Whole or not at all, and before the sound is moved."""
        beside = note_of(self.path).with_suffix(".part")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(note), file)
        beside.replace(note_of(self.path))


def left_behind(uploads: Path) -> Iterator[Spool]:
    """What streams of processes that are gone left under the upload directory, the sound still as they wrote it or an upload
    already. Each is this process's from then on: to be `taken`, discarded or closed."""
    for found, where in noted(uploads):
        if where is None:
            continue
        descriptor = os.open(where, os.O_RDWR | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        yield Spool(found.sound, found.note, descriptor)


def without_sound(uploads: Path) -> Iterator[StreamNote]:
    """What was to be remembered and cannot be: its sound was swept. Each note goes when the next is asked for."""
    for found, where in noted(uploads):
        if where is None:
            yield found.note
            found.path.unlink(missing_ok=True)
