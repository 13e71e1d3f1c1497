"""How many events a second are acknowledged, and after how long? A service as a user starts it, and a backend that delivers
signed transcript events of eight meetings over 16 connections that are kept alive: 200 a second, and as fast as they are taken.
Of five events four are partials, and the fifth is their final, as recognisers tell it.

`python -m tests.bench.connectors --parts webhook [--quick] [--json PATH]`; part of NAME=connectors. Service, client and Neo4j
share this machine's cores; what is delivered is taken in meanwhile. At the end what is in the graph is counted against what was
acknowledged. With NEO4J_URI the server of that address is used, in a space of its own that is forgotten again; without, one is
started."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil

from service.connectors.live.playing import Played, Player, player
from service.graph.driver import Graph, GraphConfig, rows
from service.graph.forget_space import forget_space
from service.graph.server import EmbeddedServer, ServerConfig
from service.types.ids import fresh
from service.types.meeting import Base, Speaker, Uttered
from tests.bench.report import Report
from tests.models import CACHE

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PROVIDERS = ("vexa", "recall")
CONNECTIONS, MEETINGS = 16, 8
RATE = 200.0
"""Events a second: the target."""
SECONDS, QUICK_SECONDS = 20.0, 5.0
WARM, QUICK_WARM = 10.0, 2.0
"""A server that has just started translates its queries; what is measured goes on for months."""
PARTIALS = 5
"""Events of an utterance, the last of them its final."""
WORDS = "we should move the launch to friday because some tests of the new importer fail".split()  # noqa: SIM905
COUNT = "MATCH (d:Delivery {space: $space}) RETURN d.status AS status, count(*) AS n"


def run(report: Report, *, quick: bool) -> None:
    asyncio.run(_run(report, *((QUICK_SECONDS, QUICK_WARM) if quick else (SECONDS, WARM))))


async def _run(report: Report, seconds: float, warm: float) -> None:
    with tempfile.TemporaryDirectory(prefix="voicegraph-bench-") as folder, _neo4j(Path(folder)) as (config, server):
        for provider in PROVIDERS:
            space = f"webhook-{fresh()}"
            async with _forgotten(config, space) as graph, _service(Path(folder), config, space, provider) as (url, service):
                await _deliver(url, provider, warm, RATE)
                where = "webhook" if provider == PROVIDERS[0] else f"webhook/{provider}"
                parts = {"client": psutil.Process(), "service": service, **server}
                paced = await _measure(report, where, url, provider, seconds, RATE, parts)
                fast = await _measure(report, f"{where} as fast as taken", url, provider, seconds, None, parts)
                await _check(report, where, graph, space, paced.acknowledged + fast.acknowledged)


@dataclass
class Outcome:
    waits: list[float] = field(default_factory=list)
    """Seconds from the moment that it was due (or sent, where nothing was) to its acknowledgement."""
    refused: int = 0
    seconds: float = 0.0

    @property
    def acknowledged(self) -> int:
        return len(self.waits)


async def _measure(
    report: Report, where: str, url: str, provider: str, seconds: float, rate: float | None, parts: Mapping[str, psutil.Process]
) -> Outcome:
    before = {name: _cpu(process) for name, process in parts.items()}
    found = await _deliver(url, provider, seconds, rate)
    cpu = {name: _cpu(process) - before[name] for name, process in parts.items()}
    n = found.acknowledged
    if not n:
        raise SystemExit(f"{where}: nothing was acknowledged, {found.refused} refused")
    report.add("events_per_second", where, "ours", n / found.seconds, "1/s", n)
    for name, share in (("ack_p50_ms", 50), ("ack_p95_ms", 95), ("ack_p99_ms", 99)):
        report.add(name, where, "ours", float(np.percentile(found.waits, share)) * 1000, "ms", n)
    report.add("refused", where, "ours", found.refused, "deliveries", n + found.refused)
    for name, used in cpu.items():
        report.add(f"{name}_cpu_ms_per_event", where, "ours", used / n * 1000, "ms", n)
    report.add("load", where, "ours", os.getloadavg()[0], "processes", 1)
    return found


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


# ---- the backend


async def _deliver(url: str, provider: str, seconds: float, rate: float | None) -> Outcome:
    """For `seconds`, `rate` a second in all, each connection its share; None: the next when the last is acknowledged."""
    outcome, began = Outcome(), time.perf_counter()
    run = fresh()[-6:]
    lines = [
        _line(url, player(provider), Played(f"m{n % MEETINGS}-{run}", datetime.now(UTC)), n, seconds, rate, outcome)
        for n in range(CONNECTIONS)
    ]
    await asyncio.gather(*lines)
    outcome.seconds = time.perf_counter() - began
    return outcome


async def _line(
    url: str, play: Player, meeting: Played, number: int, seconds: float, rate: float | None, outcome: Outcome
) -> None:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    pause = None if rate is None else CONNECTIONS / rate
    began = time.perf_counter()
    due = began + (0.0 if pause is None else pause * number / CONNECTIONS)
    sent = 0
    while due < began + seconds:
        if pause is not None:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        else:
            due = time.perf_counter()
        status = await _post(reader, writer, parts.netloc, parts.path, *_event(play, meeting, number, sent))
        if status == 200:
            outcome.waits.append(time.perf_counter() - due)
        else:
            outcome.refused += 1
        sent += 1
        due = due + pause if pause is not None else time.perf_counter()
    writer.close()


def _event(play: Player, meeting: Played, line: int, number: int) -> tuple[bytes, dict[str, str]]:
    """A partial of a growing utterance, or its final, with word times where the provider has them."""
    turn, told = number // PARTIALS, number % PARTIALS + 1
    start = turn * 4.0 + line * 0.07
    text = " ".join(WORDS[(turn + line + i) % len(WORDS)] for i in range(3 * told))
    said = Uttered(
        key=f"{line}-{number}",
        speaker=Speaker(str(100 + line), name=f"Person {line}", confidence=0.9),
        text=text,
        start=start,
        end=start + 0.7 * told,
        base=Base.MEETING,
        id=f"{line}-{turn}",
        final=told == PARTIALS,
        revision=told,
    )
    id = fresh()
    (body,) = play.bodies(meeting, said, id=id)
    return body, dict(play.headers(body, SECRET, at=datetime.now(UTC), id=id))


async def _post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, path: str, body: bytes, headers: dict[str, str]
) -> int:
    """HTTP/1.1 as little as it takes: a client library would use as much of the machine as the service does."""
    given = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = (
        f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n{given}\r\n"
    )
    writer.write(head.encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(length)
    return int(answer[9:12])


# ---- the service and the graph


@contextmanager
def _neo4j(folder: Path) -> Iterator[tuple[GraphConfig, dict[str, psutil.Process]]]:
    """How to reach it, and its process where it is our own."""
    if uri := os.environ.get("NEO4J_URI"):
        yield GraphConfig(uri, os.environ.get("NEO4J_USER", "neo4j"), os.environ["NEO4J_PASSWORD"]), {}
        return
    server = EmbeddedServer(folder / "neo4j", ServerConfig(cache=CACHE / "maven"))
    address = server.start()
    try:
        found = server.status().pid
        yield GraphConfig(address.uri, address.user, address.password), {"neo4j": psutil.Process(found)} if found else {}
    finally:
        server.stop(fast=True)


@asynccontextmanager
async def _service(folder: Path, config: GraphConfig, space: str, provider: str) -> AsyncIterator[tuple[str, psutil.Process]]:
    data = folder / space
    data.mkdir()
    (data / "hooks.toml").write_text(
        f'[sources.bench]\nprovider = "{provider}"\nspace = "{space}"\nsecrets = ["env:BENCH_SECRET"]\n'
    )
    environment = {
        **os.environ,
        "NEO4J_URI": config.uri,
        "NEO4J_USER": config.user,
        "NEO4J_PASSWORD": config.password,
        "VOICEGRAPH_DATA_DIR": str(data),
        "VOICEGRAPH_CACHE_DIR": str(CACHE),
        "VOICEGRAPH_RECOGNISER": "none",
        "VOICEGRAPH_SPACE": space,
        "VOICEGRAPH_DEVELOPMENT": "false",
        "BENCH_SECRET": SECRET,
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
        api = str(json.loads(told)["api"])
        yield f"{api.removesuffix('/graphql')}/v1/hooks/bench", psutil.Process(process.pid)
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def _forgotten(config: GraphConfig, space: str) -> AsyncIterator[Graph]:
    """The graph; what is in the space goes in the end."""
    graph = await Graph.open(config)
    try:
        yield graph
    finally:
        await forget_space(graph, space)
        await graph.close()


async def _check(report: Report, where: str, graph: Graph, space: str, acknowledged: int) -> None:
    """What was acknowledged is there, once."""
    found = {row["status"]: row["n"] for row in await graph.read(rows, COUNT, space=space)}
    total = sum(found.values())
    report.add("taken_in", where, "ours", found.get("done", 0) / max(1, total), "share", total)
    report.add("dead", where, "ours", found.get("dead", 0), "deliveries", total)
    report.add("acknowledged_and_not_there", where, "ours", max(0, acknowledged - total), "deliveries", acknowledged)
