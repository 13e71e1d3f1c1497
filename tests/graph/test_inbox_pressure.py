"""Deliveries that come together are written together; where more comes than is taken in, who delivers is told to wait."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service.api.errors import incident
from service.connectors.live import Delivery, connector
from service.connectors.live.generic_schema import message
from service.connectors.live.sources import Sources
from service.graph.dead_letters import list_dead_letters
from service.graph.deliveries import Dead, DeliveryStatus, list_deliveries, meeting_id, save_meetings
from service.graph.driver import Graph, Neo4jUnreachable
from service.graph.meetings import lease_meetings
from service.graph.paging import Page
from service.graph.spaces import ensure_space
from service.graph.taking_in import deliveries_of, mark_done
from service.pipelines.deliveries import Inbox, InboxConfig, InboxFull, NotKept
from service.pipelines.reception import Proved, Reception
from service.types.meeting import AudioEncoding, Heard
from tests.graph.meeting_builders import SOURCE, meetings, sources_file
from tests.graph.test_deliveries import LATER, NOW, a_delivery, waiting


class Counting(Graph):
    """The graph, and how many transactions wrote to it."""

    writes = 0

    async def write(self, *args: Any, **kwargs: Any) -> Any:
        self.writes += 1
        return await super().write(*args, **kwargs)


class Ill(Counting):
    """The graph, where some writes fail."""

    fails: tuple[object, ...] = ()

    async def write(self, *args: Any, **kwargs: Any) -> Any:
        if args[0] in self.fails:
            raise Neo4jUnreachable(uri=self.config.uri, reason="a test")
        return await super().write(*args, **kwargs)


@asynccontextmanager
async def an_inbox(graph: Graph, **config: Any) -> AsyncIterator[Inbox]:
    inbox = Inbox(graph, incident, InboxConfig(**config))
    await inbox.start()
    yield inbox
    await inbox.stop()


async def keys(graph: Graph, space: str) -> list[str]:
    return [one.key for one in await waiting(graph, meeting_id(space, "crm", "m1"), now=NOW)]


async def test_those_that_come_together_are_written_together_in_the_order_in_which_they_came(graph: Graph, space: str) -> None:
    counting = Counting(graph._driver, graph.config, graph.version)
    async with an_inbox(counting) as inbox:
        await asyncio.gather(*(inbox.keep([a_delivery(space, f"{n:03}")]) for n in range(300)))
    assert await keys(graph, space) == [f"{n:03}" for n in range(300)]
    assert counting.writes <= 4


async def test_one_that_cannot_be_written_does_not_take_the_others_with_it(graph: Graph, space: str) -> None:
    async with an_inbox(graph) as inbox:
        unwritable = replace(a_delivery(space, "bad"), provider=object())  # type: ignore[arg-type]
        given = [a_delivery(space, "a"), unwritable, a_delivery(space, "b")]
        outcomes = await asyncio.gather(*(inbox.keep([one]) for one in given), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), NotKept, type(None)]
    assert await keys(graph, space) == ["a", "b"]


async def test_a_source_that_floods_waits_and_leaves_room_for_the_others(graph: Graph, space: str) -> None:
    async with an_inbox(graph, waiting_of_source=3, count_seconds=0.2, waiting=10**9) as inbox:
        await inbox.check_room(space, "crm")
        await inbox.keep([a_delivery(space, key) for key in "abc"])
        with pytest.raises(InboxFull) as full:
            await inbox.check_room(space, "crm")
        assert full.value.facts["seconds"] == inbox.config.full_again
        await inbox.check_room(space, "other")
        (feed,) = await graph.write(
            lease_meetings, [meeting_id(space, "crm", "m1")], worker="w", now=NOW, until=LATER
        )  # fmt: skip
        taken = await waiting(graph, feed.id, now=NOW)
        await graph.write(mark_done, feed.id, [one.id for one in taken], worker="w")
        await asyncio.sleep(0.25)
        await inbox.check_room(space, "crm")


async def test_what_waits_is_bounded_by_its_bytes_of_a_source_and_in_all(graph: Graph, space: str) -> None:
    long = b"x" * 1_000
    async with an_inbox(graph, waiting_bytes_of_source=2_500, count_seconds=0.2, waiting_bytes=10**12) as inbox:
        for key in "abc":
            await inbox.check_room(space, "crm")
            await inbox.keep([a_delivery(space, key, body=long)])
        with pytest.raises(InboxFull):
            await inbox.check_room(space, "crm")
        await asyncio.sleep(0.25)
        with pytest.raises(InboxFull):
            await inbox.check_room(space, "crm")
        await inbox.check_room(space, "other")
    async with an_inbox(graph, waiting_bytes=3_000) as inbox:
        with pytest.raises(InboxFull):
            await inbox.check_room(space, "other")


@pytest.mark.parametrize("count_seconds", [0.0, 60.0])
async def test_the_bodies_of_dead_letters_have_a_quota_of_each_source(graph: Graph, space: str, count_seconds: float) -> None:
    async with an_inbox(graph, dead_bytes_of_source=2_500, count_seconds=count_seconds) as inbox:
        for source in ("crm", "other"):
            for n in range(5):
                letter = a_delivery(space, f"{n}", meeting=None, body=b"x" * 1_000, source=source)
                await inbox.keep([], [Dead(letter, "event_unreadable: no JSON", LATER)])
    shown = (await graph.read(list_deliveries, space, page=Page(first=100))).items
    assert [one.num_bytes for one in shown] == [1_000] * 10
    found = await graph.read(list_dead_letters, space, [one.id for one in shown])
    for source in ("crm", "other"):
        assert [one.body is not None for one in found if one.source == source].count(True) == 2


@pytest.mark.parametrize("count_seconds", [0.0, 60.0])
async def test_of_too_many_dead_letters_of_a_source_only_the_number_is_kept(
    graph: Graph, space: str, count_seconds: float
) -> None:
    async with an_inbox(graph, dead_of_source=3, count_seconds=count_seconds) as inbox:
        for source, number in (("crm", 6), ("other", 2)):
            for n in range(number):
                letter = a_delivery(space, f"{n}", meeting=None, body=b"x" * 10, source=source)
                await inbox.keep([], [Dead(letter, f"event_unreadable: no JSON {n}", LATER)])
    shown = (await graph.read(list_deliveries, space, page=Page(first=100))).items
    assert Counter(one.source for one in shown) == {"crm": 4, "other": 2}
    (counter,) = [one for one in shown if one.attempts != 1]
    assert (counter.source, counter.status, counter.attempts, counter.num_bytes) == ("crm", DeliveryStatus.DEAD, 3, 30)
    assert counter.error == (
        "dead_letters_counted: 3 more could not be read, and are only counted. The last: event_unreadable: no JSON 5"
    )
    assert [one.body for one in await graph.read(list_dead_letters, space, [counter.id])] == [None]


async def test_no_more_bodies_are_read_at_once_than_memory_holds(graph: Graph, space: str) -> None:
    async with an_inbox(graph) as inbox:
        await inbox.keep([a_delivery(space, f"{n}", body=b"x" * size) for n, size in enumerate((900, 50, 50, 50, 2_000, 10))])
    id = meeting_id(space, "crm", "m1")
    got: list[list[str]] = []
    await graph.write(lease_meetings, [id], worker="w", now=NOW, until=LATER)
    while some := await waiting(graph, id, now=NOW, limit=4, most_bytes=1_000):
        got.append([one.key for one in some])
        await graph.write(mark_done, id, [one.id for one in some], worker="w")
    assert got == [["0", "1", "2"], ["3"], ["4"], ["5"]]
    again, place = [], 0
    while some := await graph.read(deliveries_of, id, first=place, most_bytes=1_000):
        again.append([one.key for one in some])
        place += len(some)
    assert again == [["0", "1", "2"], ["3"], ["4"], ["5"]]


async def test_all_sources_together_have_a_bound_and_so_has_what_waits_in_memory(graph: Graph, space: str) -> None:
    async with an_inbox(graph, waiting=1) as inbox:
        await inbox.keep([a_delivery(space, "a")])
        with pytest.raises(InboxFull):
            await inbox.check_room(space, "other")
    for bound in ({"queued": 1}, {"queued_bytes": 1}):
        inbox = Inbox(graph, incident, InboxConfig(**bound))
        await inbox.start()
        keeping = [asyncio.create_task(inbox.keep([a_delivery(space, f"{n}")])) for n in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(InboxFull):
            await inbox.check_room(space, "crm")
        await asyncio.gather(*keeping)
        await inbox.check_room(space, "crm")
        await inbox.stop()


async def test_what_waits_for_a_source_that_is_gone_is_in_nobodys_way(graph: Graph, space: str) -> None:
    async with an_inbox(graph, waiting=2) as inbox:
        await inbox.keep([a_delivery(space, key, source="gone") for key in "abc"])
        with pytest.raises(InboxFull):
            await inbox.check_room(space, "crm", own=[(space, "crm"), (space, "gone")])
        await inbox.check_room(space, "crm", own=[(space, "crm")])


async def test_what_was_not_written_when_the_service_stops_is_told_so(graph: Graph, space: str) -> None:
    async with an_inbox(graph) as inbox:
        keeping = [asyncio.create_task(inbox.keep([a_delivery(space, f"{n}")])) for n in range(50)]
        await asyncio.sleep(0)
        await inbox.stop()
        outcomes = await asyncio.gather(*keeping, return_exceptions=True)
        with pytest.raises(NotKept):
            await inbox.keep([a_delivery(space, "late")])
    kept = {one.id for one in (await graph.read(list_deliveries, space, page=Page(first=100))).items}
    told = {a_delivery(space, f"{n}").id for n, outcome in enumerate(outcomes) if outcome is None}
    assert told <= kept
    assert {type(outcome) for outcome in outcomes} <= {type(None), NotKept}


async def test_a_space_and_a_meeting_count_as_there_only_once_they_are_written(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    ill = Ill(graph._driver, graph.config, graph.version)
    sources = Sources(sources_file(tmp_path / "hooks.toml", space), lambda name: None)
    sound = Heard(key="1", data=b"\0\0", encoding=AudioEncoding.S16, sample_rate=16_000)
    sent = Delivery({}, json.dumps(message("m1", [sound])).encode(), NOW)
    async with an_inbox(graph) as inbox:
        reception = Reception(ill, sources, inbox, incident)
        proved = Proved(sources.get(SOURCE), connector("generic"), ())
        found = [(sent, await reception.sort(proved, sent))]
        for fails, writes in (((ensure_space,), 0), ((save_meetings,), 1)):
            ill.fails = fails
            with pytest.raises(Neo4jUnreachable):
                await reception.keep(proved, found)
            assert ill.writes == writes
        ill.fails = ()
        for _ in range(2):
            await reception.keep(proved, found)
            assert ill.writes == 2, "and not asked for again within the minute"
    assert [meeting["external_id"] for meeting in await meetings(graph, space)] == ["m1"]
