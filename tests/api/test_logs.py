"""Nothing that was said, no name, no vector and no secret comes into a log, however much is logged, nor into a trace."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from service.app import NO_TRACES, create_app
from service.errors import VoicegraphError
from service.graph.deliveries import DeliveryStatus
from service.graph.driver import Graph
from service.language.answer_model import AnswerModel
from service.settings import Settings
from service.wiring import Services
from tests.api.hook_builders import SECRET, Backend, said
from tests.api.serving import Api
from tests.chat_server import Reply, a_chat
from tests.chat_server import serving as chatting
from tests.unit.language.talk import a_question, evidence

SAID = "The quixotic zeppelin lands at Yggdrasil on Friday, says Wilhelmina."
ASKED = "When does the quixotic zeppelin land at Yggdrasil, and what does Wilhelmina say?"
CANARIES = (
    *("quixotic", "zeppelin", "Yggdrasil", "Wilhelmina", "Thessalonike"),
    *("sk-of-nobody", SECRET, "vg_"),
)
VTT = f"""WEBVTT

00:00:01.000 --> 00:00:05.000
<v Wilhelmina>{SAID}

00:00:06.000 --> 00:00:09.000
<v Thessalonike>I promise to bring the zeppelin.
"""
VECTOR = re.compile(r"(-?\d\.\d+(e-\d+)?,\s*){4}")
INGEST = """mutation($upload: ID!, $key: String!) {
  ingest(input: {uploadId: $upload, title: "Yggdrasil"}, idempotencyKey: $key) {
    __typename ... on Job { id } ... on Problem { code message } } }"""
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


@pytest.fixture
def house(api: Api, tmp_path: Path) -> Backend:
    """A backend that delivers to the service of all tests, whose models are there already."""
    (tmp_path / "secret").write_text(SECRET)
    sources = api.services.settings.sources_file
    secrets = json.dumps([f"file:{tmp_path / 'secret'}"])
    sources.write_text(f'[sources.logged]\nprovider = "generic"\nspace = "{api.space}"\nsecrets = {secrets}\n')
    return Backend(api, sources)


async def test_no_words_no_vectors_and_no_secrets_are_logged(
    house: Backend, told: Everything, capfd: pytest.CaptureFixture[str]
) -> None:
    api = house.api
    token = api.token("Wilhelmina", scopes=["ingest", "ask", "read_all", "admin"])
    upload = await api.upload(VTT.encode(), token)
    job = (await api.data(INGEST, token, upload=upload, key="Yggdrasil"))["ingest"]["id"]
    async with asyncio.timeout(120):
        while (now := (await api.data(JOB, token, id=job))["job"])["status"] in ("QUEUED", "RUNNING"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert now["status"] == "COMPLETE", now
    for query in (
        "query($x: String!) { ask(question: $x) { __typename ... on Answer { text } } }",
        "query($x: String!) { who(said: $x) { __typename } }",
        "query($x: Int!) { messages(first: $x) { edges { cursor } } }",
        "query($x: String!) { person(id: $x) { zeppelin } }",
        "{ Wilhelmina(",
    ):
        await api.post(query, token, x=ASKED)
    found = await api.post(SEARCH, token, x=ASKED)
    assert "zeppelin" in json.dumps(found), "else nothing of it went through the service"
    over = {"meeting": "m1", "type": "ended"}
    for body in (said(SAID), {**said(SAID), "start": "Yggdrasil"}, SAID.encode(), over):
        await house.post(body, source="logged")
    await house.post(said(SAID), source="logged", headers={"authorization": f"Bearer {token}x"})
    async with asyncio.timeout(120):
        while any(one.status is DeliveryStatus.WAITING for one in await house.inbox()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert await house.inbox(), "it was delivered"
    assert_nothing_of_it(told, capfd, token)


async def test_nothing_of_what_a_language_model_is_told_or_answers_is_logged(
    told: Everything, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor of its key; whatever is wrong with its answers."""
    wrong = Reply(400, body=SAID.encode()), Reply(200, content=SAID), Reply(200, content=json.dumps({"zeppelin": SAID}))
    for reply in (*wrong, Reply(200, body=SAID.encode()), Reply(401, body=SAID.encode()), Reply(200, content=None)):
        with chatting(lambda body: {"answer": SAID, "citations": [1]}, key="sk-of-nobody") as server:
            server.instead.append(reply)
            with suppress(VoicegraphError):
                await AnswerModel(a_chat(server, tmp_path, key="sk-of-nobody"))(a_question(ASKED), evidence(SAID))
            assert server.asked
    assert_nothing_of_it(told, capfd, "sk-of-nobody")


def assert_nothing_of_it(told: Everything, capfd: pytest.CaptureFixture[str], secret: str) -> None:
    out, err = capfd.readouterr()
    everything = [*told.lines, *out.splitlines(), *err.splitlines()]
    assert len(told.lines) > 5, "something was logged"
    assert [line[:300] for line in everything if VECTOR.search(line) or any(word in line for word in (*CANARIES, secret))] == []


def test_fastapi_sends_no_traces(graph: Graph, tmp_path: Path) -> None:
    app = create_app(Services(Settings(data_dir=tmp_path), graph))
    assert {name: app._telemetry[name] for name in NO_TRACES} == NO_TRACES  # type: ignore[literal-required]
    assert not any(NO_TRACES.values())
