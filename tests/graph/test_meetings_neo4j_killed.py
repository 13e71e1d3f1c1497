"""Neo4j is killed in the middle of a meeting that is played, and started again: every event of it is in once."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from service.cli.command_line import run
from service.connectors.live.generic_schema import message
from service.graph import migrate
from service.graph.driver import Graph, GraphConfig, Neo4jUnreachable, QueryTooSlow
from service.graph.server import EmbeddedServer
from service.pipelines.deliveries import InboxConfig
from service.pipelines.meetings import MeetingsConfig
from service.settings import Settings
from service.types.ids import fresh
from service.types.meeting import Ended
from service.wiring import Services
from tests.api.serving import serving
from tests.graph.meeting_builders import ANA, BEGAN, BO, began, inbox, said, sources_file, turns
from tests.models import CACHE

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SENTENCES = 40
WARM = "said in another meeting, until what takes meetings in has loaded its models"
PACE = 0.1
"""Seconds between two of them, as they are sent."""
QUICK = InboxConfig(write_seconds=4.0, kept_again=1)
"""Who delivers is told soon that Neo4j is away, and comes again soon."""


async def test_neo4j_killed_in_the_middle_of_a_meeting_leaves_every_event_in_once(
    own_server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    space, address = f"killed-{fresh()}", await asyncio.to_thread(own_server.start)
    monkeypatch.setenv("KILLED_SECRET", SECRET)
    monkeypatch.setenv("VOICEGRAPH_CACHE_DIR", str(CACHE))
    sources_file(tmp_path / "hooks.toml", space, secrets=["env:KILLED_SECRET"])
    warm, whole = tmp_path / "warm.jsonl", tmp_path / "whole.jsonl"
    warm.write_text(json.dumps(message("warm", [said(ANA, WARM, 1.0)])) + "\n")
    whole.write_text("\n".join(lines()) + "\n")
    graph = await Graph.open(GraphConfig(address.uri, address.user, address.password))
    await migrate.apply(graph)
    services = Services(Settings(data_dir=tmp_path, development=False, recogniser="none"), graph)
    quick = MeetingsConfig(poll=0.3, again=0.3, longest=1.0)
    async with serving(services, space, deliveries=QUICK, meetings=quick) as api:
        url = f"http://127.0.0.1:{api.port}/v1/hooks/crm"
        options = ["--to", url, "--secret-env", "KILLED_SECRET", "--speed", f"{1.0 / PACE:g}", "--json"]
        assert await asyncio.to_thread(run, ["replay", str(warm), "--now", *options]) == 0
        await until(graph, space, {WARM})
        capsys.readouterr()
        playing = asyncio.create_task(asyncio.to_thread(run, ["replay", str(whole), *options]))
        await until(graph, space, {"Sentence 0."})
        pid = own_server.status().pid
        assert pid is not None and not playing.done()
        (java := psutil.Process(pid)).kill()
        await asyncio.to_thread(java.wait, 20.0)  # until its port is free again
        again = await asyncio.to_thread(own_server.start)
        assert again.started and again.uri == address.uri
        assert not playing.done(), "some of it is still to come"
        assert await playing == 0
        report = json.loads(capsys.readouterr().out)["report"]
        assert report["again"] > 0, "what was not kept while Neo4j was away came again"
        await until(graph, space, {f"Sentence {n}." for n in range(SENTENCES)})
        await asyncio.sleep(0.5)  # what would be written twice, would be now
        found, kept = await turns(graph, space), await inbox(graph, space)
    await graph.close()
    assert [turn["text"] for turn in found if turn["text"] != WARM] == [f"Sentence {n}." for n in range(SENTENCES)]
    assert len({turn["session"] for turn in found}) == 2 and kept == {"done": 1 + SENTENCES + 2}


def lines() -> list[str]:
    told = [began(), *(said((ANA, BO)[n % 2], f"Sentence {n}.", float(n)) for n in range(SENTENCES))]
    over = Ended(key="ended", at=BEGAN + timedelta(seconds=SENTENCES + 1))
    return [json.dumps(message("m1", [event])) for event in (*told, over)]


async def until(graph: Graph, space: str, texts: set[str]) -> None:
    """Wait until all of these are written."""
    async with asyncio.timeout(100.0):
        while True:
            with suppress(Neo4jUnreachable, QueryTooSlow):
                if texts <= {turn["text"] for turn in await turns(graph, space)}:
                    return
            await asyncio.sleep(0.1)
