"""Webhooks are made, listed, tried, told again and removed from a shell; a secret is shown once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from service.graph.driver import Graph
from service.graph.write_events import save_event
from service.types.events import EventKind, NewEvent
from service.types.ids import fresh
from tests.graph.cli_builders import Typed
from tests.webhook_receiver import receiving


@pytest.fixture(autouse=True)
def _to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEGRAPH_WEBHOOK_PRIVATE", "true")


async def happens(graph: Graph, space: str) -> str:
    return await graph.write(save_event, NewEvent(space=space, kind=EventKind.ERASED, occasion=fresh(), what="sounds"))


async def test_the_life_of_a_webhook(typed: Typed, graph: Graph, space: str) -> None:
    async with receiving() as receiver:
        made = await typed("webhooks", "add", f"{receiver.url}?t=x", "--kind", "erased", "--kind", "session.ready", "--json")
        id = made["id"]
        assert (
            made["secret"].startswith("whsec_") and made["url"].endswith("?…") and made["kinds"] == ["erased", "session.ready"]
        )
        listed = await typed("webhooks", "list")
        assert id in listed and "all of the space" in listed and made["secret"] not in listed
        assert "HTTP 204" in await typed("webhooks", "test", id)
        (one,) = receiver.arrived
        assert one.signed_with(made["secret"]) and one.said["type"] == "test"
        receiver.usual = "503 Later"
        tried = await typed("webhooks", "test", id, "--json", code=1)
        assert tried == ""  # it is on standard output; the exit code says it
        rotated = (await typed("webhooks", "rotate", id)).strip()
        assert rotated.startswith("whsec_") and rotated != made["secret"]
    event = await happens(graph, space)
    (waiting,) = await typed("webhooks", "deliveries", id, "--status", "waiting", "--json")
    assert (waiting["event_id"], waiting["kind"], waiting["attempts"]) == (event, "erased", 0)
    assert await typed("webhooks", "replay", id, "--delivery", waiting["id"], "--json") == {"replayed": 1}
    assert (await typed("webhooks", "enable", id, "--off", "--json"))["disabled_why"] == "paused"
    await happens(graph, space)
    assert len(await typed("webhooks", "deliveries", "--json")) == 1
    since = f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%S}"
    assert await typed("webhooks", "replay", id, "--since", since, "--json") == {"replayed": 2}
    assert (await typed("webhooks", "enable", id)).strip() == "It is active."
    await typed("webhooks", "remove", id)
    assert "No webhooks" in await typed("webhooks", "list") and await typed("webhooks", "deliveries", "--json") == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("add", "http://example.org/"), "https://"),
        (("add", "https://example.org/", "--kind", "everything"), "session.ready, person.unresolved"),
        (("add", "https://example.org/", "--as", "Nobody"), "not_found"),
        (("remove", "nothing"), "not_found"),
        (("test", "nothing"), "not_found"),
        (("replay", "nothing"), "--delivery or --since"),
        (("deliveries", "--status", "lost"), "waiting, sent, dead, withheld"),
    ],
)
async def test_what_cannot_be_done_says_why(typed: Typed, arguments: tuple[str, ...], says: str) -> None:
    assert says in await typed("webhooks", *arguments, code=1)
