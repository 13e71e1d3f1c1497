"""A recording becomes people and messages, once, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.audio.decode import EmptyAudio, NotAudio
from service.audio.narrow import narrow
from service.connectors.files import TranscriptDoesNotFit, TranscriptUnreadable
from service.errors import InvalidInput, VoicegraphError
from service.graph.driver import Graph, rows
from service.graph.dump import dump_space
from service.graph.write_sessions import SessionConflict
from service.pipelines.ingest import IngestReport, IngestRequest
from service.pipelines.recording import WrongContent
from service.types.audio import SAMPLE_RATE
from tests import models
from tests.builders import write_wav
from tests.graph.ingest_process import an_ingest
from tests.unit.audio.speech import HOUSEHOLD, a_clip
from tests.unit.audio.test_decode import a_wav

MESSAGES = """
MATCH (m:Message {space: $space})<-[:UTTERED]-(l:LocalSpeaker)
OPTIONAL MATCH (p:Person)-[:SPEAKS]->(m)
RETURN m {.*} AS message, l.label AS track, p.id AS person ORDER BY m.session_id, m.index
"""
SESSIONS = "MATCH (s:Session {space: $space}) RETURN s {.*} AS session"
LINKS = "MATCH (:Person {space: $space})-[r:SPEAKS {decision: 'link'}]->() RETURN r.channels AS channels"
EDGES = "MATCH (m:Message {space: $space})-[r]->() RETURN type(r) AS type, count(r) AS count"


async def messages(graph: Graph, space: str) -> list[dict[str, Any]]:
    return [
        {**row["message"], "track": row["track"], "person": row["person"]}
        for row in await graph.read(rows, MESSAGES, space=space)
    ]


async def session(graph: Graph, space: str) -> dict[str, Any]:
    (row,) = await graph.read(rows, SESSIONS, space=space)
    return dict(row["session"])


async def ingest(graph: Graph, space: str, path: Path, *, words: bool = False, **given: Any) -> IngestReport:
    return await an_ingest(graph, words=words)(IngestRequest(path, space, **given))


def people(found: Iterable[dict[str, Any]]) -> set[str]:
    return {message["person"] for message in found if message["person"]}


async def test_a_real_conversation_becomes_people_messages_and_what_stands_between_them(graph: Graph, space: str) -> None:
    stages: list[tuple[float, str]] = []
    report = await an_ingest(graph, words=True)(
        IngestRequest(models.ami_sample(), space), lambda share, stage: stages.append((share, stage))
    )
    found = await messages(graph, space)
    assert len(people(found)) == 2 == report.people_created
    assert report.num_messages == len(found) == sum(report.decisions.values())
    assert "Chicago" in " ".join(m.get("text", "") for m in found)
    worded = [m for m in found if "text" in m]
    assert all(m["provenance"].startswith("recognised:") and m["language"] == "en" for m in worded)
    assert all(len(m[f"embedding__e5_small_v2_q__{view}"]) == 384 for m in worded for view in ("turn", "context"))
    assert any(m["embedding__e5_small_v2_q__turn"] != m["embedding__e5_small_v2_q__context"] for m in worded)
    counted = {row["type"]: row["count"] for row in await graph.read(rows, EDGES, space=space)}
    assert counted["IN_SESSION"] == counted["FOR"] == len(found)
    assert counted["ADDRESSES"] >= 5 and counted["REPLIES_TO"] >= 3
    assert {"probe", "decode", "diarise", "voice", "recognise", "text", "graph"} <= set(report.cpu)
    assert [share for share, _ in stages] == sorted(share for share, _ in stages) and stages[-1] == (1.0, "complete")
    ended = await session(graph, space)
    assert ended["status"] == "complete" and "checkpoint" not in ended


async def test_the_same_file_twice_changes_nothing(graph: Graph, space: str, tmp_path: Path) -> None:
    first = await ingest(graph, space, models.ami_sample())
    before = await graph.read(dump_space, space)
    copy = tmp_path / "another name.wav"
    copy.write_bytes(models.ami_sample().read_bytes())
    second = await ingest(graph, space, copy)
    assert second.already_complete and not first.already_complete
    assert second.session_id == first.session_id and second.decisions == first.decisions
    assert await graph.read(dump_space, space) == before


async def test_the_same_session_with_another_recording_is_a_conflict(graph: Graph, space: str, tmp_path: Path) -> None:
    one = write_wav(tmp_path / "one.wav", a_clip("Nora").samples)
    two = write_wav(tmp_path / "two.wav", a_clip("Ben").samples)
    await ingest(graph, space, one, session_id=f"{space}-kitchen")
    before = await graph.read(dump_space, space)
    with pytest.raises(SessionConflict):
        await ingest(graph, space, two, session_id=f"{space}-kitchen")
    assert await graph.read(dump_space, space) == before


async def test_somebody_met_in_one_recording_is_known_in_the_next(graph: Graph, space: str, tmp_path: Path) -> None:
    for number in range(2):
        await ingest(graph, space, write_wav(tmp_path / f"{number}.wav", a_clip("Nora", number).samples))
    found = await messages(graph, space)
    assert len(people(found)) == 1 and [m["decision"] for m in found if m["decision"] in ("create", "link")]


async def test_somebody_met_in_a_room_is_known_when_they_call(graph: Graph, space: str, tmp_path: Path) -> None:
    await ingest(graph, space, write_wav(tmp_path / "room.wav", a_clip("Nora").samples))
    await ingest(graph, space, write_wav(tmp_path / "call.wav", narrow(a_clip("Nora", 1)).samples))
    found = await messages(graph, space)
    assert {m["channel"] for m in found} == {"wideband", "telephone"} and len(people(found)) == 1
    links = [row["channels"] for row in await graph.read(rows, LINKS, space=space)]
    assert "twin" in links, "by the voice in the room, made narrow"


async def test_a_transcript_with_speakers_gives_boundaries_tracks_and_text(graph: Graph, space: str) -> None:
    report = await ingest(graph, space, HOUSEHOLD / "day1.ogg", transcript=HOUSEHOLD / "day1.vtt")
    found = await messages(graph, space)
    assert found[0]["text"] == "Ben, did you remember to call the plumber about the leak under the kitchen sink?"
    assert found[0]["track"] == "Nora" and found[0]["provenance"] == "transcript:vtt"
    by_track = {track: people(m for m in found if m["track"] == track) for track in ("Nora", "Ben", "Ruth")}
    assert all(len(each) == 1 for each in by_track.values()) and len(set.union(*by_track.values())) == 3
    assert report.people_created == 3


async def test_two_people_on_two_channels_are_heard_apart_and_in_one_order(graph: Graph, space: str, tmp_path: Path) -> None:
    pause = np.zeros(SAMPLE_RATE, np.float32)
    nora, ben = a_clip("Nora", 3).samples, a_clip("Ben", 0).samples
    left = np.concatenate([nora, pause, np.zeros_like(ben), pause, a_clip("Nora", 7).samples])
    right = np.concatenate([np.zeros_like(nora), pause, ben])
    await ingest(graph, space, write_wav(tmp_path / "call.wav", left, right))
    found = await messages(graph, space)
    assert [m["index"] for m in found] == list(range(len(found)))
    assert [m["start"] for m in found] == sorted(m["start"] for m in found)
    channels = [m["track"].partition("/")[0] for m in found]
    assert channels[0] == channels[-1] == "channel_1" and "channel_2" in channels
    assert len(people(found)) == 2


async def test_silence_is_a_session_without_messages(graph: Graph, space: str, tmp_path: Path) -> None:
    quiet = np.random.default_rng(0).normal(0, 1e-5, 20 * SAMPLE_RATE).astype(np.float32)
    report = await ingest(graph, space, write_wav(tmp_path / "silence.wav", quiet), words=True)
    assert report.num_messages == 0 and (await session(graph, space))["status"] == "complete"


async def test_one_second_of_speech_makes_nobody_new(graph: Graph, space: str, tmp_path: Path) -> None:
    samples = np.concatenate([a_clip("Nora", seconds=1.0).samples, np.zeros(SAMPLE_RATE, np.float32)])
    report = await ingest(graph, space, write_wav(tmp_path / "short.wav", samples))
    assert report.people_created == 0
    assert {(m["decision"], m["person"]) for m in await messages(graph, space)} <= {("unresolved", None)}
    assert (await session(graph, space))["status"] == "complete"


async def test_a_transcript_that_does_not_fit_fails_the_session_and_may_be_replaced(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    audio = write_wav(tmp_path / "short.wav", a_clip("Nora").samples)
    with pytest.raises(TranscriptDoesNotFit):
        await ingest(graph, space, audio, transcript=HOUSEHOLD / "day1.vtt")
    failed = await session(graph, space)
    assert (failed["status"], failed["error"]) == ("failed", "transcript_does_not_fit")
    await ingest(graph, space, audio)
    mended = await session(graph, space)
    assert mended["status"] == "complete" and "error" not in mended


@pytest.mark.parametrize(
    ("content", "error"), [(b"", EmptyAudio), (b"These are words, not sound.\n" * 50, NotAudio)], ids=["empty", "text"]
)
async def test_what_is_no_sound_leaves_nothing(
    graph: Graph, space: str, tmp_path: Path, content: bytes, error: type[VoicegraphError]
) -> None:
    path = tmp_path / "sound.wav"
    path.write_bytes(content)
    with pytest.raises(error):
        await ingest(graph, space, path)
    assert await graph.read(rows, SESSIONS, space=space) == []


async def test_what_the_caller_says_wrongly_is_refused_before_anything_is_written(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    path = write_wav(tmp_path / "nora.wav", a_clip("Nora").samples)
    with pytest.raises(WrongContent):
        await ingest(graph, space, path, sha256="0" * 64)
    with pytest.raises(InvalidInput):
        await ingest(graph, space, path, started_at=datetime(2026, 3, 29, 2, 30))
    with pytest.raises(TranscriptUnreadable):
        await ingest(graph, space, path, transcript=tmp_path / "missing.vtt")
    assert await graph.read(rows, SESSIONS, space=space) == []


CAPTIONS = """WEBVTT

00:00:00.200 --> 00:00:02.000
These are five spoken words

00:00:08.000 --> 00:00:10.000
Nobody says this

in all the silence

00:00:12.000 --> 00:00:11.000
Backwards
"""


class BrokenOff(Exception):
    """Stands for whatever ends a run in the middle."""


async def test_words_that_are_in_no_message_are_counted_also_when_the_run_was_broken_off(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    audio = write_wav(tmp_path / "nora.wav", np.pad(a_clip("Nora").samples[:48_000], (0, 10 * SAMPLE_RATE)))
    captions = tmp_path / "captions.vtt"
    captions.write_text(CAPTIONS)
    request = IngestRequest(audio, space, transcript=captions)

    def break_off(share: float, stage: str) -> None:
        if stage == "hear":
            raise BrokenOff

    with pytest.raises(BrokenOff):
        await an_ingest(graph)(request, break_off)
    assert (await session(graph, space))["status"] == "open"
    for already_complete in (False, True):
        report = await an_ingest(graph)(request)
        assert report.already_complete is already_complete
        assert (report.words_left_out, report.captions_mended) == (8, 2)
    assert [m["text"] for m in await messages(graph, space)] == ["These are five spoken words"]
    kept = await session(graph, space)
    assert (kept["words_left_out"], kept["captions_mended"]) == (8, 2)


async def test_a_transcript_of_a_silent_recording_is_left_out_and_said_so(graph: Graph, space: str, tmp_path: Path) -> None:
    captions = tmp_path / "captions.vtt"
    captions.write_text(CAPTIONS)
    silence = write_wav(tmp_path / "silence.wav", np.zeros(14 * SAMPLE_RATE, np.float32))
    report = await ingest(graph, space, silence, transcript=captions)
    assert (report.num_messages, report.words_left_out, report.captions_mended) == (0, 13, 2)


def telephone(samples: np.ndarray) -> np.ndarray:
    """At 8 kHz."""
    spectrum = np.fft.rfft(samples[: len(samples) // 2 * 2])
    return np.fft.irfft(spectrum[: len(samples) // 4 + 1], len(samples) // 2).astype(np.float32) / 2


async def test_a_voice_is_heard_in_every_form_of_wav(graph: Graph, space: str, tmp_path: Path) -> None:
    """One voice in ten files, each a session of its own; whatever the header says, all of it is heard once."""
    said = a_clip("Nora").samples
    whole = a_wav(said)
    forms = {
        "plain": whole,
        "size_0": a_wav(said, size=0),
        "size_7fffffff": a_wav(said, size=0x7FFFFFFF),
        "size_ffffffff": a_wav(said, size=0xFFFFFFFF),
        "truncated": whole[: len(whole) * 9 // 10],
        "joined": whole + a_wav(a_clip("Nora", 3).samples, size=0),
        "24_bit": a_wav(said, bits=24),
        "float": a_wav(said, form=3, bits=32),
        "extensible": a_wav(said, form=0xFFFE),
        "8_khz": a_wav(telephone(said), rate=8_000),
    }
    lengths = {"truncated": 0.9 * len(said), "joined": len(said) + len(a_clip("Nora", 3).samples)}
    for name, content in forms.items():
        path = tmp_path / f"{name}.wav"
        path.write_bytes(content)
        report = await ingest(graph, space, path)
        assert report.duration == pytest.approx(lengths.get(name, len(said)) / SAMPLE_RATE, abs=0.01), name
        assert report.num_messages >= 1 and report.people_created == (name == "plain"), (name, report)
    found = await messages(graph, space)
    assert len(people(found)) == 1
    (last,) = {m["session_id"] for m in found} & {report.session_id}
    assert {m["channel"] for m in found if m["session_id"] == last} == {"telephone"}


async def test_music_is_a_session_without_people(graph: Graph, space: str, tmp_path: Path) -> None:
    """Chords, a bass, a melody with vibrato and drums, for half a minute."""
    times = np.arange(30 * SAMPLE_RATE) / SAMPLE_RATE
    noise = np.random.default_rng(7).normal(0.0, 1.0, len(times))
    bar = np.array([0, 5, 7, 0])[(times / 2.0 % 4).astype(int)]
    note = np.array([0, 4, 7, 12, 11, 7, 4, 2])[(times / 0.25 % 8).astype(int)]

    def voice(semitones: np.ndarray, hertz: float, decay: float, step: float, vibrato: float = 0.0) -> np.ndarray:
        pitch = hertz * 2 ** (semitones / 12) * (1 + vibrato * np.sin(2 * np.pi * 5.5 * times))
        phase = 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE
        tone = sum(np.sin(k * phase) / k**1.5 for k in range(1, 6))
        return np.asarray(tone * np.exp(-decay * (times % step)))

    music = 0.05 * sum(voice(bar + third, 220.0, 0.7, 2.0) for third in (0, 4, 7))
    music += 0.1 * voice(bar, 55.0, 1.5, 0.5) + 0.08 * voice(bar + note, 440.0, 3.0, 0.25, vibrato=0.004)
    music += 0.1 * noise * np.exp(-30 * (times % 0.5))
    report = await ingest(graph, space, write_wav(tmp_path / "music.wav", music.astype(np.float32)), words=True)
    assert (report.people_created, report.num_messages) == (0, 0)
    assert (await session(graph, space))["status"] == "complete"


async def test_times_are_utc_and_the_zone_is_kept(graph: Graph, space: str, tmp_path: Path) -> None:
    started = datetime.fromisoformat("2026-03-01T10:00:00+01:00")
    path = write_wav(tmp_path / "nora.wav", a_clip("Nora").samples)
    await ingest(graph, space, path, started_at=started, zone="Europe/Vienna")
    kept = await session(graph, space)
    assert kept["started_at"] == datetime(2026, 3, 1, 9, tzinfo=UTC) and kept["zone"] == "Europe/Vienna"
    first = (await messages(graph, space))[0]
    assert first["said_at"].timestamp() == pytest.approx(started.timestamp() + first["start"], abs=1e-3)
