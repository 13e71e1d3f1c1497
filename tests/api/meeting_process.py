"""The service in a process of its own, for what can only be tested from outside: being killed in the middle of a meeting.

`python -m tests.api.meeting_process '{"data": …, "port": …}'`; Neo4j's address comes by the environment."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from service.app import create_app, http_config, listening, server_of
from service.graph.driver import Graph, GraphConfig
from service.pipelines.deliveries import InboxConfig
from service.pipelines.meetings import MeetingsConfig
from service.settings import Settings
from service.wiring import Services

PATIENT = InboxConfig(write_seconds=30.0)
"""A Neo4j that has just started on a busy machine plans its first write for longer than backends wait."""
LEASE = 1.5
"""Seconds until the meetings of a service that was killed are the next one's."""


async def main(asked: dict[str, Any]) -> None:
    environment = os.environ
    config = GraphConfig(environment["NEO4J_URI"], environment["NEO4J_USER"], environment["NEO4J_PASSWORD"])
    graph = await Graph.open(config)
    services = Services(Settings(data_dir=Path(asked["data"]), development=False, recogniser="none"), graph)
    app = create_app(services, deliveries=PATIENT, meetings=MeetingsConfig(lease=LEASE, beat=0.4, poll=0.3))
    listener = listening("127.0.0.1", asked["port"])
    await server_of(app, http_config(services.settings)).serve(sockets=[listener])


@asynccontextmanager
async def a_service(data: Path, port: int, config: GraphConfig) -> AsyncIterator[asyncio.subprocess.Process]:
    """It listens by now; at the end it is killed, if it was not before."""
    environment = {**os.environ, "NEO4J_URI": config.uri, "NEO4J_USER": config.user, "NEO4J_PASSWORD": config.password}
    asked = json.dumps({"data": str(data), "port": port})
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.api.meeting_process", asked, env=environment, cwd=Path(__file__).parents[2]
    )
    try:
        while not await listens(port):
            assert process.returncode is None, "the service ended"
            await asyncio.sleep(0.05)
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
