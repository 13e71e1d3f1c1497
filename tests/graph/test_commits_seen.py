"""Of a commit, a counter may be there to read a moment before what it counts. Whoever decides that they have all waits for it.

Each of these stops the moment: a transaction that is not over yet holds the lock and what cannot be seen, and beside it stands
what can be seen already."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from neo4j import AsyncTransaction

from service.graph.dead_letters import retry_dead
from service.graph.deliveries import forget_expired_deliveries, meeting_id, save_deliveries
from service.graph.driver import Graph, changes, rows
from service.graph.meetings import close_meeting, find_meetings, lease_meetings
from service.graph.spaces import lock_space
from service.graph.taking_in import mark_done, mark_failed, next_waiting
from service.graph.write_events import FORGOTTEN, forget_events
from service.pipelines.facts import RememberFacts
from service.pipelines.naming import name_session
from service.types.facts import Fact, FactTurn
from service.types.ids import fresh
from tests.graph.meeting_builders import (
    ANA,
    BO,
    SOURCE,
    EveryTurn,
    a_worker,
    began,
    deliver,
    delivery,
    ended,
    inbox,
    said,
    sessions,
)
from tests.graph.meetings import Meetings
from tests.graph.test_deliveries import LATER, NOW, a_delivery, waiting

PATIENCE = 60.0
A_WHILE = 0.4
"""Seconds in which whoever does not wait has done it."""
COUNT = "MATCH (f:Meeting {id: $id}) SET f.num_deliveries = $came"
LOCK = "MATCH (f:Meeting {id: $id}) SET f.created_at = f.created_at"
PUT_LAST = "MATCH (d:Delivery {space: $space, seq: 1}) SET d.seq = 2"
FOLDED = "MATCH (d:Delivery {space: $space}) RETURN d.seq AS seq, d.folded AS folded ORDER BY d.folded"
SAY = "MATCH (m:Message {space: $space, index: 0}) SET m.text = $text"
NAMES = "MATCH (n:NameProposal {space: $space})-[:EVIDENCED_BY]->() RETURN n.name AS name"
READY = "MATCH (e:Event {space: $space, kind: 'session.ready'}) RETURN e.id AS id"
STATEMENTS = "MATCH (f:Fact {space: $space}) RETURN f.statement AS statement ORDER BY statement"
MADE = """
CREATE (w:Webhook {id: $id, space: $space, created_at: datetime(), status: 'active', kinds: ['erased']})
"""
TOLD = """
MATCH (w:Webhook {id: $id}) SET w.created_at = w.created_at
CREATE (:WebhookDelivery {id: $id + '/e', space: $space, webhook_id: $id, status: 'waiting', created_at: datetime()})
"""
IS_THERE = "MATCH (w:Webhook {id: $id}) RETURN w.id AS id"
FORGET = "MATCH (n:Webhook|WebhookDelivery {space: $space}) DELETE n"


@asynccontextmanager
async def not_over_yet(graph: Graph) -> AsyncIterator[AsyncTransaction]:
    """A transaction that is committed at the end."""
    async with graph.session() as session:
        tx = await session.begin_transaction()
        try:
            yield tx
            await tx.commit()
        finally:
            await tx.close()


async def test_a_meeting_is_taken_in_in_order_whatever_of_it_is_seen_first(graph: Graph, space: str, tmp_path: Path) -> None:
    id = meeting_id(space, SOURCE, "m1")
    await deliver(graph, space, began())
    await deliver(graph, space, said(BO, "Second.", 4.0), at=5.0)
    await graph.write(changes, PUT_LAST, space=space)
    async with a_worker(graph, space, tmp_path) as worker:
        async with not_over_yet(graph) as tx:
            await changes(tx, COUNT, id=id, came=1)
            await save_deliveries(tx, [delivery(space, said(ANA, "First.", 1.0), at=2.0)])
            await changes(tx, COUNT, id=id, came=3)
            looks = asyncio.create_task(worker.settle(PATIENCE))
            await asyncio.sleep(A_WHILE)
        await looks
    found = await graph.read(rows, FOLDED, space=space)
    assert [(row["seq"], row["folded"]) for row in found] == [(0, 0), (1, 1), (2, 2)]


async def test_a_meeting_is_not_over_before_all_that_came_of_it_is_seen(graph: Graph, space: str, tmp_path: Path) -> None:
    id = meeting_id(space, SOURCE, "m1")
    await deliver(graph, space, began(), said(ANA, "First.", 1.0))
    await deliver(graph, space, ended(), at=60.0)
    await graph.write(changes, COUNT, id=id, came=3)
    async with a_worker(graph, space, tmp_path) as worker:
        async with not_over_yet(graph) as tx:
            await changes(tx, COUNT, id=id, came=2)
            await save_deliveries(tx, [delivery(space, said(BO, "Second.", 4.0), at=5.0)])
            looks = asyncio.create_task(worker.settle(PATIENCE))
            await asyncio.sleep(A_WHILE)
        await looks
    (session,) = await sessions(graph, space)
    assert session["status"] == "complete" and await inbox(graph, space) == {"done": 3}
    assert len(await graph.read(rows, READY, space=space)) == 1, "it was complete once"


async def test_a_place_that_nothing_is_at_any_more_is_waited_for_once(graph: Graph, space: str) -> None:
    """Its delivery was deleted; whoever has seen that does not lock the meeting again for it."""
    await graph.write(save_deliveries, [a_delivery(space, key) for key in "abc"])
    id = meeting_id(space, "crm", "m1")
    await graph.write(changes, "MATCH (d:Delivery {space: $space, key: 'b'}) DELETE d", space=space)
    seen = (await graph.write(next_waiting, id, now=NOW)).seen
    async with not_over_yet(graph) as tx:
        await changes(tx, LOCK, id=id)
        async with asyncio.timeout(PATIENCE):
            again = await graph.write(next_waiting, id, now=NOW, seen=seen)
    assert seen == again.seen == 2 and [one.key for one in again.deliveries] == ["a", "c"]


async def test_what_comes_or_is_tried_again_as_its_meeting_is_forgotten_is_not_lost(graph: Graph, space: str) -> None:
    gone_at = NOW - timedelta(days=9001)  # nobody else's time has come by then
    await graph.write(save_deliveries, [a_delivery(space, "a"), a_delivery(space, "bad")])
    (feed,) = await graph.write(lease_meetings, [meeting_id(space, "crm", "m1")], worker="w1", now=NOW, until=LATER)
    a, bad = await waiting(graph, feed.id)
    await graph.write(mark_done, feed.id, [a.id], worker="w1")
    await graph.write(mark_failed, feed.id, bad.id, "x: y", worker="w1", next_at=None, expires_at=gone_at)
    await graph.write(close_meeting, feed.id, expires_at=gone_at)
    async with not_over_yet(graph) as tx:
        assert await retry_dead(tx, space, [bad.id], now=NOW) == [bad.id]
        forgets = asyncio.create_task(graph.write(forget_expired_deliveries, now=gone_at, limit=100))
        await asyncio.sleep(A_WHILE)
    await forgets
    (left,) = await waiting(graph, feed.id)
    assert left.id == bad.id
    await graph.write(mark_done, feed.id, [bad.id], worker="w1")
    assert await graph.write(forget_expired_deliveries, now=gone_at - timedelta(seconds=1), limit=100) == 0
    await graph.write(changes, "MATCH (d:Delivery {space: $space}) DELETE d", space=space)
    async with not_over_yet(graph) as tx:
        assert await save_deliveries(tx, [a_delivery(space, "late")]) == 1
        forgets = asyncio.create_task(graph.write(forget_expired_deliveries, now=gone_at, limit=100))
        await asyncio.sleep(A_WHILE)
    await forgets
    assert feed.id in await graph.read(find_meetings, [feed.id]), "else nobody would take it in"
    assert [one.key for one in await waiting(graph, feed.id)] == ["late"]


async def test_a_webhook_of_a_space_that_is_gone_stays_until_it_is_told(graph: Graph) -> None:
    id, space = fresh(), f"{FORGOTTEN}{fresh()}/test"
    await graph.write(changes, MADE, id=id, space=space)
    try:
        async with not_over_yet(graph) as tx:
            await changes(tx, TOLD, id=id, space=space)
            forgets = asyncio.create_task(graph.write(forget_events, datetime(2000, 1, 1, tzinfo=UTC), 100))
            await asyncio.sleep(A_WHILE)
        await forgets
        assert await graph.read(rows, IS_THERE, id=id)
    finally:
        await graph.write(changes, FORGET, space=space)


async def test_a_session_is_named_by_all_that_its_revision_stands_for(graph: Graph, space: str) -> None:
    """A correction writes while the session is read."""
    meetings = Meetings(graph, space)
    await meetings.hold("monday", ("ana", "voice_1", "Hi, I'm Dana."), ("ben", "voice_2", "Good morning to you."))
    async with not_over_yet(graph) as tx:
        await lock_space(tx, space)
        await changes(tx, SAY, space=space, text="Hi, I'm Erin.")
        names = asyncio.create_task(name_session(graph, space, meetings.session("monday").id))
        await asyncio.sleep(A_WHILE)
    await names
    assert {row["name"] for row in await graph.read(rows, NAMES, space=space)} == {"Erin"}


async def test_a_session_whose_words_change_while_facts_are_read_in_them_has_those_of_the_new(graph: Graph, space: str) -> None:
    meetings = Meetings(graph, space)
    await meetings.hold("monday", ("ana", "voice_1", "It comes on Tuesday."), ("ben", "voice_2", "Good."))

    class Slow(EveryTurn):
        async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
            if turns[0].text == "It comes on Tuesday.":
                await graph.write(changes, SAY, space=space, text="It comes on Friday.")
            return await super().__call__(turns, dropped)

    made = await RememberFacts(graph, Slow(), None)(space, meetings.session("monday").id)
    found = [row["statement"] for row in await graph.read(rows, STATEMENTS, space=space)]
    assert not made.known_before and made.num_facts == 2
    assert [one.partition("said ")[2] for one in found] == ["Good.", "It comes on Friday."]
