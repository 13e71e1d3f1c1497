"""Sounds over GraphQL: of who agreed, to who may read what they said, while the space keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from service.graph.driver import Graph
from service.types.ids import fresh
from tests.api.serving import Api
from tests.graph.sound_builders import evening, listen, told

CONSENT = """mutation($id: ID!, $state: ConsentState!, $key: String!) { recordConsent(personId: $id, state: $state,
  purpose: KEEP_AUDIO, consent: {textVersion: "1", channel: "form"}, idempotencyKey: $key) { __typename } }"""
SOUNDS = """query($labels: [SoundLabel!], $about: String, $by: [ID!], $since: DateTime, $until: DateTime) {
  sounds(labels: $labels, about: $about, by: $by, since: $since, until: $until) { __typename ... on InvalidInput { message }
    ... on SoundsResult { hits { id label start end sure score hasPiece visibleBecause message { text } } } } }"""
POLICY = """mutation($policy: SpacePolicyInput!, $key: String!) { setSpacePolicy(policy: $policy, idempotencyKey: $key) {
  __typename ... on Space { keepsSound soundDays } } }"""
TENT, BILL = "You forgot the tent again.", "The dentist called about the bill."


async def test_who_laughed_about_what_is_told_to_who_may_read_it(graph: Graph, api: Api, space: str, tmp_path: Path) -> None:
    world = await told(graph, space)
    ana, ben, cleo = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben", "cleo"))
    admin = api.token("admin", scopes=["ask", "admin"])

    async def said(token: str, **asked: Any) -> list[str]:
        found = (await api.data(SOUNDS, token, **asked))["sounds"]
        return [hit["message"]["text"] for hit in found["hits"]]

    policy = {"keepsSound": True, "soundDays": 5}
    changed = await api.data(POLICY, admin, policy=policy, key=fresh())
    assert changed["setSpacePolicy"] == {"__typename": "Space", **policy}
    wrong = await api.data(POLICY, admin, policy={"soundDays": 0}, key=fresh())
    assert wrong["setSpacePolicy"]["__typename"] == "InvalidInput"
    for token, name in ((ana, "ana"), (ben, "ben")):
        recorded = await api.data(CONSENT, token, id=world.person(name), state="GRANTED", key=fresh())
        assert recorded["recordConsent"]["__typename"] == "ConsentRecorded"
    await listen(world, evening(tmp_path))
    for token in (ana, ben):
        assert await said(token, labels=["LAUGHING"]) == [BILL, TENT]
        assert (await said(token, labels=["LAUGHING"], about="the trip and the tent"))[0] == TENT
    assert await said(cleo) == await said(cleo, about="the trip") == []
    assert await said(ana, labels=["LAUGHING"], by=[world.person("ben")]) == [BILL]
    assert await said(ana, labels=["LAUGHING"], until="2026-05-03T09:00:10+00:00") == [TENT]
    assert await said(ana, labels=["CAT"]) == []
    refused = await api.data(SOUNDS, ana, since="2026-05-03T09:00:10")
    assert refused["sounds"]["__typename"] == "InvalidInput"
    (hit,) = (await api.data(SOUNDS, ana, by=[world.person("ana")], labels=["LAUGHING"]))["sounds"]["hits"]
    like = """query($like: ID!, $about: String) { sounds(like: $like, about: $about) {
      __typename ... on SoundsResult { hits { label message { text } } } } }"""
    ((alike,), *others) = [(await api.data(like, t, like=hit["id"]))["sounds"]["hits"] for t in (ana, ben, cleo)]
    assert alike["label"] == "RINGING" and others == [[], []], "of her own sounds, to herself"
    both = await api.data(like, ana, like=hit["id"], about="the trip")
    assert both["sounds"]["__typename"] == "InvalidInput"
    assert hit["hasPiece"] and hit["visibleBecause"] == "said_it" and 4.0 <= hit["start"] < hit["end"] <= 7.0
    await api.data(CONSENT, ana, id=world.person("ana"), state="WITHDRAWN", key=fresh())
    assert await said(ben) == [BILL]
