"""While much comes, whoever takes in gives way; it is known what came."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from service.graph.deliveries import NewDelivery
from service.pipelines.pressure import Pressure, PressureConfig


def delivery(meeting: str) -> NewDelivery:
    return NewDelivery(
        space="s",
        source="crm",
        provider="vexa",
        meeting=meeting,
        key=meeting,
        body=b"",
        received_at=datetime.now(UTC),
        headers={},
    )


def test_it_is_busy_only_while_so_many_come_in_so_much_time() -> None:
    now = 100.0
    pressure = Pressure(PressureConfig(busy=10.0, over=2.0), clock=lambda: now)
    pressure.kept([delivery("a")] * 19)
    assert not pressure.is_busy
    now = 101.0
    pressure.kept([delivery("b")])
    assert pressure.is_busy
    now = 102.5
    assert not pressure.is_busy, "the first are too long ago"


def test_what_came_is_told_once() -> None:
    pressure = Pressure(PressureConfig(meetings=2))
    pressure.kept([delivery("a"), delivery("b"), delivery("a")])
    pressure.kept([delivery("c")])
    assert set(pressure.take_came()) == {delivery("a").meeting_id, delivery("b").meeting_id}, "of more the inbox is asked"
    assert pressure.take_came() == {} and pressure.arrived.is_set()
    pressure.look()
    assert pressure.take_look() and not pressure.take_look()


async def test_who_takes_in_waits_for_who_is_acknowledged_a_moment_and_not_for_ever() -> None:
    pressure = Pressure(PressureConfig(busy=1.0, longest=0.2))
    pressure.waits(2)
    began = time.monotonic()
    await pressure.give_way()
    assert time.monotonic() - began < 0.1, "little comes: nobody gives way"
    pressure.kept([delivery("a")] * 5)
    began = time.monotonic()
    await pressure.give_way()
    assert time.monotonic() - began > 0.15
    asyncio.get_running_loop().call_later(0.01, pressure.waits, -2)
    began = time.monotonic()
    await pressure.give_way()
    assert time.monotonic() - began < 0.15
