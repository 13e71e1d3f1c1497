"""Hits in clusters: those that emerged from the asker's own questions, of what they may read, for nobody else."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from service.graph.access import read_scope
from service.graph.driver import Graph, rows
from service.graph.questions import list_asked_before, save_question
from service.graph.tombstones import leave_tombstone
from service.language.parser import SpacyParser
from service.memory.emergence import Cluster, emerged
from service.memory.left_brain.mentions import NounReader
from service.pipelines.clusters import clusters_of, remember_question
from service.pipelines.entities import RememberEntities
from service.types.people import Principal
from tests.graph.graph_builders import Said, World, seed

SAID = [
    Said("ana", "The sofa and the lamp stand by the table.", ["ana", "ben"]),
    Said("ben", "I cleaned the table and the carpet.", ["ana", "ben"]),
    Said("ana", "The lamp, the sofa and the carpet are old.", ["ana", "ben"]),
    Said("ana", "The piano is out of tune.", ["ana"]),
    Said("cleo", "My carpet is my secret.", ["cleo"], session="tuesday"),
]
ASKED = [("What of the sofa?", [0, 2]), ("The table?", [0, 1]), ("The lamp?", [2, 0]), ("And the carpet?", [1, 2]),
         ("The piano?", [3])]  # fmt: skip


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    world = await seed(graph, space, ["ana", "ben", "cleo"], SAID)
    remember = RememberEntities(graph, NounReader(SpacyParser.load()))
    for name in ("monday", "tuesday"):
        await remember(space, world.session(name))
    scope = await world.scope("ana")
    for text, hits in ASKED:
        await remember_question(graph, scope, text, [world.message(i) for i in hits], days=1)
    return world


async def test_hits_come_in_the_clusters_of_the_askers_own_questions(world: World) -> None:
    ana, hits = await world.scope("ana"), [world.message(i) for i in (3, 1, 0)]
    (rooms,) = await clusters_of(world.graph, ana, hits)
    assert rooms.messages == (world.message(1), world.message(0)), "not the piano's, which nobody asks for again"
    assert rooms.theme == "home" and 0 < rooms.coherence < 1
    assert set(rooms.label.split(", ")) <= {"sofa", "lamp", "table", "carpet"}
    assert set(rooms.supporting) <= {text for text, _ in ASKED[:4]} and len(rooms.supporting) >= 3
    for names in (("ben",), ("ana", "ben"), ("cleo",)):
        assert await clusters_of(world.graph, await world.scope(*names), hits) == (), "what Ana asked is hers"


async def test_the_service_goes_on_while_clusters_are_looked_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def seen(*given: Any) -> tuple[Cluster, ...]:
        threads.append(threading.current_thread())
        return emerged(*given)

    monkeypatch.setattr("service.pipelines.clusters.emerged", seen)
    assert await clusters_of(world.graph, await world.scope("ana"), [world.message(0)])
    assert threads and threading.main_thread() not in threads


async def test_questions_are_kept_as_long_as_told_and_touch_what_may_be_read(world: World) -> None:
    ana, cleo, now = await world.scope("ana"), await world.scope("cleo"), datetime.now(UTC)
    asked = await world.graph.read(list_asked_before, ana, now=now, limit=9)
    assert [one.text for one in asked] == [text for text, _ in reversed(ASKED)]
    assert await world.graph.read(list_asked_before, ana, now=now + timedelta(days=2), limit=9) == []
    secret = [world.message(i) for i in (0, 4)]
    await world.graph.write(save_question, cleo, "My secret?", secret, now=now, keep=timedelta(days=1))
    (hers,) = await world.graph.read(list_asked_before, cleo, now=now, limit=9)
    assert len(hers.entities) == 1 + 1, "carpet and secret, or what else her own message speaks of; nothing of Ana's"
    await world.graph.write(save_question, cleo, "Later?", [], now=now + timedelta(days=3), keep=timedelta(days=1))
    left = await world.graph.read(rows, "MATCH (q:Query {space: $space}) RETURN q.text AS text", space=world.space)
    assert [row["text"] for row in left] == ["Later?"], "what expired is gone"
    await world.graph.write(leave_tombstone, world.space, world.person("cleo"))
    await world.graph.write(save_question, cleo, "Erased?", secret, now=now + timedelta(days=3), keep=timedelta(days=1))
    assert await world.graph.read(rows, "MATCH (q:Query {space: $space}) RETURN q.text AS text", space=world.space) == left


@pytest.mark.parametrize("scopes", [{"ask", "read_all"}, {"ask"}])
async def test_who_only_asks_in_her_name_leaves_her_no_question_and_reads_none(world: World, scopes: set[str]) -> None:
    ana, now = world.person("ana"), datetime.now(UTC)
    instead = Principal("instead", None, frozenset({ana}), frozenset(scopes))
    her = Principal("hers", ana, scopes=frozenset({"ask"}))
    viewer, hits = world.viewer("ana"), [world.message(i) for i in (3, 1, 0)]
    acting = await world.graph.read(read_scope, replace(viewer, principal=instead))
    own = await world.graph.read(read_scope, replace(viewer, principal=her))
    await remember_question(world.graph, acting, "Put into her mouth?", hits, days=1)
    await world.graph.write(save_question, acting, "And again?", hits, now=now, keep=timedelta(days=1))
    assert await world.graph.read(list_asked_before, acting, now=now, limit=9) == []
    assert await clusters_of(world.graph, acting, hits) == ()
    asked = await world.graph.read(list_asked_before, own, now=now, limit=9)
    assert {one.text for one in asked} == {text for text, _ in ASKED}
    assert len(await clusters_of(world.graph, own, hits)) == 1
    overheard = await world.graph.read(read_scope, replace(viewer, principal=her, unknown_hearer=True))
    assert await world.graph.read(list_asked_before, overheard, now=now, limit=9) == [], "somebody unknown listens"


async def test_by_default_and_of_nobody_no_question_is_kept(world: World) -> None:
    count = "MATCH (q:Query {space: $space}) RETURN count(q) AS n"
    before = await world.graph.read(rows, count, space=world.space)
    await remember_question(world.graph, await world.scope("ana"), "What?", [world.message(0)], days=0)
    await remember_question(world.graph, await world.scope(reads_all=True), "What?", [world.message(0)], days=1)
    assert await world.graph.read(rows, count, space=world.space) == before
