"""A recording becomes people and messages, once, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.audio.decode import EmptyAudio, NotAudio
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

MESSAGES = """
MATCH (m:Message {space: $space})<-[:UTTERED]-(l:LocalSpeaker)
OPTIONAL MATCH (p:Person)-[:SPEAKS]->(m)
RETURN m {.*} AS message, l.label AS track, p.id AS person ORDER BY m.session_id, m.index
"""
SESSIONS = "MATCH (s:Session {space: $space}) RETURN s {.*} AS session"
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


async def test_times_are_utc_and_the_zone_is_kept(graph: Graph, space: str, tmp_path: Path) -> None:
    started = datetime.fromisoformat("2026-03-01T10:00:00+01:00")
    path = write_wav(tmp_path / "nora.wav", a_clip("Nora").samples)
    await ingest(graph, space, path, started_at=started, zone="Europe/Vienna")
    kept = await session(graph, space)
    assert kept["started_at"] == datetime(2026, 3, 1, 9, tzinfo=UTC) and kept["zone"] == "Europe/Vienna"
    first = (await messages(graph, space))[0]
    assert first["said_at"].timestamp() == pytest.approx(started.timestamp() + first["start"], abs=1e-3)
