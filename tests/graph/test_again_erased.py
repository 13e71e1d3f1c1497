"""Processed again, a recording brings back nothing that was erased, is kept no longer, and confirms nobody by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from service.graph.driver import Graph, changes, rows
from service.graph.retention import list_expired_sessions
from service.graph.spaces import save_space
from service.graph.succession import PartlyErased
from service.pipelines.erase import Erase
from service.pipelines.ingest import IngestReport
from service.types.erasure import Subject, SubjectKind
from service.types.people import SpaceSettings, VoiceAccess
from tests.graph.test_again import PARIS, VIENNA, Recording
from tests.graph.test_merging import FRAGMENT, is_confirmed, knows_ana
from tests.graph.voice_builders import Line, Session, between

SESSIONS = "MATCH (s:Session {space: $space}) RETURN s.id AS id ORDER BY id"
MESSAGES = "MATCH (m:Message {space: $space}) RETURN m.id AS id ORDER BY m.index"
ERASED_NAME = "MATCH (s:Session {space: $space, id: $session}) SET s.erased_names = ['hash']"
AGE = "MATCH (s:Session {space: $space}) SET s.started_at = $at, s.created_at = $at"
REPLACES = "MATCH (s:Session {space: $space, id: $session}) SET s.replaces = $replaces"


@pytest.fixture
def recording(graph: Graph, tmp_path: Path) -> Recording:
    return Recording(graph, tmp_path)


async def _sessions(graph: Graph, space: str) -> list[str]:
    return [row["id"] for row in await graph.read(rows, SESSIONS, space=space)]


@pytest.mark.parametrize("kind", [SubjectKind.MESSAGE, SubjectKind.PERSON])
async def test_what_is_hidden_and_not_swept_yet_is_not_brought_back(
    recording: Recording, graph: Graph, space: str, kind: SubjectKind
) -> None:
    first, erase = await recording.ingest(space, worded=True), recording.eraser(graph, space)
    if kind is SubjectKind.MESSAGE:
        id = (await graph.read(rows, MESSAGES, space=space))[0]["id"]
    else:
        id = min(await recording.people(space))
    await erase.begin(space, Subject(kind, id), asked_by="admin")
    with pytest.raises(PartlyErased):
        await recording.ingest(space, worded=True, zone=VIENNA, again=True)
    assert await _sessions(graph, space) == [first.session_id]


async def test_a_name_that_is_erased_while_a_revision_is_written_takes_that_with_it_and_what_was_there_stays(
    recording: Recording, graph: Graph, space: str
) -> None:
    first, erase = await recording.ingest(space, worded=True), recording.eraser(graph, space)

    async def erased(*given: Any) -> Any:
        await graph.write(changes, ERASED_NAME, space=space, session=first.session_id)
        return await Erase.supersede(erase, *given)

    beside = recording.eraser(graph, space)
    setattr(beside, "supersede", erased)  # noqa: B010 - as it is erased by somebody else in between
    with pytest.raises(PartlyErased):
        await recording.ingest(space, worded=True, zone=VIENNA, again=True, erase=beside)
    assert await _sessions(graph, space) == [first.session_id] == await recording.seen(space)


class Cut(Exception):
    """Stands for whatever ends a run in the middle."""


async def test_a_revision_that_took_its_place_stays_when_somebody_is_erased_who_spoke_in_the_one_before(
    recording: Recording, graph: Graph, space: str
) -> None:
    await recording.ingest(space, worded=True)
    erase, somebody = recording.eraser(graph, space), min(await recording.people(space))

    async def cut(*given: Any) -> Any:
        await Erase.supersede(erase, *given)
        raise Cut

    beside = recording.eraser(graph, space)
    setattr(beside, "supersede", cut)  # noqa: B010 - as it is broken off after it
    again = partial(recording.ingest, space, worded=True, zone=PARIS, again=True)
    with pytest.raises(Cut):
        await again(erase=beside)
    (second,) = await _sessions(graph, space)
    await erase.begin(space, Subject(SubjectKind.PERSON, somebody), asked_by="admin")
    assert await _sessions(graph, space) == [second]


async def test_a_revision_is_kept_as_long_as_the_first_would_have_been(recording: Recording, graph: Graph, space: str) -> None:
    await graph.write(save_space, SpaceSettings(space, session_days=30))
    await recording.ingest(space, worded=True)
    now = datetime.now(UTC)
    await graph.write(changes, AGE, space=space, at=now - timedelta(days=29))

    async def again(zone: str) -> IngestReport:
        return await recording.ingest(space, worded=True, zone=zone, started_at=now - timedelta(days=29), again=True)

    async def expired(in_days: int) -> list[str]:
        found = await graph.read(list_expired_sessions, now + timedelta(days=in_days), 10_000)
        return [id for of, id in found if of == space]

    for zone in (VIENNA, PARIS):
        session = (await again(zone)).session_id
        assert await expired(0) == [] and await expired(2) == [session]


async def test_revisions_of_one_recording_are_one_session_where_repeated_voice_confirms(graph: Graph, space: str) -> None:
    await graph.write(save_space, SpaceSettings(space, voice_access=VoiceAccess.OPEN))
    await knows_ana(graph, space)
    before = Session(graph, space, "monday")
    await before.whole(FRAGMENT)
    for day in ("tuesday", "wednesday"):
        session = Session(graph, space, day)
        folding = await session.fold()
        await graph.write(changes, REPLACES, space=space, session=session.id, replaces=before.id)
        await session.say(folding, [Line("a", between(0.75, 0, 1)), Line("a", between(0.75, 0, 1))])
        await folding.settle()
        await session.merge(folding)
        await session.close(folding)
        assert not await is_confirmed(graph, space)
        before = session
    await Session(graph, space, "thursday").whole([Line("a", between(0.75, 0, 1)), Line("a", between(0.75, 0, 1))])
    assert await is_confirmed(graph, space)
