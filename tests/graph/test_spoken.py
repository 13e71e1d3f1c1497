"""Does the spoken set reach the graph as it is written: its people, its edges, and who may read what?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from service.graph.access import ReadScope, read_scope
from service.graph.driver import Graph, rows
from service.graph.messages import count_messages
from service.pipelines.closing import embed
from service.types.audio import EmbeddingSpace, Samples
from service.types.ids import fresh
from service.types.people import Assurance, Viewer
from tests.bench.spoken import gold
from tests.bench.spoken.format import Kind, Scenario, load_all
from tests.bench.spoken.gold import Written
from tests.bench.spoken.measure import leaked, named_rightly
from tests.bench.spoken.run import OURS, System, ask_all
from tests.models import e5

FIRST = load_all()[0]
EVENING = replace(
    FIRST,
    sessions=FIRST.sessions[:1],
    questions=tuple(q for q in FIRST.questions if all(id.startswith("s1") for id in q.evidence + q.forbidden[:1] + q.outdated)),
)
"""One session, in which two people leave before the end, and what is asked of it alone."""

EDGES = """
MATCH (m:Message {space: $space})
OPTIONAL MATCH (p:Person)-[:SPEAKS]->(m)
OPTIONAL MATCH (m)-[:REPLIES_TO]->(answered:Message)
RETURN m.id AS id, p.display_name AS speaker, answered.id AS answered,
       COLLECT { MATCH (m)-[a:ADDRESSES {how: 'caller'}]->(q:Person) RETURN q.display_name ORDER BY q.display_name } AS to
"""


class Remembering:
    """The real model, asked for each text once: both graphs hold the same words."""

    def __init__(self) -> None:
        self._known: dict[str, Samples] = {}

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return e5().embedding_space

    def passages(self, texts: Sequence[str]) -> Samples:
        embed(e5(), texts, self._known)
        return np.stack([self._known[text] for text in texts])

    def queries(self, texts: Sequence[str]) -> Samples:
        return e5().queries(texts)


MODEL = Remembering()


@pytest.fixture(scope="module")
async def written(graph: Graph) -> Written:
    """The evening in a space of its own, which no test changes."""
    return await gold.write(graph, EVENING, f"test-{fresh()}", MODEL)


async def scope_of(graph: Graph, written: Written, name: str) -> ReadScope:
    id = written.people[name]
    return await graph.read(read_scope, Viewer(written.space, None, id, (id,), False, Assurance.TOKEN))


async def test_the_gold_labels_are_the_edges(graph: Graph, written: Written) -> None:
    turn = {message: turns[0] for message, turns in written.messages.items()}
    found = {
        turn[row["id"]]: (row["speaker"], tuple(row["to"]), row["answered"] and turn[row["answered"]])
        for row in await graph.read(rows, EDGES, space=written.space)
    }
    assert found == {t.id: (t.speaker, tuple(sorted(t.addressees)), t.reply_to) for t in EVENING.turns.values()}


async def test_without_edges_who_speaks_and_who_may_read_stay(graph: Graph) -> None:
    written = await gold.write(graph, EVENING, f"test-{fresh()}", MODEL, edges=False)
    found = await graph.read(rows, EDGES, space=written.space)
    assert [row["speaker"] for row in found].count(None) == 0
    assert not any(row["to"] or row["answered"] for row in found)
    assert await _visible(graph, written) == {name: len(ids) for name, ids in _heard(EVENING).items()}


async def test_each_asker_sees_what_they_heard_and_is_told_who_said_it(graph: Graph, written: Written) -> None:
    assert await _visible(graph, written) == {name: len(ids) for name, ids in _heard(EVENING).items()}
    outcomes = await ask_all(graph, EVENING, written, MODEL, System(OURS))
    assert sum(bool(o.question.forbidden) for o in outcomes) >= 1
    assert not any(leaked(outcome) for outcome in outcomes)
    assert all(set(o.turns) <= _heard(EVENING)[o.question.asker] for o in outcomes)
    named = [judged for o in outcomes if (judged := named_rightly(o)) is not None]
    assert len(named) >= 2 and any(named)
    found = [set(o.question.evidence) & set(o.turns) for o in outcomes if o.question.kind is Kind.ATTRIBUTION]
    assert all(found)


def _heard(scenario: Scenario) -> dict[str, frozenset[str]]:
    return {person.name: scenario.visible(person.name) for person in scenario.people}


async def _visible(graph: Graph, written: Written) -> dict[str, int]:
    return {name: await graph.read(count_messages, await scope_of(graph, written, name)) for name in written.people}
