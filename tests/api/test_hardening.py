"""What strangers may send, how often, and what every answer carries: over real connections, to a service of its own."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import httpx
import jwt
import pytest
import websockets

from service.api import readiness, wire
from service.api.door import HEADERS
from service.api.http import HttpConfig
from service.api.rates import RateConfig
from service.api.wire import MAX_HEAD_BYTES
from service.graph.driver import Graph
from service.graph.migrate import MigrationStatus
from service.graph.migrate import status as migrated
from service.settings import Settings
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.oidc_server import SigningKey

KNOWN = "query Name { space { name } }"
AWAY = "http://127.0.0.1:9"
"""A provider whose keys cannot be had."""
ISSUERS = f"""
[issuers.away]
issuer = "{AWAY}"
audience = "voicegraph"
space = "home"
scopes = ["ask"]
algorithms = ["EdDSA"]
"""
ORIGIN = "https://app.example.org"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
async def house(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """Trusted documents only, one foreign origin, one trusted proxy, and few requests."""
    folder: Path = tmp_path_factory.mktemp("house")
    (folder / "documents").mkdir()
    (folder / "documents" / "name.graphql").write_text(KNOWN + "\n")
    (folder / "issuers.toml").write_text(ISSUERS)
    settings = Settings(
        data_dir=folder, development=False, recogniser="none", trusted_documents=folder / "documents", cors_origins=ORIGIN,
        trusted_proxies="127.0.0.1",
    )  # fmt: skip
    few = RateConfig(per_second=0.5, anonymous_per_second=0.5, burst_seconds=20)
    async with serving(Services(settings, graph), "", rates=few, http=HttpConfig(max_sockets=2)) as api:
        yield api


async def asked(api: Api, body: object, address: str, **headers: str) -> httpx.Response:
    return await api.http.post("/graphql", content=json.dumps(body), headers={**JSON, "x-forwarded-for": address, **headers})


def code(response: httpx.Response) -> str:
    return str(response.json()["errors"][0]["extensions"]["code"])


async def test_only_known_documents_are_run_by_text_or_by_hash(house: Api) -> None:
    sha = hashlib.sha256(KNOWN.encode()).hexdigest()
    by_hash = [
        {"query": KNOWN},
        {"documentId": f"sha256:{sha}"},
        {"documentId": sha.upper()},
        {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": sha}}},
    ]
    for body in by_hash:
        answer = await asked(house, body, "192.0.2.1")
        assert answer.status_code == 200 and answer.json()["data"]["space"]["name"] == "home", body
    for body in (
        {"query": "{ space { name } }"},
        {"documentId": "0" * 64},
        {},
        {"query": "{ encoders { name } }", "documentId": sha},
    ):
        answer = await asked(house, body, "192.0.2.2")
        assert (answer.status_code, code(answer)) == (403, "document_not_trusted"), body


async def until_refused(ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """The refusal, however slow the machine is."""
    for _ in range(300):
        if (answer := await ask()).status_code == 429:
            return answer
    raise AssertionError("never refused")


async def test_who_asks_too_often_waits_and_nobody_else_does(house: Api) -> None:
    busy, calm = (f"Bearer {house.token(name, space='home')}" for name in ("busy", "calm"))
    known = {"query": KNOWN}
    refused = await until_refused(lambda: asked(house, known, "192.0.2.3", authorization=busy))
    assert code(refused) == "rate_limited" and 1 <= int(refused.headers["retry-after"]) <= 20
    assert (await asked(house, known, "192.0.2.3", authorization=calm)).status_code == 200
    await until_refused(lambda: asked(house, known, "192.0.2.4", authorization="Bearer vg_nobody"))
    await until_refused(lambda: house.http.post("/v1/uploads", content=b"x", headers={"x-forwarded-for": "192.0.2.4"}))
    assert (await asked(house, known, "192.0.2.5")).status_code == 200


async def test_what_is_refused_for_what_it_says_of_who_asks_is_counted_for_its_address(house: Api) -> None:
    """And for nobody else: an account at the same address is served."""
    calm = f"Bearer {house.token('calm too', space='home')}"
    keyless = SigningKey.made("k9", "EdDSA")
    made_up = jwt.encode({"iss": AWAY, "sub": "x"}, keyless.private, "EdDSA", {"kid": "k9"})
    for address, headers, told in (
        ("192.0.2.10", {"x-voicegraph-unknown": "1"}, "invalid_input"),
        ("192.0.2.11", {"authorization": f"Bearer {made_up}"}, "issuer_unreachable"),
    ):
        sent = {"x-forwarded-for": address, **headers}
        for method, path in (("POST", "/graphql"), ("POST", "/v1/uploads"), ("POST", "/v1/export"), ("GET", "/v1/retention")):
            assert code(await house.http.request(method, path, headers=sent)) == told, path
        for method, path in (("GET", "/v1/retention"), ("POST", "/v1/uploads")):
            refused = await until_refused(partial(house.http.request, method, path, headers=sent))
            assert code(refused) == "rate_limited" and int(refused.headers["retry-after"]) >= 1
        assert (await asked(house, {"query": KNOWN}, address, authorization=calm)).status_code == 200
        with pytest.raises(websockets.InvalidStatus) as closed:
            async with websockets.connect(f"ws://127.0.0.1:{house.port}/graphql", additional_headers=sent):
                pass
        assert closed.value.response.status_code == 429


async def test_messages_on_a_websocket_are_counted_and_so_are_its_sockets(house: Api) -> None:
    payload = {"authorization": f"Bearer {house.token('talker', space='home')}"}
    async with house.socket(payload) as first, house.socket(payload) as second, house.socket(payload) as third:
        assert (await first.receive())["type"] == (await second.receive())["type"] == "connection_ack"
        assert await third.closed() == 4403
        assert (await first.results("1", KNOWN))[0]["data"] == {"space": {"name": "home"}}
        assert (await first.results("2", "{ space { name } }"))[0][0]["extensions"]["code"] == "document_not_trusted"
        for _ in range(60):
            await first.send(type="ping")
        while True:
            try:
                await first.receive()
            except websockets.ConnectionClosed as closed:
                assert closed.rcvd is not None and closed.rcvd.code == 4429
                break


async def test_every_answer_carries_what_browsers_are_to_do_with_it(house: Api) -> None:
    for path, status in (("/healthz", 200), ("/nowhere", 404), ("/graphql", 405)):
        answer = await house.http.get(path, headers={"x-forwarded-for": "192.0.2.6", "accept": "application/json"})
        assert answer.status_code == status
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert "server" not in answer.headers and "strict-transport-security" not in answer.headers
    secure = await house.http.get("/healthz", headers={"x-forwarded-for": "192.0.2.6", "x-forwarded-proto": "https"})
    assert secure.headers["strict-transport-security"].startswith("max-age=")


async def test_pages_of_other_origins_ask_only_where_the_settings_name_them(house: Api, api: Api) -> None:
    wish = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type"}
    for client, origin, leave in ((house, ORIGIN, ORIGIN), (house, "https://evil.example", None), (api, ORIGIN, None)):
        preflight = await client.http.options("/graphql", headers={"origin": origin, **wish})
        assert preflight.headers.get("access-control-allow-origin") == leave
        assert "access-control-allow-credentials" not in preflight.headers
    for path in ("/graphql", "/stream"):
        async with websockets.connect(
            f"ws://127.0.0.1:{house.port}{path}",
            origin=ORIGIN,  # type: ignore[arg-type]
            subprotocols=["graphql-transport-ws"],  # type: ignore[list-item]
        ) as socket:
            await socket.close()


NAME = b'{"query": "{ space { name } }", '
NO_REQUESTS = (
    b"",
    b"null",
    b"3",
    b'"{ space { name } }"',
    b"[]",
    b"{",
    b"\xff\xfe",
    b"[" * 200_000,
    b'{"query": 3}',
    NAME + b'"variables": []}',
    NAME + b'"operationName": {}}',
    NAME + b'"variables": {"a": NaN}}',
    NAME + b'"variables": {"a": ' + b"9" * 5_000 + b"}}",
    NAME + b'"variables": {"a": ' + b"[" * 40 + b"]" * 40 + b"}}",
    b'{"a": ' * 900 + b"1" + b"}" * 900,
)


async def test_what_is_no_request_is_refused_as_that(api: Api) -> None:
    for body in NO_REQUESTS:
        answer = await api.http.post("/graphql", content=body, headers=JSON)
        assert (answer.status_code, code(answer)) == (400, "not_a_request"), body[:80]


NO_MESSAGES = (
    "[]",
    "3",
    "{",
    '{"type": 3}',
    '{"type": "subscribe"}',
    '{"type": "subscribe", "id": [], "payload": {"query": "x"}}',
    '{"type": "subscribe", "id": "1", "payload": 3}',
    '{"type": "subscribe", "id": "1", "payload": {"query": 3}}',
    "[" * 100_000,
    json.dumps({"type": "é" * 1_000}),
)


async def test_what_is_no_message_ends_a_websocket(api: Api) -> None:
    payload = {"authorization": f"Bearer {api.token()}"}
    for message in NO_MESSAGES:
        async with api.socket(payload) as socket:
            await socket.receive()
            await socket.connection.send(message)
            assert await socket.closed() == 4400, message[:80]


REFUSED = {
    "{ space { " + "name " * 900 + "} }": "too_many_repeats",
    "{ " + "space { name } " * 70 + "}": "too_many_repeats",
    "{ " + " ".join(f"a{number}: space {{ name }}" for number in range(30)) + " }": "too_many_aliases",
}
UNREADABLE = ("{ " + "x " * 2_500 + "}", "{ secretly", "{ space } " + "secretly" * 100)


async def test_what_is_refused_on_a_websocket_is_told_there_and_stands_in_no_log(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    payload = {"authorization": f"Bearer {api.token()}"}
    for query, refusal in REFUSED.items():
        async with api.socket(payload) as socket:
            await socket.receive()
            ((error,),) = await socket.results("1", query)
            assert error["extensions"]["code"] == refusal, query[:40]
    for query in UNREADABLE:
        async with api.socket(payload) as socket:
            await socket.receive()
            await socket.subscribe("1", query)
            assert await socket.closed() == 4400, query[:40]
    async with api.socket(payload) as socket:  # gone before it is answered
        await socket.receive()
        await socket.subscribe("1", "{ people { totalCount } }")
    assert "secretly" not in caplog.text and "Traceback" not in caplog.text and "incident" not in caplog.text


async def test_the_same_fields_again_and_again_are_refused_before_they_are_compared(api: Api) -> None:
    for query in ("{ space { " + "name " * 900 + "} }", "{ " + "space { name } " * 70 + "}"):
        assert await api.code(query) == "too_many_repeats"
    assert "errors" not in await api.post("{ " + "space { name name } " * 20 + "}")


async def test_a_head_that_is_too_long_or_too_slow_ends_the_connection(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "HEAD_SECONDS", 0.2)
    for head, answer in ((b"y" * (MAX_HEAD_BYTES + 1), b"HTTP/1.1 431"), (b"y", b"")):
        reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-long: " + head)
        assert (await asyncio.wait_for(reader.read(), 10))[:12] == answer
        writer.close()
    assert "errors" not in await api.post("{ space { name } }", api.token(), {"x-filler": "y" * 16_000})


async def test_a_websocket_whose_head_cannot_be_read_is_refused_and_not_kept(api: Api) -> None:
    for headers in ({"x-filler": "y" * 9_000}, {f"x-{number}": "y" for number in range(140)}):
        for path in ("/graphql", "/stream", "/nowhere"):
            with pytest.raises(websockets.InvalidStatus) as closed:
                async with (
                    asyncio.timeout(10),
                    websockets.connect(f"ws://127.0.0.1:{api.port}{path}", additional_headers=headers),
                ):
                    pass
            assert closed.value.response.status_code == 431


async def test_one_address_keeps_no_more_requests_unfinished_than_others_can_bear(
    house: Api, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MAX_UNFINISHED", 4)
    drops = (b"", b"G", b"POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{")
    slow = [await asyncio.open_connection("127.0.0.1", api.port) for _ in range(4)]
    for (_, writer), sent in zip(slow, (*drops, b"G"), strict=True):
        writer.write(sent)
    await asyncio.sleep(0.05)
    reader, one_more = await asyncio.open_connection("127.0.0.1", api.port)
    assert (await asyncio.wait_for(reader.read(), 10))[:12] == b"HTTP/1.1 429"
    one_more.close()
    behind_a_proxy = await house.http.get("/healthz", headers={"x-forwarded-for": "192.0.2.9", "connection": "close"})
    assert behind_a_proxy.status_code == 200, "of a proxy that is trusted nothing is counted"
    slow[0][1].write(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
    assert (await asyncio.wait_for(slow[0][0].read(15), 10)) == b"HTTP/1.1 200 OK"
    async with api.socket({"authorization": f"Bearer {api.token()}"}) as socket:  # what is whole, or open, is not unfinished
        assert (await socket.receive())["type"] == "connection_ack"
        for _, writer in slow[1:3]:
            writer.close()
        async with asyncio.timeout(10):
            while sum(wire._unfinished.values()) > 1:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        monkeypatch.setattr(wire, "MAX_OPEN", sum(wire._open.values()))
        reader, one_more = await asyncio.open_connection("127.0.0.1", api.port)
        assert (await asyncio.wait_for(reader.read(), 10))[:12] == b"HTTP/1.1 429", "idle ones are counted, too"
        one_more.close()
    slow[0][1].close()
    slow[3][1].close()


async def test_whether_the_service_is_ready_is_asked_of_the_database_once_a_second(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[None] = []

    async def counted(graph: Graph) -> MigrationStatus:
        looked.append(None)
        return await migrated(graph)

    monkeypatch.setattr(readiness, "status", counted)
    answers = await asyncio.gather(*(api.http.get("/readyz") for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200} and len(looked) <= 2
    await asyncio.sleep(1.0)
    await api.http.get("/readyz")
    assert looked
