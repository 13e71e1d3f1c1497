"""The example of a bot speaks our protocol: signed, in order, again when it is put off, and not after it was refused."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fastapi import Response

from service.connectors.live import connector
from service.connectors.live.signatures import verify_webhook_id
from service.types.meeting import Began, Ended, Joined, MeetingEvent, Uttered
from tests.unit.connectors.live.backend import SECRET, Backend, backend

BOT = Path(__file__).parents[4] / "deploy/examples/bot.py"
SAID = b"Ana: The rooftop garden opens on May 4th.\nBo: I will order the soil: and the trees.\n\nAna: Thank you.\n"


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
