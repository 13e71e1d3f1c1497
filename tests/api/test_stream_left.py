"""What a stream leaves behind that is to be remembered: gone on with by the next process, and gone with its space."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import websockets

from service.api.stream import StreamConfig
from service.graph.driver import Graph, changes
from service.graph.jobs import Job, NewJob
from service.graph.spaces import find_space
from service.pipelines.jobs import Done, Jobs, JobsConfig
from service.settings import Settings
from service.types.audio import Progress
from service.types.ids import fresh
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.api.test_stream import NOISE, begin, of, rest_of, uploads_of
from tests.conftest import CREATE_SPACE

STREAM = StreamConfig(speed=20.0)
WAITING = JobsConfig(concurrent=0)
SCOPES = ["ask", "ingest"]
JOB = "query($id: ID!) { job(id: $id) { status error } }"


@pytest.fixture
async def space(graph: Graph) -> str:
    name = f"test-{fresh()}"
    await graph.write(changes, CREATE_SPACE, space=name)
    return name


@pytest.fixture
async def services(graph: Graph, space: str, tmp_path: Path) -> AsyncIterator[Services]:
    services = Services(Settings(data_dir=tmp_path, space=f"{space}-served"), graph)
    yield services
    await services.forget_space(space)
    await services.forget_space(f"{space}-served")


def socket_of(api: Api) -> websockets.connect:
    return websockets.connect(f"ws://127.0.0.1:{api.port}/stream")


async def kept(api: Api, token: str) -> str:
    """Id of the job of a short stream."""
    async with socket_of(api) as socket:
        await socket.send(begin(token, voice=False, remember=True))
        await socket.send(NOISE)
        await socket.send(json.dumps({"type": "end"}))
        (remembered,) = of("remembered", await rest_of(socket))
    return str(remembered["jobId"])


def notes(api: Api) -> list[str]:
    return sorted(path.name for path in uploads_of(api) if path.suffix == ".json")


async def test_the_next_process_goes_on_with_a_job_that_the_last_one_could_not_do(services: Services, space: str) -> None:
    async with serving(services, space, stream=STREAM, jobs=WAITING) as api:
        token = api.token(scopes=SCOPES)
        id = await kept(api, token)
        assert (await api.data(JOB, token, id=id))["job"]["status"] == "QUEUED" and len(notes(api)) == 1
    async with serving(services, space, stream=STREAM) as api:
        for _ in range(900):
            job = (await api.data(JOB, token, id=id))["job"]
            if job["status"] not in ("QUEUED", "RUNNING", "INTERRUPTED"):
                break
            await asyncio.sleep(0.1)
        assert job == {"status": "COMPLETE", "error": None} and notes(api) == []


async def test_a_space_that_was_forgotten_does_not_come_back_by_its_streams(
    services: Services, space: str, graph: Graph
) -> None:
    async with serving(services, space, stream=STREAM, jobs=WAITING) as api:
        token = api.token(scopes=SCOPES)
        await kept(api, token)
        async with socket_of(api) as socket:
            await socket.send(begin(token, voice=False, remember=True))
            await socket.recv()
            await socket.send(NOISE)
            assert len(notes(api)) == 2
            await services.forget_space(space)
            with suppress(websockets.ConnectionClosed):  # it is told at the next sound, silence included
                await socket.send(NOISE)
            events = await rest_of(socket)
            assert events[-1]["code"] == "stream_forgotten" and socket.close_code == 4403
        assert uploads_of(api) == set()
    async with serving(services, space, stream=STREAM) as api:
        await asyncio.sleep(1.0)
        assert uploads_of(api) == set()
    assert await graph.read(find_space, space) is None


async def test_a_job_whose_space_was_forgotten_is_not_done(services: Services, space: str, graph: Graph) -> None:
    done: list[str] = []
    last = asyncio.Event()

    async def run(job: Job, progress: Progress) -> Done:
        done.append(job.key)
        last.set()
        return Done(None, {})

    jobs = Jobs(graph, run, str)
    await jobs.submit(NewJob(space, "account", "of a space that goes", "ingest", "h"))
    await services.forget_space(space)
    await jobs.submit(NewJob(f"{space}-served", "account", "of one that stays", "ingest", "h"))
    await jobs.start()
    await asyncio.wait_for(last.wait(), 60)
    await jobs.stop()
    assert done == ["of one that stays"]
