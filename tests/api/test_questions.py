"""Whatever somebody asks over HTTP is only words: syntax of Lucene, Cypher or GraphQL, emoji, or nothing at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from service.graph.driver import Graph, rows
from tests.api.serving import Api
from tests.graph.fact_builders import Told, tell
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


WHO = """query($said: String!, $by: [ID!], $to: [ID!]) { who(said: $said, by: $by, to: $to, explain: true) {
  __typename ... on InvalidInput { message } ... on WhoSaid { wants
    people { score person { displayName } evidence { message { text } visibleBecause found { tool } } }
    explanation { understood { type addressees } rounds { number query why sufficient } } } } }"""
TIMELINE = """query($person: ID!, $since: DateTime) { timeline(person: $person, since: $since, first: 9) {
  edges { node { part at fact { text } message { text } } } pageInfo { hasNextPage } } }"""
EXPLAINED = """query($q: String!, $filters: FiltersInput, $at: DateTime, $zone: String) {
  search(query: $q, filters: $filters, askedAt: $at, zone: $zone, explain: true) {
    __typename ... on InvalidInput { message } ... on SearchResult {
      hits { message { text } round layers because { feature added } }
      explanation { understood { type speakers windows { since until } } rounds { number legs new sufficient } } } } }"""


async def test_who_said_it_and_to_whom_come_with_the_messages_that_tell(api: Api, world: World) -> None:
    ana = api.token("ana", person_id=world.person("ana"), scopes=["ask"])
    found = (await api.data(WHO, ana, said="who said where the key is, under the pot?"))["who"]
    assert (found["wants"], found["people"][0]["person"]["displayName"]) == ("SPEAKER", "Ana")
    assert [e["message"]["text"] for e in found["people"][0]["evidence"]] == ["the key is under the pot"]
    assert found["explanation"]["rounds"][0]["number"] == 1
    everybody = (await api.data(WHO, ana, said="drawer"))["who"]["people"]
    assert "Ben" not in str(everybody), "what ana may not read tells her nobody"
    both = (await api.data(WHO, ana, said="the key", by=[world.person("ana")]))["who"]
    assert (both["wants"], both["people"]) == ("ADDRESSEE", [])


async def test_a_timeline_holds_what_the_asker_may_read(api: Api, world: World) -> None:
    ana = api.token("ana", person_id=world.person("ana"), scopes=["ask"])
    own = (await api.data(TIMELINE, ana, person=world.person("ana")))["timeline"]
    assert [(e["node"]["part"], e["node"]["message"]["text"]) for e in own["edges"]] == [("SAID", "the key is under the pot")]
    noon = datetime(2031, 5, 1, 12, tzinfo=UTC)
    await tell(world, [Told("{speaker} moves out", [0], "plan", about=noon), Told("{speaker} stays", [1], about=noon)])
    edges = (await api.data(TIMELINE, ana, person=world.person("ana")))["timeline"]["edges"]
    assert edges[1]["node"] == {
        "part": "SAID",
        "at": noon.isoformat(),
        "fact": {"text": "Ana moves out"},
        "message": {"text": "the key is under the pot"},
    }
    assert len(edges) == 2
    assert (await api.data(TIMELINE, ana, person=world.person("ben")))["timeline"]["edges"] == []
    later = await api.data(TIMELINE, ana, person=world.person("ana"), since="2032-01-01T00:00:00+00:00")
    assert later["timeline"]["edges"] == []
    assert await api.code(TIMELINE, ana, person=world.person("ana"), since="2030-01-01T00:00:00") == "invalid_input"


async def test_a_search_explains_what_it_understood_and_its_rounds(api: Api, world: World) -> None:
    ana = api.token("ana", person_id=world.person("ana"), scopes=["ask"])
    given = {"at": "2026-05-04T08:00:00+02:00", "zone": "Europe/Berlin"}
    found = (await api.data(EXPLAINED, ana, q="What did Ana say about the key yesterday?", **given))["search"]
    understood = found["explanation"]["understood"]
    assert understood["speakers"] == ["Ana"]
    assert understood["windows"] == [{"since": "2026-05-02T22:00:00+00:00", "until": "2026-05-03T22:00:00+00:00"}]
    assert found["explanation"]["rounds"][0]["number"] == 1
    assert found["hits"][0]["layers"] == ["INTERACTIONS"] and found["hits"][0]["because"]
    by_or_to = {"byOrTo": [world.person("ben")]}
    assert (await api.data(EXPLAINED, ana, q="key", filters=by_or_to))["search"]["hits"] == []
    for wrong in ({"at": "0099-05-04T08:00:00+02:00"}, {"zone": "Europe/Nowhere"}, {"at": "2026-05-04T08:00:00"}):
        answer = (await api.data(EXPLAINED, ana, q="key", **wrong))["search"]
        assert answer["__typename"] == "InvalidInput", (wrong, answer)
