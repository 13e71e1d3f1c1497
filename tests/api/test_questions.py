"""Whatever somebody asks over HTTP is only words: syntax of Lucene, Cypher or GraphQL, emoji, or nothing at all."""

from __future__ import annotations

import json

import pytest

from service.graph.driver import Graph, rows
from tests.api.serving import Api
from tests.graph.graph_builders import Said, World, seed

ASK = """query($q: String!) { ask(question: $q) {
  __typename ... on Answer { text status citations { message { text } } } ... on InvalidInput { message } } }"""
SEARCH = """query($q: String!) { search(query: $q) {
  __typename ... on SearchResult { hits { message { text } } } ... on InvalidInput { message } } }"""
COUNT = "MATCH (m:Message {space: $space}) RETURN count(m) AS count"


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    said = [Said("ana", "the key is under the pot", ["ana"]), Said("ben", "my key is in the drawer", ["ben"])]
    return await seed(graph, space, ["ana", "ben"], said)


@pytest.mark.parametrize(
    "question",
    [
        "key AND NOT (pot",
        "readers:* OR *:* ~",
        'key") RETURN 1 //',
        "MATCH (n) DETACH DELETE n",
        '"}) { people { totalCount } }',
        "🔑❓",
        "👩‍👩‍👧‍👦 鍵はどこ",
        "\x00 key",
        "?!",
        "$q ${q} {{q}}",
    ],
)
async def test_any_question_is_answered_from_what_the_asker_may_see(
    api: Api, graph: Graph, world: World, question: str
) -> None:
    ana = api.token("ana", person_id=world.person("ana"), scopes=["ask"])
    answer = (await api.data(ASK, ana, q=question))["ask"]
    assert answer["__typename"] == "Answer" and answer["status"] in ("ANSWERED", "NOTHING_FOUND"), answer
    hits = (await api.data(SEARCH, ana, q=question))["search"]["hits"]
    assert {c["message"]["text"] for c in (*answer["citations"], *hits)} <= {"the key is under the pot"}
    assert (await graph.read(rows, COUNT, space=api.space))[0]["count"] == 2


async def test_half_a_character_is_no_reason_to_fail(api: Api, world: World) -> None:
    """JSON can hold a surrogate without its other half, which no UTF-8 can."""
    headers = {"authorization": f"Bearer {api.token('ana', person_id=world.person('ana'), scopes=['ask'])}"}
    body = json.dumps({"query": ASK, "variables": {"q": "\ud800 key"}})
    response = await api.http.post("/graphql", content=body, headers={**headers, "content-type": "application/json"})
    assert response.json()["data"]["ask"]["text"].endswith("“the key is under the pot”"), response.text


@pytest.mark.parametrize("question", ["", "  \n\t", "x" * 2_001])
async def test_a_question_without_words_or_without_end_is_invalid_and_says_so(api: Api, world: World, question: str) -> None:
    ana = api.token("ana", person_id=world.person("ana"), scopes=["ask"])
    for query, field in ((ASK, "ask"), (SEARCH, "search")):
        answer = (await api.data(query, ana, q=question))[field]
        assert answer["__typename"] == "InvalidInput" and "question" in answer["message"], answer
