"""Where in a file is the sound of a WAV, whatever its headers say?

Streaming writers leave 0, 0x7FFFFFFF or 0xFFFFFFFF as sizes, crashed recorders a size that is too small, and people join
files with `cat`. So sizes are only believed where the bytes agree: everything from the data chunk on is sound, up to the next
RIFF header, the file's end, or what really reads as further chunks.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

_SIGNATURE = re.compile(rb"RIFF.{4}WAVE", re.DOTALL)
_SIGNATURE_BYTES = 12
_SCAN_BYTES = 1 << 20
_MAX_SIZE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class WavPart:
    """One WAV inside a file: its header up to the sound, and the sound's place; all in bytes."""

    header_at: int
    sound_at: int
    sound_bytes: int


def is_wav(first_bytes: bytes) -> bool:
    """Whether a file beginning with these (at least 12) bytes is a little-endian RIFF WAV; RF64 and W64 are not."""
    return _SIGNATURE.match(first_bytes) is not None


def parts(file: BinaryIO) -> list[WavPart]:
    """The WAVs that `file` holds one after the other, those without a data chunk left out. Reads the file once, in blocks."""
    starts = list(_signatures(file))
    ends = [*starts[1:], file.seek(0, io.SEEK_END)]
    found = (_part(file, start, end) for start, end in zip(starts, ends, strict=True))
    return [part for part in found if part is not None]


def _signatures(file: BinaryIO) -> Iterator[int]:
    file.seek(0)
    at, tail = 0, b""
    while block := file.read(_SCAN_BYTES):
        window = tail + block
        yield from (at - len(tail) + match.start() for match in _SIGNATURE.finditer(window))
        at += len(block)
        tail = window[-(_SIGNATURE_BYTES - 1) :]


def _part(file: BinaryIO, start: int, end: int) -> WavPart | None:
    at = start + _SIGNATURE_BYTES
    while (chunk := _chunk(file, at, end)) is not None:
        name, size = chunk
        sound_at = at + 8
        if name == b"data":
            ends_there = sound_at + size <= end and _reads_as_chunks(file, sound_at + size + size % 2, end)
            return WavPart(start, sound_at, size if ends_there else end - sound_at)
        at = sound_at + size + size % 2
    return None


def _chunk(file: BinaryIO, at: int, end: int) -> tuple[bytes, int] | None:
    """Name and size of the chunk header at `at`, None where none fits or its name is not four printable characters."""
    if at + 8 > end:
        return None
    file.seek(at)
    name, size = struct.unpack("<4sI", file.read(8))
    return (name, size) if all(32 <= byte < 127 for byte in name) else None


def _reads_as_chunks(file: BinaryIO, at: int, end: int) -> bool:
    """Whether [at, end) is nothing, a padding byte, or a chain of whole chunks."""
    while at < end - 1:
        chunk = _chunk(file, at, end)
        if chunk is None or at + 8 + chunk[1] > end:
            return False
        at += 8 + chunk[1] + chunk[1] % 2
    return True


class WavReader(io.RawIOBase):
    """`part` as a file of its own with true sizes, read from `file` without copying it."""

    def __init__(self, file: BinaryIO, part: WavPart) -> None:
        self._file, self._part, self._at = file, part, 0
        file.seek(part.header_at)
        header = bytearray(file.read(part.sound_at - part.header_at))
        struct.pack_into("<I", header, 4, min(_MAX_SIZE, len(header) - 8 + part.sound_bytes))
        struct.pack_into("<I", header, len(header) - 4, min(_MAX_SIZE, part.sound_bytes))
        self._header = bytes(header)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._header) + self._part.sound_bytes}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = len(self._header) + self._part.sound_bytes - self._at
        size = left if size < 0 else min(size, left)
        if size <= 0:
            return b""
        if self._at < len(self._header):
            taken = self._header[self._at : self._at + size]
        else:
            self._file.seek(self._part.sound_at + self._at - len(self._header))
            taken = self._file.read(size)
        self._at += len(taken)
        return taken
