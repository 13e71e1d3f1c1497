"""What a meeting's backend delivers is acknowledged once it is durable, and nothing is kept of who cannot prove themselves."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator

import pytest
import websockets

from service.api.tokens import TokenFile
from service.connectors.declared import Signing
from service.connectors.live import CONNECTORS, connector
from service.graph.deliveries import DeliveryStatus, meeting_id
from service.graph.meetings import find_meetings
from tests.api.hook_builders import NEXT_SECRET, SECRET, SENT, Backend, said


def code(response: object) -> str:
    return str(response.json()["errors"][0]["extensions"]["code"])  # type: ignore[attr-defined]


async def test_a_delivery_is_in_the_inbox_when_it_is_acknowledged(backend: Backend) -> None:
    response = await backend.post(said())
    assert (response.status_code, response.json()) == (200, {"status": "kept"})
    (one,) = await backend.inbox()
    assert (one.meeting, one.source, one.provider, one.error) == ("m1", "crm", "generic", None)


async def test_a_repeat_is_acknowledged_and_kept_once_by_its_id_or_by_what_it_says(backend: Backend) -> None:
    for _ in range(3):
        assert (await backend.post(said(), id="evt-1")).status_code == 200
    token = backend.api.token("bot", scopes=("ingest",))
    for _ in range(3):  # without an id of its own
        assert (await backend.post(said("Once."), headers={"authorization": f"Bearer {token}"})).status_code == 200
    assert len(await backend.inbox()) == 2


async def test_who_has_not_the_secret_is_refused_and_nothing_is_kept(backend: Backend) -> None:
    body = json.dumps(said()).encode()
    right = dict(backend.signed(body, "evt-1"))
    stale: dict[str, str | bytes] = {**right, "webhook-timestamp": "1700000000"}
    wrong: list[dict[str, str | bytes]] = [
        {},
        {**right, "webhook-signature": "v1,AAAA"},
        {**right, "webhook-id": "evt-2"},
        stale,
        {"authorization": f"Bearer {backend.api.token('bot')}"},  # scope `ask`
        {"authorization": f"Bearer {backend.api.token('bot', space='elsewhere', scopes=('ingest',))}"},
        {"authorization": "Bearer vg_unknown"},
        {"authorization": b"Bearer vg_\xfc"},
    ]
    for headers in wrong:
        response = await backend.post(body, headers=headers)
        assert (response.status_code, code(response)) == (401, "signature_wrong"), headers
    assert (await backend.post(body + b" ", headers=right)).status_code == 401
    assert not await backend.inbox()
    assert (await backend.post(body, headers=right)).status_code == 200, "and it was right all along"


@pytest.mark.parametrize("provider", CONNECTORS)
async def test_a_token_of_ours_is_taken_only_where_the_connector_says_so(backend: Backend, provider: str) -> None:
    token = backend.api.token("bot", scopes=("ingest", "admin"))
    backend.configure("signing", provider=provider, secrets=[f"file:{backend.file.parent / 'secret'}"])
    takes = provider in ("generic", "pipecat")
    assert takes == (Signing.TOKEN in connector(provider).declared.also)
    body = {"meeting": "m1", "frame": "EndFrame"} if provider == "pipecat" else said()
    headers = {"authorization": f"Bearer {token}"}
    response = await backend.post(body, source="signing", headers=headers)
    assert response.status_code == (200 if takes else 401), response.text
    assert len(await backend.inbox()) == takes
    if not takes:
        with pytest.raises(websockets.InvalidStatus) as refused:
            await websockets.connect(url(backend, source="signing"), additional_headers=headers)
        assert refused.value.response.status_code == 401


async def test_a_source_may_name_the_tokens_that_it_takes(backend: Backend) -> None:
    tokens = [backend.api.token(name, scopes=("ingest",)) for name in ("one", "other")]
    entry = TokenFile(backend.api.services.settings.tokens_file).find(tokens[0])
    assert entry is not None
    backend.configure("named", tokens=[entry.id])
    answers = [await backend.post(said(), source="named", headers={"authorization": f"Bearer {t}"}) for t in tokens]
    assert [answer.status_code for answer in answers] == [200, 401]


async def test_an_unknown_source_is_not_there(backend: Backend) -> None:
    for name in ("other", "CRM", "crm%00", "crm%20"):
        response = await backend.post(said(), source=name)
        assert (response.status_code, code(response)) == (404, "no_such_source")
    assert not await backend.inbox()


async def test_secrets_are_changed_without_losing_a_delivery(backend: Backend) -> None:
    files = [f"file:{backend.file.parent / name}" for name in ("secret", "next")]
    (backend.file.parent / "next").write_text(f"{NEXT_SECRET}\n")
    backend.lines.clear()
    backend.configure(secrets=files)
    for secret in (SECRET, NEXT_SECRET):
        backend.secret = secret
        assert (await backend.post(said(secret[-4:]))).status_code == 200
    backend.lines.clear()
    backend.configure(secrets=files[1:])
    assert (await backend.post(said("new"))).status_code == 200
    backend.secret = SECRET
    assert (await backend.post(said("old"))).status_code == 401
    assert len(await backend.inbox()) == 3


async def test_what_is_signed_rightly_and_cannot_be_read_is_a_dead_letter(backend: Backend) -> None:
    for body in (b"{", b"\xff\xfe", json.dumps({"meeting": "m1", "type": "uttered"}).encode()):
        response = await backend.post(body, id="evt-1")
        assert (response.status_code, code(response)) == (422, "event_unreadable")
    found = await backend.inbox()
    assert [one.status for one in found] == [DeliveryStatus.DEAD] * 3
    assert all(one.error and one.error.startswith("event_unreadable: generic, ") for one in found)


async def test_no_more_is_read_than_a_delivery_may_be_long(backend: Backend) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b" " * 1_000_000

    headers = dict(backend.signed(b"", "evt-1"))
    response = await backend.api.http.post("/v1/hooks/crm", content=endless(), headers=headers)
    assert (response.status_code, code(response)) == (413, "delivery_too_large")
    long = said("word " * 100_000)
    assert (await backend.post(long)).status_code == 422, "longer than other requests may be, and what it says is too long"


async def test_a_source_whose_secret_is_missing_is_asked_to_deliver_again(backend: Backend) -> None:
    backend.configure("broken", secrets=["env:VOICEGRAPH_TEST_NO_SUCH_SECRET"])
    response = await backend.post(said(), source="broken")
    assert (response.status_code, code(response), response.headers["retry-after"]) == (503, "secret_missing", "60")
    assert "NO_SUCH_SECRET" not in response.text
    backend.file.write_text("[sources.crm]\nprovider = 'nobody'")
    response = await backend.post(said())
    assert (response.status_code, code(response)) == (503, "sources_unreadable")
    backend.file.unlink()
    assert (await backend.post(said())).status_code == 404


async def test_secrets_and_signatures_are_not_kept(backend: Backend) -> None:
    response = await backend.api.http.post(
        f"/v1/hooks/crm?token={SENT}&room=blue",
        content=json.dumps(said()),
        headers={"authorization": f"Bearer {SENT}", "x-echo-id": SENT, "x-event-id": "e1", "cookie": "a=b"},
    )
    assert response.status_code == 200
    rows = await backend.graph.read(_raw, backend.api.space)
    assert SENT not in json.dumps(rows) and "cookie" not in json.dumps(rows)
    assert json.loads(rows[0]["headers"]) == {"x-event-id": "e1"} and json.loads(rows[0]["query"]) == {"room": "blue"}


async def _raw(tx: object, space: str) -> list[dict[str, str]]:
    from service.graph.driver import rows

    found = await rows(tx, "MATCH (d:Delivery {space: $space}) RETURN d {.headers, .query, .body, .key} AS d", space=space)  # type: ignore[arg-type]
    return [row["d"] for row in found]


async def test_sound_is_never_in_the_inbox_and_stands_alone(backend: Backend) -> None:
    sound = base64.b64encode(b"\x01\x00" * 800).decode()
    heard = {"type": "heard", "data": sound, "encoding": "s16le", "sample_rate": 16000}
    response = await backend.post({"meeting": "m1", **heard})
    assert (response.status_code, response.json()) == (200, {"status": "sound"})
    spoken = {name: value for name, value in said().items() if name != "meeting"}
    response = await backend.post({"meeting": "m1", "events": [heard, spoken]})
    assert (response.status_code, code(response)) == (422, "sound_among_others")
    assert not await backend.inbox()
    meeting = meeting_id(backend.api.space, "crm", "m1")
    assert (await backend.graph.read(find_meetings, [meeting]))[meeting].num_deliveries == 0, "it goes on all the same"


# ---- websockets


def url(backend: Backend, query: str = "", source: str = "crm") -> str:
    return f"ws://127.0.0.1:{backend.api.port}/v1/hooks/{source}{query}"


AUTHORISED = {"Authorization": f"Bearer {SENT}"}


async def test_each_message_of_a_websocket_is_a_delivery_and_acknowledged_when_durable(backend: Backend) -> None:
    async with websockets.connect(url(backend, "?acks=1"), additional_headers=AUTHORISED) as socket:
        for n in range(150):
            await socket.send(json.dumps(said(f"line {n}", start=float(n))))
        kept = 0
        while kept < 150:
            kept = json.loads(await asyncio.wait_for(socket.recv(), 20))["kept"]
    rows = await backend.graph.read(_raw, backend.api.space)
    assert len(rows) == 150 and kept == 150
    found = await backend.inbox()
    assert len({one.meeting_id for one in found}) == 1


async def test_a_bridge_that_asks_on_its_connection_whether_somebody_is_there_is_told(backend: Backend) -> None:
    backend.configure("bridge", provider="jitsi")
    opened = url(backend, "?meeting=m1", "bridge")
    async with websockets.connect(opened, additional_headers=AUTHORISED) as socket:
        await socket.send(json.dumps({"event": "ping", "id": 7}))
        assert json.loads(await asyncio.wait_for(socket.recv(), 20)) == {"event": "pong", "id": 7}
    assert await backend.inbox() == []


async def test_messages_that_came_before_a_connection_broke_are_kept(backend: Backend) -> None:
    async with websockets.connect(url(backend), additional_headers=AUTHORISED) as socket:
        for n in range(20):
            await socket.send(json.dumps(said(f"line {n}")))
        await socket.send("{")
        await socket.send(json.dumps(said("after what cannot be read")))
    async with asyncio.timeout(20):
        while len(found := await backend.inbox()) < 22:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert sum(one.status is DeliveryStatus.DEAD for one in found) == 1


REFUSED: list[tuple[str, dict[str, str], int]] = [
    ("crm", {}, 401),
    ("crm", {"Authorization": "Bearer no"}, 401),
    ("x", AUTHORISED, 404),
]


@pytest.mark.parametrize(("source", "headers", "status"), REFUSED)
async def test_a_websocket_is_refused_as_a_delivery_is(
    backend: Backend, source: str, headers: dict[str, str], status: int
) -> None:
    with pytest.raises(websockets.InvalidStatus) as refused:
        async with websockets.connect(url(backend, source=source), additional_headers=headers):
            pass
    assert refused.value.response.status_code == status


async def test_a_connection_ends_when_its_source_is_no_more(backend: Backend) -> None:
    async with websockets.connect(url(backend), additional_headers=AUTHORISED) as socket:
        backend.file.unlink()
        await socket.send(json.dumps(said()))
        await asyncio.wait_for(socket.wait_closed(), 20)
        assert (socket.close_code, socket.close_reason) == (1008, "no_such_source")
    assert not await backend.inbox()
