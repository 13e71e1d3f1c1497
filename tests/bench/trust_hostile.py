"""Does the service stand what people send who mean harm? 5,000 requests over HTTP to a service as a user starts it: no fault of
its own, nothing of others, and no more memory at the end than after the first 500. Then 700 websockets.

`python -m tests.bench.trust --parts hostile [--quick] [--json PATH]`; part of NAME=trust. tests/hostile/requests.py and
sockets.py have what is sent. Rates are not limited here, or most would end at that. With NEO4J_URI the server there is used, in
two spaces that are forgotten again; without, one is started."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psutil

from service.graph.driver import Graph, GraphConfig
from service.graph.forget_space import forget_space
from service.types.ids import fresh
from tests.bench.connector_webhook import _neo4j
from tests.bench.report import Report
from tests.hostile.requests import Sent
from tests.hostile.siege import House, Tally, besiege, furnished, remembered
from tests.hostile.sockets import beset, take_deliveries, talks
from tests.models import CACHE

REQUESTS, QUICK_REQUESTS = 5_000, 570
TALKS, QUICK_TALKS = 700, 140
WARM = 500
"""Requests after which models are loaded and caches full."""
AT_ONCE = 4
SEED = 2026
WHERE = "hostile"


def run(report: Report, *, quick: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="voicegraph-bench-") as folder, _neo4j(Path(folder)) as (config, _):
        some = (QUICK_REQUESTS, QUICK_TALKS) if quick else (REQUESTS, TALKS)
        asyncio.run(_run(report, Path(folder), config, *some))


async def _run(report: Report, folder: Path, config: GraphConfig, n: int, num_talks: int) -> None:
    space, elsewhere = f"hostile-{fresh()}", f"hostile-{fresh()}"
    graph = await Graph.open(config)
    try:
        house = await furnished(graph, space, elsewhere, folder / "tokens.json")
        take_deliveries(folder / "hooks.toml", elsewhere)
        over_sockets = Tally()
        before = await remembered(graph, space)
        async with _service(folder, config, space) as (url, service):
            tally, grown = await _send(url, service, house, n)
            some = list(talks(house.hostile(SEED), num_talks))
            await beset(url.replace("http", "ws", 1), house, some, over_sockets, at_once=AT_ONCE)
        written = await remembered(graph, space) != before
    finally:
        for one in (space, elsewhere):
            await forget_space(graph, one)
        await graph.close()
    for where, one in ((WHERE, tally), (f"{WHERE}/sockets", over_sockets)):
        _tell(one)
        report.add("server_errors", where, "ours", len(one.faults), "count", one.answered)
        report.add("leaks", where, "ours", len(one.leaks), "count", one.answered)
    report.add("written", WHERE, "ours", int(written), "count", tally.answered)
    report.add("rss_growth_mb", WHERE, "ours", grown, "MB", n - WARM)


async def _send(url: str, service: psutil.Process, house: House, n: int) -> tuple[Tally, float]:
    """What came of it, and by how many MB the service has grown."""
    requests = list(house.hostile(SEED).requests(n))
    tally = Tally()
    kept_alive = httpx.Limits(keepalive_expiry=2.0)  # less than the service's five seconds, or it may end one in use
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=kept_alive) as client:
        await _all_of(client, house, requests[:WARM], tally)
        warm = service.memory_info().rss
        await _all_of(client, house, requests[WARM:], tally)
        return tally, (service.memory_info().rss - warm) / 1e6


async def _all_of(client: httpx.AsyncClient, house: House, requests: Sequence[Sent], tally: Tally) -> None:
    shared: Iterator[Sent] = iter(requests)

    async def worker() -> None:
        async for _ in besiege(client, house, shared, tally):
            pass

    async with asyncio.TaskGroup() as workers:
        for _ in range(AT_ONCE):
            workers.create_task(worker())


def _tell(tally: Tally) -> None:
    """Enough of what went wrong to send it again."""
    for sent, what in itertools.islice(itertools.chain(tally.faults, tally.leaks), 20):
        print(sent.kind, sent.principal, sent.method, sent.path[:200], what, sent.content[:1_000], file=sys.stderr)
    print("answers by status:", dict(sorted(tally.statuses.items())), file=sys.stderr)


@asynccontextmanager
async def _service(folder: Path, config: GraphConfig, space: str) -> AsyncIterator[tuple[str, psutil.Process]]:
    environment = {
        **os.environ,
        "NEO4J_URI": config.uri,
        "NEO4J_USER": config.user,
        "NEO4J_PASSWORD": config.password,
        "VOICEGRAPH_DATA_DIR": str(folder),
        "VOICEGRAPH_CACHE_DIR": str(CACHE),
        "VOICEGRAPH_RECOGNISER": "none",
        "VOICEGRAPH_SPACE": space,
        "VOICEGRAPH_DEVELOPMENT": "false",
        "VOICEGRAPH_REQUESTS_PER_SECOND": "0",
        "MALLOC_ARENA_MAX": "2",  # as in the image (deploy/Dockerfile)
    }
    command = [sys.executable, "-c", "from service.cli import main; main()", "serve", "--port", "0", "--json"]
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        told = b""
        while not told.rstrip().endswith(b"}"):
            line = await process.stdout.readline()
            if not line:
                raise SystemExit("voicegraph serve ended before it listened; its message stands above.")
            told += line
        yield str(json.loads(told)["api"]).removesuffix("/graphql"), psutil.Process(process.pid)
    finally:
        process.terminate()
        await process.wait()
