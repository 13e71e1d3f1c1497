"""Where does the sound of a meeting wait until the meeting is over? In files of the data directory, as it came: one a
connection and participant, to which pieces are only ever added. They are read once, and go.

A piece is written before it is acknowledged: it outlives the process, also one that is killed; what the machine itself had not
put on the disk when its power went is lost."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import math
import os
import shutil
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from service.audio.live_sound import Form, Piece
from service.types.ids import fresh
from service.types.meeting import AudioEncoding, Base, Heard, SoundFrom, Speaker

log = logging.getLogger(__name__)

_HEAD = struct.Struct("<4sIddIBBB")
"""Of a piece: magic, bytes that follow, its start (NaN: it follows on) and when it came in seconds, sample rate, channels,
encoding, what its start counts from."""
_MAGIC = b"VGp1"
_ENCODINGS = tuple(AudioEncoding)
_BASES = tuple(Base)
SUFFIX = ".tape"
PLACE = "place"
"""File with the folder's id."""


@dataclass(frozen=True, slots=True)
class TapesConfig:
    meeting_bytes: int = 6_000_000_000
    """Of one meeting: eight hours of six participants at 16 kHz and 16 bit are 5.5 GB. What is beyond is not kept, and said in
    the log; the words are."""
    spare_bytes: int = 2_000_000_000
    """That stay free on the disk: Neo4j needs them, too."""
    kept: float = 72 * 3_600.0
    """Seconds after the last piece that the sound of a meeting is kept which nobody closed: as long as its deliveries."""
    looked: float = 5.0
    """Seconds until the disk is looked at again."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Whose sound is in a file, and on which connection it came."""

    connection: str
    handle: str | None = None
    scope: str = ""
    name: str | None = None
    is_bot: bool = False
    is_room: bool = False
    is_mixed: bool = False
    bot: str = ""

    @property
    def speaker(self) -> Speaker | None:
        """None: all of them mixed."""
        if self.is_mixed:
            return None
        return Speaker(self.handle, self.scope, self.name, is_bot=self.is_bot, is_room=self.is_room, bot=self.bot)


@dataclass(frozen=True, slots=True)
class Tape:
    """One file: what came of a stream, in the order in which it came."""

    path: Path
    stream: Stream

    @property
    def began(self) -> float:
        """When its first piece came, seconds since 1970."""
        with self.path.open("rb") as file:
            file.readline()
            head = file.read(_HEAD.size)
        return float(_HEAD.unpack(head)[3]) if len(head) == _HEAD.size else math.inf

    def pieces(self, zero: datetime) -> Iterator[Piece]:
        """`zero`: the moment of second 0. What a kill cut off at the end is left out."""
        epoch = zero.timestamp()
        with self.path.open("rb") as file:
            file.readline()
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                magic, size, start, received, rate, channels, encoding, base = _HEAD.unpack(head)
                data = file.read(size)
                if magic != _MAGIC or len(data) < size:
                    return
                form = Form(_ENCODINGS[encoding], rate, channels)
                since = epoch if _BASES[base] is Base.EPOCH else 0.0
                yield Piece(data, form, None if start != start else start - since, received - epoch)


class Tapes:
    """An AudioSink; and what reads, and forgets, what it kept."""

    def __init__(self, folder: Path, config: TapesConfig | None = None) -> None:
        self._folder, self._config = folder, config or TapesConfig()
        self._writer = fresh()
        """Two processes never write one file: so only its end may be cut off."""
        self._place: str | None = None
        self._sizes: dict[str, tuple[float, int]] = {}
        self._full: set[str] = set()

    @property
    def place(self) -> str:
        """Id of this folder, for all who share it; made by whoever asks first."""
        if self._place is None:
            path = self._folder / PLACE
            if not path.exists():
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                mine = self._folder / f"{PLACE}-{self._writer}"
                mine.write_text(fresh())
                with suppress(FileExistsError):  # another process was quicker
                    os.link(mine, path)
                mine.unlink()
            self._place = path.read_text()
        return self._place

    async def hear(self, origin: SoundFrom, pieces: Sequence[Heard], received_at: datetime) -> None:
        """Kept when it returns, but for what is beyond the limits."""
        folder = self._of(origin.space, origin.meeting_id)
        by_stream: dict[Stream, list[bytes]] = {}
        for piece in pieces:
            stream = _stream(origin.connection, piece.speaker)
            by_stream.setdefault(stream, []).append(_record(piece, received_at.timestamp()))
        for stream, records in by_stream.items():
            data = b"".join(records)
            if self._has_room(folder, origin.meeting_id, len(data)):
                self._add(folder, stream, data)  # some KB: quicker than a thread's hand-over

    def of(self, space: str, meeting: str) -> list[Tape]:
        """All that is kept of a meeting, in the order in which the connections began."""
        found = []
        for path in sorted(self._of(space, meeting).glob(f"*{SUFFIX}"), key=lambda path: path.name):
            with path.open("rb") as file:
                head = file.readline()
            with suppress(ValueError):  # killed before the first line was whole: there is nothing in it
                found.append(Tape(path, Stream(**json.loads(head))))
        return sorted(found, key=lambda tape: tape.began)

    def folder(self, space: str, meeting: str) -> Path:
        """Of a meeting; what is put there goes with it."""
        return self._of(space, meeting)

    def forget(self, space: str, meeting: str) -> None:
        """All of one meeting."""
        self._sizes.pop(meeting, None)
        self._full.discard(meeting)
        with suppress(FileNotFoundError):
            shutil.rmtree(self._of(space, meeting))

    def forget_space(self, space: str) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(self._folder / _named(space))

    def forget_expired(self) -> int:
        """Meetings of which nothing came for `kept` seconds; how many."""
        oldest, gone = time.time() - self._config.kept, 0
        for folder in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):  # its worker was quicker
                if max((file.stat().st_mtime for file in folder.iterdir()), default=folder.stat().st_mtime) < oldest:
                    shutil.rmtree(folder)
                    gone += 1
        return gone

    def _add(self, folder: Path, stream: Stream, data: bytes) -> None:
        whose = (self._writer, stream.connection, stream.handle, stream.scope, stream.name, stream.bot)
        name = hashlib.sha256(repr(whose).encode())
        path = folder / f"{name.hexdigest()[:32]}{SUFFIX}"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            data = json.dumps(asdict(stream)).encode() + b"\n" + data
        before = os.fstat(descriptor).st_size
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(data)
        except OSError as error:
            os.ftruncate(descriptor, before)  # whole or not at all: what comes after it is read, too
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            log.warning("%d bytes of a meeting's sound are not kept, there is no room for them", len(data))
        finally:
            os.close(descriptor)

    def _has_room(self, folder: Path, meeting: str, size: int) -> bool:
        now = time.monotonic()
        seen, used = self._sizes.get(meeting, (0.0, 0))
        if now - seen > self._config.looked or meeting not in self._sizes:
            used = sum(file.stat().st_size for file in folder.glob(f"*{SUFFIX}")) if folder.is_dir() else 0
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if shutil.disk_usage(self._folder).free < self._config.spare_bytes:
                used = self._config.meeting_bytes
            self._sizes = {id: kept for id, kept in self._sizes.items() if now - kept[0] < self._config.kept}
            seen = now
        has_room = used + size <= self._config.meeting_bytes
        self._sizes[meeting] = (seen, used + size if has_room else used)
        if not has_room and meeting not in self._full:
            self._full.add(meeting)
            log.warning("meeting %s: no more sound is kept, there is no room for it", meeting)
        return has_room

    def _of(self, space: str, meeting: str) -> Path:
        """Either may be called anything; its folder is not."""
        return self._folder / _named(space) / _named(meeting)


def _named(what: str) -> str:
    return hashlib.sha256(what.encode()).hexdigest()[:32]


def _stream(connection: str, speaker: Speaker | None) -> Stream:
    if speaker is None:
        return Stream(connection, is_mixed=True)
    return Stream(connection, speaker.handle, speaker.scope, speaker.name, speaker.is_bot, speaker.is_room, bot=speaker.bot)


def _record(piece: Heard, received: float) -> bytes:
    start = float("nan") if piece.start is None else piece.start
    encoding, base = _ENCODINGS.index(piece.encoding), _BASES.index(piece.base)
    head = _HEAD.pack(_MAGIC, len(piece.data), start, received, piece.sample_rate, piece.channels, encoding, base)
    return head + piece.data
