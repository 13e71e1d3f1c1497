"""What a backend sends of its meeting's sound lies in files by the time that it is acknowledged, and goes with its space."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import numpy as np
import pytest
import websockets

from service.connectors.live.generic_schema import binary, message
from service.graph.deliveries import meeting_id
from service.graph.driver import Graph
from service.pipelines.meeting_tapes import Tapes
from service.types.meeting import AudioEncoding, Heard, Speaker
from tests.api.hook_builders import SENT, Backend, delivering
from tests.graph.meeting_builders import meetings

ZERO = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ANA = Speaker("a", name="Ana Ruiz")


@pytest.fixture(scope="module")
async def service(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Backend]:
    async with delivering(graph, tmp_path_factory.mktemp("hooks")) as backend:
        yield backend


def heard(n: int, speaker: Speaker | None = None, encoding: AudioEncoding = AudioEncoding.S16) -> Heard:
    samples = np.full(1_600, n / 100.0)
    data = samples.astype("<f4") if encoding is AudioEncoding.F32 else (samples * 32767).astype("<i2")
    return Heard(
        key=f"{n}", data=data.tobytes(), encoding=encoding, sample_rate=16_000, speaker=speaker, start=ZERO.timestamp() + n / 10
    )  # fmt: skip


async def send(backend: Backend, source: str, sent: list[str | bytes]) -> None:
    url = f"ws://127.0.0.1:{backend.api.port}/v1/hooks/{source}?acks=1"
    async with websockets.connect(url, additional_headers={"Authorization": f"Bearer {SENT}"}) as socket:
        for one in sent:
            await socket.send(one)
        kept = 0
        while kept < len(sent):
            kept = json.loads(await asyncio.wait_for(socket.recv(), 20))["kept"]


async def test_sound_is_in_files_when_it_is_acknowledged_and_goes_with_its_space(service: Backend, space: str) -> None:
    backend = service.of(space)
    backend.configure("loud", listen=True)
    mixed, own = [heard(n) for n in range(20)], [heard(n, ANA, AudioEncoding.F32) for n in range(20)]
    await send(backend, "loud", [binary("m1", piece) for piece in (*mixed, *own)])
    await send(backend, "loud", [json.dumps(message("m1", [piece])) for piece in mixed])
    tapes = Tapes(backend.api.services.settings.meetings_dir)
    found = tapes.of(space, meeting_id(space, "loud", "m1"))
    kept = sorted([(t.stream.handle or "", [piece.data for piece in t.pieces(ZERO)]) for t in found])
    assert kept == [("", [p.data for p in mixed])] * 2 + [("a", [p.data for p in own])]
    assert len({t.stream.connection for t in found}) == 2
    assert [round(piece.start or 0.0, 3) for piece in found[0].pieces(ZERO)] == [n / 10 for n in range(20)]
    assert not await backend.inbox()
    assert [meeting["sound_in"] for meeting in await meetings(backend.graph, space)] == [[tapes.place]]
    await backend.api.services.forget_space(space)
    assert not tapes.of(space, meeting_id(space, "loud", "m1"))


async def test_the_sound_of_a_source_that_is_not_listened_to_is_kept_nowhere(service: Backend, space: str) -> None:
    backend = service.of(space)
    backend.configure("mute")
    await send(backend, "mute", [binary("m1", heard(1))])
    assert not Tapes(backend.api.services.settings.meetings_dir).of(space, meeting_id(space, "mute", "m1"))
    assert [meeting.get("sound_in") for meeting in await meetings(backend.graph, space)] == [None]
