"""A recorded meeting is sent as it was told, however badly it is delivered, until each delivery is answered."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import Response
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.server import ServerConnection, serve

from service.connectors.live import EventUnreadable
from service.connectors.live.generic_schema import message, read_text
from service.connectors.live.playing import Played, player
from service.connectors.live.playing.outgoing import DeliveryRefused, OnlyByHttp, Report, SendingConfig, ServiceUnreached
from service.connectors.live.playing.recorded import Manner, lines_of, moved, read_recorded, recorded, rehearsed
from service.connectors.live.playing.sending import Sender
from service.connectors.live.signatures import verify_webhook_id
from service.types.meeting import MeetingEvent, Uttered
from tests.unit.connectors.live.backend import SECRET, backend
from tests.unit.connectors.live.meeting_events import events

EXAMPLE = Path(__file__).parents[4] / "deploy/examples/meeting.jsonl"
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def lines(*told: dict[str, Any]) -> list[bytes]:
    return [json.dumps({"meeting": "m1", **event}).encode() for event in told]


def said(end: float, **more: Any) -> dict[str, Any]:
    return {"type": "uttered", "text": f"At {end}.", "start": end, "end": end, **more}


# ---- what is recorded


@given(st.lists(events, min_size=1, max_size=5))
def test_a_recording_is_written_and_read_again(told: list[MeetingEvent]) -> None:
    once = recorded([json.dumps(message("m1", told)).encode()])
    again = recorded([line.encode() for line in lines_of(once)])
    assert again == once and [step.event for step in once.steps] == told
    afters = [step.after for step in once.steps]
    assert afters == sorted(afters) and afters[0] >= 0


def test_an_event_is_told_when_it_says_else_when_it_is_over_and_never_before_the_one_above() -> None:
    told = recorded(
        lines(
            {"type": "began", "at": "2026-03-02T09:00:00Z"},
            said(2.0),
            said(5.0, at="2026-03-02T09:00:06Z"),
            said(3.0),
            {"type": "withdrawn", "id": "u1"},
            said(BEGAN.timestamp() + 9, base="epoch"),
        )
    )
    assert [step.after for step in told.steps] == [0, 2, 6, 6, 6, 9]
    assert told.began_at == BEGAN


def test_without_a_date_it_has_none_and_can_be_given_one() -> None:
    told = recorded(lines(said(2.0), said(4.0)))
    assert told.began_at is None and [step.after for step in told.steps] == [0, 2]
    assert moved(told, BEGAN).began_at == BEGAN


def test_at_another_date_every_time_since_1970_has_moved_and_no_other() -> None:
    told = recorded(lines({"type": "began", "at": "2026-03-02T09:00:00Z"}, said(2.0), said(BEGAN.timestamp(), base="epoch")))
    began, inside, since_1970 = (step.event for step in moved(told, BEGAN + timedelta(days=1)).steps)
    assert began.at == BEGAN + timedelta(days=1)
    assert isinstance(inside, Uttered) and isinstance(since_1970, Uttered)
    assert (inside.end, since_1970.start, since_1970.end) == (2.0, BEGAN.timestamp() + 86_400, BEGAN.timestamp() + 86_400)


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        ([b"{}"], "line 1, meeting"),
        ([*lines(said(1.0)), b"", b"{"], "line 3, the message"),
        ([*lines(said(1.0)), b'{"meeting": "m2", "type": "ended"}'], "line 2, meeting"),
        ([b"\n"], "the whole file"),
    ],
)
def test_a_line_that_is_no_event_is_named(bad: list[bytes], place: str) -> None:
    with pytest.raises(EventUnreadable) as refusal:
        recorded(bad)
    assert refusal.value.facts["place"] == place


def test_the_example_is_a_meeting_with_everything() -> None:
    told = read_recorded(EXAMPLE)
    kinds = Counter(type(step.event).__name__ for step in told.steps)
    assert {"Began", "Joined", "Renamed", "Uttered", "Withdrawn", "Left", "Ended"} == set(kinds)
    assert told.began_at == BEGAN and told.steps[-1].after == 38.4
    assert any(isinstance(step.event, Uttered) and not step.event.final for step in told.steps)


# ---- how badly it is delivered


def test_by_its_seed_a_rehearsal_is_the_same_each_time() -> None:
    told = read_recorded(EXAMPLE)
    bad = Manner(speed=10, shuffle=20, duplicate=0.5, drop=0.3, seed=3)
    sendings = rehearsed(told, bad)
    assert sendings == rehearsed(told, bad) != rehearsed(told, Manner(10, 20, 0.5, 0.3, seed=4))
    assert len({sending.id for sending in sendings}) == len(sendings) > len(told.steps)
    assert {id(sending.event) for sending in sendings} == {id(step.event) for step in told.steps}
    assert [s.event for s in sendings] != [step.event for step in told.steps] and any(s.is_cut for s in sendings)
    assert sendings[-1].after <= (38.4 + 20) / 10


def test_another_recording_of_a_meeting_is_no_repeat_of_the_first_but_for_what_both_say() -> None:
    first, other = (recorded(lines(said(1.0), said(2.0, text=text))) for text in ("Good.", "Bye."))
    ids, others = ([sending.id for sending in rehearsed(one, Manner())] for one in (first, other))
    assert ids[0] == others[0] and ids[1] != others[1]


def test_in_good_manner_it_is_as_it_was() -> None:
    told = read_recorded(EXAMPLE)
    sendings = rehearsed(told, Manner(speed=2))
    assert [(s.after * 2, s.event, s.is_cut) for s in sendings] == [(step.after, step.event, False) for step in told.steps]


# ---- how it is sent


async def sent(port: int, manner: Manner, secret: str = SECRET) -> Report:
    told = read_recorded(EXAMPLE)
    sender = Sender(
        f"http://127.0.0.1:{port}/v1/hooks/mine",
        player("generic"),
        Played(told.meeting, BEGAN),
        secret,
        SendingConfig(tries=3, first_wait=0.01),
    )
    return await sender.send(rehearsed(told, manner))


async def test_every_delivery_arrives_signed_and_in_order() -> None:
    async with backend() as taking:
        report = await sent(taking.port, Manner(speed=10_000))
    told = [step.event for step in read_recorded(EXAMPLE).steps]
    assert [event for kept in taking.kept for event in read_text(kept.body).events] == told
    for kept in taking.kept:
        verify_webhook_id(kept, [SECRET], source="mine")
    assert (report.deliveries, report.statuses, report.again, report.left_out) == (len(told), {"202": len(told)}, 0, {})
    assert report.ack_p95_ms is not None and report.seconds < 5


async def test_a_delivery_put_off_is_sent_again_under_its_id_when_it_may() -> None:
    busy = Response(status_code=429, headers={"retry-after": "0"})
    async with backend(busy, Response(status_code=503)) as taking:
        report = await sent(taking.port, Manner(speed=10_000))
    first = [kept.headers["webhook-id"] for kept in taking.kept][:4]
    assert first[0] == first[1] == first[2] != first[3]
    assert (report.again, report.statuses) == (2, {"429": 1, "503": 1, "202": 24})


async def test_a_cut_connection_is_followed_by_the_same_delivery() -> None:
    async with backend() as taking:
        report = await sent(taking.port, Manner(speed=10_000, drop=1.0))
    assert report.cut == report.again == 24 and report.statuses == {"202": 24}
    assert max(Counter(kept.headers["webhook-id"] for kept in taking.kept).values()) <= 2
    assert len({kept.headers["webhook-id"] for kept in taking.kept}) == 24


async def test_a_duplicate_comes_under_another_id() -> None:
    async with backend() as taking:
        report = await sent(taking.port, Manner(speed=10_000, duplicate=1.0))
    assert (report.deliveries, report.duplicates) == (48, 24)
    assert len({kept.headers["webhook-id"] for kept in taking.kept}) == 48 and len({kept.body for kept in taking.kept}) == 24


async def test_what_is_refused_is_not_sent_again() -> None:
    async with backend(Response("signature_wrong", status_code=401)) as taking:
        with pytest.raises(DeliveryRefused) as refusal:
            await sent(taking.port, Manner(speed=10_000))
    assert len(taking.kept) == 1
    assert (refusal.value.facts["status"], refusal.value.facts["number"]) == (401, 0)


async def test_where_nobody_listens_it_is_said() -> None:
    with pytest.raises(ServiceUnreached, match="could not be reached"):
        await sent(1, Manner(speed=10_000))


async def test_a_token_is_sent_as_one() -> None:
    async with backend() as taking:
        await sent(taking.port, Manner(speed=10_000), secret="vg_token")
    assert {kept.headers["authorization"] for kept in taking.kept} == {"Bearer vg_token"}


async def test_who_signs_what_is_sent_opens_no_socket() -> None:
    told = read_recorded(EXAMPLE)
    sender = Sender("ws://127.0.0.1:1/v1/hooks/mine", player("attendee"), Played(told.meeting, BEGAN), SECRET)
    with pytest.raises(OnlyByHttp, match="http"):
        await sender.send(rehearsed(told, Manner()))


async def test_a_message_that_is_too_long_for_a_socket_is_named() -> None:
    told = recorded(lines(said(1.0), {**said(2.0), "text": "x" * 300}, said(3.0)))

    async def take(socket: ServerConnection) -> None:
        async for _ in socket:
            pass

    async with serve(take, "127.0.0.1", 0, max_size=200) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1/hooks/mine"
        sender = Sender(url, player("generic"), Played(told.meeting, BEGAN), SECRET)
        with pytest.raises(DeliveryRefused) as refusal:
            await sender.send(rehearsed(told, Manner(speed=10_000)))
    assert (refusal.value.facts["status"], refusal.value.facts["number"]) == (1009, 1)
