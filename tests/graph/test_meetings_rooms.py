"""Meetings of one room, each after the other: what is told late of one is of that one, and of no other."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from service.graph.deliveries import NewDelivery, save_deliveries
from service.graph.driver import Graph
from service.types.meeting import AccountKey
from tests.graph.meeting_builders import SOURCE, a_worker, inbox, sessions, turns
from tests.graph.test_meetings_logins import a_person, at_once, readers

PATIENCE = 25.0
ZERO = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)
FIRST, SECOND = ["The first meeting."], ["Secret of the second.", "More of it."]


def at(seconds: float) -> datetime:
    return ZERO + timedelta(seconds=seconds)


def told(type: str, when: float, **payload: Any) -> dict[str, Any]:
    """As Daily sends it, in its room."""
    id = hashlib.sha256(repr((type, when, payload)).encode()).hexdigest()[:12]
    return {"type": type, "id": id, "event_ts": at(when).timestamp(), "payload": {"room": "board", **payload}}


def line(when: float, text: str) -> dict[str, Any]:
    given = {"participantId": "s-ceo", "text": text, "timestamp": at(when).isoformat(), "rawResponse": {"is_final": True}}
    return told("transcription-message", when, **given)


def came(when: float) -> dict[str, Any]:
    return told(
        "participant.joined", when, joined_at=at(when).timestamp(), session_id="s-pat", user_id="u-pat", user_name="Pat"
    )


def went(came: float, when: float) -> dict[str, Any]:
    given = {"session_id": "s-pat", "user_id": "u-pat", "user_name": "Pat", "duration": when - came}
    return told("participant.left", when, joined_at=at(came).timestamp(), **given)


BEGAN, ENDED = "meeting.started", "meeting.ended"
ONE = [
    (0.0, told(BEGAN, 0, start_ts=at(0).timestamp())),
    (20.0, line(20, FIRST[0])),
    (600.0, told(ENDED, 600, start_ts=at(0).timestamp(), end_ts=at(600).timestamp())),
]
TWO = [
    (3700.0, told(BEGAN, 3700, start_ts=at(3700).timestamp())),
    (3720.0, line(3720, SECOND[0])),
    (3800.0, line(3800, SECOND[1])),
    (4000.0, told(ENDED, 4000, start_ts=at(3700).timestamp(), end_ts=at(4000).timestamp())),
]
LATE = [
    came(10),
    went(10, 590),
    told(BEGAN, 1, start_ts=at(1).timestamp()),
    told(ENDED, 601, start_ts=at(1).timestamp(), end_ts=at(599).timestamp()),
    line(30, "Left unsaid."),
]


async def deliver(graph: Graph, space: str, *docs: tuple[float, dict[str, Any]]) -> None:
    """Each received so many seconds after the first meeting began."""
    found = []
    for received, doc in sorted(docs, key=lambda doc: doc[0]):
        body = json.dumps(doc).encode()
        given: dict[str, Any] = {"source": SOURCE, "provider": "daily", "meeting": "board", "headers": {}}
        key = hashlib.sha256(body).hexdigest()
        found.append(NewDelivery(space=space, key=key, body=body, received_at=at(received), **given))
    await graph.write(save_deliveries, found)


async def pat(graph: Graph, space: str) -> str:
    return await a_person(graph, space, "Pat", AccountKey("daily", "u-pat"), AccountKey(f"daily:{SOURCE}", "u-pat"))


async def test_what_is_told_of_the_meeting_before_changes_nothing_of_the_next(graph: Graph, space: str, tmp_path: Path) -> None:
    person = await pat(graph, space)
    await deliver(graph, space, *ONE, *TWO, *((3730.0 + n, doc) for n, doc in enumerate(LATE)))
    async with a_worker(graph, space, tmp_path, using=at_once(graph), provider="daily") as worker:
        await worker.settle(PATIENCE)
    assert [turn["text"] for turn in await turns(graph, space)] == [*FIRST, *SECOND]
    assert [person in may for may in await readers(graph, space)] == [False, False, False]
    assert [session["started_at"] for session in await sessions(graph, space)] == [at(0), at(3700)]
    assert await inbox(graph, space) == {"done": 7, "dead": 5}


async def test_a_worker_that_takes_the_room_up_in_between_decides_the_same(graph: Graph, space: str, tmp_path: Path) -> None:
    person = await pat(graph, space)
    await deliver(graph, space, *ONE, *TWO[:2])
    async with a_worker(graph, space, tmp_path, using=at_once(graph), provider="daily", idle_minutes=600) as worker:
        await worker.settle(PATIENCE)
    await deliver(graph, space, (3730.0, LATE[0]), *TWO[2:])
    async with a_worker(graph, space, tmp_path, using=at_once(graph), provider="daily", idle_minutes=600) as worker:
        await worker.settle(PATIENCE)
    assert [turn["text"] for turn in await turns(graph, space)] == [*FIRST, *SECOND]
    assert [person in may for may in await readers(graph, space)] == [False, False, False]


async def test_what_comes_late_but_before_the_next_one_is_of_the_meeting_in_which_it_happened(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    person = await pat(graph, space)
    await deliver(graph, space, *ONE, (2000.0, came(10)), *TWO)
    async with a_worker(graph, space, tmp_path, using=at_once(graph), provider="daily") as worker:
        await worker.settle(PATIENCE)
    assert [turn["text"] for turn in await turns(graph, space)] == [*FIRST, *SECOND]
    assert [person in may for may in await readers(graph, space)] == [True, False, False]


async def test_who_comes_to_the_next_one_before_it_begins_is_in_it(graph: Graph, space: str, tmp_path: Path) -> None:
    person = await pat(graph, space)
    await deliver(graph, space, *ONE, (3690.0, came(3690)), *TWO)
    async with a_worker(graph, space, tmp_path, using=at_once(graph), provider="daily") as worker:
        await worker.settle(PATIENCE)
    assert [person in may for may in await readers(graph, space)] == [False, True, True]


async def test_what_is_said_after_an_end_does_not_draw_the_next_meeting_in(graph: Graph, space: str, tmp_path: Path) -> None:
    """An end that was none is waited for longer, and the next meeting begins nevertheless."""
    next_one = [(660.0, told(BEGAN, 660, start_ts=at(660).timestamp())), (680.0, line(680, SECOND[0]))]
    late = [(612.0, line(598, "One more thing."))]  # it was over at 610
    await deliver(graph, space, *ONE, *late, *next_one)
    async with a_worker(graph, space, tmp_path, using=at_once(graph), provider="daily") as worker:
        await worker.settle(PATIENCE)
    assert [session["started_at"] for session in await sessions(graph, space)] == [at(0), at(660)]
