"""What somebody said about being known: recorded with its proof, shown to themselves, and the space's schedule to anybody."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from graph_schema.stores import STORES
from service.types.ids import fresh
from tests.api.serving import Api
from tests.graph.graph_builders import Said, seed

RECORD = """mutation($person: ID!, $state: ConsentState!, $purpose: ConsentPurpose!, $consent: ConsentInput!, $key: String!) {
  recordConsent(personId: $person, state: $state, purpose: $purpose, consent: $consent, idempotencyKey: $key) {
    __typename ... on ConsentRecorded { state } ... on Problem { code message } } }"""
HISTORY = """query($id: ID) { consents(personId: $id, first: 50) {
  edges { node { personId purpose state textVersion channel saidAt recordedAt evidence } } } }"""
SET = """mutation($policy: SpacePolicyInput!, $key: String!) { setSpacePolicy(policy: $policy, idempotencyKey: $key) {
  __typename ... on Space { sessionDays voiceDays optOuts } ... on Problem { code message } } }"""
RETENTION = "{ retention { store until } }"


async def history(api: Api, token: str | None, id: str | None = None, **headers: str) -> list[Any]:
    found = await api.data(HISTORY, token, headers, id=id)
    return [edge["node"] for edge in found["consents"]["edges"]]


async def test_somebody_says_it_and_sees_what_they_said_and_nobody_else_does(api: Api) -> None:
    world = await seed(api.services.graph, api.space, ("ana", "ben"), [Said("ana", "Hello.", ("ana", "ben"))])
    ana, ben = world.person("ana"), world.person("ben")
    hers, his = api.token("ana", person_id=ana, scopes=["ask", "ingest"]), api.token("ben", person_id=ben)
    admin = api.token("root", scopes=["admin"])
    form, then = b"the form that Ana signed", datetime.now(UTC) - timedelta(days=3)
    upload = await api.upload(form, hers)

    async def record(token: str, state: str, purpose: str = "ATTRIBUTE", **consent: Any) -> str:
        said = {"textVersion": "1", "channel": "form", **consent}
        given: dict[str, Any] = {"person": ana, "state": state, "purpose": purpose, "consent": said, "key": fresh()}
        outcome = (await api.data(RECORD, token, **given))["recordConsent"]
        return str(outcome.get("code", outcome["__typename"]))

    assert await record(hers, "GRANTED", saidAt=then.isoformat(), evidenceUploadId=upload) == "ConsentRecorded"
    assert await record(hers, "WITHDRAWN", evidence="said so at the desk") == "ConsentRecorded"
    assert await record(his, "GRANTED") == "not_allowed", "it is hers to say"
    assert await record(hers, "GRANTED", evidence="a", evidenceUploadId=upload) == "invalid_input"
    assert await record(hers, "GRANTED", saidAt=(then + timedelta(days=30)).isoformat()) == "invalid_input"
    assert await record(hers, "GRANTED", saidAt="2026-01-01T00:00:00") == "invalid_input"

    said = await history(api, hers)
    assert [(one["state"], one["purpose"], one["evidence"]) for one in said] == [
        ("WITHDRAWN", "ATTRIBUTE", "said so at the desk"),
        ("GRANTED", "ATTRIBUTE", "sha256:" + hashlib.sha256(form).hexdigest()),
    ]
    assert said[1]["saidAt"] < said[1]["recordedAt"] and said[0]["personId"] == f"Person:{ana}"
    assert await history(api, admin, ana) == said == await history(api, hers, ana)
    assert await history(api, his, ana) == await history(api, his, "nobody") == []
    assert await history(api, hers, None, **{"x-voicegraph-heard-by": ben}) == []
    assert await history(api, admin, ana, **{"x-voicegraph-heard-by": ben}) == []
    reader = api.token("reader", scopes=["read_all", "ask"])
    assert await history(api, reader, ana) == await history(api, None, ana) == []


async def test_a_refusal_that_an_older_date_leaves_without_effect_is_told_so(api: Api) -> None:
    world = await seed(api.services.graph, api.space, ("ana",), [Said("ana", "Hello.", ("ana",))])
    ana = world.person("ana")
    hers, now = api.token("ana", person_id=ana), datetime.now(UTC)

    async def record(state: str, at: datetime) -> str:
        said = {"textVersion": "1", "channel": "form", "saidAt": at.isoformat()}
        given: dict[str, Any] = {"person": ana, "state": state, "purpose": "REMEMBER_VOICE", "consent": said, "key": fresh()}
        return str((await api.data(RECORD, hers, **given))["recordConsent"]["state"])

    assert await record("GRANTED", now - timedelta(hours=1)) == "GRANTED"
    assert await record("WITHDRAWN", now - timedelta(hours=2)) == "GRANTED"
    assert await record("WITHDRAWN", now) == "WITHDRAWN"


async def test_how_long_what_is_kept_is_for_anybody_to_see_and_an_administrators_to_set(api: Api) -> None:
    admin, somebody = api.token("root", scopes=["admin"]), api.token("somebody")
    policy = {"sessionDays": 90, "optOuts": "IDS"}
    assert (await api.data(SET, somebody, policy=policy, key=fresh()))["setSpacePolicy"]["code"] == "not_allowed"
    done = (await api.data(SET, admin, policy=policy, key=fresh()))["setSpacePolicy"]
    assert (done["sessionDays"], done["optOuts"]) == (90, "IDS")
    kept = {one["store"]: one["until"] for one in (await api.data(RETENTION, somebody))["retention"]}
    assert kept.keys() == {store.name for store in STORES if store.built} and "90 days" in kept["sessions"]
    page = await api.http.get("/v1/retention", headers={"authorization": f"Bearer {somebody}"})
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html") and "90 days" in page.text
    assert (await api.http.get("/v1/retention", headers={"authorization": "Bearer nonsense"})).status_code == 401
    assert (await api.http.get("/v1/retention")).status_code == 200
    assert (await api.data(SET, admin, policy={"voiceDays": 1095}, key=fresh()))["setSpacePolicy"]["voiceDays"] == 1095
    until = {one["store"]: one["until"] for one in (await api.data(RETENTION, somebody))["retention"]}
    assert "1095 days after they were last heard" in until["voices"]
    too_long = (await api.data(SET, admin, policy={"voiceDays": 3_651}, key=fresh()))["setSpacePolicy"]
    assert too_long["code"] == "invalid_input"
    back = (await api.data(SET, admin, policy={"sessionDays": 0, "voiceDays": 0}, key=fresh()))["setSpacePolicy"]
    assert (back["sessionDays"], back["voiceDays"], back["optOuts"]) == (None, None, "IDS")
