"""The example of a bot speaks our protocol: signed, in order, again when it is put off, and not after it was refused."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
import websockets
from fastapi import Response
from websockets.asyncio.server import ServerConnection

from service.connectors.live import Delivery, connector
from service.connectors.live.signatures import verify_webhook_id
from service.types.meeting import Began, Ended, Heard, Joined, Left, MeetingEvent, Uttered
from tests.unit.connectors.live.backend import SECRET, Backend, backend

BOT = Path(__file__).parents[4] / "deploy/examples/bot.py"
SAID = b"Ana: The rooftop garden opens on May 4th.\nBo: I will order the soil: and the trees.\n\nAna: Thank you.\n"


@asynccontextmanager
async def line(*, breaks_after: int | None = None) -> AsyncIterator[tuple[str, list[str | bytes]]]:
    """A WebSocket that acknowledges as the service does, and what it kept; the first connection breaks after so many."""
    kept: list[str | bytes] = []
    connections = 0

    async def take(socket: ServerConnection) -> None:
        nonlocal connections
        connections += 1
        assert socket.request is not None and socket.request.headers["authorization"] == f"Bearer {SECRET}"
        number = 0
        with suppress(websockets.ConnectionClosed):
            async for message in socket:
                number += 1
                if connections == 1 and number == breaks_after:
                    socket.transport.abort()
                    return
                kept.append(message)
                await socket.send(json.dumps({"kept": number}))

    async with websockets.serve(take, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1/hooks/mine", kept


async def run(port: int, said: bytes = SAID) -> tuple[int | None, str]:
    """Exit code and what it prints."""
    url = f"http://127.0.0.1:{port}/v1/hooks/mine"
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, BOT, url, SECRET, stdin=pipe, stdout=pipe, stderr=pipe)
    out, err = await asyncio.wait_for(process.communicate(said), 30)
    return process.returncode, (out + err).decode()


def told(taking: Backend) -> list[MeetingEvent]:
    for kept in taking.kept:
        verify_webhook_id(kept, [SECRET], source="mine")
    return [event for kept in taking.kept for event in connector("generic").read(kept).events]


async def test_what_is_typed_is_told() -> None:
    async with backend() as taking:
        code, printed = await run(taking.port)
    events = told(taking)
    assert (code, [type(event) for event in events]) == (
        0,
        [Began, Joined, Uttered, Joined, Uttered, Uttered, Ended],
    ), printed
    said = [(event.speaker.handle, event.text) for event in events if isinstance(event, Uttered)]
    assert said == [
        ("p1", "The rooftop garden opens on May 4th."),
        ("p2", "I will order the soil: and the trees."),
        ("p1", "Thank you."),
    ]
    names = [event.speaker.name for event in events if isinstance(event, Joined)]
    assert names == ["Ana", "Bo"] and len({event.key for event in events}) == len(events)


async def test_what_is_put_off_is_told_again_under_its_id() -> None:
    async with backend(Response(status_code=429, headers={"retry-after": "0"})) as taking:
        code, _ = await run(taking.port)
    first, again, *_ = taking.kept
    assert code == 0 and first.headers["webhook-id"] == again.headers["webhook-id"] and first.body == again.body
    assert told(taking)[0].key == told(taking)[1].key


async def test_what_is_refused_ends_it_and_says_why() -> None:
    async with backend(Response("no_such_source", status_code=404)) as taking:
        code, printed = await run(taking.port)
    assert (code, len(taking.kept)) == (1, 1) and "404: no_such_source" in printed


async def test_what_is_kept_and_could_not_be_read_is_not_told_again() -> None:
    async with backend(Response("delivery_not_read", status_code=500)) as taking:
        code, printed = await run(taking.port)
    ids = [one.headers["webhook-id"] for one in taking.kept]
    assert (code, len(set(ids))) == (0, len(ids)) and "500: delivery_not_read" in printed


@pytest.mark.parametrize("code", [1008, 1009])
async def test_what_the_next_connection_would_refuse_too_is_not_sent_on_it(code: int) -> None:
    async def refuse(socket: ServerConnection) -> None:
        connections.append(socket)
        await socket.recv()
        await socket.close(code, "no")

    connections: list[ServerConnection] = []
    pipe = asyncio.subprocess.PIPE
    async with websockets.serve(refuse, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1/hooks/mine"
        process = await asyncio.create_subprocess_exec(
            sys.executable, BOT.with_name("bot_sound.py"), url, SECRET, "Ana", stdin=pipe, stdout=pipe, stderr=pipe
        )
        _, err = await asyncio.wait_for(process.communicate(b"\0" * 32_000), 30)
    assert (process.returncode, len(connections)) == (1, 1) and str(code) in err.decode()


@pytest.mark.parametrize("breaks_after", [None, 4])
async def test_sound_is_sent_whole_also_when_a_connection_breaks(breaks_after: int | None) -> None:
    sound = bytes(range(256)) * 125  # a second
    pipe = asyncio.subprocess.PIPE
    async with line(breaks_after=breaks_after) as (url, kept):
        process = await asyncio.create_subprocess_exec(
            sys.executable, BOT.with_name("bot_sound.py"), url, SECRET, "Ana", stdin=pipe, stdout=pipe, stderr=pipe
        )
        out, err = await asyncio.wait_for(process.communicate(sound), 30)
    assert process.returncode == 0 and b"1.0 s of Ana" in out, err
    now = datetime.now(UTC)
    bodies = [Delivery({}, m if isinstance(m, bytes) else m.encode(), now, binary=isinstance(m, bytes)) for m in kept]
    events = [event for body in bodies for event in connector("generic").read(body).events]
    pieces = [event for event in events if isinstance(event, Heard)]
    assert b"".join(piece.data for piece in pieces) == sound
    assert [piece.start for piece in pieces] == pytest.approx([number / 10 for number in range(10)])
    assert [type(event) for event in events if not isinstance(event, Heard)] == [Began, Joined, Left, Ended]
