from __future__ import annotations

from typing import Any

import pytest

from service.api.tokens import account_id
from service.graph.driver import Graph, rows
from service.types.ids import fresh
from tests.api.serving import Api
from tests.graph.graph_builders import Said, World, seed
from tests.graph.identity_builders import proposed, unname

OUTCOME = "{ __typename ... on NameDecided { proposalId status subjectId } ... on Problem { code message } }"
APPLY = f"mutation($id: ID!, $key: String!) {{ applyName(proposalId: $id, idempotencyKey: $key) {OUTCOME} }}"
REJECT = f"mutation($id: ID!, $key: String!) {{ rejectName(proposalId: $id, idempotencyKey: $key) {OUTCOME} }}"
NAMES = """query($status: NameStatus! = OPEN) { nameProposals(status: $status, first: 9) { edges { node {
  id name held numEvidence person { displayName } localSpeaker evidence { text } } } } }"""
PERSON = "query($id: ID!) { person(id: $id) { displayName kind aliases } }"


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    world = await seed(
        graph,
        space,
        ("dana", "ben", "cleo"),
        [
            Said("dana", "I'm Dana", ("dana", "ben"), to=("ben",)),
            Said("ben", "Hello Dana", ("dana", "ben"), to=("dana",)),
            Said("cleo", "I'm Cleo", ("cleo",), session="attic"),
            Said(None, "I'm Theo", ("dana", "ben"), session="tuesday"),
        ],
    )
    await unname(world, "dana", "cleo")
    return world


async def do(api: Api, query: str, token: str | None, **variables: Any) -> Any:
    return next(iter((await api.data(query, token, **{"key": fresh(), **variables})).values()))


@pytest.fixture
def admin(api: Api, world: World) -> str:
    return api.token("admin", scopes=["ask", "admin", "read_all"])


async def test_an_admin_decides_about_names_and_the_person_is_called_so(api: Api, world: World, admin: str) -> None:
    id = f"NameProposal:{await proposed(world, 'dana', 'Dana', [0, 1])}"
    (seen,) = (await api.data(NAMES, admin))["nameProposals"]["edges"]
    assert (seen["node"]["id"], seen["node"]["name"], seen["node"]["numEvidence"]) == (id, "Dana", 2)
    assert seen["node"]["evidence"] == [{"text": "I'm Dana"}, {"text": "Hello Dana"}]
    key = fresh()
    done = await do(api, APPLY, admin, id=id, key=key)
    assert done == {
        "__typename": "NameDecided",
        "proposalId": id,
        "status": "APPLIED",
        "subjectId": world.person("dana"),
    }
    assert (await do(api, PERSON, admin, id=world.person("dana")))["displayName"] == "Dana"
    assert await do(api, APPLY, admin, id=id, key=key) == done
    assert (await do(api, REJECT, admin, id=id, key=key))["__typename"] == "Conflict", "another request"
    assert (await do(api, REJECT, admin, id=id))["status"] == "REJECTED"
    assert (await do(api, PERSON, admin, id=world.person("dana")))["displayName"] is None
    (seen,) = (await api.data(NAMES, admin, status="REJECTED"))["nameProposals"]["edges"]
    assert seen["node"]["id"] == id


async def test_a_person_decides_about_their_own_names_only(api: Api, world: World) -> None:
    about = {name: await proposed(world, name, name.title(), [i]) for name, i in (("dana", 0), ("ben", 1), ("cleo", 2))}
    dana = api.token("dana", person_id=world.person("dana"))
    seen = (await api.data(NAMES, dana))["nameProposals"]["edges"]
    assert {edge["node"]["name"] for edge in seen} == {"Dana", "Ben"}
    answers = []
    for query in (APPLY, REJECT):
        for id in (about["ben"], about["cleo"], fresh()):
            refused = await do(api, query, dana, id=id)
            answers.append((refused["__typename"], refused["code"], refused["message"].replace(id, "…")))
    assert len(set(answers)) == 1 and answers[0][0] == "NotFound", "theirs or not there, seen or not"
    assert (await do(api, APPLY, dana, id=about["dana"]))["status"] == "APPLIED"
    assert (await do(api, PERSON, dana, id=world.person("dana"))) == {"displayName": "Dana", "kind": "named", "aliases": []}
    assert (await do(api, REJECT, dana, id=about["dana"]))["status"] == "REJECTED"


async def test_leave_to_ask_for_somebody_is_not_leave_to_say_what_they_are_called(api: Api, world: World) -> None:
    id = await proposed(world, "dana", "Dana", [0])
    speaker = api.token("kitchen speaker", may_act_for=[world.person("dana")])
    headers = {"x-voicegraph-acting-for": world.person("dana")}
    for token in (speaker, api.token("nobody"), None):
        for query in (APPLY, REJECT):
            answer = await api.data(query, token, headers if token else None, id=id, key=fresh())
            assert answer.popitem()[1]["__typename"] == "NotAllowed"


async def test_who_is_shown_as_somebody_by_an_unconfirmed_merge_does_not_decide_for_them(api: Api, world: World) -> None:
    """Voicegraph thinks that Cleo is Dana; nobody confirmed it."""
    id = await proposed(world, "cleo", "Cleo", [0])
    await world.merge("cleo", into="dana", confirmed=False)
    dana = api.token("dana", person_id=world.person("dana"))
    (seen,) = (await api.data(NAMES, dana))["nameProposals"]["edges"]
    assert seen["node"]["name"] == "Cleo"
    assert (await do(api, APPLY, dana, id=id))["__typename"] == "NotFound"
    await world.merge("cleo", into="dana", confirmed=True)
    assert (await do(api, APPLY, dana, id=id))["__typename"] == "NameDecided"


async def test_a_voice_that_is_nobodys_is_named_only_once_it_is_somebodys(api: Api, world: World, admin: str) -> None:
    id = await proposed(world, "tuesday", "Theo", [3])
    (seen,) = (await api.data(NAMES, admin))["nameProposals"]["edges"]
    assert seen["node"]["person"] is None and seen["node"]["localSpeaker"].endswith("/voice")
    refused = await do(api, APPLY, admin, id=id)
    assert (refused["__typename"], refused["code"]) == ("Conflict", "nobody_to_name")
    assert (await do(api, REJECT, admin, id=id))["status"] == "REJECTED"


async def test_who_gives_a_name_is_kept_with_it(api: Api, world: World, graph: Graph) -> None:
    name = 'mutation($id: ID!, $key: String!) { namePerson(personId: $id, name: "Dee", idempotencyKey: $key) { __typename } }'
    dana = api.token("dana", person_id=world.person("dana"))
    assert (await do(api, name, dana, id=world.person("dana")))["__typename"] == "Named"
    (kept,) = await graph.read(rows, "MATCH (p:Person {id: $id}) RETURN p.named_by AS by", id=world.person("dana"))
    assert kept["by"] == account_id(world.space, "local", "dana")
