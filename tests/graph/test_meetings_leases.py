"""Several workers and several spaces on one inbox: who takes a meeting in, and who waits for whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.connectors.live.sources import Sources
from service.graph.deliveries import save_deliveries
from service.graph.driver import Graph, changes
from service.graph.meetings import (
    SessionGoesOn,
    close_meeting,
    lease_meetings,
    list_left,
    list_to_take_in,
    release_meetings,
    renew_leases,
)
from service.graph.spaces import ensure_space
from service.pipelines.meeting import MeetingWorkConfig
from service.pipelines.meeting_session import WritesWith
from service.pipelines.meetings import Meetings, MeetingsConfig, in_turn
from service.types.people import SpaceSettings
from tests.graph.meeting_builders import (
    ANA,
    BEGAN,
    BO,
    SOURCE,
    Incidents,
    a_worker,
    began,
    deliver,
    delivery,
    ended,
    inbox,
    meetings,
    nothing_fetched,
    said,
    sessions,
    turns,
    writes_with,
)

PATIENCE = 25.0
GOES_ON = {"idle_minutes": 600}
RUNS_OUT = """
MATCH (w:MeetingWork {space: $space})
SET w.leased_until = datetime() - duration('PT60S')
"""


def since_it_began() -> float:
    return (datetime.now(UTC) - BEGAN).total_seconds()


def test_spaces_take_turns_in_what_is_wanted() -> None:
    wanted = {f"a{n}": "a" for n in range(100)} | {"b0": "b", "b1": "b", "c0": "c"}
    assert in_turn(wanted)[:6] == ["a0", "b0", "c0", "a1", "b1", "a2"]
    assert in_turn(wanted, ["a"] * 3)[:4] == ["b0", "c0", "b1", "a0"] and len(in_turn(wanted)) == len(wanted)


async def test_a_lease_that_was_lost_is_not_made_longer_and_what_it_began_is_not_written(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    """A sleeps longer than its lease, B goes on and is stopped, A wakes up with a fold that lacks what B took in."""
    async with a_worker(graph, space, tmp_path, **GOES_ON) as a:
        await deliver(graph, space, began(), said(ANA, "One.", 1.0), at=2.0)
        await a.settle(PATIENCE)
        await graph.write(changes, RUNS_OUT, space=space)
        async with a_worker(graph, space, tmp_path, **GOES_ON) as b:
            await deliver(graph, space, said(BO, "Two, two.", 3.0), at=since_it_began())
            await b.settle(PATIENCE)
        await a.renew()
        await deliver(graph, space, ended(10.0), at=since_it_began() - 20.0)
        await a.settle(PATIENCE)
        await asyncio.sleep(2.5)
        await a.settle(PATIENCE)
    assert [turn["text"] for turn in await turns(graph, space)] == ["One.", "Two, two."]
    assert (await inbox(graph, space)) == {"done": 3}


async def test_who_waits_for_a_place_keeps_its_lease_and_who_lost_it_does_not_begin(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    for number in range(2):
        await deliver(graph, space, began(), said(ANA, "Hello.", 1.0), at=2.0, meeting=f"m{number}")
    blocked, may_go = asyncio.Event(), asyncio.Event()
    using = writes_with(graph)

    async def models() -> WritesWith:
        blocked.set()
        await may_go.wait()
        return using

    async with spaces_worker(graph, tmp_path, [space], models=models, config=MeetingsConfig(at_once=1)) as a:
        await a._look()
        await blocked.wait()
        before = {meeting["leased_by"] for meeting in await meetings(graph, space)}
        await a.renew()
        assert len(before) == 1 and {meeting["leased_by"] for meeting in await meetings(graph, space)} == before
        await graph.write(changes, RUNS_OUT, space=space)
        async with a_worker(graph, space, tmp_path, **GOES_ON) as b:
            await b.settle(PATIENCE)
            taken = {meeting["leased_by"] for meeting in await meetings(graph, space)}
            assert not taken & before
            await a.renew()
            assert not a._working and not a._leases
            may_go.set()
            await a.settle(PATIENCE)
            assert {meeting["leased_by"] for meeting in await meetings(graph, space)} == taken
    assert (await inbox(graph, space)) == {"done": 2} and len(await turns(graph, space)) == 2


async def test_a_lease_is_renewed_by_its_name_alone(graph: Graph, space: str) -> None:
    await graph.write(save_deliveries, [delivery(space, began())])
    (id,) = [meeting["id"] for meeting in await meetings(graph, space)]
    now = datetime.now(UTC)
    (_,) = await graph.write(lease_meetings, [id], worker="w:1", now=now, until=now + timedelta(seconds=5))
    later = now + timedelta(seconds=60)
    assert await graph.write(renew_leases, {id: "w:1"}, until=later) == {id}
    assert await graph.write(renew_leases, {id: "w:2"}, until=later) == set()
    await graph.write(release_meetings, {id: "w:1"}, due={id: later})
    assert await graph.write(renew_leases, {id: "w:1"}, until=later) == set(), "what was let go is not taken back"
    own = [(space, SOURCE)]
    assert id not in await graph.read(list_left, now=now, limit=10, sources=own), "it rests"
    assert id in await graph.read(list_left, now=later, limit=10, sources=own)
    assert await graph.read(list_to_take_in, worker="other", now=now, limit=10, sources=own) == {id: space}


async def test_a_meeting_is_not_closed_beside_its_open_session(graph: Graph, space: str, tmp_path: Path) -> None:
    async with a_worker(graph, space, tmp_path, **GOES_ON) as worker:
        await deliver(graph, space, began(), said(ANA, "One.", 1.0), at=2.0)
        await worker.settle(PATIENCE)
    (meeting,) = await meetings(graph, space)
    with pytest.raises(SessionGoesOn):
        await graph.write(close_meeting, meeting["id"], expires_at=datetime.now(UTC))


# ---- spaces


@asynccontextmanager
async def spaces_worker(
    graph: Graph,
    folder: Path,
    spaces: list[str],
    *,
    models: Callable[[], Awaitable[WritesWith]] | None = None,
    config: MeetingsConfig,
) -> AsyncIterator[Meetings]:
    """With a source in each of them."""
    path = folder / "spaces.toml"
    names = [SOURCE, *(f"{SOURCE}{n}" for n in range(1, len(spaces)))]
    given = 'provider = "generic"\nsecrets = ["env:CRM_SECRET"]\nidle_minutes = 600'
    path.write_text("\n".join(f'[sources.{n}]\nspace = "{s}"\n{given}\n' for n, s in zip(names, spaces, strict=True)))
    using = writes_with(graph)
    using = replace(using, config=replace(using.config, read_every=0.0))

    async def loaded() -> WritesWith:
        return using

    sources = Sources(path, lambda name: "whsec_c2VjcmV0")
    config = MeetingsConfig(at_once=config.at_once, most=config.most, ahead=config.ahead, work=MeetingWorkConfig(margin=0.0))
    worker = Meetings(graph, models or loaded, sources, nothing_fetched, Incidents(), config=config)
    yield worker
    await worker.stop()


async def test_more_meetings_go_on_than_are_held_and_all_are_taken_in(graph: Graph, space: str, tmp_path: Path) -> None:
    """Those of one space that go on for ever do not keep another's out; what rests goes on where something comes."""
    other = f"{space}-2"
    await graph.write(ensure_space, SpaceSettings(other))
    config = MeetingsConfig(most=3, at_once=2)
    async with spaces_worker(graph, tmp_path, [space, other], config=config) as worker:
        for number in range(6):
            await deliver(graph, space, began(), said(ANA, "Hello.", 1.0), at=2.0, meeting=f"m{number}")
        await worker.settle(PATIENCE)
        one = delivery(other, began(), said(BO, "Of another space.", 1.0), at=2.0)
        await graph.write(save_deliveries, [replace(one, source=f"{SOURCE}1")])
        for number in range(6):
            await deliver(graph, space, said(ANA, "And more.", 5.0), at=6.0, meeting=f"m{number}")
        for _ in range(3):
            await worker.settle(PATIENCE)
            await asyncio.sleep(1.0)
        assert len(worker._meetings) <= 3 and not worker._incident
        assert await inbox(graph, space) == {"done": 12} and await inbox(graph, other) == {"done": 1}
    assert len(await turns(graph, space)) == 12 and len(await sessions(graph, space)) == 6
    assert [turn["text"] for turn in await turns(graph, other)] == ["Of another space."]
