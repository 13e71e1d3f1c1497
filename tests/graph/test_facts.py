"""Facts in the graph: written once, the same again, and never without what they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from service.errors import NotFound, VoicegraphError
from service.graph.driver import Graph, rows
from service.graph.write_facts import get_session_to_read, list_sessions_to_read, save_facts
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.pipelines.facts import FactsConfig, RememberFacts, UnfoundedFact
from service.pipelines.ingest import Ingest, IngestRequest
from service.types.facts import Fact, FactKind, FactTurn
from tests import models
from tests.builders import write_wav
from tests.graph.correction_builders import EMBEDDER, ingest, message, session_id, state
from tests.unit.audio.speech import a_clip

LINES = [
    ("ana", "I like tea."),
    ("ben", "I will paint the kitchen."),
    ("ana", "In which colour?"),
    ("ben", "Green, I promise."),
]
FACTS = """
MATCH (f:Fact {space: $space})-[e:EVIDENCED_BY {role: 'source'}]->(m:Message)
RETURN f.statement AS statement, f.kind AS kind, f.extractor AS extractor, f.said_at = m.said_at AS said_then, m.id AS source,
       f.audience AS audience, m.audience AS audience_of_source, f.readers = m.readers AS readers_of_source,
       COLLECT { MATCH (f)-[:EVIDENCED_BY {role: 'context'}]->(c:Message) RETURN c.id ORDER BY c.index } AS context,
       f.embedding__e5_small_v2_q__turn IS NOT NULL AS embedded, f.attribute AS attribute
ORDER BY m.index, statement
"""


@dataclass
class EachTurn:
    """A fact of every turn: what was said, with as much before it as may be used."""

    name: str = "each-turn-1"
    change: Callable[[Fact], Fact] = lambda fact: fact

    async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        return tuple(self.change(a_fact(turns, i)) for i in range(len(turns)))


class Nothing:
    name = "nothing-1"

    async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        return ()


def a_fact(turns: tuple[FactTurn, ...], i: int) -> Fact:
    turn = turns[i]
    before = tuple(t.message_id for t in turns[max(0, i - turn.may_use) : i])
    kind = FactKind.QUESTION if "?" in turn.text else FactKind.STATEMENT
    return Fact(f"{{speaker}} says: {turn.text}", kind, turn.message_id, before, attribute="words", value=turn.text)


def remember(graph: Graph, extractor: Any = None, batch: int = 3) -> RememberFacts:
    return RememberFacts(graph, extractor or EachTurn(), EMBEDDER, FactsConfig(batch=batch))


async def facts(graph: Graph, space: str) -> list[dict[str, Any]]:
    return await graph.read(rows, FACTS, space=space)


async def test_a_sessions_facts_are_written_with_evidence_time_meaning_and_readers(graph: Graph, space: str) -> None:
    await ingest(graph, space, "monday", LINES)
    done = await remember(graph)(space, session_id(space, "monday"))
    assert (done.num_facts, done.known_before, done.extractor) == (4, False, "each-turn-1")
    found = await facts(graph, space)
    assert [f["statement"] for f in found] == [f"{{speaker}} says: {text}" for _, text in LINES]
    assert [f["source"] for f in found] == [message(space, "monday", i) for i in range(4)]
    assert found[3]["context"] == [message(space, "monday", i) for i in (1, 2)], "ben was not there for the first turn"
    for fact in found:
        assert fact["said_then"] and fact["embedded"]
        assert fact["audience"] == fact["audience_of_source"] and fact["readers_of_source"]


async def test_a_second_run_changes_nothing(graph: Graph, space: str) -> None:
    await ingest(graph, space, "monday", LINES)
    await remember(graph)(space, session_id(space, "monday"))
    before = await state(graph, space)
    assert (await remember(graph, EachTurn("another-1"))(space, session_id(space, "monday"))).known_before
    assert await state(graph, space) == before
    await remember(graph)(space, session_id(space, "monday"), again=True)
    assert await state(graph, space) == before


async def test_facts_broken_off_go_on_and_end_the_same(graph: Graph, space: str) -> None:
    monday = session_id(space, "monday")
    await ingest(graph, space, "monday", LINES)
    read = await graph.read(get_session_to_read, space, monday)
    older = Fact("an older extractor's", FactKind.STATEMENT, read.turns[0].message_id)
    await graph.write(save_facts, space, monday, [older], extractor="older-1")
    assert await graph.read(list_sessions_to_read, space) == [monday]
    await remember(graph)(space, monday)
    resumed = await state(graph, space)
    await remember(graph)(space, monday, again=True)
    assert await state(graph, space) == resumed
    assert {f["extractor"] for f in await facts(graph, space)} == {"each-turn-1"}
    assert await graph.read(list_sessions_to_read, space) == []
    assert await graph.read(list_sessions_to_read, space, again=True) == [monday]


async def test_again_puts_the_new_extractors_facts_in_place_of_the_old_ones(graph: Graph, space: str) -> None:
    monday = session_id(space, "monday")
    await ingest(graph, space, "monday", LINES)
    await remember(graph)(space, monday)
    shorter = EachTurn("shorter-1", lambda fact: replace(fact, context=(), attribute=None, value=None))
    await remember(graph, shorter)(space, monday, again=True)
    found = await facts(graph, space)
    assert {(f["extractor"], len(f["context"]), f["attribute"]) for f in found} == {("shorter-1", 0, None)}
    assert len(found) == 4


@pytest.mark.parametrize(
    "change",
    [
        lambda fact: replace(fact, source="somewhere else"),
        lambda fact: replace(fact, context=("somewhere else",)),
        lambda fact: replace(fact, context=(fact.source,)),
        lambda fact: replace(fact, statement="{speaker} {addressee}"),
        lambda fact: replace(fact, statement="{speaker} likes {tea}"),
    ],
)
async def test_a_fact_that_rests_on_nothing_or_says_nothing_is_refused(
    graph: Graph, space: str, change: Callable[[Fact], Fact]
) -> None:
    await ingest(graph, space, "monday", LINES)
    with pytest.raises(UnfoundedFact):
        await remember(graph, EachTurn(change=change))(space, session_id(space, "monday"))
    assert await facts(graph, space) == []
    assert await graph.read(list_sessions_to_read, space) == [session_id(space, "monday")]


async def test_a_fact_of_a_message_that_is_gone_is_not_written(graph: Graph, space: str) -> None:
    await ingest(graph, space, "monday", LINES)
    gone = Fact("{speaker} went", FactKind.STATEMENT, message(space, "monday", 0), ("gone",))
    await graph.write(save_facts, space, session_id(space, "monday"), [gone], extractor="x-1")
    assert await facts(graph, space) == []


async def test_a_session_that_tells_nothing_is_not_asked_again(graph: Graph, space: str) -> None:
    await ingest(graph, space, "monday", LINES)
    done = await remember(graph, Nothing())(space, session_id(space, "monday"))
    assert (done.num_facts, done.extractor) == (0, "nothing-1")
    assert await graph.read(list_sessions_to_read, space) == []


async def test_facts_of_an_unknown_session_are_not_found(graph: Graph, space: str) -> None:
    with pytest.raises(NotFound):
        await remember(graph)(space, "nowhere")


class BrokenOff(VoicegraphError):
    code = "test_broken_off"
    says = "The extractor went away."
    http_status = 503


@dataclass
class OnceAway(EachTurn):
    asked: int = 0

    async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        self.asked += 1
        if self.asked == 1:
            raise BrokenOff()
        return await super().__call__(turns)


async def test_an_ingest_ends_with_facts_and_one_whose_facts_broke_off_takes_them_up(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    sound = write_wav(tmp_path / "nora.wav", a_clip("Nora").samples)
    words = tmp_path / "nora.vtt"
    words.write_text("WEBVTT\n\n00:00.000 --> 00:02.000\n<v Nora>I live in Graz.\n")
    request = IngestRequest(sound, space, transcript=words, started_at=datetime(2026, 5, 1, 9, 0, tzinfo=UTC))
    remembers = Ingest(
        graph,
        models.segmenter(),
        models.campplus(),
        router=RouterConfig(thresholds=thresholds_for("campplus")),
        text_embedder=EMBEDDER,
        facts=remember(graph, OnceAway()),
    )
    with pytest.raises(BrokenOff):
        await remembers(request)
    assert await facts(graph, space) == []
    again = await remembers(request)
    assert (again.already_complete, again.num_facts) == (True, 1)
    (fact,) = await facts(graph, space)
    assert fact["statement"] == "{speaker} says: I live in Graz."
    before = await state(graph, space)
    assert (await remembers(request)).num_facts == 1
    assert await state(graph, space) == before
