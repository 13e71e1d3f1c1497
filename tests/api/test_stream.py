"""A voice that is listened to while it speaks, over a real websocket: what its asker is told, what nobody is, how it ends."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import websockets
from websockets.asyncio.client import ClientConnection

import service.demo
from service.api.stream import StreamConfig
from service.api.tokens import issue, list_tokens, revoke
from service.audio import decode
from service.graph.driver import Graph, changes
from service.pipelines.jobs import JobsConfig
from service.settings import Settings
from service.types.audio import SAMPLE_RATE
from service.types.ids import fresh
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.conftest import CREATE_SPACE
from tests.graph.graph_builders import Said, World, seed
from tests.oidc_server import oidc_server

HOUSEHOLD = Path(service.demo.__file__).parent / "household"
SPEED = 20.0  # times real time
SAID = [
    Said("ben", "The surprise for Ruth is a trip to Cork.", ["ben", "nora"], to=["nora"]),
    Said("nora", "The surprise for Ben is a telescope.", ["nora", "ruth"], to=["ruth"]),
    Said("ruth", "I broke the blue teapot.", ["ruth"]),
]
SESSIONS = "{ sessions(first: 50) { edges { node { id title status duration } } } }"
MAY_READ = """
MATCH (:Person {id: $as})-[:MAY_READ]->(a:Audience)<-[:FOR]-(m:Message) MATCH (p:Person {id: $person})
MERGE (p)-[:MAY_READ]->(a) SET m.readers = m.readers + ' ' + replace($person, '-', '')
"""


@dataclass(frozen=True)
class House:
    api: Api
    world: World
    ben: str
    """As he was enrolled."""

    def token(self, name: str, **entry: Any) -> str:
        person = self.ben if name == "ben" else self.world.person(name)
        return self.api.token(f"{name} {fresh()}", **{"person_id": person, "scopes": ["ask"], **entry})

    @asynccontextmanager
    async def socket(self, **connect: Any) -> AsyncIterator[ClientConnection]:
        async with websockets.connect(f"ws://127.0.0.1:{self.api.port}/stream", **connect) as socket:
            yield socket

    async def hear(
        self, clip: str, token: str, headers: dict[str, str] | None = None, *, silence: float = 0.1, **start: Any
    ) -> list[Any]:
        """All that is told of `clip` with silence after it, to the end."""
        async with self.socket() as socket:
            await socket.send(begin(token, headers, **start))
            for piece in pieces(clip, silence):
                await socket.send(piece)
            await socket.send(json.dumps({"type": "end"}))
            events = await rest_of(socket)
        assert socket.close_code == 1000, (socket.close_code, events[-1:])
        return events


def begin(token: str | None, headers: dict[str, str] | None = None, **start: Any) -> str:
    given = {**({"authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
    return json.dumps({"type": "start", "headers": given, **start})


def pieces(clip: str, silence: float = 0.0, seconds: float = 0.1) -> Sequence[bytes]:
    sound = np.concatenate([block.samples for block in decode.blocks(HOUSEHOLD / clip, seconds=60)])
    sound = np.concatenate([sound, np.zeros(round(silence * SAMPLE_RATE), np.float32)])
    raw, step = (sound * 32767).astype("<i2").tobytes(), round(seconds * SAMPLE_RATE) * 2
    return [raw[start : start + step] for start in range(0, len(raw), step)]


async def rest_of(socket: ClientConnection) -> list[Any]:
    """All that still comes, until the service closes it."""
    events: list[Any] = []
    with suppress(websockets.ConnectionClosed):
        while True:
            events.append(json.loads(await socket.recv()))
    return events


def of(kind: str, events: Sequence[Any]) -> list[Any]:
    return [event for event in events if event["type"] == kind]


@pytest.fixture(scope="module")
async def house(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    space = f"test-{fresh()}"
    await graph.write(changes, CREATE_SPACE, space=space)
    world = await seed(graph, space, ["nora", "ben", "ruth"], SAID)
    services = Services(Settings(data_dir=tmp_path_factory.mktemp("data"), space=space), graph)
    ben = await services.enrol(space=space, name="Ben", clip=HOUSEHOLD / "enrol_ben.ogg", text_version="1", channel="wideband")
    await graph.write(changes, MAY_READ, person=ben, **{"as": world.person("ben")})
    config = StreamConfig(speed=SPEED, rest_seconds=120.0)
    async with serving(services, space, stream=config, jobs=JobsConfig(concurrent=0)) as api:  # what is kept waits
        await services.search()
        yield House(api, world, ben)


async def test_who_asks_by_voice_and_token_is_told_what_they_may_know(house: House) -> None:
    events = await house.hear("ask_surprise_ben.ogg", house.token("ben"))
    assert events[0]["type"] == "ready" and [e["stage"] for e in of("stage", events)][-3:] == [
        "anticipation",
        "searching",
        "listening",
    ]
    assert [e["person"] for e in of("speaker", events)][-1] == {"id": f"Person:{house.ben}", "name": "Ben"}
    matched = of("matched", events)  # what is only shown may be put off, where the machine has more to do
    assert "surprise" in matched[-1]["terms"] if matched else {e["what"] for e in of("put_off", events)} & {"words", "matches"}
    whole = of("transcript", events)[-1]
    assert whole["whole"] and "surprise" in whole["text"]
    (memory,) = of("memory", events)
    assert "Cork" in memory["text"] and "telescope" not in memory["text"] and "teapot" not in memory["text"]
    assert memory["tokens"] <= 430 and 0 <= memory["timing"]["hidden"] <= 1 and memory["question"] == whole["text"]
    assert memory["lines"][0] | {"score": 0} == {
        "number": 1, "brain": "left", "text": SAID[0].text, "by": "Ben", "to": ["Nora"], "score": 0,
        "saidAt": memory["lines"][0]["saidAt"], "sources": [f"Message:{house.world.message(0)}"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("token", "start", "headers", "told"),
    [
        ("nora", {"voice": False}, {}, {"Cork", "telescope"}),
        ("nora", {}, {}, {"Cork"}),  # Ben's voice at Nora's token
        ("nora", {"voice": False}, {"x-voicegraph-heard-by": "ben"}, {"Cork"}),
    ],
)
async def test_a_voice_and_whoever_listens_narrow_what_a_token_may_see(
    house: House, token: str, start: dict[str, Any], headers: dict[str, str], told: set[str]
) -> None:
    headers = {name: house.world.person(who) for name, who in headers.items()}
    events = await house.hear("ask_surprise_ben.ogg", house.token(token), headers, **start)
    (memory,) = of("memory", events)
    assert {word for word in ("Cork", "telescope", "teapot") if word in json.dumps(events)} <= told
    assert told & {"Cork", "telescope"} <= {word for word in told if word in memory["text"]}


async def test_a_stranger_at_a_token_is_told_why_there_is_nothing(house: House) -> None:
    events = await house.hear("ask_surprise_stranger.ogg", house.token("nora"))
    assert [e["code"] for e in of("not_answered", events)] == ["voice_not_recognised"] and not of("memory", events)
    assert not any(word in json.dumps(events) for word in ("Cork", "telescope")) and not of("matched", events)
    assert not any(e["linked"] for e in of("speaker", events))


async def test_silence_and_noise_say_nothing(house: House) -> None:
    async with house.socket() as socket:
        await socket.send(begin(house.token("ben")))
        noise = np.random.default_rng(0).normal(0, 200, SAMPLE_RATE).astype("<i2").tobytes()
        await socket.send(noise)
        await socket.send(json.dumps({"type": "end"}))
        assert [event["type"] for event in await rest_of(socket)] == ["ready"]


async def test_what_a_loudspeaker_plays_meanwhile_is_nobodys(house: House) -> None:
    """A machine answers with Ben's voice, for one: the client says that it plays that."""
    async with house.socket() as socket:
        await socket.send(begin(house.token("ben")))
        await socket.send(json.dumps({"type": "playback", "on": True}))
        for piece in pieces("ask_surprise_ben.ogg", 0.6):
            await socket.send(piece)
        await socket.send(json.dumps({"type": "playback", "on": False}))
        await socket.send(json.dumps({"type": "end"}))
        events = await rest_of(socket)
    assert socket.close_code == 1000 and {event["type"] for event in events} <= {"ready", "stage"}


async def test_a_client_that_sends_nothing_after_a_question_is_silent(house: House) -> None:
    async with house.socket() as socket:
        await socket.send(begin(house.token("nora"), voice=False))
        for piece in pieces("ask_surprise_ben.ogg"):
            await socket.send(piece)
        kinds = []
        while "memory" not in kinds:
            kinds.append(json.loads(await asyncio.wait_for(socket.recv(), 100))["type"])


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("", 4400),
        ("{}", 4400),
        pytest.param("[" * 100_000, 4400, id="deep"),
        pytest.param('{"type": "start", "headers": ' + '{"a": ' * 2_000 + "1" + "}" * 2_001, 4400, id="deep below"),
        ('{"type": "start", "headers": {"x-voicegraph-herd-by": "p"}}', 4400),
        ('{"type": "start", "voice": "yes"}', 4400),
        (b"\0\0", 4400),
        ('{"type": "start", "headers": {}}', 4401),
        ('{"type": "start", "headers": {"authorization": "Bearer vg_x"}}', 4401),
    ],
)
async def test_what_does_not_begin_as_it_should_is_closed_with_a_code_and_words(
    house: House, message: str | bytes, code: int
) -> None:
    async with house.socket() as socket:
        await socket.send(message)
        (error,) = await rest_of(socket)
        assert error["type"] == "error" and error["message"] and socket.close_code == code


async def test_half_a_sample_another_text_and_a_long_rest_end_the_stream(house: House) -> None:
    for sent in (b"\0" * 3, '{"type": "start"}'):
        async with house.socket() as socket:
            await socket.send(begin(house.token("ben")))
            await socket.send(sent)
            assert [e["type"] for e in await rest_of(socket)] == ["ready", "error"] and socket.close_code == 4400
    config = StreamConfig(start_seconds=2.0, idle_seconds=0.3)
    async with serving(house.api.services, house.api.space, stream=config) as api:
        for first in (begin(house.token("ben")), None):
            async with replace(house, api=api).socket() as socket:
                if first is not None:
                    await socket.send(first)
                assert (await rest_of(socket))[-1]["code"] == "stream_idle" and socket.close_code == 4408


async def test_who_says_only_that_a_loudspeaker_plays_is_not_there_for_ever(house: House) -> None:
    for config, code in ((StreamConfig(idle_seconds=0.3), 4408), (StreamConfig(longest_seconds=0.3), 4410)):
        async with (
            serving(house.api.services, house.api.space, stream=config) as api,
            replace(house, api=api).socket() as socket,
        ):
            await socket.send(begin(house.token("ben"), voice=False))
            with pytest.raises(websockets.ConnectionClosed):
                for _ in range(200):  # oftener than silence is taken for granted
                    await socket.send(json.dumps({"type": "playback", "on": True}))
                    await asyncio.sleep(0.03)
            await socket.wait_closed()
            assert socket.close_code == code


async def test_leave_is_asked_for_at_the_start_and_again_before_anything_is_told(house: House) -> None:
    async with house.socket() as socket:
        await socket.send(begin(house.token("ben", scopes=["ingest"])))
        assert json.loads(await socket.recv())["code"] == "not_allowed"
        await socket.wait_closed()
        assert socket.close_code == 4403
    token, path = house.token("leaver", person_id=house.ben), house.api.services.settings.tokens_file
    async with house.socket() as socket:
        await socket.send(begin(token))
        await socket.recv()
        revoke(path, next(e.id for e in list_tokens(path) if e.subject.startswith("leaver") and e.space == house.api.space))
        for piece in pieces("ask_surprise_ben.ogg", 1.0):
            await socket.send(piece)
        events = await rest_of(socket)
        assert socket.close_code == 4401 and not of("memory", events)


async def test_one_token_opens_no_more_than_its_share_and_another_page_none(house: House) -> None:
    token = house.token("ben")
    async with house.socket() as a, house.socket() as b, house.socket() as c, house.socket() as d, house.socket() as e:
        for socket in (a, b, c, d):
            await socket.send(begin(token))
            assert json.loads(await socket.recv())["type"] == "ready"
        await e.send(begin(token))
        assert json.loads(await e.recv())["code"] == "too_many_streams"
        await e.wait_closed()
        assert e.close_code == 4429
    with pytest.raises(websockets.InvalidStatus):
        async with house.socket(origin="https://evil.example"):
            pass


async def test_what_is_told_is_followed_over_graphql_with_the_streams_token_only(house: House) -> None:
    query = """subscription($id: ID!) { listening(streamId: $id) { __typename ... on Problem { code }
      ... on SpeakerEvent { linked person { name } } ... on MemoryEvent { at utterance question text tokens
      lines { number brain text by to saidAt score sources } timing { transcribedMs foundMs readyMs hidden } } } }"""
    token = house.token("nora")
    async with house.socket() as socket, house.api.socket({"authorization": f"Bearer {token}"}) as own:
        await socket.send(begin(token, voice=False))
        stream = json.loads(await socket.recv())["streamId"]
        for other in ({"authorization": f"Bearer {house.token('nora')}"},
                      {"authorization": f"Bearer {token}", "x-voicegraph-heard-by": house.ben}):  # fmt: skip
            async with house.api.socket(other) as follower:
                await follower.receive()
                (refused,) = await follower.results("1", query, id=stream)
                assert refused["data"]["listening"] == {"__typename": "NotFound", "code": "not_found"}
        await own.receive()
        own.patience = 120.0
        following = asyncio.create_task(own.results("1", query, id=stream))
        await asyncio.sleep(0.2)
        for piece in pieces("ask_surprise_ben.ogg"):
            await socket.send(piece)
        await socket.send(json.dumps({"type": "end"}))
        told = of("memory", await rest_of(socket))
        events = [payload["data"]["listening"] for payload in await following]
    memories = [event for event in events if event["__typename"] == "MemoryEvent"]
    for line in (line for memory in memories for line in memory["lines"]):
        line["brain"] = line["brain"].lower()  # the same in both, but for how GraphQL writes an enumeration
    assert [{"type": "memory", **memory} for memory in memories] == [{"__typename": "MemoryEvent", **one} for one in told] != []
    assert {event["__typename"] for event in events} >= {"StageEvent", "TranscriptEvent", "MemoryEvent"}


async def test_what_was_said_is_kept_like_a_file_where_that_was_asked_for_also_when_the_client_is_cut_off(
    house: House,
) -> None:
    token = house.token("ben", scopes=["ask", "ingest"])
    events = await house.hear("ask_teapot_ben.ogg", token, voice=False, remember=True, title="Supper")
    (kept,) = of("remembered", events)
    assert (await house.api.data("query($id: ID!) { job(id: $id) { kind } }", token, id=kept["jobId"]))["job"][
        "kind"
    ] == "ingest"
    async with house.socket() as socket:
        await socket.send(begin(token, voice=False, remember=True))
        for piece in pieces("ask_surprise_nora.ogg"):
            await socket.send(piece)
        while json.loads(await socket.recv())["type"] != "transcript":
            pass
        socket.transport.abort()
    assert await jobs_of(house.api, token, 2) == 2
    lengths = sorted(decode.probe(path).duration for path in uploads_of(house.api) if not path.name.startswith("."))
    assert len(lengths) == 2 and lengths[1] == pytest.approx(length("ask_teapot_ben.ogg") + 0.1, abs=0.15)


async def jobs_of(api: Api, token: str, expected: int) -> int:
    """How many the token has asked for; at least `expected`, where they come within a minute."""
    for _ in range(600):
        jobs = (await api.data("{ jobs { edges { node { id } } } }", token))["jobs"]["edges"]
        if len(jobs) >= expected:
            break
        await asyncio.sleep(0.1)
    return len(jobs)


def uploads_of(api: Api) -> set[Path]:
    return {path for path in api.services.settings.uploads_dir.rglob("*") if path.is_file()}


async def test_what_is_said_is_found_by_who_is_there_before_the_stream_ends_and_the_job_only_closes_it(
    house: House, tmp_path: Path
) -> None:
    services = Services(house.api.services.settings.model_copy(update={"data_dir": tmp_path}), house.api.services.graph)
    async with serving(services, house.api.space, stream=StreamConfig(speed=SPEED, idle_seconds=600.0)) as api:
        token = api.token("keeper", person_id=house.ben, scopes=["ask", "ingest"])
        everything = api.token("all", scopes=["read_all", "ask"])
        async with replace(house, api=api).socket() as socket:
            await socket.send(begin(token, voice=False, remember=True, title="Standup"))
            for piece in pieces("day1.ogg")[:400]:
                await socket.send(piece)
            told = asyncio.create_task(rest_of(socket))
            for _ in range(900):
                found = (await api.data(SESSIONS, token))["sessions"]["edges"]
                if found and found[0]["node"]["status"] == "OPEN":
                    break
                await asyncio.sleep(0.1)
            assert found[0]["node"] | {"title": "Standup", "status": "OPEN"} == found[0]["node"], "Ben is there, and reads it"
            await socket.send(json.dumps({"type": "end"}))
            (kept,) = of("remembered", await told)
        for _ in range(900):
            job = (await api.data("query($id: ID!) { job(id: $id) { status error sessionId } }", token, id=kept["jobId"]))[
                "job"
            ]
            if job["status"] not in ("QUEUED", "RUNNING"):
                break
            await asyncio.sleep(0.1)
        assert (job["status"], job["error"]) == ("COMPLETE", None)
        sessions = [edge["node"] for edge in (await api.data(SESSIONS, everything))["sessions"]["edges"]]
        (session,) = [session for session in sessions if session["id"] == job["sessionId"]]
        assert session["status"] == "COMPLETE" and session["id"] == found[0]["node"]["id"]
        assert session["duration"] >= 40.0


NOISE = np.random.default_rng(0).normal(0, 200, SAMPLE_RATE // 2).astype("<i2").tobytes()
"""Half a second in which nobody speaks."""


@pytest.mark.parametrize(
    ("config", "then", "code"),
    [
        (StreamConfig(idle_seconds=0.3), None, 4408),
        (StreamConfig(longest_seconds=0.3), None, 4410),
        (StreamConfig(), b"\0" * 3, 4400),
    ],
)
async def test_what_was_said_is_kept_however_the_stream_ends(
    house: House, config: StreamConfig, then: bytes | None, code: int
) -> None:
    async with serving(house.api.services, house.api.space, stream=config, jobs=JobsConfig(concurrent=0)) as api:
        token = house.token("ruth", scopes=["ask", "ingest"])
        before = await jobs_of(api, token, 0)
        async with replace(house, api=api).socket() as socket:
            await socket.send(begin(token, voice=False, remember=True))
            for sent in filter(None, (NOISE, then)):
                await socket.send(sent)
            await rest_of(socket)
            assert socket.close_code == code
        assert await jobs_of(api, token, before + 1) == before + 1


async def test_nothing_is_left_of_what_was_said_when_leave_to_keep_it_has_ended(house: House) -> None:
    before, path = uploads_of(house.api), house.api.services.settings.tokens_file
    token, entry = issue(path, subject=fresh(), space=house.api.space, person_id=house.ben, scopes=["ask", "ingest"])
    async with house.socket() as socket:
        await socket.send(begin(token, voice=False, remember=True))
        await socket.send(NOISE)
        await socket.recv()
        revoke(path, entry.id)
        await socket.send(json.dumps({"type": "end"}))
        await rest_of(socket)
        assert socket.close_code == 4401
    assert uploads_of(house.api) == before


async def test_what_was_said_until_a_providers_token_ended_is_kept(house: House) -> None:
    """Nobody took leave back: such tokens end by themselves, after minutes."""
    before, file = uploads_of(house.api), house.api.services.settings.issuers_path
    table = '[issuers.company]\nissuer = "{}"\naudience = "voicegraph"\nspace = "{}"\nscopes = ["ask", "ingest"]\nleeway = {}\n'
    with oidc_server() as idp:
        file.write_text(table.format(idp.issuer, house.api.space, 300))
        async with house.socket() as socket:
            await socket.send(begin(idp.token("u-ben", exp=int(time.time())), voice=False, remember=True))
            await socket.send(NOISE)
            assert json.loads(await socket.recv())["type"] == "ready"
            async with asyncio.timeout(60):
                while not any(path.stat().st_size > len(NOISE) for path in uploads_of(house.api) - before):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            file.write_text(table.format(idp.issuer, house.api.space, 0))
            await socket.send(json.dumps({"type": "end"}))
            events = await rest_of(socket)
            assert of("remembered", events) or (socket.close_code, events[-1]["code"]) == (4401, "token_expired")
        async with house.socket() as socket:
            await socket.send(begin(idp.token("u-ben", exp=int(time.time())), voice=False))
            assert json.loads(await socket.recv())["code"] == "token_expired"
    file.unlink()
    assert uploads_of(house.api) > before, "the job at its end goes on with it"


async def test_a_recording_that_cannot_be_kept_ends_the_stream_at_once(house: House) -> None:
    services = copy(house.api.services)
    services.settings = services.settings.model_copy(update={"max_upload_mb": 1})
    async with (
        serving(services, house.api.space, stream=StreamConfig(speed=1000.0), jobs=JobsConfig(concurrent=0)) as api,
        replace(house, api=api).socket() as socket,
    ):
        await socket.send(begin(house.token("nora", scopes=["ask", "ingest"]), voice=False, remember=True))
        for _ in range(36):
            await socket.send(np.ones(SAMPLE_RATE, "<i2").tobytes())
        events = await asyncio.wait_for(rest_of(socket), 60)
    assert [event.get("code") for event in events] == [None, "upload_too_large"]


async def test_silence_that_the_client_leaves_out_is_kept(house: House) -> None:
    before = uploads_of(house.api)
    async with house.socket() as socket:
        await socket.send(begin(house.token("ben", scopes=["ask", "ingest"]), voice=False, remember=True))
        for sent in (NOISE, NOISE[::-1]):
            await socket.send(sent)
            await asyncio.sleep(1.5)
        await socket.send(json.dumps({"type": "end"}))
        await rest_of(socket)
    (kept,) = (path for path in uploads_of(house.api) - before if not path.name.startswith("."))
    assert decode.probe(kept).duration == pytest.approx(3.0, abs=0.5)


async def test_pieces_that_come_as_they_are_spoken_have_no_silence_between_them(house: House) -> None:
    before, config = uploads_of(house.api), StreamConfig(pause=0.4)
    async with (
        serving(house.api.services, house.api.space, stream=config, jobs=JobsConfig(concurrent=0)) as api,
        replace(house, api=api).socket() as socket,
    ):
        await socket.send(begin(house.token("ben", scopes=["ask", "ingest"]), voice=False, remember=True))
        await socket.recv()
        for piece in pieces("ask_surprise_nora.ogg", seconds=0.5):
            await socket.send(piece)
            await asyncio.sleep(0.5)
        await socket.send(json.dumps({"type": "end"}))
        await rest_of(socket)
    (kept,) = (path for path in uploads_of(house.api) - before if not path.name.startswith("."))
    assert decode.probe(kept).duration == pytest.approx(length("ask_surprise_nora.ogg"), abs=0.5)


def length(clip: str) -> float:
    return decode.probe(HOUSEHOLD / clip).duration
