from __future__ import annotations

import pytest

from service.graph.driver import Graph, changes
from service.identity.thresholds import CAMPPLUS
from service.types.ids import fresh
from tests.api.serving import Api
from tests.graph.graph_builders import Said, World, seed
from tests.graph.identity_builders import bound, decided, exemplar, may_be, voice_of

DECIDED = """{ decision cosine runnerUp margin threshold channels policy encoder by reason
  person { displayName } runnerUpPerson { displayName } }"""
WHY = f"""query($id: ID!) {{ explainIdentity(messageId: $id) {{ turn {DECIDED} voice {DECIDED} localSpeaker label
  netSpeech overlapped snrDb channel learned fromEnrolment evidence {{ netSpeech snrDb channel message {{ text }} }}
  merges {{ by why confirmed cosine correctionId }} suggestions {{ person {{ displayName }} cosine }} }} }}"""


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    world = await seed(
        graph,
        space,
        ("ana", "ben", "cleo", "twin"),
        [
            Said("ana", "one", ("ana", "ben"), to=("ben",)),
            Said("twin", "two", ("ana", "ben"), session="tuesday"),
            Said(None, "nobody's", ("ana", "ben"), session="wednesday"),
            Said("cleo", "alone", ("cleo",), session="attic"),
        ],
    )
    await decided(world, 1, runner_up_id=world.person("cleo"))
    await bound(world, "tuesday", "twin", cosine=0.7, by="settlement", runner_up_id=world.person("ben"))
    await exemplar(world, "twin", 0)
    await exemplar(world, "twin", 3)
    await world.merge("twin", into="ana", confirmed=False)
    return world


async def test_why_a_message_is_held_to_be_somebodys_is_told_with_all_its_numbers(api: Api, world: World) -> None:
    ben = api.token("ben", person_id=world.person("ben"))
    why = (await api.data(WHY, ben, id=f"Message:{world.message(1)}"))["explainIdentity"]
    assert why["turn"] == {
        "decision": "link",
        "cosine": 0.61,
        "runnerUp": 0.4,
        "margin": 0.21,
        "threshold": 0.52,
        "channels": "wideband",
        "policy": "bounded",
        "encoder": "campplus",
        "by": "router",
        "reason": None,
        "person": {"displayName": "Ana"},
        "runnerUpPerson": None,
    }
    assert (why["voice"]["cosine"], why["voice"]["by"]) == (0.7, "settlement")
    assert why["voice"]["runnerUpPerson"] == {"displayName": "Ben"}
    assert why["localSpeaker"] == voice_of(world, "tuesday") and why["netSpeech"] == 2.5 and why["learned"] is False
    assert why["evidence"] == [{"netSpeech": 2.5, "snrDb": 20.0, "channel": "wideband", "message": {"text": "one"}}]
    assert why["merges"] == [{"by": "somebody", "why": None, "confirmed": False, "cosine": None, "correctionId": None}]
    everything = api.token("owner", scopes=["ask", "read_all"])
    why = (await api.data(WHY, everything, id=world.message(1)))["explainIdentity"]
    assert why["turn"]["runnerUpPerson"] == {"displayName": "Cleo"} and len(why["evidence"]) == 2
    assert why["merges"][0]["by"] == "test"


async def test_a_message_that_is_nobodys_is_told_with_whom_it_may_be(api: Api, world: World) -> None:
    await decided(world, 2, decision="unresolved", reason="too_short", by="settlement")
    await may_be(world, "wednesday", "ben", cosine=0.43)
    await may_be(world, "wednesday", "cleo", cosine=0.47)
    ana = api.token("ana", person_id=world.person("ana"))
    why = (await api.data(WHY, ana, id=world.message(2)))["explainIdentity"]
    assert (why["turn"]["decision"], why["turn"]["reason"], why["turn"]["person"]) == ("unresolved", "too_short", None)
    assert why["suggestions"] == [{"person": {"displayName": "Ben"}, "cosine": 0.43}] and why["voice"] is None


async def test_a_message_outside_is_explained_like_one_that_does_not_exist(api: Api, world: World) -> None:
    ben = api.token("ben", person_id=world.person("ben"))
    for token in (ben, api.token("nobody"), None):
        for id in (world.message(3), f"Message:{world.message(3)}", fresh(), "", f"Person:{world.person('ben')}"):
            assert await api.data(WHY, token, id=id) == {"explainIdentity": None}


async def test_todays_thresholds_are_told_to_who_reads_everything(api: Api, world: World, graph: Graph) -> None:
    """How strict they are tells how many people are known."""
    query = """query($id: ID!) { explainIdentity(messageId: $id) { thresholdsNow {
      encoder channels gallerySize link create update access origin } } }"""
    everything, ben = api.token("owner", scopes=["ask", "read_all"]), api.token("ben", person_id=world.person("ben"))
    told = []
    for known in (("ana",), ("ana", "ben", "cleo")):
        people = [world.person(name) for name in known]
        await graph.write(changes, "MATCH (p:Person) WHERE p.id IN $ids SET p.voiceprint__campplus = [1.0]", ids=people)
        told.append((await api.data(query, everything, id=world.message(1)))["explainIdentity"]["thresholdsNow"])
    one, three = told
    assert (one["encoder"], one["channels"], one["gallerySize"], three["gallerySize"]) == ("campplus", "wideband", 1, 3)
    assert one == {**three, "gallerySize": 1}, "five people at least are reckoned with"
    assert three["create"] < three["link"] == CAMPPLUS.link(5) < three["update"] == 0.55 < three["access"] + 0.1
    assert three["access"] == CAMPPLUS.access(5) and three["origin"] == CAMPPLUS.origin
    headers = {"x-voicegraph-acting-for": world.person("ana")}
    for answer in (
        await api.data(query, ben, id=world.message(1)),
        await api.data(query, everything, headers, id=world.message(1)),
    ):
        assert answer == {"explainIdentity": {"thresholdsNow": None}}
    await decided(world, 1, encoder="ecapa")
    assert await api.data(query, everything, id=world.message(1)) == {"explainIdentity": {"thresholdsNow": None}}
