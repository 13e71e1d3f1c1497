from __future__ import annotations

import asyncio
import hashlib
import os
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.api.uploads import TooManyClips, TooMuchWaits, UploadConfig, UploadEmpty, Uploads, UploadTooLarge
from service.errors import NotFound


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def slowly(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        await asyncio.sleep(0)
        yield part


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path, UploadConfig(max_bytes=100, clip_bytes=10))


def files(uploads: Uploads) -> list[Path]:
    return [p for p in uploads.directory.rglob("*") if p.is_file()]


async def test_an_upload_is_named_by_its_hash_and_private(uploads: Uploads) -> None:
    upload = await uploads.save("account", chunks(b"so", b"und"))
    path = uploads.path("account", upload.id)
    assert upload.id == hashlib.sha256(b"sound").hexdigest() and upload.bytes == 5
    assert path.read_bytes() == b"sound"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_the_same_bytes_are_one_file(uploads: Uploads) -> None:
    assert await uploads.save("account", chunks(b"sound")) == await uploads.save("account", chunks(b"sound"))
    assert len(files(uploads)) == 1


async def test_somebody_elses_upload_does_not_exist(uploads: Uploads) -> None:
    upload = await uploads.save("account", chunks(b"sound"))
    for owner in ("other", None):
        with pytest.raises(NotFound):
            uploads.path(owner, upload.id)


@pytest.mark.parametrize("id", ["", "..", "../x", "/etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
async def test_an_id_that_is_no_hash_is_not_looked_for(uploads: Uploads, id: str) -> None:
    with pytest.raises(NotFound):
        uploads.path("account", id)


async def test_askers_without_a_token_cannot_fill_the_disk(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, UploadConfig(max_bytes=100, clip_bytes=10, anybody_bytes=12))
    await uploads.save(None, chunks(b"a" * 8))
    await uploads.save(None, chunks(b"b" * 4))
    with pytest.raises(TooManyClips):
        await uploads.save(None, chunks(b"c"))
    assert (await uploads.save("account", chunks(b"c"))).bytes == 1


async def test_an_account_cannot_fill_the_disk_by_many_uploads_nor_by_many_at_once(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, UploadConfig(max_bytes=10, account_bytes=25))
    first = await uploads.save("account", chunks(b"a" * 10))
    at_once = await asyncio.gather(
        *(uploads.save("account", slowly(letter * 4, letter * 4)) for letter in (b"b", b"c", b"d")), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in at_once) == ["TooMuchWaits", "TooMuchWaits", "Upload"]
    with pytest.raises(TooMuchWaits, match="0 MB of this account"):
        await uploads.save("account", chunks(b"e" * 8))
    assert sum(path.stat().st_size for path in files(uploads)) == 18
    assert (await uploads.save("other", chunks(b"e" * 8))).bytes == 8
    os.utime(uploads.path("account", first.id), (0, 0))
    uploads.sweep()
    assert (await uploads.save("account", chunks(b"e" * 8))).bytes == 8, "once what waited has gone"


async def test_the_same_bytes_again_count_once_while_others_come(tmp_path: Path) -> None:
    uploads, ends = Uploads(tmp_path, UploadConfig(max_bytes=10, account_bytes=25)), asyncio.Event()

    async def until_the_end() -> AsyncIterator[bytes]:
        yield b"z"
        await ends.wait()

    coming = asyncio.create_task(uploads.save("account", until_the_end()))
    await asyncio.sleep(0)
    for _ in range(5):
        await uploads.save("account", chunks(b"a" * 10))
    await uploads.save("account", chunks(b"b" * 10))
    with pytest.raises(TooMuchWaits):
        await uploads.save("account", chunks(b"c" * 10))
    ends.set()
    await coming
    assert sum(path.stat().st_size for path in files(uploads)) == 21


async def test_what_waits_already_is_taken_again_where_there_is_no_room_for_others(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, UploadConfig(max_bytes=10, account_bytes=15))
    first = await uploads.save("account", chunks(b"a" * 10))
    os.utime(uploads.path("account", first.id), (0, 0))
    assert await uploads.save("account", chunks(b"a" * 4, b"a" * 6)) == first
    assert time.time() - uploads.path("account", first.id).stat().st_mtime < 60, "its time is renewed"
    came: list[bytes] = []

    async def told(*parts: bytes) -> AsyncIterator[bytes]:
        for part in parts:
            came.append(part)
            yield part

    small = await uploads.save("account", chunks(b"b" * 5))
    for another in (b"a" * 9, b"a" * 9 + b"b"):
        with pytest.raises(TooMuchWaits):
            await uploads.save("account", chunks(another[:6], another[6:]))
    assert {path.name for path in files(uploads)} == {first.id, small.id}
    assert uploads.path("account", first.id).read_bytes() == b"a" * 10
    uploads.path("account", first.id).unlink()
    await uploads.save("account", chunks(b"c" * 8))
    with pytest.raises(TooMuchWaits):
        await uploads.save("account", told(b"d" * 5, b"d" * 4, b"d"))
    assert len(came) == 2, "what is longer than all that waits is none of it"


async def test_a_quota_below_the_longest_upload_lets_one_of_those_through(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, UploadConfig(max_bytes=10, account_bytes=5))
    assert (await uploads.save("account", chunks(b"a" * 10))).bytes == 10


async def test_an_empty_upload_is_refused(uploads: Uploads) -> None:
    with pytest.raises(UploadEmpty):
        await uploads.save("account", chunks(b"", b""))
    assert files(uploads) == []


async def test_too_many_bytes_are_refused_and_nothing_is_kept(uploads: Uploads) -> None:
    with pytest.raises(UploadTooLarge):
        await uploads.save("account", chunks(b"x" * 60, b"x" * 60))
    with pytest.raises(UploadTooLarge):
        await uploads.save(None, chunks(b"x" * 11))
    assert files(uploads) == []


async def test_a_broken_connection_leaves_nothing(uploads: Uploads) -> None:
    async def breaking() -> AsyncIterator[bytes]:
        yield b"x"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await uploads.save("account", breaking())
    assert files(uploads) == []


async def test_what_waited_too_long_is_forgotten(uploads: Uploads) -> None:
    kept, clip = await uploads.save("account", chunks(b"sound")), await uploads.save(None, chunks(b"voice"))
    assert uploads.sweep() == 0
    assert uploads.sweep(time.time() + 2 * 3600) == 1
    with pytest.raises(NotFound):
        uploads.path(None, clip.id)
    assert uploads.path("account", kept.id).exists()
    assert uploads.sweep(time.time() + 25 * 3600) == 1
