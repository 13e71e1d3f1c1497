"""Names go where the turns go that they rest on, and undone come back exactly."""

from __future__ import annotations

import pytest

from service.graph.driver import Graph, rows
from service.graph.forget_space import forget_space
from service.graph.spaces import get_space, save_space
from service.graph.write_people import save_person
from service.pipelines.correct import Correct
from service.pipelines.naming import name_session, reject_name
from tests.graph.correction_builders import message, state
from tests.graph.meetings import Meetings

HELLO = (("ana", "voice_1", "Hi, I'm Dana."), ("ben", "voice_2", "Good morning to you."))
AGAIN = (("ana", "voice_1", "Hello everyone, I'm Dana."), ("ben", "voice_2", "Nice to see you again."))
THIRD = (("ana", "voice_1", "Morning all, I'm Dana."), ("ben", "voice_2", "Here we are again."))
PEOPLE_OF = """
MATCH (c:Correction {space: $space, id: $id}) RETURN c.people AS people
"""
BY_ADMIN = {"actor": "admin", "why": "heard it"}


@pytest.fixture
def meetings(graph: Graph, space: str) -> Meetings:
    return Meetings(graph, space)


async def dana(meetings: Meetings) -> tuple[str, str]:
    """Ana, called Dana by two introductions, and ben."""
    await meetings.hold("monday", *HELLO)
    await meetings.hold("tuesday", *AGAIN)
    ana, ben = await meetings.speaker("monday", 0), await meetings.speaker("monday", 1)
    assert await meetings.shown(ana) == "Dana"
    return ana, ben


async def test_a_name_whose_evidence_moves_away_is_taken_back_and_comes_back_with_it(
    graph: Graph, space: str, meetings: Meetings
) -> None:
    ana, ben = await dana(meetings)
    before = await state(graph, space)
    done = await Correct(graph).reassign(space, [message(space, "tuesday", 0)], ben, **BY_ADMIN)
    assert (await meetings.shown(ana), await meetings.shown(ben)) == (None, None)
    assert {(p["about"], p["num_claims"], p["status"]) for p in await meetings.proposals()} == {
        (ana, 1, "open"),
        (ben, 1, "open"),
    }
    await Correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_a_name_goes_over_with_all_that_it_rests_on(graph: Graph, space: str, meetings: Meetings) -> None:
    ana, ben = await dana(meetings)
    before = await state(graph, space)
    moved = [message(space, day, 0) for day in ("monday", "tuesday")]
    done = await Correct(graph).reassign(space, moved, ben, **BY_ADMIN)
    assert (await meetings.shown(ana), await meetings.shown(ben)) == (None, "Dana")
    assert {p["about"] for p in await meetings.proposals()} == {ben}
    after = await state(graph, space)
    assert (await name_session(graph, space, meetings.session("monday").id)).named == ()
    assert await state(graph, space) == after
    await Correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_who_is_split_off_takes_the_name_along_and_leaves_it_when_gone(
    graph: Graph, space: str, meetings: Meetings
) -> None:
    ana, _ = await dana(meetings)
    await meetings.hold("wednesday", ("ana", "voice_1", "Shall we begin?"), ("ben", "voice_2", "Yes."))
    before = await state(graph, space)
    moved = [message(space, day, 0) for day in ("monday", "tuesday")]
    done = await Correct(graph).split(space, ana, messages=moved, **BY_ADMIN)
    assert done.person_id and (await meetings.shown(ana), await meetings.shown(done.person_id)) == (None, "Dana")
    await Correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_what_nobody_said_names_nobody(graph: Graph, space: str, meetings: Meetings) -> None:
    ana, _ = await dana(meetings)
    before = await state(graph, space)
    done = await Correct(graph).reassign(space, [message(space, "tuesday", 0)], None, **BY_ADMIN)
    assert await meetings.shown(ana) is None
    assert len({p["about"] for p in await meetings.proposals()}) == 2  # hers, and that of a voice that is nobody's
    await Correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_names_come_back_as_they_stood_though_they_would_be_judged_otherwise_today(
    graph: Graph, space: str, meetings: Meetings
) -> None:
    """Ana was given another name after her introductions were weighed."""
    ana, ben = await dana(meetings)
    await graph.write(save_person, space, ana, "Anastasia")
    before = await state(graph, space)
    done = await Correct(graph).reassign(space, [message(space, "monday", 0)], ben, **BY_ADMIN)
    assert await meetings.shown(ana) == "Anastasia"
    await Correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_a_session_in_between_counts_with_what_comes_back(graph: Graph, space: str, meetings: Meetings) -> None:
    _, ben = await dana(meetings)
    done = await Correct(graph).reassign(space, [message(space, "tuesday", 1)], None, **BY_ADMIN)
    other = await Correct(graph).reassign(space, [message(space, "tuesday", 0)], ben, **BY_ADMIN)
    await meetings.hold("wednesday", *THIRD)
    for correction in (other, done):
        await Correct(graph).undo(space, correction.correction_id, actor="admin")
    undone = {(p["about"], p["name"], p["num_claims"], p["confidence"], p["status"]) for p in await meetings.proposals()}
    shown = {id: person["name"] for id, person in (await meetings.people()).items()}
    settings = await graph.read(get_space, space)
    await forget_space(graph, space)
    await graph.write(save_space, settings)
    await dana(meetings)
    await meetings.hold("wednesday", *THIRD)
    assert undone == {
        (p["about"], p["name"], p["num_claims"], p["confidence"], p["status"]) for p in await meetings.proposals()
    }
    assert shown == {id: person["name"] for id, person in (await meetings.people()).items()}


async def test_a_verdict_in_between_stays(graph: Graph, space: str, meetings: Meetings) -> None:
    ana, ben = await dana(meetings)
    done = await Correct(graph).reassign(space, [message(space, "tuesday", 0)], ben, **BY_ADMIN)
    bens = await meetings.proposal("Dana", ben)
    await reject_name(graph, space=space, proposal_id=bens["id"], actor="ben")
    await Correct(graph).undo(space, done.correction_id, actor="admin")
    assert await meetings.shown(ana) == "Dana"
    rejected = await meetings.proposal("Dana", ben)
    assert (rejected["status"], rejected["evidence"]) == ("rejected", [])


async def test_whoever_a_record_tells_something_of_stands_in_it(graph: Graph, space: str, meetings: Meetings) -> None:
    """So that it goes with them: here ben, who has the label to himself once a turn under it is nobody's."""
    ana = await meetings.know("ana", "Anastasia")
    await meetings.hold("monday", *(("ben", "Dana Smith", "Go on."),) * 4, *(("ana", "Dana Smith", "Wait."),) * 2)
    ben = await meetings.speaker("monday", 0)
    await Correct(graph).reassign(space, [message(space, "monday", i) for i in (4, 5)], ana, **BY_ADMIN)
    assert await meetings.speakers("monday") == [ben] * 4 + [ana] * 2
    assert (await meetings.proposal("Dana Smith", ben))["sources"] == ["shared_label"]
    done = await Correct(graph).reassign(space, [message(space, "monday", 4)], None, **BY_ADMIN)
    assert (await meetings.proposal("Dana Smith", ben))["sources"] == ["platform_label"]
    (row,) = await graph.read(rows, PEOPLE_OF, space=space, id=done.correction_id)
    assert set(row["people"]) >= {ana, ben} and set(done.people) == {ana}
