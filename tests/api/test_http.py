"""Limits, uploads, health and websockets, over real connections."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import websockets

from service.api.http import HttpConfig
from service.api.limits import LimitsConfig
from service.api.moments import MomentsConfig
from service.api.tokens import issue, list_tokens, revoke
from service.app import http_config
from service.app import serving as served
from service.graph.driver import Graph
from service.graph.spaces import get_space, save_space
from service.settings import Settings
from service.types.ids import fresh
from service.types.people import VoiceAccess
from service.wiring import Services
from tests.api.serving import Api, serving


@pytest.fixture
async def open_house(graph: Graph, space: str, tmp_path: Path) -> AsyncIterator[Api]:
    """A development server whose default space lets a voice stand alone, with small limits."""
    await graph.write(save_space, replace(await graph.read(get_space, space), voice_access=VoiceAccess.OPEN))
    settings = Settings(data_dir=tmp_path, development=True, recogniser="none", space=space, max_upload_mb=1)
    http = HttpConfig(request_seconds=20.0, chunk_seconds=0.5, init_seconds=0.5, max_operations=2)
    async with serving(Services(settings, graph), space, http=http) as api:
        yield api


async def test_queries_are_not_taken_from_the_url(api: Api) -> None:
    response = await api.http.get("/graphql", params={"query": "{ space { name } }"}, headers={"accept": "application/json"})
    assert response.status_code == 405 and response.json()["errors"][0]["extensions"]["code"] == "only_by_post"


async def test_graphiql_and_introspection_are_for_development(api: Api, open_house: Api) -> None:
    page = {"accept": "text/html"}
    assert (await api.http.get("/graphql", headers=page)).status_code == 404
    shown = (await open_house.http.get("/graphql", headers=page)).text
    assert "GraphiQL.createFetcher" in shown and shown.index("GraphiQL.createFetcher") < shown.index('<form id="plain" hidden')
    introspect = "{ __schema { types { name } } }"
    assert "introspection" in json.dumps(await api.post(introspect)).lower()
    assert "errors" not in await open_house.post(introspect)
    assert "did you mean" not in json.dumps(await api.post("{ spac { name } }")).lower()
    for path in ("/docs", "/openapi.json"):
        assert (await api.http.get(path)).status_code == 404
        assert (await open_house.http.get(path)).status_code == 200


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{ people(first: 100) { edges { node { messages(first: 100) { edges { node { text } } } } } } }", "query_too_costly"),
        ("{ " + " ".join(f"a{i}: space {{ name }}" for i in range(21)) + " }", "too_many_aliases"),
        (
            "{ messages { edges { node { " + "replyTo { " * 12 + "text" + " }" * 12 + " } } } }",
            "query_too_deep",
        ),
    ],
)
async def test_a_query_that_asks_too_much_is_refused_before_it_runs(api: Api, query: str, code: str) -> None:
    answer = await api.post(query, api.token())
    assert answer["errors"][0]["extensions"]["code"] == code and answer["data"] is None


async def test_the_cost_of_a_query_is_told(api: Api) -> None:
    answer = await api.post("{ space { name } }", api.token())
    assert answer["extensions"]["cost"] == {"spent": 1, "limit": LimitsConfig().max_cost}


async def test_a_long_query_and_a_large_body_are_refused(api: Api) -> None:
    assert "token" in json.dumps(await api.post("{ " + "space { name } " * 600 + "}")).lower()
    body = json.dumps({"query": "{ space { name } }", "variables": {"x": "y" * 300_000}}).encode()
    declared = await api.http.post("/graphql", content=body, headers={"content-type": "application/json"})

    async def in_chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 10_000):
            yield body[start : start + 10_000]

    streamed = await api.http.post("/graphql", content=in_chunks(), headers={"content-type": "application/json"})
    for response in (declared, streamed):
        assert response.status_code == 413 and response.json()["errors"][0]["extensions"]["code"] == "body_too_large"


async def test_a_batch_and_another_content_type_are_refused(api: Api) -> None:
    batch = await api.http.post("/graphql", json=[{"query": "{ space { name } }"}])
    form = await api.http.post("/graphql", content=b'{"query": "{ space { name } }"}', headers={"content-type": "text/plain"})
    assert batch.status_code == 400 and form.status_code == 415


async def test_a_request_that_takes_too_long_is_stopped(graph: Graph, space: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, development=False, recogniser="none", space=space)
    async with serving(Services(settings, graph), space, http=HttpConfig(request_seconds=0.001)) as api:
        response = await api.http.post("/graphql", json={"query": "{ space { name } }"})
        assert response.status_code == 504 and response.json()["errors"][0]["extensions"]["code"] == "took_too_long"


async def test_an_unexpected_error_becomes_an_incident_and_neither_answer_nor_log_quotes_it(
    graph: Graph, space: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The text model's cache is a file here: loading it fails in a way nobody foresaw."""
    broken = tmp_path / "broken"
    broken.write_text("")
    settings = Settings(data_dir=tmp_path, cache_dir=broken, development=False, recogniser="none", space=space)
    async with serving(Services(settings, graph), space) as api:
        with caplog.at_level(logging.DEBUG):
            answer = await api.post('{ search(query: "the surprise party") { __typename } }', api.token())
        error = answer["errors"][0]
        assert error["extensions"]["incident"] in caplog.text
        assert str(tmp_path) not in json.dumps(answer)
        ours = "".join(r.getMessage() for r in caplog.records if r.name.startswith(("voicegraph", "strawberry", "uvicorn")))
        assert "surprise" not in ours and "surprise" not in json.dumps(answer)


async def test_that_there_is_nothing_by_an_id_and_who_listens_is_told_at_even_moments(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path, development=False, recogniser="none", space=space)
    async with serving(Services(settings, graph), space, moments=MomentsConfig(nothing=1.0, scope=0.5)) as api:
        token = api.token("nobody")
        began = time.monotonic()
        assert await api.data(f'{{ person(id: "{fresh()}") {{ id }} }}', token) == {"person": None}
        assert time.monotonic() - began >= 1.0
        began = time.monotonic()
        assert await api.data("{ viewer { __typename } }", token, {"x-voicegraph-heard-by": fresh()})
        assert time.monotonic() - began >= 0.5


async def test_the_service_is_alive_and_ready(api: Api) -> None:
    assert (await api.http.get("/healthz")).json() == {"status": "alive"}
    ready = await api.http.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


async def test_an_upload_is_kept_under_its_hash_for_its_uploader(api: Api) -> None:
    token = api.token("ana", scopes=["ingest"])
    content = b"RIFF" + bytes(5_000_000)
    assert await api.upload(content, token) == hashlib.sha256(content).hexdigest() == await api.upload(content, token)


async def test_an_empty_upload_is_refused(api: Api) -> None:
    response = await api.http.post("/v1/uploads", content=b"", headers={"authorization": f"Bearer {api.token()}"})
    assert response.status_code == 422 and response.json()["errors"][0]["extensions"]["code"] == "upload_empty"


async def test_an_upload_without_a_token_is_for_spaces_where_a_voice_stands_alone(api: Api, open_house: Api) -> None:
    refused = await api.http.post("/v1/uploads", content=b"x")
    assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (401, "upload_not_allowed")
    assert (await open_house.http.post("/v1/uploads", content=b"x")).status_code == 201


async def test_an_upload_that_is_too_large_leaves_nothing(open_house: Api) -> None:
    response = await open_house.http.post("/v1/uploads", content=bytes(1_000_001))
    assert response.status_code == 413
    assert [p for p in open_house.services.settings.uploads_dir.rglob("*") if p.is_file()] == []


async def test_an_upload_that_stalls_is_given_up(open_house: Api) -> None:
    async def stalling() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.sleep(1.5)  # three times as long as is waited for
        yield b"y"

    response = await open_house.http.post("/v1/uploads", content=stalling())
    assert response.status_code == 408
    assert [p for p in open_house.services.settings.uploads_dir.rglob("*") if p.is_file()] == []


async def test_a_websocket_needs_a_token_in_connection_init(api: Api) -> None:
    for payload in ({}, {"authorization": "Bearer vg_x"}, {"authorization": 3}, {"Authorization": ""}):
        async with api.socket(payload) as socket:
            assert await socket.closed() == 4403
    async with api.socket(None) as socket:
        await socket.subscribe("1", "{ space { name } }")
        assert await socket.closed() == 4401
    async with api.socket({"authorization": f"Bearer {api.token()}"}) as socket:
        assert (await socket.receive())["type"] == "connection_ack"
        assert (await socket.results("1", "{ space { name } }"))[0]["data"] == {"space": {"name": api.space}}


async def test_a_message_on_a_websocket_is_no_larger_than_a_body(graph: Graph, space: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, recogniser="none", space=space)
    token, _ = issue(settings.tokens_file, subject="somebody", space=space)
    async with (
        served(Services(settings, graph)) as url,
        websockets.connect(f"ws{url[4:]}/graphql", subprotocols=["graphql-transport-ws"]) as socket,  # type: ignore[list-item]
    ):
        await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {token}"}}))
        assert "ack" in str(await socket.recv())
        await socket.send(" " * (HttpConfig().max_body_bytes + 1))
        await asyncio.wait_for(socket.wait_closed(), 20)
        assert socket.close_code == 1009


async def test_the_legacy_subprotocol_is_refused(api: Api) -> None:
    with pytest.raises(websockets.ConnectionClosed) as closed:
        async with api.socket({"authorization": f"Bearer {api.token()}"}, protocol="graphql-ws") as socket:
            await socket.receive()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4406


async def test_a_page_of_another_origin_opens_no_websocket(api: Api) -> None:
    with pytest.raises(websockets.InvalidStatus):
        async with websockets.connect(
            f"ws://127.0.0.1:{api.port}/graphql",
            subprotocols=["graphql-transport-ws"],
            origin="https://evil.example",  # type: ignore[list-item,arg-type]
        ):
            pass


async def test_a_websocket_that_never_says_who_it_is_is_closed(open_house: Api) -> None:
    async with open_house.socket(None) as socket:
        assert await socket.closed() == 4408


async def test_a_revoked_token_stops_working_on_an_open_websocket(api: Api) -> None:
    token = api.token("leaver")
    path = api.services.settings.tokens_file
    async with api.socket({"authorization": f"Bearer {token}"}) as socket:
        await socket.receive()
        assert "errors" not in (await socket.results("1", "{ jobs { edges { cursor } } }"))[0]
        revoke(path, next(e.id for e in list_tokens(path) if e.subject == "leaver" and e.space == api.space))
        answer = (await socket.results("2", "{ jobs { edges { cursor } } }"))[0]
        assert answer["errors"][0]["extensions"]["code"] == "token_not_accepted"


def test_a_request_that_waits_for_a_language_model_has_the_time_for_it() -> None:
    plain, model = HttpConfig().request_seconds, {"openai_base_url": "http://localhost/v1", "openai_timeout": 100.0}
    assert http_config(Settings(openai_base_url=None)).request_seconds == plain
    assert http_config(Settings(**model, openai_use="facts")).request_seconds == plain
    assert http_config(Settings(**model)).request_seconds == plain + 300.0
