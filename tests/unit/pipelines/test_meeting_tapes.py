"""The sound of a meeting waits in files: all of it, in order, and no longer than it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.audio.live_sound import Form, Piece
from service.pipelines.meeting_tapes import Tapes, TapesConfig
from service.types.meeting import AudioEncoding, Base, Heard, SoundFrom, Speaker

ZERO = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ANA = Speaker("a", name="Ana Ruiz")
FORM = Form(AudioEncoding.S16, 16_000, 1)
ORIGIN = SoundFrom("home", "crm", "meeting 1", "c1")
ROOMY = TapesConfig(spare_bytes=0)


def heard(data: bytes, start: float | None = None, speaker: Speaker | None = None, base: Base = Base.EPOCH) -> Heard:
    return Heard(key="", data=data, encoding=AudioEncoding.S16, sample_rate=16_000, speaker=speaker, start=start, base=base)


def kept(tapes: Tapes, origin: SoundFrom = ORIGIN) -> list[bytes]:
    return [piece.data for tape in tapes.of(origin.space, origin.meeting_id) for piece in tape.pieces(ZERO)]


async def test_pieces_are_kept_as_they_came_with_both_bases_of_time(tmp_path: Path) -> None:
    tapes = Tapes(tmp_path / "meetings", ROOMY)
    now = ZERO + timedelta(seconds=5)
    await tapes.hear(ORIGIN, [heard(b"one!", ZERO.timestamp() + 1.5), heard(b"two!", 2.5, base=Base.MEETING)], now)
    await tapes.hear(ORIGIN, [heard(b"three!")], now)
    (tape,) = tapes.of("home", "meeting 1")
    assert tape.stream.speaker is None
    assert list(tape.pieces(ZERO)) == [
        Piece(b"one!", FORM, 1.5, 5.0),
        Piece(b"two!", FORM, 2.5, 5.0),
        Piece(b"three!", FORM, None, 5.0),
    ]


async def test_each_connection_and_participant_has_a_file_of_its_own(tmp_path: Path) -> None:
    tapes = Tapes(tmp_path / "meetings", ROOMY)
    await tapes.hear(SoundFrom("home", "crm", "meeting 1", "c2"), [heard(b"late")], ZERO + timedelta(seconds=9))
    await tapes.hear(ORIGIN, [heard(b"ana!", speaker=ANA), heard(b"all!")], ZERO)
    found = tapes.of("home", "meeting 1")
    assert [tape.stream.connection for tape in found] == ["c1", "c1", "c2"]
    assert {tape.stream.speaker for tape in found} == {ANA, None}
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "meetings").rglob("*.tape")} == {0o600}


async def test_one_id_of_two_bots_is_two_participants(tmp_path: Path) -> None:
    tapes, one, two = Tapes(tmp_path / "meetings", ROOMY), replace(ANA, bot="b-1"), replace(ANA, bot="b-2")
    await tapes.hear(ORIGIN, [heard(b"one!", speaker=one), heard(b"two!", speaker=two), heard(b"more", speaker=one)], ZERO)
    found = {tape.stream.speaker: b"".join(piece.data for piece in tape.pieces(ZERO)) for tape in tapes.of("home", "meeting 1")}
    assert found == {one: b"one!more", two: b"two!"}


async def test_another_process_goes_on_in_files_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "meetings"
    await Tapes(folder, ROOMY).hear(ORIGIN, [heard(b"one!")], ZERO)
    (path,) = folder.rglob("*.tape")
    os.truncate(path, path.stat().st_size - 1)  # cut off by a kill
    await Tapes(folder, ROOMY).hear(ORIGIN, [heard(b"two!")], ZERO + timedelta(seconds=1))
    assert kept(Tapes(folder)) == [b"two!"]


def test_what_was_kept_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    program = f"""
import asyncio, os, signal
from datetime import UTC, datetime
from pathlib import Path
from service.pipelines.meeting_tapes import Tapes
from service.types.meeting import AudioEncoding, Heard, SoundFrom
tapes = Tapes(Path({str(tmp_path)!r}))
piece = Heard(key="", data=b"kept", encoding=AudioEncoding.S16, sample_rate=16_000)
asyncio.run(tapes.hear(SoundFrom("home", "crm", "meeting 1", "c1"), [piece], datetime.now(UTC)))
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert done.returncode == -9
    assert kept(Tapes(tmp_path)) == [b"kept"]


async def test_beyond_its_limit_no_sound_of_a_meeting_is_kept_and_that_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    tapes = Tapes(tmp_path, TapesConfig(meeting_bytes=1_000, spare_bytes=0))
    for _ in range(5):
        await tapes.hear(ORIGIN, [heard(bytes(400))], ZERO)
    other = SoundFrom("home", "crm", "meeting 2", "c1")
    await tapes.hear(other, [heard(b"fits")], ZERO)
    assert (len(kept(tapes)), kept(tapes, other)) == (2, [b"fits"])
    assert caplog.text.count("no more sound is kept") == 1


async def test_where_the_disk_is_nearly_full_no_sound_is_kept(tmp_path: Path) -> None:
    tapes = Tapes(tmp_path, TapesConfig(spare_bytes=1 << 60))
    await tapes.hear(ORIGIN, [heard(b"much")], ZERO)
    assert not kept(tapes)


async def test_a_meeting_and_a_space_are_forgotten(tmp_path: Path) -> None:
    tapes, other, elsewhere = Tapes(tmp_path, ROOMY), SoundFrom("home", "crm", "../m", ""), SoundFrom("work", "crm", "m", "")
    for origin in (ORIGIN, other, elsewhere):
        await tapes.hear(origin, [heard(b"some")], ZERO)
    tapes.forget("home", "meeting 1")
    assert (kept(tapes), kept(tapes, other)) == ([], [b"some"])
    tapes.forget_space("home")
    tapes.forget_space("home")
    assert (kept(tapes, other), kept(tapes, elsewhere)) == ([], [b"some"])


async def test_what_nobody_closes_is_forgotten_after_its_time(tmp_path: Path) -> None:
    tapes = Tapes(tmp_path, TapesConfig(spare_bytes=0, kept=3_600.0))
    for origin in (ORIGIN, SoundFrom("home", "crm", "meeting 2", "c1")):
        await tapes.hear(origin, [heard(b"some")], ZERO)
    (tape,) = tapes.of("home", "meeting 1")
    old = time.time() - 3_700.0
    os.utime(tape.path, (old, old))
    assert (tapes.forget_expired(), kept(tapes)) == (1, [])
    assert kept(tapes, SoundFrom("home", "crm", "meeting 2", "c1")) == [b"some"]


def test_who_shares_a_data_folder_has_one_place(tmp_path: Path) -> None:
    assert len({Tapes(tmp_path / "shared").place for _ in range(3)}) == 1
    assert Tapes(tmp_path / "other").place != Tapes(tmp_path / "shared").place
    assert [file.name for file in (tmp_path / "shared").iterdir()] == ["place"]
