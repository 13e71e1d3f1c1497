"""The example of a bot in TypeScript is right in its types, and says what the one in Python says."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest
from fastapi import Response

from service.types.meeting import Began, Ended, Joined, Uttered
from tests.unit.connectors.live.backend import SECRET, Backend, backend
from tests.unit.connectors.live.test_example_bots import BOT, SAID, told

BOT_TS = BOT.with_name("bot.ts")
DENO = shutil.which("deno", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
STRIPS_TYPES = (22, 6)
"""Node from which on it runs TypeScript as it is."""


async def run(folder: Path, *command: str, said: bytes = b"") -> tuple[int | None, str]:
    """Exit code and what it prints; what is kept between runs is in `folder`."""
    pipe, settings = asyncio.subprocess.PIPE, {**os.environ, "DENO_DIR": str(folder), "DENO_NO_UPDATE_CHECK": "1"}
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, env=settings)
    out, err = await asyncio.wait_for(process.communicate(said), 30)
    return process.returncode, (out + err).decode()


async def runner(folder: Path) -> list[str]:
    """What runs it; skips where there is nothing."""
    if DENO is not None:
        return [DENO, "run", "--no-remote", "--no-npm", "--allow-net=127.0.0.1"]
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is missing, and so is deno")
    _, version = await run(folder, node, "--version")
    if tuple(map(int, version.strip().lstrip("v").split(".")[:2])) < STRIPS_TYPES:
        pytest.skip(f"node {version.strip()} does not strip types: 22.6 does, and deno is missing")
    return [node, "--experimental-strip-types", "--no-warnings"]


async def type_in(folder: Path, taking: Backend) -> tuple[int | None, str]:
    command = [*await runner(folder), str(BOT_TS), f"http://127.0.0.1:{taking.port}/v1/hooks/mine", SECRET]
    return await run(folder, *command, said=SAID)


@pytest.mark.skipif(DENO is None, reason="deno, which knows the types, is missing; node only strips them")
async def test_its_types_are_right(tmp_path: Path) -> None:
    code, printed = await run(tmp_path, str(DENO), "check", "--no-remote", "--no-npm", str(BOT_TS))
    assert code == 0, printed


async def test_what_is_typed_is_told(tmp_path: Path) -> None:
    async with backend() as taking:
        code, printed = await type_in(tmp_path, taking)
    events = told(taking)
    kinds = [Began, Joined, Uttered, Joined, Uttered, Uttered, Ended]
    assert (code, [type(event) for event in events]) == (0, kinds), printed
    assert [(event.speaker.handle, event.text) for event in events if isinstance(event, Uttered)] == [
        ("p1", "The rooftop garden opens on May 4th."),
        ("p2", "I will order the soil: and the trees."),
        ("p1", "Thank you."),
    ]
    assert [event.speaker.name for event in events if isinstance(event, Joined)] == ["Ana", "Bo"]
    assert all(event.start <= event.end for event in events if isinstance(event, Uttered))


async def test_what_is_put_off_comes_again_under_its_id_and_what_is_kept_unread_does_not(tmp_path: Path) -> None:
    put_off = Response(status_code=429, headers={"retry-after": "0"})
    async with backend(put_off, Response("delivery_not_read", status_code=500)) as taking:
        code, printed = await type_in(tmp_path, taking)
    first, again, *rest = taking.kept
    assert code == 0 and "500: delivery_not_read" in printed
    assert first.headers["webhook-id"] == again.headers["webhook-id"] and first.body == again.body
    assert len({one.headers["webhook-id"] for one in rest}) == len(rest) == 6


async def test_what_is_refused_ends_it_and_says_why(tmp_path: Path) -> None:
    async with backend(Response("no_such_source", status_code=404)) as taking:
        code, printed = await type_in(tmp_path, taking)
    assert (code, len(taking.kept)) == (1, 1) and "404: no_such_source" in printed
