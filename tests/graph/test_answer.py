from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from service.errors import InvalidInput
from service.graph.access import ReadScope
from service.graph.driver import Graph
from service.pipelines.answer import Answerer, sentences_of
from service.pipelines.search import Search
from service.pipelines.viewer import Refusal, ViewerRefused
from service.types.search import AnswerStatus, Filters, Tool
from tests.graph.graph_builders import HashedWords, Said, World
from tests.graph.searching import searchable

SAID = [
    Said("ana", "Hello there. The key is under the flower pot. Do not tell anybody.", ("ana", "ben"), to=("ben",)),
    Said("ben", "My key is in the drawer.", ("ben",)),
    Said("cleo", "Where is the key?", ("ana", "ben", "cleo")),
    Said("cleo", "The bakery opens at seven.", ("*",)),
    Said(None, "The cat sleeps on the sofa.", ("ana",)),
]


@pytest.fixture(scope="module")
async def home(graph: Graph) -> World:
    return await searchable(graph, ("ana", "ben", "cleo"), SAID, "key", 3)


@pytest.fixture
def search(graph: Graph) -> Search:
    return Search(graph, HashedWords())


@pytest.fixture
def answer(graph: Graph, search: Search) -> Answerer:
    return Answerer(graph, search)


async def test_two_askers_get_two_answers_to_one_question(home: World, answer: Answerer) -> None:
    ana = await answer(await home.scope("ana"), "Where is the key?")
    ben = await answer(await home.scope("ben"), "Where is my key?")
    assert ana.status is AnswerStatus.ANSWERED and ben.status is AnswerStatus.ANSWERED
    assert ana.text.splitlines()[0] == "You, 3 May 2026: “The key is under the flower pot.”"
    assert ben.text.splitlines()[0] == "You, 3 May 2026: “My key is in the drawer.”"
    assert "drawer" not in ana.text
    assert ana.citations[0].message.id == home.message(0)


async def test_with_somebody_else_listening_less_is_said(home: World, answer: Answerer) -> None:
    together = await answer(await home.scope("ana", "cleo"), "Where is the key?")
    assert "pot" not in together.text and "drawer" not in together.text
    with_a_stranger = await answer(await home.scope("ana", unknown_hearer=True), "Where is the key?")
    assert with_a_stranger.status is AnswerStatus.NOTHING_FOUND
    public = await answer(await home.scope("ana", unknown_hearer=True), "When does the bakery open?")
    assert public.text == "Cleo, 3 May 2026: “The bakery opens at seven.”"


async def test_a_refused_viewer_is_not_answered_and_told_why(answer: Answerer) -> None:
    refused = ViewerRefused(Refusal.VOICE_NOT_RECOGNISED, "The voice is nobody's who is known here.")
    said = await answer(refused, "Where is the key?")
    assert (said.status, said.text, said.reason, said.citations) == (AnswerStatus.NOT_ALLOWED, "", refused.reason, ())


async def test_what_is_hidden_and_what_was_never_said_are_answered_alike(home: World, answer: Answerer) -> None:
    scope = await home.scope("cleo")
    hidden = await answer(scope, "Where does the cat sleep?")
    never = await answer(scope, "Where does the elephant graze?")
    assert replace(hidden, rounds=()) == replace(never, rounds=())
    assert [made.legs for made in hidden.rounds] == [made.legs for made in never.rounds]
    assert hidden.status is AnswerStatus.NOTHING_FOUND


async def test_a_voice_not_recognised_is_quoted_as_nobody(home: World, answer: Answerer) -> None:
    assert (await answer(await home.scope("ana"), "Where is the cat sleeping?")).text.startswith(
        "Somebody not recognised, 3 May"
    )


async def test_a_hit_says_who_found_it_and_why_it_is_seen(home: World, search: Search) -> None:
    result = await search(await home.scope("ben"), "flower pot")
    assert result.hits[0].message.id == home.message(0)
    assert result.hits[0].visible_because == "addressed"
    assert {f.tool for f in result.hits[0].found} == {Tool.BM25, Tool.DENSE, Tool.DENSE_CONTEXT}
    assert result.hits[0].found[0].rank == 1
    assert result.visible == 4
    assert result.rounds[0].legs[:3] == ("bm25:index", "dense:exact", "dense_context:exact")
    assert result.legs == tuple(leg for made in result.rounds for leg in made.legs)
    assert all(0 <= hit.score <= 1 for hit in result.hits)


async def test_a_person_named_in_the_question_is_preferred_not_required(home: World, search: Search) -> None:
    scope = await home.scope("ben")
    assert (await search(scope, "What did Ana do with a key?")).hits[0].message.id == home.message(0)
    assert home.message(1) in {hit.message.id for hit in (await search(scope, "Where did Ana put my key?")).hits}


async def test_filters_narrow_and_first_cuts(home: World, search: Search) -> None:
    scope = await home.scope("ben")
    by_ben = await search(scope, "key", Filters(speakers=(home.person("ben"),)))
    assert [hit.message.id for hit in by_ben.hits] == [home.message(1)]
    assert len((await search(scope, "key", first=1)).hits) == 1
    assert (await search(scope, "key", first=0)).hits == ()
    with pytest.raises(InvalidInput):
        await search(scope, "key", first=-1)


@pytest.mark.parametrize("question", ["", "   ", "\n\t", "x" * 2_001])
async def test_an_empty_or_endless_question_is_invalid(home: World, answer: Answerer, question: str) -> None:
    with pytest.raises(InvalidInput):
        await answer(await home.scope("ana"), question)


@pytest.mark.parametrize(
    "question",
    [
        "readers:* OR *:*",
        'key") RETURN 1 //',
        "MATCH (n) DETACH DELETE n",
        "🔑❓",
        "?!",
        "鍵はどこ",
        "\ud800 key",
        "\x00",
        "a" * 2_000,
        "鍵" * 2_000,
        "key AND NOT (pot",
        "' OR 1=1; --",
        "${jndi:ldap://x}",
    ],
)
async def test_any_question_is_answered_or_not_but_breaks_nothing(home: World, answer: Answerer, question: str) -> None:
    said = await answer(await home.scope("cleo"), question)
    assert {hit.message.id for hit in said.citations} <= {home.message(2), home.message(3)}


async def test_many_askers_at_once_get_their_own(home: World, answer: Answerer) -> None:
    scopes: list[ReadScope] = [await home.scope(name) for name in ("ana", "ben")] * 10
    answers = await asyncio.gather(*(answer(scope, "Where is the key?") for scope in scopes))
    assert all(("drawer" in a.text) == (i % 2 == 1) for i, a in enumerate(answers))


def test_sentences_end_where_they_end() -> None:
    assert sentences_of("Hello there. Is it? “Yes!” No end") == ("Hello there.", "Is it?", "“Yes!”", "No end")
    assert sentences_of("  ") == ()
