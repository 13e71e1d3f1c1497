"""What arrives as sound, and what is refused: files made here, each as the field has met them (cases 33–36)."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import av
import numpy as np
import pytest

from service.audio import decode
from service.types.audio import Samples

CLUSTER, UNKNOWN_SIZE = bytes.fromhex("1f43b675"), bytes.fromhex("01ffffffffffffff")


def a_tone(seconds: float = 1.0, *, rate: int = 16_000, hertz: float = 440.0, level: float = 0.3) -> Samples:
    times = np.arange(round(seconds * rate)) / rate
    return (level * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def a_wav(
    sound: Samples, *, rate: int = 16_000, form: int = 1, bits: int = 16, size: int | None = None, extra: bytes = b""
) -> bytes:
    """A WAV of `sound` (n,) or (n, channels); `size` is what the header claims, `extra` follows the data chunk."""
    channels = 1 if sound.ndim == 1 else sound.shape[1]
    scale = 2 ** (bits - 1) - 1
    if form == 3:
        data = sound.astype("<f4").tobytes()
    elif bits == 24:
        data = b"".join(int(value).to_bytes(3, "little", signed=True) for value in (sound.ravel() * scale))
    else:
        data = (sound * scale).astype("<i2").tobytes()
    block = channels * bits // 8
    form_chunk = struct.pack("<HHIIHH", form, channels, rate, rate * block, block, bits)
    if form == 0xFFFE:  # WAVE_FORMAT_EXTENSIBLE holding PCM
        form_chunk += struct.pack("<HHI", 22, bits, (1 << channels) - 1) + bytes.fromhex("0100000000001000800000aa00389b71")
    claimed = len(data) if size is None else size
    body = b"WAVEfmt " + struct.pack("<I", len(form_chunk)) + form_chunk + b"data" + struct.pack("<I", claimed) + data + extra
    return b"RIFF" + struct.pack("<I", min(0xFFFFFFFF, claimed + len(body) - len(data))) + body


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def sound_of(path: Path, **options: int) -> Samples:
    return np.concatenate([block.samples for block in decode.blocks(path, seconds=0.3, **options)])


@pytest.mark.parametrize("size", [0, 1_000, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF - 36])
def test_the_bytes_are_counted_whatever_size_the_header_claims(tmp_path: Path, size: int) -> None:
    path = written(tmp_path / "streamed.wav", a_wav(a_tone(), size=size))
    assert decode.probe(path).duration == pytest.approx(1.0)
    assert np.abs(sound_of(path) - a_tone()).max() < 1e-3


def test_a_truncated_wav_keeps_what_is_there(tmp_path: Path) -> None:
    path = written(tmp_path / "cut.wav", a_wav(a_tone())[: 44 + 16_000])
    assert decode.probe(path).duration == pytest.approx(0.5)


def test_chunks_after_the_sound_are_not_heard(tmp_path: Path) -> None:
    notes = b"LIST" + struct.pack("<I", 4_000) + b"INFO" + bytes(3_996)
    path = written(tmp_path / "notes.wav", a_wav(a_tone(), extra=notes))
    assert decode.probe(path).duration == pytest.approx(1.0)


@pytest.mark.parametrize("size", [None, 0, 0xFFFFFFFF])
def test_two_wavs_joined_are_both_heard_each_at_its_own_rate(tmp_path: Path, size: int | None) -> None:
    first, second = a_wav(a_tone(1.0), size=size), a_wav(a_tone(0.5, rate=8_000), rate=8_000)
    path = written(tmp_path / "joined.wav", first + second)
    assert decode.probe(path).duration == pytest.approx(1.5, abs=0.005)
    assert np.abs(sound_of(path)[:16_000] - a_tone(1.0)).max() < 1e-3


@pytest.mark.parametrize(
    ("rate", "form", "bits"), [(8_000, 1, 16), (44_100, 1, 24), (48_000, 3, 32), (16_000, 0xFFFE, 16), (44_100, 1, 16)]
)
def test_rates_widths_and_forms_come_out_as_16_khz_of_the_same_sound(tmp_path: Path, rate: int, form: int, bits: int) -> None:
    path = written(tmp_path / "sound.wav", a_wav(a_tone(rate=rate), rate=rate, form=form, bits=bits))
    info = decode.probe(path)
    assert (info.duration, info.sample_rate, info.channels) == (pytest.approx(1.0, abs=0.005), rate, 1)
    heard = sound_of(path)[2_000:14_000]
    assert np.argmax(np.abs(np.fft.rfft(heard))) * 16_000 / len(heard) == pytest.approx(440.0, abs=2.0)
    assert np.sqrt(np.mean(heard**2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.02)


def encoded(path: Path, codec: str, *, rate: int, container: str | None = None) -> Path:
    with av.open(str(path), "w", format=container) as output:
        stream = output.add_stream(codec, rate=rate, layout="mono")
        frame = av.AudioFrame.from_ndarray(a_tone(2.0, rate=rate)[None], format="fltp", layout="mono")
        frame.sample_rate = rate
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=rate, frame_size=stream.frame_size or 1_024)
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            output.mux(stream.encode(piece))
        output.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [
        ("a.mp3", "libmp3lame", 44_100),
        ("a.m4a", "aac", 48_000),
        ("a.webm", "libopus", 48_000),
        ("a.ogg", "libopus", 48_000),
        ("a.mp4", "aac", 44_100),
        ("a.flac", "flac", 16_000),
    ],
)
def test_what_browsers_and_telephones_record_is_decoded(tmp_path: Path, name: str, codec: str, rate: int) -> None:
    path = encoded(tmp_path / name, codec, rate=rate)
    assert decode.probe(path).duration == pytest.approx(2.0, abs=0.1)
    half = written(tmp_path / f"half_{name}", path.read_bytes()[: path.stat().st_size * 2 // 3])
    if name not in ("a.m4a", "a.mp4"):  # whose index stands at the end: nothing can be read without it
        assert 0.5 < decode.probe(half).duration < 2.0


def test_case_34_a_browsers_pieces_joined_from_the_first_on_are_heard_and_from_the_second_on_refused(tmp_path: Path) -> None:
    """As MediaRecorder gives them: of no known size, and only the first has the header."""
    output = av.open(str(tmp_path / "live.webm"), "w", options={"live": "1", "cluster_time_limit": "500"})
    with output:
        stream = output.add_stream("libopus", rate=48_000)
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=48_000, frame_size=stream.frame_size or 960)
        frame = av.AudioFrame.from_ndarray(a_tone(2.0)[None, :], format="flt", layout="mono")
        frame.sample_rate = 16_000
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            output.mux(stream.encode(piece))
        output.mux(stream.encode(None))
    head, *clusters = (tmp_path / "live.webm").read_bytes().split(CLUSTER)
    assert len(clusters) > 2 and UNKNOWN_SIZE in head
    pieces = [head + CLUSTER + clusters[0], *(CLUSTER + cluster for cluster in clusters[1:])]
    assert decode.probe(written(tmp_path / "whole.webm", b"".join(pieces))).duration == pytest.approx(2.0, abs=0.1)
    assert 0.3 < decode.probe(written(tmp_path / "first.webm", pieces[0])).duration < 1.0
    with pytest.raises(decode.NotAudio, match="joined from the first piece on"):
        decode.probe(written(tmp_path / "rest.webm", b"".join(pieces[1:])))


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("empty.wav", b"", decode.EmptyAudio),
        ("text.wav", b"These are the minutes of the meeting.\n" * 40, decode.NotAudio),
        ("header.wav", a_wav(a_tone(0.0)), decode.EmptyAudio),
        ("riff.wav", b"RIFF\x00\x00\x00\x00WAVE", decode.EmptyAudio),
        ("cluster.webm", bytes.fromhex("1f43b675") + bytes(5_000), decode.NotAudio),
    ],
)
def test_what_is_no_sound_is_refused_by_its_own_error(
    tmp_path: Path, name: str, content: bytes, error: type[Exception]
) -> None:
    path = written(tmp_path / name, content)
    for use in (decode.probe, sound_of):
        with pytest.raises(error, match=name):
            use(path)


def test_a_missing_file_and_a_silent_film_are_named(tmp_path: Path) -> None:
    with pytest.raises(decode.AudioFileMissing, match="nowhere"):
        decode.probe(tmp_path / "nowhere.wav")
    with av.open(str(tmp_path / "film.mp4"), "w") as output:
        stream = output.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 32
        output.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")))
        output.mux(stream.encode(None))
    with pytest.raises(decode.NoAudioStream, match="film"):
        decode.probe(tmp_path / "film.mp4")


def two_parties() -> Samples:
    """One speaks while the other is silent; shape (n, 2)."""
    left, right = a_tone(8.0), a_tone(8.0, hertz=300.0)
    first = np.arange(len(left)) // 16_000 % 2 == 0
    return np.stack([left * first, right * ~first], axis=1)


def test_channels_with_different_people_are_kept_apart(tmp_path: Path) -> None:
    path = written(tmp_path / "call.wav", a_wav(two_parties()))
    assert decode.tracks(path) == (0, 1)
    assert np.abs(sound_of(path, channel=1) - two_parties()[:, 1]).max() < 1e-3


@pytest.mark.parametrize(
    ("other", "chosen"),
    [(1.0, (None,)), (0.5, (None,)), (0.0, (0,)), (-1.0, (0,))],
    ids=["same", "quieter", "dead", "inverted"],
)
def test_channels_with_the_same_sound_are_one(tmp_path: Path, other: float, chosen: tuple[int | None, ...]) -> None:
    path = written(tmp_path / "room.wav", a_wav(np.stack([a_tone(4.0), other * a_tone(4.0)], axis=1)))
    assert decode.tracks(path) == chosen


def test_the_hash_is_of_the_file_and_blocks_follow_each_other(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", a_wav(a_tone(1.0)))
    assert len(decode.probe(path).sha256) == 64
    found = [(round(block.start, 3), round(block.duration, 3)) for block in decode.blocks(path, seconds=0.4)]
    assert found == [(0.0, 0.4), (0.4, 0.4), (0.8, 0.2)]


def test_memory_does_not_grow_with_the_length(tmp_path: Path) -> None:
    peaks = []
    for minutes in (2, 8):
        path = written(tmp_path / f"{minutes}.wav", a_wav(np.tile(a_tone(1.0, rate=8_000), minutes * 60), rate=8_000))
        tracemalloc.start()
        assert sum(block.duration for block in decode.blocks(path, seconds=10.0)) == pytest.approx(minutes * 60, abs=0.1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] < 10_000_000


@pytest.mark.needs_shared
@pytest.mark.parametrize("seconds", [0.25])
def test_the_collected_wavs_are_all_heard_whole(shared: Path, seconds: float) -> None:
    found = {path.stem: decode.probe(path).duration for path in sorted((shared / "cases" / "samples").glob("wav__*.wav"))}
    assert len(found) == 6
    assert all(duration == pytest.approx(seconds, abs=0.002) for duration in found.values()), found
