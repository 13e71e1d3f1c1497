"""Of what cannot be read, sound is kept nowhere; and a connection on which nothing can be read ends."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
import websockets

from service.api.http import HttpConfig
from service.graph.deliveries import DeliveryStatus
from service.graph.driver import Tx, rows
from service.pipelines.connections import ConnectionConfig
from service.pipelines.dead_letters import retry_dead_letters
from tests.api.hook_builders import SENT, Backend, said

SAMPLES = base64.b64encode(b"sound of somebody" * 40)


async def _bodies(tx: Tx, space: str) -> list[dict[str, Any]]:
    query = "MATCH (d:Delivery {space: $space}) RETURN d {.body, .body_sha256, .num_bytes, .error, .status} AS d"
    return [row["d"] for row in await rows(tx, query, space=space)]


def socket(backend: Backend, source: str) -> websockets.connect:
    url = f"ws://127.0.0.1:{backend.api.port}/v1/hooks/{source}?acks=1&token={SENT}"
    return websockets.connect(url, additional_headers={"Authorization": f"Bearer {SENT}"})


BROKEN = [
    ("generic", json.dumps({"meeting": "m1", "type": "heard", "data": SAMPLES.decode(), "encoding": "s16le"})),  # no rate
    ("generic", json.dumps({"meeting": "m1", "type": "heard", "data": SAMPLES.decode()})[:-5]),
    ("generic", b"\x00\x00\x00\x00" + SAMPLES),
    ("meetingbaas", SAMPLES),  # before the hello
    ("meetingbaas_v1", SAMPLES),
    ("vexa", json.dumps({"speakerIndex": 0, "ts": 1.7e12, "pcm": SAMPLES.decode()[:-3]})),  # half a sample
    ("pipecat", json.dumps({"meeting": "m1", "frame": "UserAudioRawFrame", "audio": SAMPLES.decode(), "sample_rate": 1})),
    ("recall", json.dumps({"event": "audio_mixed_raw.data", "data": {"data": {"buffer": SAMPLES.decode()}}})),
    ("attendee", json.dumps({"bot_id": "b", "trigger": "realtime_audio.mixed", "data": {"chunk": SAMPLES.decode()[:-3]}})),
    ("jitsi", json.dumps({"event": "media", "media": {"payload": SAMPLES.decode()}})),
]


@pytest.mark.parametrize(("provider", "sent"), BROKEN)
async def test_sound_that_cannot_be_read_is_kept_nowhere(backend: Backend, provider: str, sent: str | bytes) -> None:
    (backend.file.parent / "vexa").write_text(SENT)
    secrets = backend.references if provider != "vexa" else [f"file:{backend.file.parent / 'vexa'}"]
    backend.configure("loud", provider=provider, listen=True, secrets=secrets)
    async with socket(backend, "loud") as line:
        await line.send(sent)
        assert json.loads(await asyncio.wait_for(line.recv(), 20)) == {"kept": 1}
    (letter,) = await backend.graph.read(_bodies, backend.api.space)
    assert letter["status"] == "dead" and letter["body"] is None, letter["error"]
    assert SAMPLES.decode()[:40] not in json.dumps(letter)
    assert letter["num_bytes"] == len(sent) and len(letter["body_sha256"]) == 64
    (shown,) = await backend.inbox()
    again = await retry_dead_letters(backend.graph, backend.api.services.sources, backend.api.space, [shown.id])
    assert [why.partition(":")[0] for _, why in again.still_dead] == ["body_not_kept"] and not again.waiting


async def test_a_connection_on_which_nothing_can_be_read_ends(backend: Backend) -> None:
    most = ConnectionConfig().unreadable
    async with socket(backend, "crm") as line:
        for _ in range(3):
            for n in range(most - 1):
                await line.send(b"?" * (n + 1))
            await line.send(json.dumps(said()))
        for n in range(2 * most):
            await line.send(f"no JSON {n}")
        await asyncio.wait_for(line.wait_closed(), 30)
        assert (line.close_code, line.close_reason) == (1008, "connection_unreadable")
    found = await backend.inbox()
    assert sum(one.status is DeliveryStatus.DEAD for one in found) == most - 1 + most
    assert sum(one.status is DeliveryStatus.WAITING for one in found) == 1


async def test_what_cannot_be_read_and_comes_again_on_another_connection_is_one_dead_letter(backend: Backend) -> None:
    for _ in range(2):
        async with socket(backend, "crm") as line:
            for n in range(3):
                await line.send(f"no JSON {n}")
            kept = 0
            while kept < 3:
                kept = json.loads(await asyncio.wait_for(line.recv(), 20))["kept"]
    assert [one.status for one in await backend.inbox()] == [DeliveryStatus.DEAD] * 3


async def test_a_message_that_is_too_long_ends_its_connection_and_what_came_before_it_is_kept(backend: Backend) -> None:
    async with socket(backend, "crm") as line:
        await line.send(json.dumps(said()))
        await asyncio.wait_for(line.recv(), 20)
        await line.send(json.dumps(said("x" * HttpConfig().max_body_bytes)))
        await asyncio.wait_for(line.wait_closed(), 30)
        assert line.close_code == 1009
    assert [one.status for one in await backend.inbox()] == [DeliveryStatus.WAITING]
