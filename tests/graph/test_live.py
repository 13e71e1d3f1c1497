"""What is said on a stream is found while it is still being said, and once it is over nobody can tell that it was."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import service.demo
from service.audio import decode
from service.graph.driver import Graph, rows
from service.graph.dump import Dump, dump_space, without_history
from service.graph.forget_space import forget_space
from service.graph.spaces import save_space
from service.identity.opt_outs import Marker
from service.pipelines.consents import record_consent
from service.pipelines.ingest import IngestRequest
from service.pipelines.live import Growing, StreamStopped, give_up
from service.types.audio import SAMPLE_RATE
from service.types.ids import fresh
from service.types.people import Consent, ConsentPurpose, SpaceSettings
from tests.builders import write_wav
from tests.graph.ingest_process import an_ingest

DAY = Path(service.demo.__file__).parent / "household" / "day1.ogg"
HEADER = 44
SECONDS, SO_FAR = 54.0, 45.0

STATUS = """
MATCH (s:Session {space: $space})
RETURN s.id AS id, s.status AS status, s.error AS error, s.checkpoint AS checkpoint, s.duration AS duration,
       COUNT { (s)<-[:IN_SESSION]-() } AS num_messages
"""
READ_BY = """
MATCH (p:Person {space: $space})-[:MAY_READ]->(:Audience)<-[:FOR]-(m:Message)
RETURN p.id AS person, m.id AS message, EXISTS { (p)-[:SPEAKS]->(m) } AS own
"""


ATTENDED = """
MATCH (p:Person {space: $space})-[a:ATTENDED]->(:Session)
RETURN p.id AS person, COUNT { (p)-[:SPEAKS]->(m:Message) WHERE m.start >= a.starts[0] AND m.end <= a.ends[0] } AS turns
"""


SPOKEN = """
MATCH (m:Message {space: $space})
RETURN m.id AS message, m.speaker_id AS person, m.reason AS reason ORDER BY m.index
"""
VOICE_OF = """
MATCH (p:Person {space: $space, id: $person})
RETURN COUNT { (p)-[:HAS_EXEMPLAR]->() } AS exemplars
"""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    samples = np.concatenate([block.samples for block in decode.blocks(DAY, seconds=90)])[: round(SECONDS * SAMPLE_RATE)]
    return write_wav(tmp_path_factory.mktemp("stream") / "stream.wav", samples)


@pytest.fixture(scope="module")
def request_of(sound: Path) -> IngestRequest:
    return IngestRequest(sound, f"test-{fresh()}", stream="s1", started_at=datetime(2026, 11, 2, 18, tzinfo=UTC))


@pytest.fixture(scope="module")
async def whole(graph: Graph, request_of: IngestRequest) -> Dump:
    """The dump of what was only ingested when it was over."""
    await begin_anew(graph, request_of.space)
    await an_ingest(graph)(request_of)
    return await dumped(graph, request_of.space)


async def begin_anew(graph: Graph, space: str) -> None:
    await forget_space(graph, space)
    await graph.write(save_space, SpaceSettings(space))


async def dumped(graph: Graph, space: str) -> Dump:
    """Without what counts how often something was written: that differs with how it is divided."""
    return without_history(await graph.read(dump_space, space))


def different(one: Dump, other: Dump) -> list[Any]:
    return [
        item for kind in one for a, b in ((one[kind], other[kind]), (other[kind], one[kind])) for item in a if item not in b
    ]


@asynccontextmanager
async def following(
    graph: Graph, request: IngestRequest, seconds: float, marker: Marker | None = None
) -> AsyncIterator[tuple[Growing, asyncio.Task[None]]]:
    """A stream of which so much was said."""
    growing = Growing("s1", request.path, HEADER, seconds=seconds)
    task = asyncio.create_task(an_ingest(graph, marker=marker).follow(request, growing))
    try:
        yield growing, task
    finally:
        growing.stop()
        await asyncio.wait([task])


async def read_by_others(graph: Graph, space: str) -> set[tuple[str, str]]:
    return {(row["person"], row["message"]) for row in await graph.read(rows, READ_BY, space=space) if not row["own"]}


async def test_who_is_there_reads_what_is_said_while_it_goes_on_and_what_was_broken_off_ends_the_same(
    graph: Graph, request_of: IngestRequest, whole: Dump
) -> None:
    await begin_anew(graph, request_of.space)
    async with following(graph, request_of, SO_FAR) as (growing, task):
        for _ in range(600):
            if (meanwhile := await read_by_others(graph, request_of.space)) or task.done():
                break
            await asyncio.sleep(0.1)
        assert meanwhile and not task.done()
        there = {row["person"]: row["turns"] for row in await graph.read(rows, ATTENDED, space=request_of.space)}
        assert {person for person, _ in meanwhile} <= there.keys() and all(there.values()), "they attend what they read"
        (open_,) = await graph.read(rows, STATUS, space=request_of.space)
        assert open_["status"] == "open" and open_["duration"] == SO_FAR
        growing.stop()
        with pytest.raises(StreamStopped):
            await task
    (left,) = await graph.read(rows, STATUS, space=request_of.space)
    assert left["status"] == "open" and left["num_messages"] > 0
    report = await an_ingest(graph)(request_of)
    assert report.num_messages > left["num_messages"] and report.duration == SECONDS
    assert different(await dumped(graph, request_of.space), whole) == []
    assert meanwhile <= await read_by_others(graph, request_of.space), "what was read meanwhile is read at the end"


async def test_what_nobody_goes_on_with_is_read_by_its_speakers_alone_and_holds_no_voices(
    graph: Graph, request_of: IngestRequest
) -> None:
    await begin_anew(graph, request_of.space)
    async with following(graph, request_of, SO_FAR) as (_, task):
        for _ in range(600):
            if await read_by_others(graph, request_of.space) or task.done():
                break
            await asyncio.sleep(0.1)
    (left,) = await graph.read(rows, STATUS, space=request_of.space)
    own = {(row["person"], row["message"]) for row in await graph.read(rows, READ_BY, space=request_of.space) if row["own"]}
    assert left["checkpoint"] and own and await read_by_others(graph, request_of.space)
    for _ in range(2):
        await graph.write(give_up, request_of.space, left["id"], "leave_ended")
        (given_up,) = await graph.read(rows, STATUS, space=request_of.space)
        assert given_up == {**left, "status": "failed", "error": "leave_ended", "checkpoint": None}
        now = {(row["person"], row["message"]) for row in await graph.read(rows, READ_BY, space=request_of.space)}
        assert now == own and await graph.read(rows, ATTENDED, space=request_of.space) == []


async def test_what_was_written_to_the_end_is_only_closed_and_twice_is_once(
    graph: Graph, request_of: IngestRequest, whole: Dump
) -> None:
    await begin_anew(graph, request_of.space)
    async with following(graph, request_of, SECONDS) as (growing, task):
        growing.end()
        await task
    report = await an_ingest(graph)(request_of)
    assert not report.already_complete
    assert different(await dumped(graph, request_of.space), whole) == []
    assert (await an_ingest(graph)(request_of)).already_complete
    await graph.write(give_up, request_of.space, report.session_id, "leave_ended")
    assert different(await dumped(graph, request_of.space), whole) == []


async def test_who_refuses_while_the_stream_goes_on_is_nobody_from_then_on(graph: Graph, request_of: IngestRequest) -> None:
    space, marker = request_of.space, Marker(bytes(range(32)))
    await begin_anew(graph, space)
    async with following(graph, request_of, 30.0, marker) as (growing, task):
        for _ in range(900):
            if (before := await graph.read(rows, SPOKEN, space=space)) or task.done():
                break
            await asyncio.sleep(0.1)
        who = Counter(row["person"] for row in before if row["person"]).most_common(1)[0][0]
        await record_consent(
            graph, space=space, person_id=who, state=Consent.OPTED_OUT, text_version="1", channel="spoken",
            purpose=ConsentPurpose.ATTRIBUTE, marker=lambda: marker,
        )  # fmt: skip
        written = {row["message"] for row in await graph.read(rows, SPOKEN, space=space)}
        growing.wrote(round(2 * (SECONDS - 30.0) * SAMPLE_RATE))
        growing.end()
        await task
    after = [row for row in await graph.read(rows, SPOKEN, space=space) if row["message"] not in written]
    assert any(row["reason"] == "opted_out" for row in after), "they spoke on"
    assert not [row for row in after if row["person"] == who]
    (kept,) = await graph.read(rows, VOICE_OF, space=space, person=who)
    assert kept["exemplars"] == 0
    (left,) = await graph.read(rows, STATUS, space=space)
    pending = json.loads(left["checkpoint"])["fold"]["pending"]
    assert all(turn["vector"] is None for turn in pending if turn["reason"] == "opted_out")
