"""What a stream said outlives its process: taken up once, by whoever comes first, and by nobody while it is being written."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.api.spool import WAV_HEADER, Spool, StreamForgotten, left_behind, without_sound
from service.api.uploads import UploadConfig, Uploads, UploadTooLarge
from service.audio import decode
from service.pipelines.stream_notes import StreamNote, forget_streams

NOTE = StreamNote("s1", "home", "account", "token", "Supper", "Europe/Vienna", datetime(2026, 11, 2, tzinfo=UTC).isoformat())
SOUND = WAV_HEADER + b"\1\0" * 16_000


def begun(tmp_path: Path, sound: bytes = SOUND) -> Spool:
    spool = Spool.begun(tmp_path / "account", NOTE)
    spool.write(sound, limit=len(SOUND))
    return spool


def files(tmp_path: Path) -> set[str]:
    return {path.name for path in tmp_path.rglob("*") if path.is_file()}


def test_its_sound_becomes_an_upload_of_the_account_and_the_note_goes(tmp_path: Path) -> None:
    spool = begun(tmp_path)
    upload = spool.finish()
    assert upload.id == hashlib.sha256(SOUND).hexdigest() and upload.bytes == len(SOUND)
    spool.taken()
    path = Uploads(tmp_path, UploadConfig(max_bytes=10)).path("account", upload.id)
    assert files(tmp_path) == {upload.id} and decode.probe(path).duration == 1.0
    assert path.stat().st_mode & 0o077 == 0


def test_while_it_is_written_nobody_takes_it_up_and_then_it_is_whole(tmp_path: Path) -> None:
    spool = begun(tmp_path)
    assert list(left_behind(tmp_path)) == []
    spool.close()  # as the end of its process does
    (left,) = left_behind(tmp_path)
    assert left.note == NOTE and left.note.session_id == spool.note.session_id
    assert list(left_behind(tmp_path)) == []
    assert left.finish().id == hashlib.sha256(SOUND).hexdigest()


def test_of_a_process_that_ended_between_the_sound_and_the_job_the_upload_is_taken_up(tmp_path: Path) -> None:
    spool = begun(tmp_path)
    upload = spool.finish()
    spool.close()
    (left,) = left_behind(tmp_path)
    assert left.finish() == upload
    left.taken()
    assert files(tmp_path) == {upload.id} and list(left_behind(tmp_path)) == []


def test_what_may_not_be_kept_leaves_nothing_also_where_it_is_an_upload_already(tmp_path: Path) -> None:
    begun(tmp_path).discard()
    assert files(tmp_path) == set()
    spool = begun(tmp_path)
    spool.finish()
    spool.close()
    (left,) = left_behind(tmp_path)
    left.discard()
    assert files(tmp_path) == set()


def test_a_note_whose_sound_was_swept_is_told_of_once_and_no_other(tmp_path: Path) -> None:
    spool = begun(tmp_path)
    assert list(without_sound(tmp_path)) == []
    upload = spool.finish()
    assert list(without_sound(tmp_path)) == []
    uploads = Uploads(tmp_path, UploadConfig(max_bytes=10))
    assert uploads.sweep(uploads.path("account", upload.id).stat().st_mtime + 25 * 3600) == 1
    spool.close()
    assert list(left_behind(tmp_path)) == []
    assert [note.id for note in without_sound(tmp_path)] == ["s1"]
    assert list(without_sound(tmp_path)) == [] and files(tmp_path) == set()


def test_streams_of_a_space_go_with_it_and_who_writes_one_is_told(tmp_path: Path) -> None:
    over, going_on = begun(tmp_path), Spool.begun(tmp_path / "other", replace(NOTE, id="s2"))
    over.finish()
    elsewhere = Spool.begun(tmp_path / "account", replace(NOTE, id="s3", space="office"))
    elsewhere.write(SOUND, limit=len(SOUND))
    assert forget_streams(tmp_path, "home") == 2
    assert files(tmp_path) == {".stream-s3", ".stream-s3.json"}
    for late in (lambda: going_on.write(SOUND, limit=len(SOUND)), going_on.finish):
        with pytest.raises(StreamForgotten):
            late()
    going_on.discard()
    assert files(tmp_path) == {".stream-s3", ".stream-s3.json"}
    elsewhere.write(b"", limit=len(SOUND))


def test_no_more_is_kept_than_an_upload_may_have(tmp_path: Path) -> None:
    spool = begun(tmp_path)
    with pytest.raises(UploadTooLarge):
        spool.write(b"\0\0", limit=len(SOUND))
    assert spool.finish().bytes == len(SOUND)


@pytest.mark.parametrize("broken", ["", "[]", '{"id": "s9"}', '{"id": "s9", "of_a_later": "version"}'])
def test_a_note_that_cannot_be_read_hides_no_other_and_stays(broken: str, tmp_path: Path) -> None:
    spool = begun(tmp_path)
    spool.close()
    (note,) = tmp_path.rglob("*.json")
    bad = note.with_name(".stream-0.json")
    bad.write_text(broken)
    (taken,) = left_behind(tmp_path)
    assert taken.note == spool.note and bad.exists()
    taken.close()
