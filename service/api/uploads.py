"""Where does uploaded sound wait? On disk, private, named by its hash, seen by its uploader only, and not for long."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from service.errors import NotFound, VoicegraphError
from service.pipelines.stream_notes import NOTE, SOUND

_ID = re.compile(r"[0-9a-f]{64}")
_PART = ".part-"


class UploadEmpty(VoicegraphError):
    code = "upload_empty"
    says = "The upload had no bytes. Send the file as the request's body: `curl -T FILE -X POST …/v1/uploads`."
    http_status = 422


class UploadTooLarge(VoicegraphError):
    code = "upload_too_large"
    says = "The upload is larger than {limit_mb:.0f} MB. Compress it, or raise `max_upload_mb`."
    http_status = 413


class TooManyClips(VoicegraphError):
    code = "too_many_clips"
    says = "Too many voice clips wait here already. Send it again in a while, or with a token."
    http_status = 429


class TooMuchWaits(VoicegraphError):
    code = "too_much_waits"
    says = "{limit_mb:.0f} MB of this account's uploads wait here already. Each goes {hours:.0f} h after it came; send it then."
    http_status = 429


class NoRoom(VoicegraphError):
    code = "no_room"
    says = "The disk of the upload directory is full. Nothing was kept; free some space and send it again."
    http_status = 507


@dataclass(frozen=True, slots=True)
class UploadConfig:
    max_bytes: int
    clip_bytes: int = 10_000_000
    """For an asker without a token, who can only need a voice clip: 2 minutes of 16 kHz WAV are 3.8 MB."""
    anybody_bytes: int = 1_000_000_000
    """All clips of askers without a token together: who needs no leave must not fill the disk of those who have it."""
    account_bytes: int = 10_000_000_000
    """All uploads of one account together, or one of the longest where that is more: 80 hours of 16 kHz WAV, more than anybody
    ingests in the day that they are kept; without it any token could fill the disk, and the database's with it."""
    keep_seconds: float = 24 * 3600.0
    """Long enough to resume an ingest the next morning; sound is personal data and is not kept for good here."""
    keep_clip_seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class Upload:
    id: str
    """SHA-256 of the bytes, hex."""
    bytes: int


@dataclass(slots=True)
class _Filling:
    """A folder while something comes into it."""

    bytes: int
    coming: int = 0


class Uploads:
    """The upload directory: one folder per owner. `owner` is an account id, or None for askers without a token:
    for them the hash, which only who has the sound can know, is the permission."""

    def __init__(self, directory: Path, config: UploadConfig) -> None:
        self.directory = directory
        self.config = config
        self._filling: dict[Path, _Filling] = {}

    async def save(self, owner: str | None, chunks: AsyncIterator[bytes]) -> Upload:
        """Streams to disk; memory is one chunk. The same bytes again are the same upload, its time renewed, also where there is
        no room for others.

        Raises UploadEmpty, UploadTooLarge, TooManyClips, TooMuchWaits, NoRoom; nothing is left behind then."""
        folder = self.folder(owner)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = folder / f"{_PART}{secrets.token_hex(8)}"
        try:
            with self._filled(folder) as filling:
                upload = await self._receive(part, chunks, filling, owner)
                if (there := folder / upload.id).exists():
                    filling.bytes -= part.stat().st_size
                if part.stat().st_size == upload.bytes:
                    part.replace(there)
                else:
                    os.utime(there)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoRoom from error
            raise
        finally:
            part.unlink(missing_ok=True)
        return upload

    def path(self, owner: str | None, upload_id: str) -> Path:
        """The file; raises NotFound also for somebody else's, and once it has been swept."""
        path = self.folder(owner) / upload_id
        if not _ID.fullmatch(upload_id) or not path.is_file():
            raise NotFound(kind="upload", id=upload_id[:64])
        return path

    def sweep(self, now: float | None = None) -> int:
        """Forgets what has waited too long; how many files went."""
        now = time.time() if now is None else now
        gone = [path for path, keep in self._files() if now - path.stat().st_mtime > keep]
        for path in gone:
            if (filling := self._filling.get(path.parent)) is not None:
                filling.bytes -= path.stat().st_size
            path.unlink(missing_ok=True)
        return len(gone)

    async def _receive(self, part: Path, chunks: AsyncIterator[bytes], filling: _Filling, owner: str | None) -> Upload:
        """All of it in `part`, or nothing: what waits here already and these do not fit, but they may be one of those."""
        digest, received, written, limit, most = hashlib.sha256(), 0, 0, self._limit(owner), self._most(owner)
        refused = TooMuchWaits(limit_mb=most / 1e6, hours=self.config.keep_seconds / 3600) if owner else TooManyClips()
        longest: int | None = None
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                async for chunk in chunks:
                    received += len(chunk)
                    if received > limit:
                        raise UploadTooLarge(limit_mb=limit / 1e6)
                    if longest is None and filling.bytes + len(chunk) > most:
                        file.seek(0)
                        file.truncate()
                        filling.bytes, written = filling.bytes - written, 0
                        longest = _longest_in(part.parent)
                    if longest is not None and received > longest:
                        raise refused
                    digest.update(chunk)
                    if longest is None:
                        file.write(chunk)  # a chunk is at most 64 KB: quicker than a thread's hand-over
                        filling.bytes, written = filling.bytes + len(chunk), written + len(chunk)
            if not received:
                raise UploadEmpty
            if longest is not None and not (part.parent / digest.hexdigest()).exists():
                raise refused
        except BaseException:
            filling.bytes -= written
            raise
        return Upload(digest.hexdigest(), received)

    @contextmanager
    def _filled(self, folder: Path) -> Iterator[_Filling]:
        """What is in it, counted anew for the first of those that come at once; all of them count against one limit."""
        filling = self._filling.get(folder)
        if filling is None:
            filling = self._filling[folder] = _Filling(_bytes_in(folder))
        filling.coming += 1
        try:
            yield filling
        finally:
            filling.coming -= 1
            if not filling.coming:
                del self._filling[folder]

    def _most(self, owner: str | None) -> int:
        return max(self.config.account_bytes, self.config.max_bytes) if owner else self.config.anybody_bytes

    def _limit(self, owner: str | None) -> int:
        return self.config.max_bytes if owner else min(self.config.max_bytes, self.config.clip_bytes)

    def folder(self, owner: str | None) -> Path:
        return self.directory / (owner or "anybody")

    def _files(self) -> Iterator[tuple[Path, float]]:
        for folder in self.directory.glob("*/"):
            keep = self.config.keep_clip_seconds if folder.name == "anybody" else self.config.keep_seconds
            yield from ((path, keep) for path in folder.iterdir() if path.is_file() and not _is_note(path))


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in map(Path, os.scandir(folder)) if path.is_file())


def _longest_in(folder: Path) -> int:
    """Of what has come whole."""
    return max((path.stat().st_size for path in map(Path, os.scandir(folder)) if _ID.fullmatch(path.name)), default=0)


def _is_note(path: Path) -> bool:
    """Of a stream: it goes after its sound, when what was written of that is given up."""
    return path.name.startswith(SOUND) and path.name.endswith(NOTE)
