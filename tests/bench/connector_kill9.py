"""Is every event of a meeting in once, whatever is killed while it goes on? Two services on one inbox, and their Neo4j.

`python -m tests.bench.connectors --parts kill9 [--quick] [--json PATH]`; part of NAME=connectors. A backend delivers three
meetings at once, each sentence a signed webhook, to either service, again under the same id until it is acknowledged, as
providers do, and some before those that were said before them. Meanwhile, spread over what is delivered, Neo4j is killed
(SIGKILL) and started again, then a service is, and while it starts the other is stopped for longer than its leases last
(SIGSTOP) and goes on as if nothing had been, then Neo4j is killed …: always while the last sentences are acknowledged and
their turns not told yet. In the end the messages in the graph are compared with what was said: none may be missing, there
twice or in another order; no delivery may be dead, and no meeting ever closed whose session is open. A Neo4j of its own."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import httpx
import psutil

from service.connectors.live.generic_schema import message
from service.connectors.live.signatures import webhook_id_headers
from service.errors import VoicegraphError
from service.graph import migrate
from service.graph.driver import Graph, GraphConfig, rows
from service.graph.server import EmbeddedServer, ServerConfig
from service.types.ids import fresh
from service.types.meeting import Ended
from tests.api.meeting_process import LEASE, a_service
from tests.bench.report import Report
from tests.graph.meeting_builders import ANA, BO, inbox, said, sessions, sources_file, turns
from tests.models import CACHE

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MEETINGS = ("m1", "m2", "m3")
SENTENCES, QUICK_SENTENCES = 150, 40
KILLS, QUICK_KILLS = ("neo4j", "service", "stopped") * 3, ("neo4j", "service", "stopped")
PORTS = (8_399, 8_400)
STOPPED = 3.0 * LEASE
"""Seconds that a service stands still, and the other takes its meetings up."""
REORDERED = 4
"""Sentences of a meeting that come in any order: a second's, and a turn is told two after it came (MeetingConfig.settle)."""
CLOSED_TOO_EARLY = """
MATCH (f:Meeting {space: $space, status: 'closed'})
MATCH (s:Session {id: f.session_id, status: 'open'})
RETURN f.id AS id
"""
PAUSE = 0.25
"""Seconds between two sentences of a meeting: faster than anybody speaks, so that each kill hits some on their way."""
SEED = 7


def run(report: Report, *, quick: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="voicegraph-kill9-") as folder:
        server = EmbeddedServer(Path(folder) / "neo4j", ServerConfig(cache=CACHE / "maven"))
        try:
            asyncio.run(_run(report, Path(folder), server, quick))
        finally:
            server.stop(fast=True)


async def _run(report: Report, folder: Path, server: EmbeddedServer, quick: bool) -> None:
    sentences, kills = (QUICK_SENTENCES, QUICK_KILLS) if quick else (SENTENCES, KILLS)
    space, chance = f"kill9-{fresh()}", random.Random(SEED)
    (folder / "secret").write_text(SECRET)
    homes = [folder / f"service-{port}" for port in PORTS]
    for home in homes:
        home.mkdir()
        sources_file(home / "hooks.toml", space, secrets=[f"file:{folder / 'secret'}"])
    config = await _start(server)
    done = Counter[str]()
    on_their_way = []
    async with AsyncExitStack() as running:

        async def again(which: int) -> asyncio.subprocess.Process:
            service = await running.enter_async_context(a_service(homes[which], PORTS[which], config))
            await _answers(PORTS[which])
            return service

        starting: dict[int, asyncio.Task[asyncio.subprocess.Process]] = {}
        services = [await again(which) for which in range(len(PORTS))]
        backend = asyncio.gather(*(_meeting(id, sentences, done) for id in MEETINGS))
        for number, victim in enumerate(kills):
            while sum(done.values()) < sentences * len(MEETINGS) * (number + 1) / (len(kills) + 1):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await asyncio.sleep(chance.uniform(0.0, 2.0))  # somewhere in what the worker does with it
            on_their_way.append(sum(done.values()))
            which = (number // 3 + (victim == "stopped")) % len(PORTS)  # the one is stopped while the other still starts
            for one in [*starting] if victim == "neo4j" else [which] if which in starting else []:
                services[one] = await starting.pop(one)
            match victim:
                case "service":
                    services[which].kill()
                    await services[which].wait()
                    starting[which] = asyncio.create_task(again(which))
                case "stopped":
                    services[which].send_signal(signal.SIGSTOP)
                    await asyncio.sleep(STOPPED)
                    services[which].send_signal(signal.SIGCONT)
                case _:
                    _kill(server)
                    config = await _start(server)
        await asyncio.gather(backend, *starting.values())
        graph = await Graph.open(config)
        found, early = await _settled(graph, space, sentences)
        ended = [session["status"] for session in await sessions(graph, space)]
        dead = (await inbox(graph, space)).get("dead", 0)
        moved = _out_of_order(await turns(graph, space))
        await graph.close()
    _tell(report, found, sentences, kills)
    report.add("killed", "kill9", "ours", len(kills), "times", len(kills))
    report.add("sessions_complete", "kill9", "ours", ended.count("complete"), "sessions", len(MEETINGS))
    report.add("out_of_order", "kill9", "ours", moved, "events", sentences * len(MEETINGS))
    report.add("dead", "kill9", "ours", dead, "events", (sentences + 1) * len(MEETINGS))
    report.add("closed_while_open", "kill9", "ours", len(early), "sessions", len(MEETINGS))
    print("acknowledged when each was killed:", ", ".join(map(str, on_their_way)), f"of {sentences * len(MEETINGS)}")


def _tell(report: Report, found: Mapping[tuple[str, str], int], sentences: int, kills: tuple[str, ...]) -> None:
    wanted = {(id, f"{id}: sentence {n}.") for id in MEETINGS for n in range(sentences)}
    lost = sum(one not in found for one in wanted)
    doubled = sum(count - 1 for count in found.values())
    invented = sum(one not in wanted for one in found)
    report.add("lost_or_doubled", "kill9", "ours", lost + doubled + invented, "events", len(wanted))
    report.add("lost", "kill9", "ours", lost, "events", len(wanted))
    report.add("doubled", "kill9", "ours", doubled, "events", len(wanted))


async def _meeting(id: str, sentences: int, done: Counter[str]) -> None:
    """All of it, each delivery again until it is acknowledged."""
    async with httpx.AsyncClient(timeout=40.0) as client:
        for n in _reordered(sentences, random.Random(id)):
            await _delivered(client, f"{id} {n}", message(id, [said((ANA, BO)[n % 2], f"{id}: sentence {n}.", float(n))]))
            done[id] += 1
            await asyncio.sleep(PAUSE)
        await _delivered(client, f"{id} end", message(id, [Ended(key="ended", at=datetime.now(UTC))]))


async def _answers(port: int) -> None:
    """Wait until a service does: it listens before it has started."""
    async with httpx.AsyncClient(timeout=60.0) as client:
        while True:
            try:
                await client.get(f"http://127.0.0.1:{port}/")
            except httpx.TransportError:
                await asyncio.sleep(0.1)
            else:
                return


def _reordered(sentences: int, chance: random.Random) -> list[int]:
    order = list(range(sentences))
    for first in range(0, sentences, REORDERED):
        some = order[first : first + REORDERED]
        chance.shuffle(some)
        order[first : first + REORDERED] = some
    return order


def _out_of_order(found: Sequence[Mapping[str, Any]]) -> int:
    """Turns that stand before one that was said before them; `found` by session and index."""
    pairs = [(a, b) for a, b in pairwise(found) if a["session"] == b["session"]]
    return sum(a["start"] > b["start"] for a, b in pairs)


async def _delivered(client: httpx.AsyncClient, id: str, told: Mapping[str, Any]) -> None:
    body = json.dumps(told).encode()
    for port in cycle(PORTS if len(id) % 2 else PORTS[::-1]):
        url = f"http://127.0.0.1:{port}/v1/hooks/crm"
        headers = webhook_id_headers(SECRET, id=id.replace(" ", "-"), at=datetime.now(UTC), body=body)
        try:
            answer = await client.post(url, content=body, headers=dict(headers))
        except httpx.TransportError:
            await asyncio.sleep(0.2)
            continue
        if answer.status_code == 200:
            return
        if answer.status_code not in (408, 429, 500, 503):
            raise SystemExit(f"a delivery was refused: {answer.status_code} {answer.text[:200]}")
        await asyncio.sleep(0.2)


async def _settled(graph: Graph, space: str, sentences: int) -> tuple[Counter[tuple[str, str]], set[str]]:
    """What is written when all meetings are closed, or when nothing changed for half a minute; and ids of meetings that were
    closed for a second with their session open."""
    last, still = -1, 0
    early, before = set[str](), set[str]()
    while still < 30:
        now = {row["id"] for row in await graph.read(rows, CLOSED_TOO_EARLY, space=space)}
        early, before = early | (now & before), now
        found = await turns(graph, space)
        complete = [session for session in await sessions(graph, space) if session["status"] == "complete"]
        if len(complete) == len(MEETINGS) and len(found) >= sentences * len(MEETINGS):
            break
        still = still + 1 if len(found) == last else 0
        last = len(found)
        await asyncio.sleep(1.0)
    return Counter((turn["text"].split(":")[0], turn["text"]) for turn in await turns(graph, space)), early


async def _start(server: EmbeddedServer) -> GraphConfig:
    address = await asyncio.to_thread(server.start)
    config = GraphConfig(address.uri, address.user, address.password)
    while True:
        try:
            graph = await Graph.open(config)
            await migrate.apply(graph)
            await graph.close()
        except VoicegraphError:
            await asyncio.sleep(0.5)
        else:
            return config


def _kill(server: EmbeddedServer) -> None:
    pid = server.status().pid
    assert pid is not None, "it runs"
    process = psutil.Process(pid)
    process.kill()
    process.wait(30.0)
