from __future__ import annotations

import pytest

from service.graph.driver import Graph
from tests.api.serving import Api
from tests.graph.graph_builders import Said, World, seed

PAGE = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    said = [Said("ana" if i % 2 else "ben", f"line {i}", ["ana", "ben"], to=["ben" if i % 2 else "ana"]) for i in range(7)]
    secret = Said("cleo", "the cake is a surprise", ["cleo"], session="tuesday")
    return await seed(graph, space, ["ana", "ben", "cleo"], [*said, secret])


@pytest.fixture
def ana(api: Api, world: World) -> str:
    return api.token("ana", person_id=world.person("ana"), scopes=["ask"])


async def test_a_page_goes_on_where_the_last_one_ended(api: Api, world: World, ana: str) -> None:
    query = f"query($n: Int, $a: String) {{ messages(first: $n, after: $a) {{ edges {{ node {{ text }} }} {PAGE} }} }}"
    texts, cursor, pages = [], None, 0
    while True:
        page = (await api.data(query, ana, n=3, a=cursor))["messages"]
        texts += [e["node"]["text"] for e in page["edges"]]
        pages += 1
        assert page["pageInfo"]["hasPreviousPage"] == (cursor is not None)
        if not page["pageInfo"]["hasNextPage"]:
            break
        cursor = page["pageInfo"]["endCursor"]
    assert texts == [f"line {i}" for i in range(7)] and pages == 3


async def test_a_page_can_be_read_from_the_end(api: Api, world: World, ana: str) -> None:
    query = f"{{ messages(last: 2) {{ edges {{ node {{ text }} }} {PAGE} }} }}"
    page = (await api.data(query, ana))["messages"]
    assert [e["node"]["text"] for e in page["edges"]] == ["line 5", "line 6"]
    assert page["pageInfo"]["hasPreviousPage"] and not page["pageInfo"]["hasNextPage"]


async def test_totals_are_counted_on_demand_and_only_over_what_is_visible(api: Api, world: World, ana: str) -> None:
    query = "{ messages(first: 1) { totalCount } people { totalCount } sessions { totalCount } }"
    data = await api.data(query, ana)
    assert {name: data[name]["totalCount"] for name in data} == {"messages": 7, "people": 2, "sessions": 1}


async def test_everything_of_a_message_is_reached(api: Api, world: World, ana: str) -> None:
    await world.replies(1, 0)
    query = """query($id: ID!) { message(id: $id) { text index start end saidAt language
      decision { kind cosine margin threshold } localSpeaker
      speaker { id displayName kind numTurns messages(first: 1) { edges { node { text } } } }
      addressees { confidence how person { displayName } }
      session { id title status numMessages startedAt messages(first: 2) { edges { node { index } } } }
      replyTo { id text } } }"""
    message = (await api.data(query, ana, id=world.message(1)))["message"]
    assert message["text"] == "line 1" and message["index"] == 1 and message["saidAt"].startswith("2026-05-03T09:00:04")
    assert message["speaker"] | {"messages": None, "id": None} == {
        "id": None,
        "displayName": "Ana",
        "kind": "named",
        "numTurns": 3,
        "messages": None,
    }
    assert message["addressees"] == [{"confidence": 1.0, "how": "CALLER", "person": {"displayName": "Ben"}}]
    assert message["session"]["numMessages"] == 7 and message["session"]["id"] == f"Session:{world.session('monday')}"
    assert message["replyTo"]["id"] == f"Message:{world.message(0)}"
    assert message["decision"] == {"kind": "link", "cosine": 0.7, "margin": 0.3, "threshold": 0.5}


async def test_node_reads_every_type_by_its_global_id(api: Api, world: World, ana: str) -> None:
    ids = [f"Person:{world.person('ben')}", f"Session:{world.session('monday')}", f"Message:{world.message(0)}"]
    for id in ids:
        data = await api.data("query($id: ID!) { node(id: $id) { __typename id } }", ana, id=id)
        assert data["node"] == {"__typename": id.split(":")[0], "id": id}


@pytest.mark.parametrize("id", ["", "x", "Person", "Person:", "person:x", "Nothing:x", "Message:x\u0000", "Viewer:x"])
async def test_node_is_null_for_what_is_no_id(api: Api, world: World, ana: str, id: str) -> None:
    assert await api.data("query($id: ID!) { node(id: $id) { id } }", ana, id=id) == {"node": None}


async def test_an_id_of_another_type_names_nothing(api: Api, world: World, ana: str) -> None:
    id = f"Message:{world.message(0)}"
    data = await api.data(
        "query($id: ID!) { person(id: $id) { id } session(id: $id) { id } message(id: $id) { id } }", ana, id=id
    )
    assert data == {"person": None, "session": None, "message": {"id": id}}


@pytest.mark.parametrize(
    "arguments", ["first: 101", "first: -1", 'after: "x"', "first: 1, last: 1", "last: 101", 'before: "WzFd"']
)
async def test_a_page_that_cannot_be_is_refused_with_a_reason(api: Api, world: World, ana: str, arguments: str) -> None:
    for field in ("messages", "people", "sessions", "jobs"):
        assert await api.code(f"{{ {field}({arguments}) {{ edges {{ cursor }} }} }}", ana) == "invalid_input"


async def test_the_viewer_is_told_who_they_are(api: Api, world: World, ana: str) -> None:
    query = """{ viewer { __typename ... on Viewer { assurance space numHearers unknownHearer readsAll numVisibleMessages
      person { displayName } } } }"""
    assert (await api.data(query, ana))["viewer"] == {
        "__typename": "Viewer",
        "assurance": "TOKEN",
        "space": world.space,
        "numHearers": 1,
        "unknownHearer": False,
        "readsAll": False,
        "numVisibleMessages": 7,
        "person": {"displayName": "Ana"},
    }


async def test_less_is_seen_when_somebody_else_listens(api: Api, world: World) -> None:
    cleo = api.token("cleo", person_id=world.person("cleo"))
    query = "{ messages { edges { node { text } } } }"
    alone = await api.data(query, cleo)
    heard = await api.data(query, cleo, headers={"x-voicegraph-heard-by": f"Person:{world.person('ana')}"})
    assert len(alone["messages"]["edges"]) == 1 and heard["messages"]["edges"] == []


async def test_no_listener_gets_lost_on_the_way(api: Api, world: World) -> None:
    """Named twice, in another type, or under another header: counted, or refused, never left out."""
    cleo, ana = api.token("cleo", person_id=world.person("cleo")), world.person("ana")
    body = {"query": "{ viewer { ... on Viewer { numHearers unknownHearer } } }"}
    bearer = ("authorization", f"Bearer {cleo}")
    heard_by = "x-voicegraph-heard-by"
    answer = await api.http.post("/graphql", json=body, headers=[bearer, (heard_by, ana), (heard_by, "nobody")])
    assert answer.json()["data"]["viewer"] == {"numHearers": 1, "unknownHearer": True}  # she knows of neither
    answer = await api.http.post("/graphql", json=body, headers=[bearer, ("x-voicegraph-heardby", ana)])
    assert answer.status_code == 422 and answer.json()["errors"][0]["extensions"]["code"] == "invalid_input"
    async with api.socket({"authorization": f"Bearer {cleo}", heard_by: [ana]}) as socket:
        assert await socket.closed() == 4403


async def test_a_token_acts_only_for_whom_it_may(api: Api, world: World) -> None:
    bot = api.token("bot", may_act_for=[world.person("cleo")])
    query = "{ viewer { __typename ... on Viewer { numVisibleMessages } ... on NotAllowed { code } } }"
    for name, expected in (("cleo", {"__typename": "Viewer", "numVisibleMessages": 1}), ("ana", None), ("nobody", None)):
        data = await api.data(query, bot, headers={"x-voicegraph-acting-for": world.person(name)})
        assert data["viewer"] == expected or {"__typename": "NotAllowed", "code": "may_not_act_for"}
        assert (data["viewer"] == expected) == (expected is not None)


async def test_a_token_without_the_scope_reads_nothing(api: Api, world: World) -> None:
    recorder = api.token("recorder", person_id=world.person("ana"), scopes=["ingest"])
    assert await api.code("{ messages { edges { cursor } } }", recorder) == "not_allowed"


async def test_a_token_that_is_not_known_is_refused(api: Api, world: World) -> None:
    for header in ("Bearer vg_x", "Bearer", "Basic dXNlcjpwYXNz", "vg_x"):
        assert await api.code("{ space { name } }", headers={"authorization": header}) == "token_not_accepted"
