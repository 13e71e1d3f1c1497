"""Asked a second time in poorer words: what the asker's own better question found is found again, for nobody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from service.graph.access import ReadScope, read_scope
from service.graph.driver import Graph, changes, rows
from service.pipelines.clusters import remember_question
from service.pipelines.found_before import FoundBefore
from service.pipelines.one_round import OneRound, OneRoundConfig
from service.pipelines.search import Search
from service.retrieval.found_before import FoundBeforeConfig
from service.retrieval.plan import plan
from service.retrieval.signals import SignalsConfig
from service.types.people import Principal
from service.types.search import Filters, Tool
from tests.graph.graph_builders import HashedWords, Said, World
from tests.graph.searching import differing, searchable

ALL = ("ana", "bo", "cy")
SAID = [
    Said("ana", "The dentist is on Friday at nine, by the old bridge.", ALL, to=("bo",)),
    Said("bo", "The bridge is closed for the fair.", ALL, to=("ana",)),
    Said("cy", "My sister plays the cello.", ALL, to=("bo",)),
    Said("ana", "The dentist found nothing, for once.", ("ana",), session="tuesday"),
]
FULL, SHORT = "When is the dentist by the old bridge on Friday?", "the dentist old Friday?"
ALIKE = FoundBeforeConfig(alike={HashedWords().embedding_space.name: 0.3})


class Asking:
    """Searches and remembers; what was found likely before is told apart by what the search alone gives."""

    def __init__(self, graph: Graph, world: World) -> None:
        self.graph, self.world = graph, world
        self.before = FoundBefore(graph, HashedWords(), ALIKE)
        self.alone = Search(graph, HashedWords())
        self.search = Search(graph, HashedWords(), found_before=self.before)

    async def remember(self, scope: ReadScope, question: str, scores: dict[int, float], days: float = 1) -> None:
        """As if `question` had found these messages (numbers of SAID) so likely."""
        hits = (await self.search(scope, "dentist bridge cello")).hits
        by_id = {hit.message.id: hit for hit in hits}
        kept = [replace(by_id[self.world.message(i)], score=score) for i, score in scores.items()]
        again = await self.before.again(scope, question, kept)
        await remember_question(self.graph, scope, question, [], days, again)

    async def found_again(self, scope: ReadScope, question: str = SHORT, filters: Filters | None = None) -> dict[int, float]:
        """Numbers of the messages that were found before, too, with their scores."""
        hits = (await self.search(scope, question, filters)).hits
        number = {self.world.message(i): i for i in range(len(SAID))}
        return {number[hit.message.id]: hit.score for hit in hits if Tool.FOUND_BEFORE in {found.tool for found in hit.found}}


@pytest.fixture
async def asking(graph: Graph) -> Asking:
    return Asking(graph, await searchable(graph, ALL, SAID, "dentist", 2))


async def test_what_was_found_likely_is_likely_again_for_the_asker_alone(asking: Asking) -> None:
    ana = await asking.world.scope("ana")
    await asking.remember(ana, FULL, {2: 0.999, 0: 0.4})
    found = await asking.found_again(ana)
    assert set(found) == {0, 2}
    first = (await asking.search(ana, SHORT)).hits[0]
    assert first.message.id == asking.world.message(2) and first.because[0][0] == "found_before"
    assert (await asking.alone(ana, SHORT)).hits[0].message.id != asking.world.message(2)
    assert await asking.found_again(ana, "Who plays?") == {}, "another question"
    for names in (("bo",), ("ana", "bo"), ("cy",)):
        scope = await asking.world.scope(*names)
        assert await asking.found_again(scope) == {}, "what Ana asked is hers, and hers alone to hear"
        assert differing(await asking.search(scope, SHORT), await asking.alone(scope, SHORT)) == set()


async def test_who_only_asks_in_her_name_is_told_nothing_of_it_and_leaves_nothing(asking: Asking) -> None:
    ana = await asking.world.scope("ana")
    instead = Principal("instead", None, frozenset({asking.world.person("ana")}), frozenset({"ask"}))
    acting = await asking.graph.read(read_scope, replace(asking.world.viewer("ana"), principal=instead))
    await asking.remember(acting, FULL, {0: 0.9})
    assert await asking.found_again(ana) == {}
    await asking.remember(ana, FULL, {0: 0.9})
    assert set(await asking.found_again(ana)) == {0} and await asking.found_again(acting) == {}


async def test_what_may_not_be_read_any_more_or_is_filtered_out_is_not_found_again(asking: Asking) -> None:
    ana, world = await asking.world.scope("ana"), asking.world
    await asking.remember(ana, FULL, {3: 0.9, 0: 0.8})
    assert set(await asking.found_again(ana)) == {0, 3}
    assert set(await asking.found_again(ana, filters=Filters(sessions=(world.session("tuesday"),)))) == {3}
    taken = """
    MATCH (:Person {id: $ana, space: $space})-[may:MAY_READ]->(a:Audience)<-[:FOR]-(:Message {id: $message}) DELETE may
    """
    await asking.graph.write(changes, taken, ana=world.person("ana"), space=world.space, message=world.message(3))
    assert set(await asking.found_again(await world.scope("ana"))) == {0}


async def test_about_somebody_else_is_another_question(asking: Asking) -> None:
    ana = await asking.world.scope("ana")
    await asking.remember(ana, "What did Bo say of the old bridge on Friday?", {1: 0.9})
    assert set(await asking.found_again(ana, "What did Bo say of the old bridge?")) == {1}
    assert await asking.found_again(ana, "What did Cy say of the old bridge?") == {}


async def test_what_joins_from_before_leaves_what_all_else_scores_as_it_is(asking: Asking) -> None:
    ana, aim = await asking.world.scope("ana"), plan(SHORT, {})
    await asking.remember(ana, FULL, {2: 0.9})
    small = OneRoundConfig(terms=2, near=2, signals=SignalsConfig(pool=2, reach=0))
    round = OneRound(asking.graph, HashedWords(), small, found_before=asking.before)
    alone, joined = await round(ana, aim, Filters()), await round(ana, aim, Filters(), again=True)
    assert alone.earlier == () and [one.id for one in joined.earlier] == [asking.world.message(2)]
    assert {one.id for one in joined.candidates} - {one.id for one in alone.candidates} == {asking.world.message(2)}
    scores = {one.id: one.score for one in joined.candidates}
    assert {one.id: scores[one.id] for one in alone.candidates} == pytest.approx(
        {one.id: one.score for one in alone.candidates}, rel=0.01
    ), "asked at once: what others write meanwhile moves less"
    assert [one.score for one in joined.candidates] == sorted(scores.values(), reverse=True)


async def test_what_a_sound_or_the_order_alone_made_likely_is_not_kept_as_that(asking: Asking) -> None:
    ana, hits = await asking.world.scope("ana"), (await asking.search(await asking.world.scope("ana"), FULL)).hits
    assert await asking.before.again(ana, FULL, hits) is not None
    assert await asking.before.again(ana, "When did someone laugh about the old bridge on Friday?", hits) is None
    by_images = [replace(hit, because=()) for hit in hits]
    assert await asking.before.again(ana, FULL, by_images) is None and await asking.before.again(ana, FULL, []) is None


async def test_expired_it_is_found_no_more_and_without_questions_kept_nothing_is_written(asking: Asking) -> None:
    ana, later = await asking.world.scope("ana"), lambda: datetime.now(UTC) + timedelta(days=2)
    await asking.remember(ana, FULL, {0: 0.9})
    vector = np.asarray(HashedWords().queries([FULL])[0])
    assert await asking.before.found(ana, vector, ())
    afterwards = FoundBefore(asking.graph, HashedWords(), ALIKE, clock=later)
    assert await afterwards.found(ana, vector, ()) == ()
    count = "MATCH (q:Query {space: $space})-[found:FOUND]->() RETURN count(found) AS n"
    before = await asking.graph.read(rows, count, space=asking.world.space)
    await asking.remember(ana, FULL, {0: 0.9}, days=0)
    assert await asking.graph.read(rows, count, space=asking.world.space) == before
    unknown = FoundBefore(asking.graph, HashedWords(), FoundBeforeConfig(alike={}))
    assert await unknown.found(ana, vector, ()) == (), "of this model nobody knows when two questions are alike"
