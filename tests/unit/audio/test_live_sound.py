"""Pieces of a meeting's sound, however they come, are at their time in one recording of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.audio import decode
from service.audio.live_sound import Form, Joined, Piece, join, mix, side_by_side
from service.types.audio import SAMPLE_RATE, Samples
from service.types.meeting import AudioEncoding

S16 = Form(AudioEncoding.S16, SAMPLE_RATE, 1)
PIECE = 0.1
"""Seconds of one."""


def tone(seconds: float, rate: int = SAMPLE_RATE, hertz: float = 440.0, level: float = 0.5) -> Samples:
    return (level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def raw(samples: Samples, encoding: AudioEncoding = AudioEncoding.S16) -> bytes:
    return samples.astype("<f4").tobytes() if encoding is AudioEncoding.F32 else (samples * 32767).astype("<i2").tobytes()


def cut(samples: Samples, form: Form = S16, *, at: float | None = 0.0, came: float = 0.0) -> list[Piece]:
    """In pieces, the first of which is `at` (None: no times), and came whole `PIECE` after `came`."""
    size = round(PIECE * form.sample_rate)
    return [
        Piece(
            raw(np.repeat(samples[n : n + size], form.channels), form.encoding),
            form,
            None if at is None else at + n / form.sample_rate,
            came + (n + size) / form.sample_rate,
        )
        for n in range(0, len(samples), size)
    ]


def heard(path: Path, *connections: Sequence[Piece]) -> tuple[Samples, Joined]:
    told = join(connections, path / "sound.wav")
    if not told.duration:
        return np.zeros(0, np.float32), told
    return np.concatenate([block.samples for block in decode.blocks(path / "sound.wav", seconds=60.0)]), told


def alike(found: Samples, wanted: Samples, tolerance: float = 0.02) -> bool:
    """The same sound, but for the edges, where resampling rings."""
    size, edge = min(len(found), len(wanted)), SAMPLE_RATE // 50
    return bool(np.abs(found[edge : size - edge] - wanted[edge : size - edge]).max() < tolerance)


@pytest.mark.parametrize("encoding", [AudioEncoding.S16, AudioEncoding.F32])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 32_000, 44_100, 48_000])
def test_case_35_every_rate_and_width_of_frames_is_the_same_sound(
    tmp_path: Path, encoding: AudioEncoding, channels: int, rate: int
) -> None:
    found, told = heard(tmp_path, cut(tone(1.0, rate), Form(encoding, rate, channels)))
    assert abs(told.duration - 1.0) < 0.01 and told.left_out == 0
    assert alike(found, tone(1.0))


def test_case_34_packets_of_opus_without_a_container_are_decoded(tmp_path: Path) -> None:
    encoder = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.format, encoder.layout = 48_000, "s16", "mono"
    encoder.open()
    samples, packets = tone(2.0, 48_000), []
    size = encoder.frame_size
    for n in range(0, len(samples), size):
        pcm = (samples[n : n + size] * 32767).astype("<i2")
        frame = av.AudioFrame.from_ndarray(pcm[None, :], format="s16", layout="mono")
        frame.sample_rate = 48_000
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    form = Form(AudioEncoding.OPUS, 48_000, 1)
    pieces = [Piece(data, form, n * size / 48_000, (n + 1) * size / 48_000) for n, data in enumerate(packets)]
    pieces.insert(5, Piece(b"", form, None, 0.1))
    pieces.insert(6, Piece(b"\xff no packet", form, pieces[6].start, 0.1))
    found, told = heard(tmp_path, pieces)
    assert abs(told.duration - 2.0) < 0.05
    level = np.sqrt(np.mean(found[SAMPLE_RATE // 2 : SAMPLE_RATE] ** 2))
    assert abs(level - 0.5 / np.sqrt(2)) < 0.05


def test_a_gap_is_silence_and_what_is_after_it_is_at_its_time(tmp_path: Path) -> None:
    found, _ = heard(tmp_path, [*cut(tone(1.0)), *cut(tone(1.0), at=3.0)])
    assert len(found) == 4 * SAMPLE_RATE
    assert alike(found[:SAMPLE_RATE], tone(1.0)) and alike(found[3 * SAMPLE_RATE :], tone(1.0))
    assert not found[SAMPLE_RATE : 3 * SAMPLE_RATE].any()


def test_a_connection_that_follows_on_a_broken_one_says_again_what_was_said_once(tmp_path: Path) -> None:
    whole = tone(3.0)
    first, second = cut(whole[: 2 * SAMPLE_RATE]), cut(whole[SAMPLE_RATE:], at=1.0, came=1.5)
    found, _ = heard(tmp_path, first, second)
    assert len(found) == 3 * SAMPLE_RATE and alike(found, whole)


def test_pieces_without_a_time_follow_on_from_when_their_connection_began(tmp_path: Path) -> None:
    found, _ = heard(tmp_path, cut(tone(1.0), at=None, came=0.0), cut(tone(1.0), at=None, came=5.0))
    assert len(found) == 6 * SAMPLE_RATE
    assert alike(found[5 * SAMPLE_RATE :], tone(1.0)) and not found[SAMPLE_RATE : 5 * SAMPLE_RATE].any()


def test_pieces_that_came_late_and_together_are_one_sound(tmp_path: Path) -> None:
    pieces = [Piece(p.data, p.form, None, max(p.received, 0.1 if n < 3 else 2.0)) for n, p in enumerate(cut(tone(2.0)))]
    found, told = heard(tmp_path, pieces)
    assert told.duration == 2.0 and alike(found, tone(2.0))


def test_a_sender_that_was_silent_for_long_goes_on_when_its_sound_comes(tmp_path: Path) -> None:
    found, _ = heard(tmp_path, [*cut(tone(1.0), at=None), *cut(tone(1.0), at=None, came=30.0)])
    assert abs(len(found) - 31 * SAMPLE_RATE) < 10


def test_a_piece_at_no_time_of_the_meeting_is_left_out_and_counted(tmp_path: Path) -> None:
    found, told = heard(tmp_path, [*cut(tone(1.0)), Piece(raw(tone(0.1)), S16, 1.7e9, 1.0)])
    assert (told.duration, told.left_out) == (1.0, 1) and len(found) == SAMPLE_RATE


def test_what_was_before_the_meeting_is_none_of_it(tmp_path: Path) -> None:
    found, told = heard(tmp_path, cut(tone(2.0), at=-1.0))
    assert told.duration == 1.0 and alike(found, tone(2.0)[SAMPLE_RATE:])


def test_no_pieces_are_no_sound(tmp_path: Path) -> None:
    assert heard(tmp_path, [])[1] == Joined(0.0, 0)


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(20)), st.lists(st.integers(0, 19), max_size=5), st.integers(0, 20))
def test_in_any_order_and_twice_pieces_with_times_make_the_same_sound(
    tmp_path_factory: pytest.TempPathFactory, order: Sequence[int], again: Sequence[int], broken: int
) -> None:
    pieces = cut(tone(2.0))
    sent = [pieces[n] for n in (*order, *again)]
    found, _ = heard(tmp_path_factory.mktemp("sound"), sent[:broken], sent[broken:])
    assert np.array_equal((found * 32768).round(), (tone(2.0) * 32767).astype("<i2"))


@settings(max_examples=40, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from(list(AudioEncoding)),
    st.sampled_from([8_000, 16_000, 48_000]),
    st.sampled_from([1, 2]),
    st.none() | st.floats(-1e6, 1e6),
)
def test_any_bytes_are_sound_or_left_out(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    encoding: AudioEncoding,
    rate: int,
    channels: int,
    start: float | None,
) -> None:
    piece = Piece(data, Form(encoding, rate, channels), start, 1.0)
    told = join([[piece, piece]], tmp_path_factory.mktemp("sound") / "sound.wav")
    assert 0.0 <= told.duration <= 24 * 3_600.0 + 1.0


def test_streams_are_summed_or_put_side_by_side(tmp_path: Path) -> None:
    one, other = tmp_path / "one.wav", tmp_path / "other.wav"
    join([cut(tone(1.0, level=0.25))], one)
    join([cut(tone(2.0, hertz=880.0, level=0.25))], other)
    mix([one, other], tmp_path / "mixed.wav")
    (mixed,) = decode.blocks(tmp_path / "mixed.wav", seconds=10.0)
    both = np.concatenate([tone(1.0, level=0.25), np.zeros(SAMPLE_RATE, np.float32)]) + tone(2.0, hertz=880.0, level=0.25)
    assert alike(mixed.samples, both)
    side_by_side([one, other], tmp_path / "both.wav")
    assert decode.probe(tmp_path / "both.wav").channels == 2
    (second,) = decode.blocks(tmp_path / "both.wav", seconds=10.0, channel=1)
    assert len(second.samples) == 2 * SAMPLE_RATE and alike(second.samples, tone(2.0, hertz=880.0, level=0.25))
