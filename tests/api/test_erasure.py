"""Who may have what erased over HTTP, and who is shown the receipt?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from service.graph.driver import Graph
from tests.api.serving import Api
from tests.graph.graph_builders import HashedWords, Said, World, seed

EVERYBODY = ["ana", "ben"]
LINES = [("ana", "I keep bees."), ("ben", "And I keep geese."), ("ana", "The bees sleep.")]
ERASE = """
mutation ($id: ID!, $key: String!) { erased: %s(%s: $id, idempotencyKey: $key, why: "asked for") {
  __typename ... on Erasure { receiptId } ... on Problem { code } } }
"""
RECEIPT = "query ($id: ID!) { receipt(id: $id) { id kind subjectId counts { kind count } document signature key } }"
RECEIPTS = "{ receipts { edges { node { id } } } }"
MESSAGES = "{ messages { edges { node { id text } } } }"
PERSON, SESSION, MESSAGE, FACT = (
    ERASE % (f"erase{kind}", f"{kind.lower()}Id") for kind in ("Person", "Session", "Message", "Fact")
)


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    vectors = HashedWords().passages([text for _, text in LINES])
    said = [Said(by, text, EVERYBODY, session="monday", vector=v) for (by, text), v in zip(LINES, vectors, strict=True)]
    return await seed(graph, space, ["ana", "ben", "cleo"], said)


async def receipt_of(api: Api, token: str, id: str) -> Any:
    for _ in range(600):
        found = (await api.data(RECEIPT, token, id=id))["receipt"]
        if found is not None:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError("no receipt")


async def test_ones_own_token_erases_what_is_ones_own_and_nothing_else(api: Api, world: World) -> None:
    ana, ben = (api.token(name, person_id=world.person(name)) for name in EVERYBODY)
    asks_for = api.token("speaker", may_act_for=[world.person("ben")])
    brings = api.token("recorder", person_id=world.person("ben"), scopes=["ingest"])
    admin = api.token("admin", scopes=["admin", "read_all"])
    his, theirs = f"Message:{world.message(1)}", f"Session:{world.session('monday')}"

    async def outcome(query: str, id: str, token: str | None, key: str = "k") -> Any:
        return (await api.data(query, token, id=id, key=key))["erased"]

    for query, id, token, expected in (
        (PERSON, world.person("ben"), ana, "NotAllowed"),
        (PERSON, world.person("ben"), asks_for, "NotAllowed"),
        (PERSON, world.person("ben"), None, "NotAllowed"),
        (PERSON, world.person("ben"), brings, "NotAllowed"),
        (MESSAGE, his, brings, "NotAllowed"),
        (SESSION, theirs, ana, "NotAllowed"),
        (MESSAGE, his, ana, "NotFound"),
        (MESSAGE, his, asks_for, "NotFound"),
        (MESSAGE, "Message:nothing", ana, "NotFound"),
        (FACT, "Fact:nothing", ana, "NotFound"),
        (SESSION, "Session:nothing", admin, "NotFound"),
        (PERSON, "Person:nobody", admin, "NotFound"),
    ):
        assert (await outcome(query, id, token, f"{hash((query, id, token))}"))["__typename"] == expected, (query, id)

    erased = await outcome(MESSAGE, his, ben)
    texts = [edge["node"]["text"] for edge in (await api.data(MESSAGES, admin))["messages"]["edges"]]
    assert texts == ["I keep bees.", "The bees sleep."], "hidden when the mutation returns"
    assert (await receipt_of(api, ben, erased["receiptId"]))["kind"] == "MESSAGE"
    assert await outcome(MESSAGE, his, ben) == erased, "the same key is the same erasure"
    assert (await api.data(RECEIPT, ana, id=erased["receiptId"]))["receipt"] is None, "somebody else's"

    gone = await outcome(PERSON, f"Person:{world.person('ana')}", ana, "me")
    receipt = await receipt_of(api, ana, gone["receiptId"])
    assert receipt["subjectId"] == world.person("ana") and {"kind": "messages", "count": 2} in receipt["counts"]
    assert (await api.data(MESSAGES, admin))["messages"]["edges"] == []
    assert (await api.data(MESSAGES, ana))["messages"]["edges"] == [], "who is erased reads nothing"
    assert await api.code(RECEIPTS, brings) == "not_allowed", "who may not read sees no receipt either"
    for token, shown in ((admin, 2), (ana, 1), (ben, 1), (api.token("cleo", person_id=world.person("cleo")), 0)):
        assert len((await api.data(RECEIPTS, token))["receipts"]["edges"]) == shown


async def test_who_is_shown_as_somebody_else_by_a_confirmed_merge_is_them(api: Api, world: World) -> None:
    await world.merge("ana", "cleo", confirmed=True)
    await world.merge("ben", "cleo", confirmed=False)
    ana, ben = (api.token(name, person_id=world.person(name)) for name in EVERYBODY)

    async def outcome(token: str, key: str) -> Any:
        return (await api.data(PERSON, token, id=f"Person:{world.person('cleo')}", key=key))["erased"]

    assert (await outcome(ben, "a"))["__typename"] == "NotAllowed", "nobody confirmed that"
    gone = await outcome(ana, "b")
    assert (await receipt_of(api, ana, gone["receiptId"]))["subjectId"] == world.person("cleo")
    assert await outcome(ana, "b") == gone, "asked again it is the same erasure"
    texts = [edge["node"]["text"] for edge in (await api.data(MESSAGES, ben))["messages"]["edges"]]
    assert texts == ["And I keep geese."]
