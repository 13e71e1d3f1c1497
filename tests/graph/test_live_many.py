"""Streams that wait for sound leave the threads that everybody shares to the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from service.graph.driver import Graph, rows
from service.graph.spaces import save_space
from service.pipelines.ingest import IngestRequest
from service.types.people import SpaceSettings
from tests.builders import write_wav
from tests.graph.test_live import following

SHARED_THREADS = 2
OPEN = "MATCH (s:Session {space: $space, status: 'open'}) RETURN count(*) AS n"


@pytest.fixture
async def few_threads() -> AsyncIterator[None]:
    """As on a small machine."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(SHARED_THREADS))
    yield
    loop.set_default_executor(ThreadPoolExecutor())


async def test_more_streams_than_threads_do_not_stop_the_service(
    graph: Graph, space: str, tmp_path: Path, few_threads: None
) -> None:
    await graph.write(save_space, SpaceSettings(space))
    path = write_wav(tmp_path / "stream.wav", np.zeros(16_000, np.float32))
    request = IngestRequest(path, space, started_at=datetime(2026, 11, 2, 18, tzinfo=UTC))
    async with AsyncExitStack() as streams:
        for i in range(SHARED_THREADS + 1):
            _, task = await streams.enter_async_context(following(graph, replace(request, stream=f"s{i}"), 1.0))
            for _ in range(200):
                if (await graph.read(rows, OPEN, space=space))[0]["n"] > i or task.done():
                    break
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)  # by now each waits for more sound
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "answered"), timeout=10) == "answered"
