"""What sound is in a file? Anything PyAV decodes, as mono 16 kHz float32, in blocks of bounded memory."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, cast

import av
import numpy as np

from service.audio import channels, wav
from service.errors import VoicegraphError
from service.types.audio import SAMPLE_RATE, AudioInfo, Samples, Waveform

_log = logging.getLogger(__name__)

PIECE = SAMPLE_RATE // 2  # samples handed on at once: frames hold 20 to 64 ms, and a call for each took 40 % of the decoding


class AudioFileMissing(VoicegraphError):
    code = "audio_file_missing"
    says = "There is no file {path}. Check the path."
    http_status = 404


class EmptyAudio(VoicegraphError):
    code = "empty_audio"
    says = "{path} has {bytes} bytes and no sound in it. Record or upload it again."
    http_status = 422


class NotAudio(VoicegraphError):
    code = "not_audio"
    says = (
        "{path} cannot be read as sound ({reason}). Needed: a whole WAV, FLAC, MP3, M4A, WebM, Ogg or another format of "
        "FFmpeg. Pieces of a browser recording must be joined from the first piece on."
    )
    http_status = 415


class NoAudioStream(VoicegraphError):
    code = "no_audio_stream"
    says = "{path} is a {container} file without an audio stream. Give a file with sound."
    http_status = 422


def probe(path: str | Path) -> AudioInfo:
    """Decode all of `path` once and say what it holds; memory does not grow with its length.

    Raises AudioFileMissing, EmptyAudio, NotAudio, NoAudioStream."""
    source = Path(path)
    first: _Sound | None = None
    samples = 0
    for sound in _sounds(source):
        first = first or sound
        samples += sound.samples.shape[1]
    if first is None:
        raise EmptyAudio(path=source.name, bytes=source.stat().st_size)
    return AudioInfo(str(source), sha256(source), samples / SAMPLE_RATE, first.samples.shape[0], first.sample_rate, first.codec)


def sha256(path: Path) -> str:
    """Of the file's bytes, not of the sound."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tracks(path: str | Path) -> tuple[int | None, ...]:
    """The channels to take one by one, or (None,) for a mix of all: see service.audio.channels. Decodes all of `path`."""
    return channels.choose(sound.samples for sound in _sounds(Path(path)))


def blocks(path: str | Path, *, seconds: float, channel: int | None = None) -> Iterator[Waveform]:
    """`path` from its start in pieces of `seconds` (the last may be shorter); `channel` from 0, None mixes all.

    A channel that a joined file's later part does not have is silent there. Raises as `probe` does."""
    source = Path(path)
    size = max(1, round(seconds * SAMPLE_RATE))
    held: list[Samples] = []
    num_held = emitted = 0
    for sound in _sounds(source):
        held.append(channels.one(sound.samples, channel))
        num_held += len(held[-1])
        while num_held >= size:
            joined = np.concatenate(held)
            yield Waveform(joined[:size].copy(), emitted / SAMPLE_RATE)
            emitted += size
            held, num_held = [joined[size:]], num_held - size
    if num_held:
        yield Waveform(np.concatenate(held), emitted / SAMPLE_RATE)
    elif not emitted:
        raise EmptyAudio(path=source.name, bytes=source.stat().st_size)


class _Sound:
    """A piece of decoded sound: samples of shape (channels, n) at SAMPLE_RATE, and what they were before."""

    __slots__ = ("codec", "sample_rate", "samples")

    def __init__(self, samples: Samples, sample_rate: int, codec: str) -> None:
        self.samples, self.sample_rate, self.codec = samples, sample_rate, codec


def _sounds(path: Path) -> Iterator[_Sound]:
    if not path.is_file():
        raise AudioFileMissing(path=path.name)
    with path.open("rb") as file:
        first_bytes = file.read(12)
        if not first_bytes:
            raise EmptyAudio(path=path.name, bytes=0)
        if not wav.is_wav(first_bytes):
            file.seek(0)
            yield from _decoded(file, path)
            return
        for part in wav.parts(file):
            if part.sound_bytes:
                yield from _decoded(cast(BinaryIO, wav.WavReader(file, part)), path)


def _decoded(file: BinaryIO, path: Path) -> Iterator[_Sound]:
    with ExitStack() as stack:
        try:
            container = stack.enter_context(av.open(file, mode="r", metadata_errors="ignore"))
        except (av.error.FFmpegError, UnicodeError) as error:
            raise NotAudio(path=path.name, reason=getattr(error, "strerror", None) or str(error)) from error
        stream = container.streams.best("audio")
        if stream is None:
            raise NoAudioStream(path=path.name, container=container.format.name)
        if stream.codec_context is None:
            raise NotAudio(path=path.name, reason="unknown codec")
        stream.thread_type = "AUTO"
        yield from _resampled(_frames(container, stream, path), stream.codec_context.name)


def _frames(container: Any, stream: Any, path: Path) -> Iterator[Any]:
    """Frames of `stream`; what a damaged packet held is lost, the rest is kept, and the log says so."""
    damaged = 0
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except av.error.FFmpegError as error:  # the container breaks off: keep what came before
            _log.warning("%s breaks off: %s", path.name, error)
            packet = None
        if packet is None:
            break
        try:
            yield from packet.decode()
        except av.error.FFmpegError:
            damaged += 1
    if damaged:
        _log.warning("%s: %d damaged packets left out", path.name, damaged)


def _resampled(frames: Iterator[Any], codec: str) -> Iterator[_Sound]:
    """To planar float32 at SAMPLE_RATE with the channels kept; begins anew where the stream changes its format."""
    resampler: Any = None
    shape: tuple[str, str, int] | None = None
    rate = SAMPLE_RATE
    for frame in frames:
        now = (frame.format.name, frame.layout.name, frame.sample_rate)
        if now != shape:
            yield from _pieces(resampler, None, rate, codec)
            resampler = av.AudioResampler(format="fltp", layout=frame.layout, rate=SAMPLE_RATE, frame_size=PIECE)
            shape, rate = now, frame.sample_rate
        frame.pts = None  # gaps and jumps of time stamps must not become resampler errors
        yield from _pieces(resampler, frame, rate, codec)
    yield from _pieces(resampler, None, rate, codec)


def _pieces(resampler: Any, frame: Any, rate: int, codec: str) -> Iterator[_Sound]:
    for piece in resampler.resample(frame) if resampler is not None else ():
        if piece.samples:
            yield _Sound(np.nan_to_num(piece.to_ndarray(), posinf=0.0, neginf=0.0), rate, codec)
