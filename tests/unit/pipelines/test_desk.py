"""Whose turn it is: who has stopped speaking before who still speaks, and what is only shown with what is left."""

from __future__ import annotations

import asyncio

from service.pipelines.desk import Desk, Front, FrontConfig


async def test_at_the_desk_who_has_finished_speaking_goes_first_and_who_leaves_is_skipped() -> None:
    desk, served = Desk(), []

    async def come(name: str, *, urgent: bool) -> None:
        async with desk.turn(urgent=urgent):
            await asyncio.sleep(0)
            served.append(name)

    async with desk.turn(urgent=False):
        waiting = [asyncio.create_task(come(name, urgent=name.isupper())) for name in ("a", "B", "c", "D")]
        await asyncio.sleep(0)
        waiting[1].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert served == ["D", "a", "c"]
    async with desk.turn(urgent=False):  # free again
        pass


async def test_at_a_desk_of_two_places_two_are_served_at_once_and_whoever_waits_is_seen() -> None:
    desk, go = Desk(places=2), asyncio.Event()
    served: list[int] = []

    async def come(number: int) -> None:
        async with desk.turn(urgent=True):
            served.append(number)
            await go.wait()

    coming = [asyncio.create_task(come(number)) for number in range(3)]
    await asyncio.sleep(0)
    assert served == [0, 1] and desk.crowded and desk.urgent == 3
    coming[2].cancel()
    await asyncio.sleep(0)
    assert not desk.crowded
    go.set()
    await asyncio.gather(*coming, return_exceptions=True)
    assert desk.urgent == 0


async def test_what_is_only_shown_is_put_off_while_an_answer_is_worked_on_and_once_it_had_its_share() -> None:
    now = 0.0
    front = Front(FrontConfig(share=0.5, ahead=0.4), clock=lambda: now)
    async with front.voices.turn(urgent=True):
        assert not front.spare and not front.crowded
    assert front.spare
    async with front.showing(front.words):
        assert not front.spare, "one thing at a time is only shown"
        now = 0.6
    assert not front.spare, "it has had 0.6 s, and may have half of the time"
    now = 0.6 + 0.3
    assert not front.spare
    now = 0.6 + 0.5
    assert front.spare
