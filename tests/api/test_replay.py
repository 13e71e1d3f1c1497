"""A recorded meeting played against a real service is whole in its inbox, whoever is played, however badly it is delivered."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from service.cli.command_line import run
from service.connectors.live import Delivery, connector
from service.connectors.live.playing import Played, player
from service.connectors.live.playing.outgoing import DeliveryRefused, Report
from service.connectors.live.playing.recorded import Manner, read_recorded, rehearsed, with_names
from service.connectors.live.playing.sending import Sender
from service.graph.driver import rows
from tests.api.hook_builders import NEXT_SECRET, SECRET, Backend

EXAMPLE = Path(__file__).parents[2] / "deploy/examples/meeting.jsonl"
TOLD = with_names(read_recorded(EXAMPLE))
MEETING = Played(TOLD.meeting, TOLD.began_at or datetime.now(UTC))
GOOD = Manner(speed=2_000)
BAD = Manner(speed=2_000, shuffle=30, duplicate=0.3, drop=0.3, seed=1)
WITHOUT_IDS = ("jitsi",)
"""Who sends no id of a delivery: what comes twice is known by what it says."""
DELIVERED = """
MATCH (d:Delivery {space: $space}) RETURN d.body AS body
"""


async def played(
    backend: Backend, provider: str = "generic", manner: Manner = GOOD, *, scheme: str = "http", secret: str = SECRET
) -> Report:
    backend.lines.clear()
    backend.configure(provider=provider, secrets=backend.references[:1])
    url = f"{scheme}://127.0.0.1:{backend.api.port}/v1/hooks/crm"
    return await Sender(url, player(provider), MEETING, secret).send(rehearsed(TOLD, manner))


def keys(bodies: Iterable[bytes], provider: str) -> Counter[str]:
    now, reader = datetime.now(UTC), connector(provider)
    return Counter(event.key for body in bodies for event in reader.read(Delivery({}, body, now)).events)


async def kept(backend: Backend, provider: str = "generic") -> Counter[str]:
    """Events of the inbox by their keys."""
    found: list[dict[str, Any]] = await backend.graph.read(rows, DELIVERED, space=backend.api.space)
    bodies = [row["body"] if isinstance(row["body"], bytes) else str(row["body"]).encode() for row in found]
    return keys(bodies, provider)


def told(provider: str = "generic") -> Counter[str]:
    there = player(provider)
    return keys((body for step in TOLD.steps for body in there.bodies(MEETING, step.event, id="x")), provider)


@pytest.mark.parametrize("provider", ["generic", "attendee", "jitsi"])
async def test_every_event_arrives_however_badly_it_is_delivered(backend: Backend, provider: str) -> None:
    report = await played(backend, provider, BAD)
    assert report.statuses == {"200": report.deliveries} and report.cut and report.duplicates
    found = await kept(backend, provider)
    assert set(found) == set(told(provider))
    assert (max(found.values()) == 1) == (provider in WITHOUT_IDS), "under another id it is another delivery"


@pytest.mark.parametrize("provider", ["attendee"])
async def test_played_again_it_adds_nothing(backend: Backend, provider: str) -> None:
    for _ in range(2):
        await played(backend, provider)
    assert await kept(backend, provider) == told(provider)


async def test_on_a_socket_what_was_not_kept_when_it_broke_is_sent_again(backend: Backend) -> None:
    report = await played(backend, manner=Manner(speed=500, drop=0.3, seed=2), scheme="ws")
    assert report.cut and report.statuses["kept"] == report.deliveries and report.ack_p95_ms is not None
    assert set(await kept(backend)) == set(told())


async def test_on_a_whole_socket_everything_is_kept_once(backend: Backend) -> None:
    report = await played(backend, scheme="ws")
    assert (report.again, report.statuses) == (0, {"kept": report.deliveries})
    assert await kept(backend) == told()


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_with_another_secret_it_is_refused_at_once(backend: Backend, scheme: str) -> None:
    with pytest.raises(DeliveryRefused) as refusal:
        await played(backend, scheme=scheme, secret=NEXT_SECRET)
    assert refusal.value.facts["status"] == 401 and "signature_wrong" in str(refusal.value.facts["answer"])
    assert not await kept(backend)


async def test_the_command_plays_it_as_another_meeting_of_now(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRM_SECRET", SECRET)
    url = f"http://127.0.0.1:{backend.api.port}/v1/hooks/crm"
    options = ["--speed", "2000", "--secret-env", "CRM_SECRET", "--meeting", "m2", "--now", "--json"]
    assert await asyncio.to_thread(run, ["replay", str(EXAMPLE), "--to", url, *options]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["meeting"], shown["report"]["deliveries"]) == ("m2", len(TOLD.steps))
    assert {one.meeting for one in await backend.inbox()} == {"m2"}
    monkeypatch.delenv("CRM_SECRET")
    assert await asyncio.to_thread(run, ["replay", str(EXAMPLE), "--to", url, *options]) == 1
    assert "CRM_SECRET is not set" in capsys.readouterr().err
