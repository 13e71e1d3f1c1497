"""Where does uploaded sound wait? On disk, private, named by its hash, seen by its uploader only, and not for long."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import time
from collections.abc import AsyncIterator, Iterator
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
    keep_seconds: float = 24 * 3600.0
    """Long enough to resume an ingest the next morning; sound is personal data and is not kept for good here."""
    keep_clip_seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class Upload:
    id: str
    """SHA-256 of the bytes, hex."""
    bytes: int


class Uploads:
    """The upload directory: one folder per owner. `owner` is an account id, or None for askers without a token:
    for them the hash, which only who has the sound can know, is the permission."""

    def __init__(self, directory: Path, config: UploadConfig) -> None:
        self.directory = directory
        self.config = config

    async def save(self, owner: str | None, chunks: AsyncIterator[bytes]) -> Upload:
        """Streams to disk; memory is one chunk. The same bytes again are the same upload, its time renewed.
        Raises UploadEmpty, UploadTooLarge, TooManyClips, NoRoom; nothing is left behind then."""
        folder = self.folder(owner)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if owner is None and sum(entry.stat().st_size for entry in os.scandir(folder)) >= self.config.anybody_bytes:
            raise TooManyClips
        part = folder / f"{_PART}{secrets.token_hex(8)}"
        try:
            upload = await self._receive(part, chunks, limit=self._limit(owner))
            part.replace(folder / upload.id)
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
            path.unlink(missing_ok=True)
        return len(gone)

    async def _receive(self, part: Path, chunks: AsyncIterator[bytes], *, limit: int) -> Upload:
        digest, received = hashlib.sha256(), 0
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            async for chunk in chunks:
                received += len(chunk)
                if received > limit:
                    raise UploadTooLarge(limit_mb=limit / 1e6)
                digest.update(chunk)
                file.write(chunk)  # a chunk is at most 64 KB: quicker than a thread's hand-over
        if not received:
            raise UploadEmpty
        return Upload(digest.hexdigest(), received)

    def _limit(self, owner: str | None) -> int:
        return self.config.max_bytes if owner else min(self.config.max_bytes, self.config.clip_bytes)

    def folder(self, owner: str | None) -> Path:
        return self.directory / (owner or "anybody")

    def _files(self) -> Iterator[tuple[Path, float]]:
        for folder in self.directory.glob("*/"):
            keep = self.config.keep_clip_seconds if folder.name == "anybody" else self.config.keep_seconds
            yield from ((path, keep) for path in folder.iterdir() if path.is_file() and not _is_note(path))


def _is_note(path: Path) -> bool:
    """Of a stream: it goes after its sound, when what was written of that is given up."""
    return path.name.startswith(SOUND) and path.name.endswith(NOTE)
