"""Rounds, directed questions and who said it, from a question to the answer over a real graph."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.graph.driver import Graph
from service.pipelines.answer import Answerer
from service.pipelines.search import PolicyStrayed, Search
from service.types.search import (
    AnswerStatus,
    Asked,
    Done,
    Enough,
    Evidence,
    Filters,
    Layer,
    Step,
    Tool,
    Wants,
    Written,
)
from tests.graph.graph_builders import HashedWords, Said, World
from tests.graph.searching import searchable

ALL = ("ana", "bo", "cy")
SAID = [
    Said("ana", "We leave for Rome on Friday morning.", ALL, to=("bo",)),
    Said("bo", "Is Rome warm in May?", ALL, to=("ana",)),
    Said("cy", "Rome was warm when I lived with Doreen.", ALL, to=("bo",)),
    Said("ana", "The party for Cy is a secret.", ("ana", "bo"), to=("bo",)),
    Said("cy", "Doreen keeps bees now.", ALL, to=("ana",), session="tuesday"),
    Said("bo", "I promise to water the tomatoes.", ALL, to=("cy",), session="tuesday"),
]


@pytest.fixture(scope="module")
async def home(graph: Graph) -> World:
    world = await searchable(graph, ALL, SAID, "Rome", 3)
    for person in ("ana", "bo"):
        await world.attended(person, "monday")
    return world


@pytest.fixture
def search(graph: Graph) -> Search:
    return Search(graph, HashedWords())


@pytest.fixture
def answer(graph: Graph, search: Search) -> Answerer:
    return Answerer(graph, search)


async def test_what_one_told_another_is_answered_from_the_edges(home: World, answer: Answerer) -> None:
    told = await answer(await home.scope("bo"), "What did Ana tell me?")
    assert [hit.message.id for hit in told.citations] == [home.message(3), home.message(0)]
    assert told.text.splitlines()[1] == "Ana to you, 3 May 2026: “We leave for Rome on Friday morning.”"
    assert {found.tool for hit in told.citations for found in hit.found} == {Tool.PEOPLE}
    to_cy = await answer(await home.scope("cy"), "What did Ana tell Bo?")
    assert [hit.message.id for hit in to_cy.citations] == [home.message(0)]


async def test_what_was_said_to_somebody_while_they_were_out(home: World, answer: Answerer) -> None:
    missed = await answer(await home.scope("ana"), "What was said to me while I was out?")
    assert [hit.message.id for hit in missed.citations] == [home.message(4)]
    nothing = await answer(await home.scope("ana"), "What did Bo tell me while I was out?")
    assert nothing.status is AnswerStatus.NOTHING_FOUND


async def test_what_one_told_another_about_something_goes_before_what_else_fits(home: World, search: Search) -> None:
    result = await search(await home.scope("bo"), "What did Cy tell me about Rome?")
    assert result.hits[0].message.id == home.message(2)
    assert Tool.PEOPLE in {found.tool for found in result.hits[0].found}
    assert result.hits[0].because[0][0] == "edges"
    assert home.message(0) in {hit.message.id for hit in result.hits}


async def test_who_said_it_is_whoever_the_edges_name(home: World, answer: Answerer) -> None:
    scope = await home.scope("bo")
    told = await answer(scope, "Who told me about the party?")
    assert told.text == "Ana to you, 3 May 2026: “The party for Cy is a secret.”"
    assert (await answer(await home.scope("cy"), "Who told Bo about the secret party?")).status is AnswerStatus.NOTHING_FOUND
    found = await answer.who(scope, "Rome was warm")
    assert (found.wants, found.people[0].person_id) == (Wants.SPEAKER, home.person("cy"))
    to_whom = await answer.who(scope, "water the tomatoes", Filters(speakers=(home.person("bo"),)))
    assert (to_whom.wants, to_whom.people[0].person_id) == (Wants.ADDRESSEE, home.person("cy"))


async def test_a_second_round_follows_what_the_first_found(home: World, search: Search) -> None:
    """Who lived with whom leads to what she does now: nothing of the question stands in it."""
    result = await search(await home.scope("bo"), "Which hobbies would fit the people that Cy knows from Rome?")
    assert [made.number for made in result.rounds] == list(range(1, len(result.rounds) + 1))
    assert 2 <= len(result.rounds) <= 3 and result.rounds[-1].sufficient
    linked = next(hit for hit in result.hits if hit.message.id == home.message(4))
    assert Tool.ENTITIES in {found.tool for found in linked.found}


async def test_layers_narrow_what_is_shown(home: World, search: Search) -> None:
    scope = await home.scope("bo")
    assert (await search(scope, "Rome", Filters(layers=(Layer.INTERACTIONS,)))).hits
    assert (await search(scope, "Rome", Filters(layers=(Layer.FACTS,)))).hits == ()


async def test_yesterday_is_the_day_before_the_question(home: World, search: Search) -> None:
    scope = await home.scope("bo")
    for asked_at, texts in ((datetime(2026, 5, 4, 8, tzinfo=UTC), 4), (datetime(2026, 5, 9, 8, tzinfo=UTC), 0)):
        result = await search(scope, "What was said yesterday?", asked_at=asked_at)
        assert len(result.hits) == texts


class Straying:
    name = "straying"

    def __init__(self, *steps: Step | Enough) -> None:
        self.steps = steps
        self.seen: list[tuple[Done, ...]] = []

    async def __call__(self, asked: Asked, done: tuple[Done, ...]) -> Step | Enough:
        self.seen.append(done)
        return self.steps[len(done)] if len(done) < len(self.steps) else Enough("that is all")


async def test_a_policy_reads_only_what_the_asker_may(home: World, graph: Graph) -> None:
    policy = Straying(Step("party", "as asked"), Step("Rome", "another question"))
    result = await Search(graph, HashedWords(), policy=policy)(await home.scope("cy"), "What is planned?")
    read = {one.text for done in policy.seen[-1] for one in done.evidence}
    assert read <= {said.text for said in SAID if "cy" in said.readers} and "The party for Cy is a secret." not in read
    assert [made.query for made in result.rounds] == ["party", "Rome"]
    assert next(one for one in policy.seen[-1][-1].evidence if one.id == home.message(0)).by == "Ana"


async def test_a_policy_goes_on_only_from_what_it_was_given(home: World, graph: Graph) -> None:
    policy = Straying(Step("Rome", "as asked"), Step("Rome", "guessing", extend=(home.message(3),)))
    with pytest.raises(PolicyStrayed):
        await Search(graph, HashedWords(), policy=policy)(await home.scope("cy"), "Rome")


async def test_a_policy_gets_three_rounds_and_no_more(home: World, graph: Graph) -> None:
    policy = Straying(*(Step(query, "again") for query in ("Rome", "bees", "party", "warm", "tomatoes")))
    result = await Search(graph, HashedWords(), policy=policy)(await home.scope("bo"), "Rome")
    assert len(result.rounds) == 3 and not any(made.sufficient for made in result.rounds)


class Writing:
    name = "model:test"

    def __init__(self, text: str, *citations: str) -> None:
        self.text, self.citations = text, citations
        self.evidence: tuple[Evidence, ...] = ()

    async def __call__(self, asked: Asked, evidence: tuple[Evidence, ...]) -> Written:
        self.evidence = evidence
        return Written(self.text, self.citations)


async def test_a_writer_is_heard_only_with_citations_that_it_was_given(home: World, graph: Graph, search: Search) -> None:
    scope = await home.scope("cy")
    good = Writing("On Friday.", home.message(0))
    said = await Answerer(graph, search, writer=good)(scope, "When do we leave for Rome?")
    assert (said.text, said.by, [hit.message.id for hit in said.citations]) == ("On Friday.", "model:test", [home.message(0)])
    assert "The party for Cy is a secret." not in {one.text for one in good.evidence}
    for bad in (Writing("A secret party.", home.message(3)), Writing("Just so.")):
        refused = await Answerer(graph, search, writer=bad)(scope, "When do we leave for Rome?")
        assert (refused.by, refused.status) == ("extractive", AnswerStatus.ANSWERED)
        assert bad.text not in refused.text and "model:test" in refused.reason
    empty = await Answerer(graph, search, writer=Writing(""))(scope, "When do we leave for Rome?")
    assert (empty.status, empty.by) == (AnswerStatus.NOTHING_FOUND, "model:test")
