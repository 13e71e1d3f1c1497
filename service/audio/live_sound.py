"""What sound do pieces make that a meeting's backend sent? One WAV a stream, each piece at its time, silence between them.

Pieces come late, twice and in no order, and a connection that broke is followed by another: a piece with a time of its own is
written where that says, over what is there; one without follows on what came before it on its connection."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import av
import numpy as np

from service.types.audio import SAMPLE_RATE, Samples
from service.types.meeting import AudioEncoding

OPUS_RATE = 48_000
"""At which Opus is decoded whatever was encoded (RFC 6716 §2)."""


@dataclass(frozen=True, slots=True)
class LiveSoundConfig:
    jitter: float = 0.25
    """Seconds that a piece's own time may differ from where the one before it ended and still follow on it: frames are stamped
    when they are sent, and their clocks wander."""
    skipped: float = 0.04
    """Seconds between the end of a piece and the own time of the next, by those times, from which on something is missing
    between them: two of the shortest frames."""
    stall: float = 10.0
    """Seconds that a piece without a time may arrive after it was due and still follow on: longer than a sender's buffer, and
    nothing was sent meanwhile."""
    longest: float = 24 * 3_600.0
    """Seconds of a meeting: a piece beyond has a wrong time."""
    gathered: int = 4 * SAMPLE_RATE
    """Samples written together."""


@dataclass(frozen=True, slots=True)
class Form:
    """What the bytes of a piece are."""

    encoding: AudioEncoding
    sample_rate: int
    channels: int


@dataclass(frozen=True, slots=True)
class Piece:
    data: bytes
    form: Form
    start: float | None
    """Of its first sample, seconds since the meeting's start; None: it follows on."""
    received: float
    """Seconds since the meeting's start, after its last sample."""


@dataclass(frozen=True, slots=True)
class Joined:
    """What became of the pieces of a stream."""

    duration: float
    """Seconds from the meeting's start to the last sample; 0: there was none."""
    left_out: int
    """Pieces that cannot be decoded, or that are at no time of the meeting."""


class Decoder:
    """The bytes of pieces that follow each other → mono samples at SAMPLE_RATE, some of them with a later call."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._opus: Any = None
        rate = form.sample_rate
        if form.encoding is AudioEncoding.OPUS:
            self._opus = av.CodecContext.create("opus", "r")
            rate = self._opus.sample_rate = OPUS_RATE
            self._opus.layout = "mono" if form.channels == 1 else "stereo"
        self._rate = rate
        self._resampler = None if rate == SAMPLE_RATE else av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)

    def __call__(self, data: bytes) -> Samples:
        """Half a sample at the end is left out. Raises ValueError for what is no packet of Opus."""
        samples = self._mono(data)
        if self._resampler is None or not len(samples):
            return samples
        frame = av.AudioFrame.from_ndarray(samples[None, :], format="flt", layout="mono")
        frame.sample_rate = self._rate
        return _joined(self._resampler.resample(frame))

    def rest(self) -> Samples:
        """What is held back; nothing follows."""
        return _silence() if self._resampler is None else _joined(self._resampler.resample(None))

    def _mono(self, data: bytes) -> Samples:
        if self._opus is not None:
            return self._unpacked(data)
        width = 2 if self._form.encoding is AudioEncoding.S16 else 4
        whole = len(data) - len(data) % (width * self._form.channels)
        if self._form.encoding is AudioEncoding.S16:
            raw = np.frombuffer(data[:whole], "<i2").astype(np.float32) / 32768.0
        else:
            raw = np.clip(np.nan_to_num(np.frombuffer(data[:whole], "<f4"), posinf=0.0, neginf=0.0), -1.0, 1.0)
        mono: Samples = raw.reshape(-1, self._form.channels).mean(axis=1, dtype=np.float32)
        return mono

    def _unpacked(self, data: bytes) -> Samples:
        try:
            frames = self._opus.decode(av.Packet(data))
        except av.error.FFmpegError as error:
            raise ValueError("no packet of Opus") from error
        parts = [frame.to_ndarray().mean(axis=0, dtype=np.float32) for frame in frames]
        return np.concatenate(parts) if parts else _silence()


def join(connections: Iterable[Iterable[Piece]], path: Path, config: LiveSoundConfig | None = None) -> Joined:
    """Write the sound of a stream, mono 16 bit at SAMPLE_RATE from the meeting's start on, to `path`. `connections`: the pieces
    of each, as they came; where two have sound of the same moment the later one holds. Memory does not grow with the length."""
    with path.open("wb") as file:
        sheet = _Sheet(file, config or LiveSoundConfig())
        for pieces in connections:
            sheet.connection(pieces)
        return sheet.finished()


def mix(paths: Iterable[Path], path: Path, config: LiveSoundConfig | None = None) -> None:
    """Write the sum of WAVs that `join` wrote, to `path`."""
    config = config or LiveSoundConfig()
    readers = [_raw(one, config.gathered) for one in paths]
    with path.open("wb") as file:
        file.write(_header(0))
        size = 0
        while parts := [part for part in (next(reader, None) for reader in readers) if part is not None]:
            total = np.zeros(max(map(len, parts)), np.float32)
            for part in parts:
                total[: len(part)] += part
            raw = np.clip(total, -32768, 32767).astype("<i2").tobytes()
            size += file.write(raw)
        file.seek(0)
        file.write(_header(size))


def side_by_side(paths: Sequence[Path], path: Path, config: LiveSoundConfig | None = None) -> None:
    """Write WAVs that `join` wrote as the channels of one, to `path`."""
    config = config or LiveSoundConfig()
    readers = [_raw(one, config.gathered) for one in paths]
    with path.open("wb") as file:
        file.write(_header(0, len(paths)))
        size = 0
        while there := [(n, part) for n, reader in enumerate(readers) if (part := next(reader, None)) is not None]:
            channels = np.zeros((max(len(part) for _, part in there), len(paths)), "<i2")
            for channel, part in there:
                channels[: len(part), channel] = part
            size += file.write(channels.tobytes())
        file.seek(0)
        file.write(_header(size, len(paths)))


class _Sheet:
    """A WAV that is written anywhere; what is not written is silence, and takes no room where files have holes."""

    def __init__(self, file: BinaryIO, config: LiveSoundConfig) -> None:
        self._file, self._config = file, config
        self._decoder: Decoder | None = None
        self._form: Form | None = None
        self._at = self._end = self._left_out = 0
        """Samples from the start: where the next is written; where the last ever was."""
        self._last: float | None = None
        """The own time of the piece before, and when by that it ended."""
        self._last_end = 0.0
        self._held: list[Samples] = []
        self._num_held = 0
        file.write(_header(0))

    def connection(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            self._piece(piece)
        self._break()

    def _piece(self, piece: Piece) -> None:
        if not self._follows(piece):
            self._break()
        decoder = self._decoder or Decoder(piece.form)
        try:
            samples = decoder(piece.data)
        except ValueError:
            self._left_out += 1
            return
        if self._decoder is None:
            start = piece.start if piece.start is not None else piece.received - len(samples) / SAMPLE_RATE
            if not abs(start) <= self._config.longest:
                self._left_out += 1
                return
            self._decoder, self._form, self._at = decoder, piece.form, round(start * SAMPLE_RATE)
        self._hold(samples)
        self._last = piece.start
        self._last_end = (piece.start or 0.0) + len(samples) / SAMPLE_RATE

    def _follows(self, piece: Piece) -> bool:
        """On the one before it, without a break."""
        if self._decoder is None or self._form != piece.form:
            return False
        due = (self._at + self._num_held) / SAMPLE_RATE
        if piece.start is None:
            return piece.received - due <= self._config.stall
        if self._last is not None and not self._last < piece.start <= self._last_end + self._config.skipped:
            return False
        return abs(piece.start - due) <= self._config.jitter

    def _hold(self, samples: Samples) -> None:
        self._held.append(samples)
        self._num_held += len(samples)
        if self._num_held >= self._config.gathered:
            self._write()

    def _break(self) -> None:
        if self._decoder is not None:
            self._hold(self._decoder.rest())
            self._write()
            self._decoder = self._form = None

    def _write(self) -> None:
        samples = np.concatenate(self._held) if self._held else _silence()
        begin, self._at = self._at, self._at + len(samples)
        self._held, self._num_held = [], 0
        samples = samples[max(0, -begin) :]  # what was before the meeting's start is none of it
        if not len(samples):
            return
        begin = max(0, begin)
        self._file.seek(len(_header(0)) + 2 * begin)
        self._file.write((np.clip(samples, -1, 32767 / 32768) * 32768).astype("<i2").tobytes())
        self._end = max(self._end, begin + len(samples))

    def finished(self) -> Joined:
        self._file.seek(0)
        self._file.write(_header(2 * self._end))
        return Joined(self._end / SAMPLE_RATE, self._left_out)


def _header(size: int, channels: int = 1) -> bytes:
    """Of a WAV with `size` bytes of 16 bit."""
    width = 2 * channels
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, SAMPLE_RATE, width * SAMPLE_RATE, width, 16)
    known = min(size, 0xFFFFFFFF - 36)
    return struct.pack("<4sI4s", b"RIFF", known + 36, b"WAVE") + form + struct.pack("<4sI", b"data", known)


def _raw(path: Path, size: int) -> Iterator[Samples]:
    with path.open("rb") as file:
        file.seek(len(_header(0)))
        while data := file.read(2 * size):
            yield np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32)


def _joined(frames: Iterable[Any]) -> Samples:
    parts = [frame.to_ndarray()[0] for frame in frames if frame.samples]
    return np.concatenate(parts) if parts else _silence()


def _silence() -> Samples:
    return np.zeros(0, np.float32)
