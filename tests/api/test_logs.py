"""Nothing that was said, no name, no vector and no secret comes into a log, however much is logged, nor into a trace."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service.app import NO_TRACES, create_app
from service.graph.driver import Graph
from service.graph.spaces import ensure_space
from service.language import prompts
from service.settings import Settings
from service.types.ids import fresh
from service.types.people import SpaceSettings
from service.wiring import Services
from tests.api.hook_builders import SECRET, Backend, said
from tests.api.serving import serving
from tests.chat_server import ChatServer, Reply
from tests.chat_server import serving as chatting

SAID = "The quixotic zeppelin lands at Yggdrasil on Friday, says Wilhelmina."
ASKED = "When does the quixotic zeppelin land at Yggdrasil, and what does Wilhelmina say?"
CANARIES = (
    *("quixotic", "zeppelin", "Yggdrasil", "Wilhelmina", "Thessalonike"),
    *("sk-of-nobody", "bot-token-4f1c", SECRET, "vg_"),
)
VTT = f"""WEBVTT

00:00:01.000 --> 00:00:05.000
<v Wilhelmina>{SAID}

00:00:06.000 --> 00:00:09.000
<v Thessalonike>I promise to bring the zeppelin.
"""
VECTOR = re.compile(r"(-?\d\.\d+(e-\d+)?,\s*){4}")
INGEST = """mutation($upload: ID!, $key: String!) {
  ingest(input: {uploadId: $upload, title: "Yggdrasil"}, idempotencyKey: $key) { __typename ... on Job { id } ... on Problem { code message } } }"""
SEARCH = "query($x: String!) { search(query: $x) { __typename ... on SearchResult { hits { message { text } } } } }"
JOB = "query($id: ID!) { job(id: $id) { status error } }"


class Everything(logging.Handler):
    """What any logger tells, at any level."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def told() -> Iterator[Everything]:
    """With every logger of the process as talkative as an operator can make all of them at once: the root at DEBUG."""
    root, handler = logging.getLogger(), Everything()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.setLevel(before)
    root.removeHandler(handler)


def answered(body: dict[str, Any]) -> dict[str, Any]:
    """No facts; enough was found; and what was said, as the answer."""
    match body["messages"][0]["content"]:
        case prompts.FACTS:
            return {"facts": []}
        case prompts.REVIEW:
            return {"enough": True, "missing": [], "query": "", "extend": [], "neighbours": False, "why": "Yggdrasil"}
    return {"answer": SAID, "citations": [1]}


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with chatting(answered, key="sk-of-nobody") as server:
        yield server


@pytest.fixture
async def house(graph: Graph, model: ChatServer, tmp_path: Path) -> AsyncIterator[Backend]:
    space = f"test-{fresh()}"
    await graph.write(ensure_space, SpaceSettings(space))
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "sent").write_text("token:bot-token-4f1c\n")
    asks: dict[str, Any] = {"openai_base_url": model.url, "openai_model": "small", "openai_api_key": "sk-of-nobody"}
    settings = Settings(data_dir=tmp_path, development=False, recogniser="none", space=space, **asks)
    services = Services(settings, graph)
    async with serving(services, space) as api:
        backend = Backend(replace(api, space=space), settings.sources_file)
        backend.configure()
        yield backend
    await services.close()


async def test_no_words_no_vectors_and_no_secrets_are_logged(
    house: Backend, told: Everything, model: ChatServer, capfd: pytest.CaptureFixture[str]
) -> None:
    api = house.api
    token = api.token("Wilhelmina", scopes=["ingest", "ask", "read_all", "admin"])
    upload = await api.upload(VTT.encode(), token)
    job = (await api.data(INGEST, token, upload=upload, key="Yggdrasil"))["ingest"]["id"]
    async with asyncio.timeout(60):
        while (now := (await api.data(JOB, token, id=job))["job"])["status"] in ("QUEUED", "RUNNING"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert now["status"] == "COMPLETE", now
    told_wrong = Reply(400, body=SAID.encode()), Reply(500, body=SAID.encode()), Reply(200, content=SAID)
    for query in (
        SEARCH,
        "query($x: String!) { ask(question: $x) { __typename ... on Answer { text } } }",
        "query($x: String!) { who(said: $x) { __typename } }",
        "query($x: Int!) { messages(first: $x) { edges { cursor } } }",
        "query($x: String!) { person(id: $x) { zeppelin } }",
        "{ Wilhelmina(",
    ):
        model.instead.extend(told_wrong)
        await api.post(query, token, x=ASKED)
        model.instead.clear()
    found = await api.post(SEARCH, token, x=ASKED)
    assert "zeppelin" in json.dumps(found), "else nothing of it went through the service"
    for body in (
        said(SAID),
        {**said(SAID), "start": "Yggdrasil"},
        SAID.encode(),
        json.dumps({"meeting": "m1", "type": "ended"}).encode(),
    ):
        await house.post(body)
    await house.post(said(SAID), headers={"authorization": f"Bearer {token}x"})
    async with asyncio.timeout(60):
        while "PENDING" in str([one.status.name for one in await house.inbox()]):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert model.asked, "the model was asked"
    out, err = capfd.readouterr()
    everything = [*told.lines, *out.splitlines(), *err.splitlines()]
    assert len(told.lines) > 20
    wrong = [line[:300] for line in everything if VECTOR.search(line) or any(word in line for word in (*CANARIES, token))]
    assert wrong == []


def test_fastapi_sends_no_traces(graph: Graph, tmp_path: Path) -> None:
    app = create_app(Services(Settings(data_dir=tmp_path), graph))
    assert {name: app._telemetry[name] for name in NO_TRACES} == NO_TRACES  # type: ignore[literal-required]
    assert not any(NO_TRACES.values())
