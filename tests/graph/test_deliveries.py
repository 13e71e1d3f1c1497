"""A delivery is in the inbox once, in its place, until it is taken in, and as long as a repeat must be known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from service.graph.dead_letters import forget_dead, list_dead, list_dead_letters, retry_dead
from service.graph.deliveries import (
    Dead,
    DeliveryStatus,
    NewDelivery,
    StoredDelivery,
    count_waiting,
    forget_expired_deliveries,
    list_deliveries,
    meeting_id,
    save_dead,
    save_deliveries,
)
from service.graph.driver import Graph, Tx
from service.graph.forget_space import forget_space
from service.graph.meetings import (
    MeetingFeed,
    MeetingStatus,
    MeetingTaken,
    close_meeting,
    find_meetings,
    lease_meetings,
    list_idle,
    list_to_take_in,
    release_meetings,
    save_meeting_session,
)
from service.graph.paging import Page
from service.graph.taking_in import deliveries_of, mark_done, mark_failed, next_waiting
from service.pipelines.expire import close_left_meetings

NOW = datetime.now(UTC).replace(microsecond=0)  # not a day of the past: a service of another test sweeps what has had its time
LATER = NOW + timedelta(hours=1)
NEVER = NOW + timedelta(days=3650)
PAGE = Page(first=50)


def a_delivery(space: str, key: str, *, meeting: str | None = "m1", body: bytes = b"{}", source: str = "crm") -> NewDelivery:
    return NewDelivery(
        space=space,
        source=source,
        provider="vexa",
        meeting=meeting,
        key=key,
        body=body,
        received_at=NOW,
        headers={"x-event-id": key},
    )


async def held(graph: Graph, space: str, meeting: str = "m1", worker: str = "w1", until: datetime = LATER) -> MeetingFeed:
    (one,) = await graph.write(lease_meetings, [meeting_id(space, "crm", meeting)], worker=worker, now=NOW, until=until)
    return one


async def waiting(graph: Graph, meeting: str, **given: Any) -> list[StoredDelivery]:
    return list((await graph.write(next_waiting, meeting, **{"now": NOW, **given})).deliveries)


async def keys(graph: Graph, meeting: str, *, taken_in: bool = False, now: datetime = LATER) -> list[str]:
    found = await graph.read(deliveries_of, meeting) if taken_in else await waiting(graph, meeting, now=now)
    return [one.key for one in found]


async def test_deliveries_wait_in_the_order_in_which_they_came_and_a_repeat_is_known(graph: Graph, space: str) -> None:
    first = [a_delivery(space, key) for key in "cab"]
    assert await graph.write(save_deliveries, [*first, first[0]]) == 3
    assert await graph.write(save_deliveries, [a_delivery(space, "a", body=b"other"), a_delivery(space, "d")]) == 1
    found = await waiting(graph, first[0].meeting_id, now=NOW)
    assert [(one.key, one.seq) for one in found] == [("c", 0), ("a", 1), ("b", 2), ("d", 3)]
    assert found[1].body == b"{}", "the first that came holds"


@pytest.mark.parametrize("body", ['{"t": "Zoë 👋"}'.encode(), b"\xff\x00\x80", b"", "\x00\u2028".encode()])
async def test_a_delivery_comes_back_as_it_was(graph: Graph, space: str, body: bytes) -> None:
    given = replace(
        a_delivery(space, "k", body=body),
        query={"a": "1"},
        carried={"rate": "16000"},
        binary=True,
        connection="c-1",
        opened_at=NOW - timedelta(minutes=1),
    )
    await graph.write(save_deliveries, [given])
    (found,) = await waiting(graph, given.meeting_id, now=NOW)
    for name in (
        "id",
        "provider",
        "source",
        "key",
        "body",
        "received_at",
        "headers",
        "query",
        "binary",
        "connection",
        "opened_at",
    ):
        assert getattr(found, name) == getattr(given, name), name


async def test_writers_at_once_leave_no_gap_and_no_double_place(graph: Graph, space: str) -> None:
    batches = [[a_delivery(space, f"{w}-{i}", meeting=f"m{i % 3}") for i in range(12)] for w in range(6)]
    await asyncio.gather(*(graph.write(save_deliveries, batch) for batch in batches), graph.write(save_deliveries, batches[0]))
    for meeting in ("m0", "m1", "m2"):
        found = await waiting(graph, meeting_id(space, "crm", meeting), now=NOW)
        assert [one.seq for one in found] == list(range(24))


async def test_what_was_taken_in_is_read_again_in_the_order_in_which_it_was(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, key) for key in "abcd"])
    feed = await held(graph, space)
    by_key = {one.key: one.id for one in await waiting(graph, feed.id, now=NOW)}
    await graph.write(mark_failed, feed.id, by_key["a"], "broken: now", worker="w1", next_at=LATER)
    assert await keys(graph, feed.id, now=NOW) == ["b", "c", "d"], "those behind it do not wait for it"
    await graph.write(mark_done, feed.id, [by_key["b"], by_key["d"]], worker="w1")
    await graph.write(mark_done, feed.id, [by_key["b"], by_key["a"]], worker="w1")
    assert await keys(graph, feed.id, taken_in=True) == ["b", "d", "a"]
    assert await keys(graph, feed.id) == ["c"]
    assert [one.key for one in await graph.read(deliveries_of, feed.id, first=1, limit=1)] == ["d"]
    assert (await graph.read(find_meetings, [feed.id]))[feed.id].num_folded == 3


async def test_only_who_holds_a_meeting_takes_it_in(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, "a")])
    feed = await held(graph, space, worker="w1", until=LATER)
    for worker in ("w1", "w2"):
        listed = await graph.read(list_to_take_in, worker=worker, now=NOW, limit=10_000)
        assert (feed.id in listed) == (worker == "w1")
    assert not await graph.write(lease_meetings, [feed.id], worker="w2", now=NOW, until=LATER)
    (taken,) = await graph.write(lease_meetings, [feed.id], worker="w2", now=LATER + timedelta(seconds=1), until=NEVER)
    assert taken.id == feed.id
    (one,) = await waiting(graph, feed.id, now=NOW)
    with pytest.raises(MeetingTaken):
        await graph.write(mark_done, feed.id, [one.id], worker="w1")
    await graph.write(release_meetings, {feed.id: "w1"})
    with pytest.raises(MeetingTaken):
        await graph.write(mark_failed, feed.id, one.id, "x: y", worker="w1", next_at=None)
    await graph.write(release_meetings, {feed.id: "w2"})
    assert (await held(graph, space, worker="w3")).num_folded == 0


async def test_who_delivers_does_not_wait_for_who_takes_in(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, "a")])
    feed = await held(graph, space)
    (one,) = await waiting(graph, feed.id, now=NOW)
    is_held, may_end = asyncio.Event(), asyncio.Event()

    async def take_in(tx: Tx) -> None:
        await mark_done(tx, feed.id, [one.id], worker="w1")
        is_held.set()
        await may_end.wait()

    taking = asyncio.create_task(graph.write(take_in))
    await is_held.wait()
    async with asyncio.timeout(10):
        assert await graph.write(save_deliveries, [a_delivery(space, "b"), a_delivery(space, "a")]) == 1
    may_end.set()
    await taking
    assert await keys(graph, feed.id, taken_in=True) == ["a"] and await keys(graph, feed.id) == ["b"]


async def test_a_meeting_is_leased_by_one_of_many_at_once(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, "a")])
    id = meeting_id(space, "crm", "m1")
    got = await asyncio.gather(*(graph.write(lease_meetings, [id], worker=f"w{n}", now=NOW, until=LATER) for n in range(6)))
    assert sum(map(len, got)) == 1


async def test_dead_letters_are_seen_tried_again_behind_the_others_and_forgotten(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, key, body=b"secret words") for key in "abc"])
    feed = await held(graph, space)
    by_key = {one.key: one.id for one in await waiting(graph, feed.id, now=NOW)}
    why = "event_unreadable: vexa, text: a number"
    await graph.write(mark_failed, feed.id, by_key["a"], why, worker="w1", next_at=None, expires_at=NEVER)
    unreadable = a_delivery(space, "x", meeting=None, body=b"\xff")
    await graph.write(save_dead, [Dead(unreadable, "event_unreadable: no JSON", NEVER)])
    dead = await graph.read(list_dead, space, page=PAGE)
    assert {(one.meeting, one.status, one.error, one.attempts) for one in dead.items} == {
        ("m1", DeliveryStatus.DEAD, why, 1),
        (None, DeliveryStatus.DEAD, "event_unreadable: no JSON", 1),
    }
    assert "secret" not in repr(dead)
    ids = [one.id for one in dead.items]
    assert await graph.write(retry_dead, space, [*ids, by_key["b"], "none"], now=NOW) == [by_key["a"]]
    assert await keys(graph, feed.id) == ["b", "c", "a"]
    assert [one.body for one in await graph.read(list_dead_letters, space, ids)] == [b"\xff"]
    assert await graph.write(forget_dead, f"{space}-other", ids) == 0
    assert await graph.write(forget_dead, space, [*ids, by_key["b"]]) == 1
    listed = await graph.read(list_deliveries, space, page=PAGE)
    assert {one.status for one in listed.items} == {DeliveryStatus.WAITING} and len(listed.items) == 3


async def test_deliveries_are_listed_page_by_page_by_source_and_meeting(graph: Graph, space: str) -> None:
    for n in range(3):
        await graph.write(save_deliveries, [a_delivery(space, f"{n}", meeting=f"m{n}", source="crm" if n else "other")])
    first = await graph.read(list_deliveries, space, page=Page(first=2))
    rest = await graph.read(list_deliveries, space, page=Page(first=2, after=first.cursors[-1]))
    assert [one.meeting for one in (*first.items, *rest.items)] == ["m2", "m1", "m0"] and not rest.has_next
    assert [one.meeting for one in (await graph.read(list_deliveries, space, page=PAGE, source="crm")).items] == ["m2", "m1"]
    of_one = await graph.read(list_deliveries, space, page=PAGE, meeting_id=meeting_id(space, "crm", "m1"))
    assert [one.meeting for one in of_one.items] == ["m1"]
    assert not (await graph.read(list_deliveries, f"{space}-other", page=PAGE)).items


async def test_a_closed_meetings_deliveries_are_known_for_a_while_and_then_go(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, "a"), a_delivery(space, "b")])
    feed = await held(graph, space)
    a, _ = await waiting(graph, feed.id, now=NOW)
    await graph.write(mark_done, feed.id, [a.id], worker="w1")
    await graph.write(save_meeting_session, feed.id, "s1")
    gone_at = NOW - timedelta(days=9000)  # nobody else's time has come by then
    await graph.write(close_meeting, feed.id, expires_at=gone_at)
    assert await graph.write(save_deliveries, [a_delivery(space, "a"), a_delivery(space, "late")]) == 1
    closed = (await graph.read(find_meetings, [feed.id]))[feed.id]
    assert (closed.status, closed.session_id, closed.expires_at) == (MeetingStatus.CLOSED, "s1", gone_at)
    assert await graph.write(forget_expired_deliveries, now=gone_at - timedelta(seconds=1), limit=100) == 0
    assert await graph.write(forget_expired_deliveries, now=gone_at, limit=100) == 1
    assert await keys(graph, feed.id) == ["b", "late"], "what waits is not lost for being old"
    left = await waiting(graph, feed.id, now=LATER)
    await graph.write(mark_done, feed.id, [one.id for one in left], worker="w1")
    assert await graph.write(forget_expired_deliveries, now=gone_at, limit=100) == 2
    assert not await graph.read(find_meetings, [feed.id])


async def test_silent_meetings_are_found_and_waiting_ones_counted(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, "a"), a_delivery(space, "b", meeting="m2")])
    ids = {meeting_id(space, "crm", "m1"), meeting_id(space, "crm", "m2")}
    asked = {"worker": "w1", "now": NOW, "limit": 10}
    assert set(await graph.read(list_idle, space, "crm", before=NOW + timedelta(seconds=1), **asked)) == ids
    assert not await graph.read(list_idle, space, "crm", before=NOW, **asked)
    assert (await graph.read(count_waiting))[space, "crm"] == 2


async def test_meetings_of_a_source_that_was_taken_away_are_closed_after_a_while(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, key) for key in "ab"])
    await graph.write(save_deliveries, [a_delivery(space, "c", source="other")])
    feed = await held(graph, space)
    a, _ = await waiting(graph, feed.id, now=NOW)
    await graph.write(mark_done, feed.id, [a.id], worker="w1")
    began = datetime.now(UTC)  # as services of other tests, which sweep all spaces, say it
    crm, other = (space, "crm"), (space, "other")

    async def swept(days: float, *own: tuple[str, str]) -> dict[str, tuple[str, bool]]:
        await close_left_meetings(graph, own, began + timedelta(days=days), spaces=[space])
        found = (await graph.read(list_deliveries, space, page=PAGE)).items
        return {one.source + one.status.value: (str(one.error).partition(":")[0], one.expires_at is not None) for one in found}

    still = {"crmwaiting": ("None", False), "crmdone": ("None", False), "otherwaiting": ("None", False)}
    assert await swept(0, other) == still
    assert await swept(2, crm, other) == still, "it is there again"
    assert await swept(4, other) == still
    assert await swept(6.9, other) == still
    closed = {"crmdead": ("no_such_source", True), "crmdone": ("None", True), "otherwaiting": ("None", False)}
    assert await swept(7.1, other) == closed
    assert (await graph.read(find_meetings, [feed.id]))[feed.id].status is MeetingStatus.CLOSED
    assert crm not in await graph.read(count_waiting)


async def test_what_was_delivered_goes_with_its_space(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [a_delivery(space, "a")])
    await graph.write(save_dead, [Dead(a_delivery(space, "x", meeting=None), "event_unreadable: no JSON", NEVER)])
    await forget_space(graph, space)
    assert not (await graph.read(list_deliveries, space, page=PAGE)).items
    assert not await graph.read(find_meetings, [meeting_id(space, "crm", "m1")])
