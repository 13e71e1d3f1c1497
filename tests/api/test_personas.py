"""What somebody is like, over GraphQL: after they agreed, for themselves, alone; gone when they take it back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from service.graph.driver import Graph
from service.types.ids import fresh
from tests.api.serving import Api
from tests.graph.graph_builders import STARTED, Said, World, seed

SAID = [
    line
    for day in ("monday", "tuesday", "wednesday")
    for line in (
        Said("ana", "I love hiking.", ("ana", "ben"), to=("ben",), session=day),
        Said("ana", "I'm so angry with you because you are late.", ("ana", "ben"), to=("ben",), session=day),
        Said("ben", "I hate hiking.", ("ana", "ben"), to=("ana",), session=day),
    )
]
CONSENT = """mutation($id: ID!, $state: ConsentState!, $key: String!) { recordConsent(personId: $id, state: $state,
  purpose: INFER_PERSONA, consent: {textVersion: "1", channel: "form"}, idempotencyKey: $key) { __typename } }"""
PERSONAS = """query($id: ID, $at: DateTime!) { personas(personId: $id, askedAt: $at) {
  text kind aspect emotion polarity support numSessions concerns { displayName } evidence { text } } }"""
AFFECT = """query($id: ID) { affect(personId: $id, first: 2) { edges { node {
  valence arousal emotion marks { emotion target toAddressee cause } message { text } } } pageInfo { hasNextPage } } }"""
AT = (STARTED + timedelta(days=9)).isoformat()


async def read(api: Api, world: World) -> None:
    for day in ("monday", "tuesday", "wednesday"):
        await (await api.services.personas())(world.space, world.session(day))


async def test_somebody_who_agreed_sees_what_they_are_like_and_nobody_else_does(graph: Graph, api: Api, space: str) -> None:
    world = await seed(graph, space, ("ana", "ben"), SAID)
    ana, ben = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben"))
    admin = api.token("admin", scopes=["ask", "read_all", "admin"])

    async def seen(token: str, headers: dict[str, str] | None = None, id: str | None = None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await api.data(PERSONAS, token, headers, id=id, at=AT))["personas"]
        return found

    await read(api, world)
    assert await seen(ana) == [], "she has not agreed"
    refused = await api.data(CONSENT, ben, id=world.person("ana"), state="GRANTED", key=fresh())
    assert refused["recordConsent"]["__typename"] == "NotAllowed", "nobody agrees for another"
    agreed = await api.data(CONSENT, ana, id=world.person("ana"), state="GRANTED", key=fresh())
    assert agreed["recordConsent"]["__typename"] == "ConsentRecorded"
    await read(api, world)

    likes, angry = sorted(await seen(ana), key=lambda one: one["aspect"])
    assert (likes["text"], likes["kind"], likes["support"], likes["numSessions"]) == ("loves hiking", "CROSS_ENTITY", 3, 3)
    assert (angry["text"], angry["emotion"], angry["concerns"]) == ("is angry with Ben", "ANGER", {"displayName": "Ben"})
    assert {m["text"] for m in angry["evidence"]} == {SAID[1].text} and angry["polarity"] < -0.5

    listener = {"x-voicegraph-heard-by": world.person("ben")}
    for_ana = {"x-voicegraph-acting-for": world.person("ana")}
    bot = api.token("bot", may_act_for=[world.person("ana")], scopes=["ask"])
    assert await seen(ana, for_ana) != [], "she asks for herself"
    for token, headers, id in (
        (ben, None, world.person("ana")),
        (admin, None, world.person("ana")),
        (admin, for_ana, None),
        (admin, for_ana, world.person("ana")),
        (bot, for_ana, None),
        (ana, listener, None),
        (ana, None, world.person("ben")),
        (ana, None, fresh()),
    ):
        assert await seen(token, headers, id) == []
        assert (await api.data(AFFECT, token, headers, id=id))["affect"]["edges"] == []

    turns = (await api.data(AFFECT, ana))["affect"]
    last, before = (edge["node"] for edge in turns["edges"])
    assert last["message"]["text"] == SAID[1].text and before["message"]["text"] == SAID[0].text
    assert (last["emotion"], last["valence"] < -0.4, last["arousal"] > 0.5) == ("ANGER", True, True)
    assert last["marks"] == [{"emotion": "ANGER", "target": None, "toAddressee": True, "cause": "you are late"}]
    assert before["marks"][0]["target"] == "hiking" and turns["pageInfo"]["hasNextPage"]

    await api.data(CONSENT, ana, id=world.person("ana"), state="WITHDRAWN", key=fresh())
    assert await seen(ana) == [] and (await api.data(AFFECT, ana))["affect"]["edges"] == []


async def test_a_space_said_to_be_a_workplace_infers_nothing(graph: Graph, api: Api, space: str) -> None:
    world = await seed(graph, space, ("ana", "ben"), SAID[:3])
    ana = api.token("ana", person_id=world.person("ana"))
    admin = api.token("admin", scopes=["ask", "admin"])
    await api.data(CONSENT, ana, id=world.person("ana"), state="GRANTED", key=fresh())
    done = await (await api.services.personas())(space, world.session("monday"))
    assert done.num_read == 2 and len((await api.data(AFFECT, ana))["affect"]["edges"]) == 2
    policy = """mutation($key: String!) { setSpacePolicy(policy: {workplace: true}, idempotencyKey: $key) {
      ... on Space { workplace } } }"""
    assert await api.data(policy, admin, key=fresh()) == {"setSpacePolicy": {"workplace": True}}
    assert (await api.data(AFFECT, ana))["affect"]["edges"] == []
    assert (await (await api.services.personas())(space, world.session("monday"))).num_read == 0
