"""Who takes part in meetings, across meetings: by the logins that somebody bound, while a meeting goes on and after it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.graph.access import public_audience
from service.graph.driver import Graph, changes, rows
from service.graph.meetings import MeetingTaken
from service.graph.write_accounts import bind_account
from service.graph.write_people import save_person
from service.graph.write_sessions import SessionBusy
from service.pipelines.accounts import Accounts
from service.pipelines.correct import Correct
from service.pipelines.meeting import MeetingWorkConfig
from service.pipelines.meeting_session import WritesWith
from service.pipelines.meetings import Meetings
from service.types.ids import fresh
from service.types.meeting import AccountKey, Left, MeetingEvent, Renamed, Speaker, Withdrawn
from tests.graph.graph_builders import HashedWords
from tests.graph.meeting_builders import (
    ANA,
    BEGAN,
    BO,
    a_worker,
    began,
    deliver,
    ended,
    joined,
    said,
    sessions,
    turns,
    with_login,
    writes_with,
)

PATIENCE = 20.0
GOES_ON: dict[str, Any] = {"idle_minutes": 1_000.0}
"""Of a source: its meetings, which began two hours ago, are not over only because nothing came since."""
ANA_IN, BO_IN = with_login(ANA, "u-ana"), with_login(BO, "u-bo")
KEY = AccountKey("zoom", "u-ana")

READERS = """
MATCH (m:Message {space: $space})-[:IN_SESSION]->(s:Session)
RETURN COLLECT { MATCH (m)-[:FOR]->(:Audience)<-[:MAY_READ]-(p:Person) RETURN p.id ORDER BY p.id } AS readers
ORDER BY s.started_at, m.index
"""
ATTENDED = """
MATCH (p:Person {space: $space})-[a:ATTENDED]->(:Session)
RETURN p.id AS person, a.starts AS starts, a.ends AS ends, a.source AS source ORDER BY person
"""


async def a_person(graph: Graph, space: str, name: str, *logins: AccountKey, kind: str = "named") -> str:
    person = fresh()
    await graph.write(save_person, space, person, name, kind=kind)
    for key in logins:
        await graph.write(bind_account, space, key, person, actor="admin", why="", at=datetime.now(UTC))
    return person


def left(who: Speaker, at: float) -> Left:
    return Left(key=f"left {who.handle}", at=BEGAN + timedelta(seconds=at), speaker=who)


def at_once(graph: Graph) -> WritesWith:
    """Who is there is let read after each round, not every few seconds."""
    using = writes_with(graph, embedder=HashedWords())
    return replace(using, config=replace(using.config, read_every=0.0))


async def readers(graph: Graph, space: str) -> list[set[str]]:
    return [set(row["readers"]) for row in await graph.read(rows, READERS, space=space)]


async def test_whose_login_is_bound_said_it_and_reads_what_was_said_while_they_were_there(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    ana = await a_person(graph, space, "Ana", KEY)
    async with a_worker(graph, space, tmp_path, using=at_once(graph), **GOES_ON) as worker:
        await deliver(graph, space, began(), joined(ANA_IN, 0.0), joined(BO_IN, 0.0), at=0.5)
        await deliver(graph, space, said(ANA_IN, "Shall we?", 1.0), said(BO_IN, "Not yet.", 4.0), at=6.0)
        await deliver(graph, space, left(ANA_IN, 10.0), at=10.0)
        await deliver(graph, space, said(BO_IN, "She is gone.", 20.0), at=22.0)
        await worker.settle(PATIENCE)
        assert [t["person"] for t in await turns(graph, space)] == [ana, None, None]
        assert await readers(graph, space) == [{ana}, {ana}, set()], "while it goes on"
    assert await graph.read(rows, ATTENDED, space=space) == [
        {"person": ana, "starts": [0.0], "ends": [10.0], "source": "platform"}
    ]


async def test_a_login_bound_after_two_meetings_attributes_both_and_a_third(graph: Graph, space: str, tmp_path: Path) -> None:
    using = writes_with(graph, embedder=HashedWords())
    async with a_worker(graph, space, tmp_path, using=using) as worker:
        for meeting in ("m1", "m2"):
            await deliver(graph, space, began(), joined(ANA_IN), said(ANA_IN, "Hello.", 1.0), ended(), at=3.0, meeting=meeting)
        await worker.settle(PATIENCE)
        assert [t["person"] for t in await turns(graph, space)] == [None, None]
        ana = await a_person(graph, space, "Ana")
        accounts = Accounts(graph, HashedWords())
        done = await accounts.bind(space, KEY, ana, actor="admin", why="")
        assert (done.num_turns, done.num_sessions) == (2, 2)
        await deliver(graph, space, began(), joined(ANA_IN), said(ANA_IN, "Hello.", 1.0), ended(), at=3.0, meeting="m3")
        await worker.settle(PATIENCE)
    assert [t["person"] for t in await turns(graph, space)] == [ana, ana, ana]
    assert await readers(graph, space) == [{ana}] * 3
    await accounts.unbind(space, done.account_id, actor="admin", why="")
    assert [t["person"] for t in await turns(graph, space)] == [None, None, None]
    assert await readers(graph, space) == [set()] * 3


async def test_what_a_later_event_gives_to_somebody_else_is_theirs(graph: Graph, space: str, tmp_path: Path) -> None:
    ana, bo = await a_person(graph, space, "Ana", KEY), await a_person(graph, space, "Bo", AccountKey("zoom", "u-bo"))
    first = said(ANA_IN, "At nine?", 1.0)
    async with a_worker(graph, space, tmp_path, using=at_once(graph), **GOES_ON) as worker:
        await deliver(graph, space, began(), first, said(BO_IN, "Yes.", 4.0), said(ANA_IN, "Good.", 6.0), at=7.0)
        await worker.settle(PATIENCE)
        assert [t["person"] for t in await turns(graph, space)] == [ana, bo, ana]
        await deliver(graph, space, replace(first, key="2", speaker=BO_IN, revision=1), at=8.0)
        await worker.settle(PATIENCE)
        assert [t["person"] for t in await turns(graph, space)] == [bo, bo, ana]
        await deliver(graph, space, Withdrawn(key="3", id="u4"), at=8.0)
        await worker.settle(PATIENCE)
        counted = "MATCH (p:Person {space: $space}) RETURN p.id AS id, p.num_turns AS n"
        assert {row["id"]: row["n"] for row in await graph.read(rows, counted, space=space)} == {ana: 1, bo: 1}


async def test_a_login_that_is_told_late_counts_for_what_was_said_before(graph: Graph, space: str, tmp_path: Path) -> None:
    ana = await a_person(graph, space, "Ana", AccountKey("mailto", "ana@example.org"))
    async with a_worker(graph, space, tmp_path, using=at_once(graph), **GOES_ON) as worker:
        await deliver(graph, space, began(), said(ANA, "At nine?", 1.0), at=2.0)
        await worker.settle(PATIENCE)
        assert [t["person"] for t in await turns(graph, space)] == [None]
        later = replace(ANA, email=AccountKey("mailto", "ana@example.org"))
        await deliver(graph, space, Renamed(key="r", speaker=later), at=9.0)
        await worker.settle(PATIENCE)
        assert [t["person"] for t in await turns(graph, space)] == [ana]


async def test_a_program_that_joins_with_somebodys_login_opens_nothing_and_speaks_for_nobody(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    ana = await a_person(graph, space, "Ana", KEY)
    robot = await a_person(graph, space, "Notes", AccountKey("zoom", "u-bo"), kind="bot")
    notes, bot = replace(ANA_IN, is_bot=True), replace(BO_IN, is_bot=True)
    carol = Speaker("c", name="Carol")
    async with a_worker(graph, space, tmp_path) as worker:
        told = (joined(notes), joined(bot), said(notes, "I take notes.", 1.0), said(bot, "So do I.", 4.0))
        await deliver(graph, space, began(), *told, said(carol, "A secret.", 8.0), at=9.0)
        await deliver(graph, space, ended(), at=20.0)
        await worker.settle(PATIENCE)
    assert [t["person"] for t in await turns(graph, space)] == [None, robot, None]
    assert await readers(graph, space) == [set()] * 3
    assert ana not in {row["person"] for row in await graph.read(rows, ATTENDED, space=space)}


async def test_a_voice_in_the_sound_of_a_tile_is_its_owners_until_there_is_another(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    ana = await a_person(graph, space, "Ana", KEY)
    one, other = Speaker("0", scope="a"), Speaker("1", scope="a")
    async with a_worker(graph, space, tmp_path, using=at_once(graph), **GOES_ON) as worker:
        await deliver(graph, space, began(), joined(ANA_IN), said(one, "Good morning.", 1.0), at=2.0)
        await worker.settle(PATIENCE)
        assert [t["person"] for t in await turns(graph, space)] == [ana]
        assert await readers(graph, space) == [{ana}]
        await deliver(graph, space, said(other, "And from me.", 4.0), at=5.0)
        await worker.settle(PATIENCE)
        await asyncio.sleep(2.1)  # as long as a turn may still change
        await worker.settle(PATIENCE)
    assert [t["person"] for t in await turns(graph, space)] == [None, None], "a room, and who of them is Ana nobody said"
    assert await readers(graph, space) == [set(), set()]


async def test_who_is_invited_is_expected_and_reads_nothing(graph: Graph, space: str, tmp_path: Path) -> None:
    ana = await a_person(graph, space, "Ana", AccountKey("mailto", "ana@example.org"))
    invited = (
        Speaker(None, name="Ana", email=AccountKey("mailto", "ana@example.org")),
        Speaker(None, name="Eve", email=AccountKey("mailto", "eve@example.org")),
    )
    async with a_worker(graph, space, tmp_path) as worker:
        await deliver(graph, space, began(invited=invited), said(BO, "Nobody came.", 1.0), ended(), at=3.0)
        await worker.settle(PATIENCE)
    (session,) = await sessions(graph, space)
    assert session["roster"] == [ana]
    assert await readers(graph, space) == [set()]
    assert await graph.read(rows, ATTENDED, space=space) == []
    accounts = "MATCH (a:Account {space: $space}) RETURN a.subject AS subject"
    assert [row["subject"] for row in await graph.read(rows, accounts, space=space)] == ["ana@example.org"], (
        "of who was only invited and is nobody here, nothing is kept"
    )


async def test_broken_off_and_taken_in_again_the_same_is_attributed(graph: Graph, space: str, tmp_path: Path) -> None:
    """Closed by one worker from all of it; and taken in piece by piece, each by a new worker, and then closed."""
    ana = await a_person(graph, space, "Ana", KEY)
    told: list[list[MeetingEvent]] = [
        [began(), joined(ANA_IN), joined(BO_IN)],
        [said(ANA_IN, "One.", 1.0), said(BO_IN, "Two.", 3.0)],
        [said(ANA_IN, "Three.", 5.0), left(ANA_IN, 8.0), ended()],
    ]
    for n, events in enumerate(told):
        await deliver(graph, space, *events, at=10.0 + n, meeting="m1")
    async with a_worker(graph, space, tmp_path, using=at_once(graph)) as worker:
        await worker.settle(PATIENCE)
    for n, events in enumerate(told):
        await deliver(graph, space, *events, at=10.0 + n, meeting="m2")
        async with a_worker(
            graph, space, tmp_path, using=at_once(graph), work=MeetingWorkConfig(batch=1, margin=0.0)
        ) as worker:
            await worker.settle(PATIENCE)
    assert [t["person"] for t in await turns(graph, space)] == [ana, None, ana] * 2
    assert await readers(graph, space) == [{ana}] * 6
    assert [row["starts"] for row in await graph.read(rows, ATTENDED, space=space)] == [[0.0]] * 2


EXPIRE_LEASES = "MATCH (w:MeetingWork {space: $space}) SET w.leased_until = datetime() - duration('PT60S')"
OPEN_SPACE = "MATCH (s:Space {id: $space}) SET s.access = $access"
PUBLISH = """
MATCH (m:Message {space: $space, text: $text})-[old:FOR]->(:Audience)
DELETE old
CREATE (m)-[:FOR]->(a:Audience {id: $public, space: $space, public: true, num_readers: 0, created_at: datetime()})
SET m.audience = a.id, m.readers = 'public'
"""


async def test_what_is_corrected_late_is_read_by_whom_the_meeting_was_closed_for(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    ana, bo = await a_person(graph, space, "Ana", KEY), await a_person(graph, space, "Bo", AccountKey("zoom", "u-bo"))
    await graph.write(changes, OPEN_SPACE, space=space, access="own")
    late = replace(said(BO_IN, "Hmm.", 4.0), key="9", revision=1)
    public = public_audience(space)
    async with a_worker(graph, space, tmp_path, using=at_once(graph)) as worker:
        spoken = (said(ANA_IN, "For me alone.", 1.0), said(BO_IN, "Hm.", 4.0), said(BO_IN, "For everybody.", 8.0))
        await deliver(graph, space, began(), joined(ANA_IN), joined(BO_IN), *spoken, ended(10.0), at=11.0)
        await worker.settle(PATIENCE)
        assert await readers(graph, space) == [{ana}, {bo}, {bo}]
        await graph.write(changes, OPEN_SPACE, space=space, access="attended")
        await graph.write(changes, PUBLISH, space=space, text="For everybody.", public=public)
        await deliver(graph, space, late, at=60.0)
        await worker.settle(PATIENCE)
        assert await readers(graph, space) == [{ana}, {bo}, set()], "while it is open again"
        audiences = await graph.read(
            rows, "MATCH (m:Message {space: $space}) RETURN m.audience = $public AS is", space=space, public=public
        )
        assert [row["is"] for row in audiences].count(True) == 1
        await _close_again(worker, graph, space)
    assert [t["text"] for t in await turns(graph, space)] == ["For me alone.", "Hmm.", "For everybody."]
    assert await readers(graph, space) == [{ana}, {bo}, set()]
    (session,) = await sessions(graph, space)
    assert session["access"] == "own"


async def _close_again(worker: Meetings, graph: Graph, space: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await sessions(graph, space))[0]["status"] != "complete":
            await asyncio.sleep(0.2)
            await worker.settle(PATIENCE)


async def test_who_lost_the_meeting_writes_nothing_of_it_any_more(graph: Graph, space: str, tmp_path: Path) -> None:
    """Not whose turns are whose, nor who reads them, nor its order or its end, as far as the first one knew of it."""
    bo = await a_person(graph, space, "Bo", AccountKey("zoom", "u-bo"))
    using = writes_with(graph, embedder=HashedWords())
    async with a_worker(graph, space, tmp_path, using=using, **GOES_ON) as first:
        await deliver(graph, space, began(), joined(ANA_IN), said(ANA_IN, "One.", 1.0), at=2.0)
        await first.settle(PATIENCE)
        (meeting,) = first._meetings.values()
        stale = meeting._session
        assert stale is not None
        await graph.write(changes, EXPIRE_LEASES, space=space)
        async with a_worker(graph, space, tmp_path, using=at_once(graph), **GOES_ON) as second:
            await deliver(graph, space, joined(BO_IN), said(BO_IN, "Two.", 3.0), at=4.0)
            await second.settle(PATIENCE)
            for call in (stale.let_read, stale.close):
                with pytest.raises((MeetingTaken, SessionBusy)):
                    await call()
            with pytest.raises(MeetingTaken):
                await stale._log_in()
            assert [t["person"] for t in await turns(graph, space)] == [None, bo]
            await deliver(graph, space, ended(10.0), at=11.0)
            await second.settle(PATIENCE)
        with pytest.raises(MeetingTaken):
            await stale._log_in()
    assert [t["person"] for t in await turns(graph, space)] == [None, bo]


async def test_what_somebody_said_of_a_turn_is_undone_by_no_late_label(graph: Graph, space: str, tmp_path: Path) -> None:
    """Neither that it is nobody's nor whose it is."""
    ana, bo = await a_person(graph, space, "Ana", KEY), await a_person(graph, space, "Bo", AccountKey("zoom", "u-bo"))
    carla = await a_person(graph, space, "Carla")
    first, second = said(BO_IN, "That was the television.", 4.0), said(BO_IN, "That was me.", 8.0)
    async with a_worker(graph, space, tmp_path, using=at_once(graph)) as worker:
        spoken = (joined(ANA_IN), joined(BO_IN), said(ANA_IN, "Hello.", 1.0), first, second, ended(10.0))
        await deliver(graph, space, began(), *spoken, at=11.0)
        await worker.settle(PATIENCE)
        found = await turns(graph, space)
        assert [t["person"] for t in found] == [ana, bo, bo]
        correct = Correct(graph, HashedWords())
        await correct.reassign(space, [found[1]["id"]], None, actor="admin", why="the television")
        await correct.reassign(space, [found[2]["id"]], carla, actor="admin", why="a guest")
        labels = [replace(turn, key=f"late {n}", revision=1, speaker=ANA_IN) for n, turn in enumerate((first, second))]
        await deliver(graph, space, *labels, at=60.0)
        await worker.settle(PATIENCE)
        await _close_again(worker, graph, space)
    _, *found = await turns(graph, space)
    assert [(t["label"], t["person"], t["reason"]) for t in found] == [
        ("Ana Ruiz", None, "corrected"),
        ("Ana Ruiz", carla, None),
    ]
