"""What somebody lets others know of what they are like: each thing by itself, to one person, until it is taken back; seen by
them alone, and with none of the turns that they may not read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from service.graph.driver import Graph, changes, rows
from service.graph.jobs import OWN
from service.types.ids import fresh
from service.types.people import Consent
from tests.api.serving import Api
from tests.graph.graph_builders import STARTED, Said, World, seed
from tests.graph.persona_builders import agree

BOTH = ["ana", "ben", "cleo"]
SAID = [
    line
    for day in ("monday", "tuesday", "wednesday")
    for line in (
        Said("ana", "I love hiking.", ("ana", "ben"), to=("ben",), session=day),
        Said("ana", "I love sailing.", ("ana", "cleo"), to=("cleo",), session=day),
        Said("ana", "I'm so angry with you.", ("ana", "ben"), to=("ben",), session=day),
        Said("ben", "The train leaves at nine.", BOTH, to=("ana", "cleo"), session=day),
        Said("dan", "I am upstairs.", ("dan",), session="attic"),
    )
]
LATELY = datetime.now(UTC) - STARTED - timedelta(days=20)
"""From when these days are said to have been to some time ago: what faded is not shown, and sharing asks what stands now."""
PERSONAS = "{ personas { id text sharedWith { displayName } } }"
SHARED = """query($id: ID) { sharedPersonas(personId: $id) {
  text kind aspect polarity by { displayName } concerns { displayName } evidence { text } } }"""
SHARES = "MATCH (:Person {space: $space})-[s:SHARES]->() RETURN s"
ALSO = "MATCH (m:Message {space: $space, speaker_id: $by}) SET m.text = 'I love hiking.'"
OUTCOME = "{ __typename ... on PersonaSharing { shared } ... on Problem { code message } }"
SHARE, UNSHARE = (
    f"""mutation($id: ID!, $to: ID!, $key: String!) {{
      {name}(personaId: $id, personId: $to, idempotencyKey: $key) {OUTCOME} }}"""
    for name in ("sharePersona", "unsharePersona")
)


@pytest.fixture
async def world(graph: Graph, api: Api, space: str) -> World:
    world = await seed(graph, space, ["ana", "ben", "cleo", "dan"], SAID)
    move = "MATCH (m:Message {space: $space}) SET m.said_at = m.said_at + $by"
    await graph.write(changes, move, space=space, by=LATELY)
    await agree(world, "ana")
    await read(api, world)
    return world


async def read(api: Api, world: World) -> None:
    for day in ("monday", "tuesday", "wednesday"):
        await (await api.services.personas())(world.space, world.session(day), again=True)


async def do(api: Api, query: str, token: str, headers: dict[str, str] | None = None, **variables: Any) -> Any:
    return next(iter((await api.data(query, token, headers, **{"key": fresh(), **variables})).values()))


async def own(api: Api, token: str) -> dict[str, dict[str, Any]]:
    return {one["text"]: one for one in (await api.data(PERSONAS, token))["personas"]}


async def told(api: Api, token: str, headers: dict[str, str] | None = None, id: str | None = None) -> list[str]:
    return sorted(one["text"] for one in (await api.data(SHARED, token, headers, id=id))["sharedPersonas"])


async def test_who_was_let_know_of_one_thing_sees_it_alone_and_nobody_else_does(api: Api, world: World) -> None:
    ana, ben, cleo, dan = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben", "cleo", "dan"))
    admin = api.token("admin", scopes=["ask", "read_all", "admin"])
    hers = await own(api, ana)
    assert set(hers) == {"loves hiking", "loves sailing", "is angry with Ben"}
    sailing = hers["loves sailing"]["id"]
    key = fresh()
    assert await do(api, SHARE, ana, id=sailing, to=world.person("ben"), key=key) == {
        "__typename": "PersonaSharing", "shared": True,
    }  # fmt: skip
    assert (await do(api, SHARE, ana, id=sailing, to=world.person("ben"), key=key))["shared"], "the same again"
    (seen,) = (await api.data(SHARED, ben, id=None))["sharedPersonas"]
    assert (seen["text"], seen["by"], seen["polarity"] > 0.5) == ("loves sailing", {"displayName": "Ana"}, True)
    assert seen["evidence"] == [], "of turns that Ben may not read he sees nothing"
    assert (await own(api, ana))["loves sailing"]["sharedWith"] == [{"displayName": "Ben"}]
    assert await told(api, ben, id=world.person("ana")) == ["loves sailing"]
    for token, headers, id in (
        (ana, None, None),
        (cleo, None, None),
        (dan, None, None),
        (admin, None, None),
        (admin, {"x-voicegraph-acting-for": world.person("ben")}, None),
        (api.token("bot", may_act_for=[world.person("ben")]), {"x-voicegraph-acting-for": world.person("ben")}, None),
        (ben, {"x-voicegraph-heard-by": world.person("ana")}, None),
        (ben, {"x-voicegraph-heard-by": world.person("cleo")}, None),
        (ben, None, world.person("cleo")),
        (ben, None, fresh()),
    ):
        assert await told(api, token, headers, id) == []

    assert (await do(api, UNSHARE, ben, id=sailing, to=world.person("ben")))["code"] == "not_found"
    assert (await do(api, UNSHARE, ana, id=sailing, to=world.person("ben")))["shared"] is False
    assert await told(api, ben) == [] and (await own(api, ana))["loves sailing"]["sharedWith"] == []
    assert (await do(api, UNSHARE, ana, id=sailing, to=world.person("ben")))["code"] == "not_found"


async def test_only_they_themselves_share_it_and_with_somebody_they_know(api: Api, world: World) -> None:
    ana, ben = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben"))
    hiking = (await own(api, ana))["loves hiking"]["id"]
    for_ana = {"x-voicegraph-acting-for": world.person("ana")}
    to_ben, to_cleo = world.person("ben"), world.person("cleo")
    deputy = api.token("b", person_id=to_ben, may_act_for=[world.person("ana")])
    refused = [
        await do(api, SHARE, ben, id=hiking, to=to_cleo),
        await do(api, SHARE, deputy, for_ana, id=hiking, to=to_cleo),
        await do(api, SHARE, ana, {"x-voicegraph-heard-by": world.person("ben")}, id=hiking, to=to_ben),
        await do(api, SHARE, ana, id=fresh(), to=to_ben),
    ]  # fmt: skip
    assert {one["code"] for one in refused} == {"not_found"}
    for token in (api.token("admin", scopes=["ask", "admin", "read_all"]), api.token("x", may_act_for=[world.person("ana")])):
        assert (await do(api, SHARE, token, for_ana, id=hiking, to=to_ben))["code"] == "not_allowed"
    assert (await do(api, SHARE, ana, id=hiking, to=world.person("ana")))["__typename"] == "InvalidInput"
    nobody = fresh()
    hidden, absent = [await do(api, SHARE, ana, id=hiking, to=id) for id in (world.person("dan"), nobody)]
    assert hidden["message"].replace(world.person("dan"), "") == absent["message"].replace(nobody, "")
    assert await world.graph.read(rows, SHARES, space=world.space) == []


async def test_what_became_its_opposite_and_what_may_not_be_inferred_any_more_is_not_shared(api: Api, world: World) -> None:
    ana, ben = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben"))
    for text, one in (await own(api, ana)).items():
        if text != "loves sailing":
            await do(api, SHARE, ana, id=one["id"], to=world.person("ben"))
    assert await told(api, ben) == ["is angry with Ben", "loves hiking"]
    (hiking,) = [
        one for one in (await api.data(SHARED, ben, id=None))["sharedPersonas"] if one["aspect"] == "ATTITUDE"
    ]  # fmt: skip
    assert [m["text"] for m in hiking["evidence"]] == ["I love hiking."] * 3, "his own to read"
    hate = "MATCH (m:Message {space: $space, text: 'I love hiking.'}) SET m.text = 'I hate hiking.'"
    await world.graph.write(changes, hate, space=world.space)
    await read(api, world)
    assert "hates hiking" in await own(api, ana) and await told(api, ben) == ["is angry with Ben"]
    await agree(world, "ana", Consent.WITHDRAWN)
    assert await told(api, ben) == []
    await agree(world, "ana", at=datetime.now(UTC) + timedelta(seconds=1))
    await read(api, world)
    assert "is angry with Ben" in await own(api, ana) and await told(api, ben) == [], "shared anew, or not at all"


async def test_a_merge_that_nobody_confirmed_lets_nobody_know(api: Api, world: World) -> None:
    ana, ben, cleo = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben", "cleo"))
    admin = api.token("admin", scopes=["ask", "admin", "read_all"])
    await do(api, SHARE, ana, id=(await own(api, ana))["loves hiking"]["id"], to=world.person("ben"))
    merge = """mutation($a: ID!, $b: ID!, $sure: Boolean!, $key: String!) {
      mergePeople(personId: $a, intoId: $b, confirmed: $sure, idempotencyKey: $key) { __typename } }"""
    a, b = world.person("ben"), world.person("cleo")
    assert (await do(api, merge, admin, sure=False, a=a, b=b))["__typename"] == "Corrected"
    assert (await told(api, ben), await told(api, cleo)) == (["loves hiking"], [])
    await do(api, merge, admin, sure=True, a=a, b=b)
    assert await told(api, cleo) == ["loves hiking"], "one person now"
    await do(api, UNSHARE, ana, id=(await own(api, ana))["loves hiking"]["id"], to=world.person("cleo"))
    assert (await told(api, ben), await told(api, cleo)) == ([], []), "by whichever of their ids it is taken back"


async def test_a_share_stands_and_is_shown_whoever_either_of_the_two_is_merged_into(api: Api, world: World) -> None:
    ana, ben = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben"))
    hiking = (await own(api, ana))["loves hiking"]["id"]
    await do(api, SHARE, ana, id=hiking, to=world.person("ben"))
    await world.merge("ben", "cleo", confirmed=False)
    assert (await own(api, ana))["loves hiking"]["sharedWith"] == [{"displayName": "Cleo"}], "as Ben is shown now"
    assert await told(api, ben) == ["loves hiking"]
    await do(api, SHARE, ana, id=hiking, to=world.person("cleo"))
    assert (await own(api, ana))["loves hiking"]["sharedWith"] == [{"displayName": "Cleo"}], "one person once"

    await world.merge("ana", "dan", confirmed=True)
    (seen,) = (await api.data(SHARED, ben, id=None))["sharedPersonas"]
    assert (seen["text"], seen["by"]) == ("loves hiking", {"displayName": "Dan"}), "as Ana is shown now"
    assert await told(api, ben, id=world.person("dan")) == await told(api, ben, id=world.person("ana")) == ["loves hiking"]
    dan = api.token("dan", person_id=world.person("dan"))
    theirs = (await own(api, dan))["loves hiking"]
    assert theirs["id"] != hiking and theirs["sharedWith"] == [{"displayName": "Cleo"}], "the same one"
    await do(api, SHARE, dan, id=theirs["id"], to=world.person("ben"))
    assert (await do(api, UNSHARE, dan, id=theirs["id"], to=world.person("cleo")))["shared"] is False
    assert await told(api, ben) == [] and (await own(api, ana))["loves hiking"]["sharedWith"] == []
    assert await world.graph.read(rows, SHARES, space=world.space) == [], "by whichever of their ids it was shared"


async def test_what_is_shared_with_whom_is_nowhere_but_on_the_share_and_no_administrator_is_told(
    api: Api, world: World
) -> None:
    ana, ben = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben"))
    hiking, to = (await own(api, ana))["loves hiking"]["id"], world.person("ben")
    key = fresh()
    for query, its in ((SHARE, key), (UNSHARE, fresh()), (SHARE, key)):
        answer = await do(api, query, ana, id=hiking, to=to, key=its)
        assert answer["shared"] is (query == SHARE), "also again, as it was answered"
    assert (await do(api, SHARE, ana, id=hiking, to=world.person("cleo"), key=key))["code"] == "key_conflict"
    kept = await world.graph.read(rows, "MATCH (j:Job {space: $space}) RETURN j {.*} AS job", space=world.space)
    assert {row["job"]["kind"] for row in kept} == set(OWN)
    assert hiking.partition(":")[2] not in str(kept) and to not in str(kept)
    hers = await jobs(api, ana)
    assert {one["kind"] for one in hers} == set(OWN), "she sees what she asked for"
    everything = ["ask", "admin", "read_all"]
    for token in (ben, api.token("admin", scopes=everything), api.token("boss", person_id=to, scopes=everything)):
        assert await jobs(api, token) == []
        for one in hers:
            assert (await api.data("query($id: ID!) { job(id: $id) { id } }", token, id=one["id"]))["job"] is None
    herself = api.token("chief", person_id=world.person("ana"), scopes=everything)
    await do(api, SHARE, herself, id=hiking, to=to)
    assert [one["kind"] for one in await jobs(api, herself)] == ["share_persona"]


async def test_of_two_who_are_alike_each_has_another_id_of_it(api: Api, world: World) -> None:
    await world.graph.write(changes, ALSO, space=world.space, by=world.person("ben"))
    await agree(world, "ben")
    await read(api, world)
    ana, ben = [(await own(api, api.token(name, person_id=world.person(name)))) for name in ("ana", "ben")]
    assert ben["loves hiking"]["id"] != ana["loves hiking"]["id"]


async def jobs(api: Api, token: str) -> list[dict[str, Any]]:
    found = (await api.data("{ jobs(first: 20) { edges { node { id kind } } } }", token))["jobs"]
    return [edge["node"] for edge in found["edges"]]
