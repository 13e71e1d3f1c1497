from __future__ import annotations

import pytest

from service.graph.driver import Graph
from tests.api.serving import Api
from tests.graph.graph_builders import Said, World, seed
from tests.graph.identity_builders import may_be, proposed, unname, voice_of

WHO = """query($first: Int = 9, $after: String) { whoIsThis(first: $first, after: $after) { totalCount
  pageInfo { hasNextPage endCursor } edges { node {
    kind localSpeaker label numTurns netSpeech firstHeard lastHeard person { id displayName }
    heard { start end numTurns session { title } } turns { text speaker { id } }
    suggestions { person { displayName } cosine margin threshold why }
    names { id name sources confidence status numEvidence person { id } localSpeaker evidence { text } } } } } }"""


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    world = await seed(
        graph,
        space,
        ("ana", "ben", "cleo", "voice"),
        [
            Said("ana", "hello", ("ana", "ben"), to=("ben",)),
            Said("voice", "I am called Dora", ("ana", "ben"), session="monday"),
            Said(None, "who mumbles", ("ana", "ben"), session="tuesday"),
            Said("cleo", "alone", ("cleo",), session="attic"),
        ],
    )
    await unname(world, "voice")
    await may_be(world, "tuesday", "ben", cosine=0.44, why="exclusive")
    await may_be(world, "tuesday", "cleo", cosine=0.5)
    await proposed(world, "voice", "Dora", [1], confidence=0.75)
    return world


async def test_who_is_this_tells_when_a_voice_was_heard_whom_it_may_be_and_what_it_may_be_called(
    api: Api, world: World
) -> None:
    ana = api.token("ana", person_id=world.person("ana"))
    inbox = (await api.data(WHO, ana))["whoIsThis"]
    voice, dora = (edge["node"] for edge in inbox["edges"])
    assert inbox["totalCount"] == 2 and not inbox["pageInfo"]["hasNextPage"]
    assert (voice["kind"], voice["localSpeaker"], voice["label"]) == ("LOCAL_SPEAKER", voice_of(world, "tuesday"), "voice")
    assert voice["person"] is None and voice["turns"] == [{"text": "who mumbles", "speaker": None}]
    assert voice["suggestions"] == [
        {"person": {"displayName": "Ben"}, "cosine": 0.44, "margin": 0.1, "threshold": 0.55, "why": "exclusive"}
    ]
    assert (dora["kind"], dora["localSpeaker"], dora["numTurns"], dora["netSpeech"]) == ("PERSON", None, 1, 2.5)
    assert dora["person"] == {"id": f"Person:{world.person('voice')}", "displayName": None}
    assert dora["heard"] == [{"start": 4.0, "end": 7.0, "numTurns": 1, "session": {"title": "monday"}}]
    assert dora["firstHeard"] == dora["lastHeard"] == "2026-05-03T09:00:04+00:00"
    (name,) = dora["names"]
    assert (name["name"], name["confidence"], name["status"], name["sources"]) == ("Dora", 0.75, "OPEN", ["self_introduction"])
    assert name["evidence"] == [{"text": "I am called Dora"}] and name["person"] == {"id": dora["person"]["id"]}


async def test_the_inbox_is_read_page_by_page(api: Api, world: World) -> None:
    ana = api.token("ana", person_id=world.person("ana"))
    first = (await api.data(WHO, ana, first=1))["whoIsThis"]
    assert first["pageInfo"]["hasNextPage"] and len(first["edges"]) == 1
    rest = (await api.data(WHO, ana, first=1, after=first["pageInfo"]["endCursor"]))["whoIsThis"]
    assert rest["edges"][0]["node"]["kind"] == "PERSON" and not rest["pageInfo"]["hasNextPage"]
    assert await api.code("{ whoIsThis(first: 101) { totalCount } }", ana) == "invalid_input"


async def test_who_heard_nobody_unknown_has_an_empty_inbox(api: Api, world: World) -> None:
    cleo = api.token("cleo", person_id=world.person("cleo"))
    for token in (cleo, api.token("nobody"), None):
        assert (await api.data(WHO, token))["whoIsThis"] == {
            "totalCount": 0,
            "pageInfo": {"hasNextPage": False, "endCursor": None},
            "edges": [],
        }
    headers = {"x-voicegraph-heard-by": world.person("cleo")}
    assert (await api.data(WHO, api.token("ana", person_id=world.person("ana")), headers))["whoIsThis"]["totalCount"] == 0
