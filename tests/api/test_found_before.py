"""Over HTTP, where questions are kept: asked in other words, what the asker found before is shown as that, to them alone."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from service.graph.driver import Graph, rows
from service.settings import Settings
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.graph.graph_builders import Said, seed

SEARCH = """query($q: String!) { search(query: $q, explain: true) {
  ... on SearchResult { hits { message { text } found { tool } } explanation { legs } } } }"""
FULL, SHORT = "When is the dentist by the old bridge?", "When is the dentist by the bridge?"
FOUND = "MATCH (q:Query {space: $space})-[:FOUND]->(m:Message) RETURN q.text AS question, m.text AS text"
QUESTIONS = "MATCH (q:Query {space: $space}) RETURN q.id AS id"


def keeping(graph: Graph, folder: Path, *, question_hits: bool = False) -> AbstractAsyncContextManager[Api]:
    """A service that keeps questions for a day."""
    settings = Settings(data_dir=folder, development=False, recogniser="none", question_days=1, question_hits=question_hits)
    return serving(Services(settings, graph), space="")


async def found_before(api: Api, token: str, question: str) -> set[str]:
    result = (await api.data(SEARCH, token, q=question))["search"]
    texts = {hit["message"]["text"] for hit in result["hits"] if "FOUND_BEFORE" in {found["tool"] for found in hit["found"]}}
    assert bool(texts) == any(leg.startswith("found_before") for leg in result["explanation"]["legs"])
    return texts


async def test_where_what_they_found_is_kept_the_asker_finds_it_again(graph: Graph, space: str, tmp_path: Path) -> None:
    said = [Said("ana", "the dentist is on Friday, by the old bridge", ["ana", "ben"])]
    world = await seed(graph, space, ["ana", "ben"], said)
    async with keeping(graph, tmp_path, question_hits=True) as server:
        api = replace(server, space=space)
        ana, ben = (api.token(name, person_id=world.person(name), scopes=["ask"]) for name in ("ana", "ben"))
        assert await found_before(api, ana, FULL) == set()
        assert await found_before(api, ana, SHORT) == {said[0].text}
        assert await found_before(api, ben, SHORT) == set(), "what Ana asked is hers"
    written = await graph.read(rows, FOUND, space=space)
    assert sorted(row["question"] for row in written) == sorted([FULL, SHORT, SHORT])


async def test_where_questions_alone_are_kept_what_they_found_ranks_nothing(graph: Graph, space: str, tmp_path: Path) -> None:
    said = [Said("ana", "the dentist is on Friday, by the old bridge", ["ana"])]
    world = await seed(graph, space, ["ana"], said)
    async with keeping(graph, tmp_path) as server:
        api = replace(server, space=space)
        ana = api.token("ana", person_id=world.person("ana"), scopes=["ask"])
        for question in (FULL, SHORT):
            assert await found_before(api, ana, question) == set()
    assert len(await graph.read(rows, QUESTIONS, space=space)) == 2
    assert await graph.read(rows, FOUND, space=space) == []


async def test_by_default_nothing_of_a_question_is_kept(api: Api, graph: Graph) -> None:
    world = await seed(graph, api.space, ["ana"], [Said("ana", "the dentist is on Friday", ["ana"])])
    ana = api.token("ana", person_id=world.person("ana"), scopes=["ask"])
    for question in (FULL, FULL):
        assert await found_before(api, ana, question) == set()
    assert await graph.read(rows, QUESTIONS, space=api.space) == []
