"""Names over sessions: what adds up, what is held back, what a human decides, and that naming again changes nothing."""

from __future__ import annotations

import asyncio

import pytest

from service.errors import NotFound
from service.graph.driver import Graph, Tx, changes
from service.graph.dump import dump_space
from service.graph.spaces import lock_space
from service.graph.write_people import name_person
from service.pipelines.naming import NobodyToName, apply_name, name_session, reject_name
from tests.graph.meetings import Meetings


@pytest.fixture
def meetings(graph: Graph, space: str) -> Meetings:
    return Meetings(graph, space)


HELLO = (("ana", "voice_1", "Hi, I'm Dana."), ("ben", "voice_2", "Good morning to you."))
AGAIN = (("ana", "voice_1", "Hello everyone, I'm Dana."), ("ben", "voice_2", "Nice to see you again."))


async def test_one_introduction_is_a_proposal_with_its_evidence_and_nobody_is_named(meetings: Meetings) -> None:
    named = await meetings.hold("monday", *HELLO)
    ana = await meetings.speaker("monday", 0)
    proposal = await meetings.proposal("Dana")
    assert (proposal["about"], proposal["sources"], proposal["status"]) == (ana, ["self_introduction"], "open")
    assert (proposal["held"], proposal["num_claims"]) == ("unsure", 1) and 0.7 < proposal["confidence"] < 0.8
    assert len(proposal["evidence"]) == 1 and named.proposals == (proposal["id"],)
    assert await meetings.shown(ana) is None and named.named == ()


async def test_a_second_session_makes_it_sure_and_the_name_shown_says_by_what(meetings: Meetings) -> None:
    await meetings.hold("monday", *HELLO)
    named = await meetings.hold("tuesday", *AGAIN)
    ana = await meetings.speaker("monday", 0)
    assert ana == await meetings.speaker("tuesday", 0)
    person, proposal = (await meetings.people())[ana], await meetings.proposal("Dana")
    assert (person["name"], person["named_by"], person["kind"]) == ("Dana", proposal["id"], "named")
    assert (proposal["status"], proposal["decided_by"], proposal["held"]) == ("applied", "voicegraph", None)
    assert named.named == (ana,) and proposal["confidence"] > 0.9 and len(proposal["evidence"]) == 2
    assert [(a["actor"], a["action"], a["target"]) for a in await meetings.audits()] == [("voicegraph", "name", ana)]


async def test_naming_a_session_again_changes_nothing(graph: Graph, space: str, meetings: Meetings) -> None:
    await meetings.hold("monday", *HELLO)
    await meetings.hold("tuesday", *AGAIN)
    before = await graph.read(dump_space, space)
    first = await name_session(graph, space, meetings.session("tuesday").id)
    assert first.named == () and await graph.read(dump_space, space) == before


async def test_evidence_that_is_gone_takes_the_name_back(graph: Graph, space: str, meetings: Meetings) -> None:
    """As when a correction gives the turn to somebody else."""
    await meetings.hold("monday", *HELLO)
    await meetings.hold("tuesday", *AGAIN)
    ana, ben = await meetings.speaker("monday", 0), await meetings.speaker("monday", 1)
    moved = "MATCH (m:Message {space: $space, session_id: $session, index: 0}) SET m.speaker_id = $ben"
    await graph.write(changes, moved, space=space, session=meetings.session("tuesday").id, ben=ben)
    named = await name_session(graph, space, meetings.session("tuesday").id)
    assert await meetings.shown(ana) is None and named.named == (ana,)
    assert {p["about"] for p in await meetings.proposals()} == {ana, ben}
    assert (await meetings.people())[ana]["kind"] == "anonymous"


async def test_a_name_that_a_human_gave_is_never_touched(graph: Graph, space: str, meetings: Meetings) -> None:
    ana = await meetings.know("ana", "Anastasia")
    for day in ("monday", "tuesday", "wednesday"):
        await meetings.hold(day, ("ana", "voice_1", "Hi, I'm Dana."), ("ben", "voice_2", "Good morning."))
    assert await meetings.speaker("monday", 0) == ana
    assert await meetings.shown(ana) == "Anastasia"
    proposal = await meetings.proposal("Dana")
    assert (proposal["status"], proposal["held"]) == ("open", "contradicted")


async def test_a_guess_that_a_human_renames_is_no_alias_and_does_not_come_back(
    graph: Graph, space: str, meetings: Meetings
) -> None:
    await meetings.hold("monday", *HELLO)
    await meetings.hold("tuesday", *AGAIN)
    ana = await meetings.speaker("monday", 0)
    await graph.write(name_person, space, ana, "Anastasia", by="account-1")
    await meetings.hold("wednesday", *AGAIN)
    person = (await meetings.people())[ana]
    assert (person["name"], person["named_by"], person["aliases"]) == ("Anastasia", "account-1", [])


async def test_a_human_does_not_name_somebody_while_the_service_weighs_their_names(
    graph: Graph, space: str, meetings: Meetings
) -> None:
    """It would write what it chose before it could know of the human's name."""
    ana = await meetings.know("ana", "Ana")
    weighs, weighed = asyncio.Event(), asyncio.Event()

    async def weigh(tx: Tx) -> None:
        await lock_space(tx, space)
        weighs.set()
        await weighed.wait()

    weighing = asyncio.create_task(graph.write(weigh))
    await weighs.wait()
    naming = asyncio.create_task(graph.write(name_person, space, ana, "Anastasia", by="account-1"))
    await asyncio.wait([naming], timeout=0.3)
    waited = not naming.done()
    weighed.set()
    await asyncio.gather(weighing, naming)
    assert waited and await meetings.shown(ana) == "Anastasia"


async def test_a_human_applies_what_is_only_a_proposal(graph: Graph, space: str, meetings: Meetings) -> None:
    await meetings.hold("monday", *HELLO)
    ana, proposal = await meetings.speaker("monday", 0), await meetings.proposal("Dana")
    for _ in range(2):
        verdict = await apply_name(graph, space=space, proposal_id=proposal["id"], actor="account-1")
        assert (verdict.person_id, verdict.name, verdict.status, verdict.shown) == (ana, "Dana", "applied", "Dana")
    person, proposal = (await meetings.people())[ana], await meetings.proposal("Dana")
    assert (person["named_by"], proposal["status"], proposal["decided_by"]) == ("account-1", "applied", "account-1")
    assert [a["action"] for a in await meetings.audits()] == ["apply_name"]


async def test_a_rejected_name_goes_and_never_comes_back_by_itself(graph: Graph, space: str, meetings: Meetings) -> None:
    await meetings.hold("monday", *HELLO)
    await meetings.hold("tuesday", *AGAIN)
    ana, proposal = await meetings.speaker("monday", 0), await meetings.proposal("Dana")
    verdict = await reject_name(graph, space=space, proposal_id=proposal["id"], actor="account-1")
    assert (verdict.status, verdict.shown) == ("rejected", None)
    await meetings.hold("wednesday", *AGAIN)
    assert await meetings.shown(ana) is None
    assert (await meetings.proposal("Dana"))["status"] == "rejected"


async def test_what_a_human_applied_and_rejects_again_is_taken_back(graph: Graph, space: str, meetings: Meetings) -> None:
    await meetings.hold("monday", *HELLO)
    ana, proposal = await meetings.speaker("monday", 0), await meetings.proposal("Dana")
    await apply_name(graph, space=space, proposal_id=proposal["id"], actor="account-1")
    await reject_name(graph, space=space, proposal_id=proposal["id"], actor="account-2")
    assert await meetings.shown(ana) is None


async def test_a_name_given_before_stays_as_an_alias_of_the_applied_one(graph: Graph, space: str, meetings: Meetings) -> None:
    ana = await meetings.know("ana", "Anastasia")
    await meetings.hold("monday", *HELLO)
    await apply_name(graph, space=space, proposal_id=(await meetings.proposal("Dana"))["id"], actor="account-1")
    person = (await meetings.people())[ana]
    assert (person["name"], person["aliases"]) == ("Dana", ["Anastasia"])


async def test_a_bot_stays_a_bot_under_the_name_it_is_given(graph: Graph, space: str, meetings: Meetings) -> None:
    """Bots are nobody's readers; a name does not make one."""
    await meetings.hold("monday", *HELLO)
    ana = await meetings.speaker("monday", 0)
    await graph.write(changes, "MATCH (p:Person {id: $person}) SET p.kind = 'bot'", person=ana)
    await apply_name(graph, space=space, proposal_id=(await meetings.proposal("Dana"))["id"], actor="admin")
    assert (await meetings.shown(ana), (await meetings.people())[ana]["kind"]) == ("Dana", "bot")


async def test_a_proposal_that_is_not_there_or_of_another_space_is_not_found(
    graph: Graph, space: str, meetings: Meetings
) -> None:
    await meetings.hold("monday", *HELLO)
    proposal = await meetings.proposal("Dana")
    for where, id in ((space, "nothing"), (f"{space}-other", proposal["id"])):
        for decide in (apply_name, reject_name):
            with pytest.raises(NotFound):
                await decide(graph, space=where, proposal_id=id, actor="account-1")
    with pytest.raises(NotFound):
        await name_session(graph, space, "no-session")


async def test_a_voice_that_is_nobodys_has_proposals_that_only_a_person_can_take(
    graph: Graph, space: str, meetings: Meetings
) -> None:
    await meetings.hold("monday", *HELLO)
    unresolved = "MATCH (m:Message {space: $space, index: 0}) REMOVE m.speaker_id SET m.reason = 'too_short'"
    await graph.write(changes, unresolved, space=space)
    forget = "MATCH (:LocalSpeaker {space: $space})-[r:IS]->() DELETE r"
    await graph.write(changes, forget, space=space)
    await name_session(graph, space, meetings.session("monday").id)
    proposal = await meetings.proposal("Dana")
    with pytest.raises(NobodyToName):
        await apply_name(graph, space=space, proposal_id=proposal["id"], actor="account-1")
    verdict = await reject_name(graph, space=space, proposal_id=proposal["id"], actor="account-1")
    assert (verdict.person_id, verdict.shown) == (proposal["about"], None)


async def test_contradicting_names_stand_side_by_side_and_the_overwhelming_one_wins_in_the_end(meetings: Meetings) -> None:
    await meetings.hold("monday", ("ana", "voice_1", "Hi, I'm Tom."), ("ben", "voice_2", "Hm."))
    for day in range(2):
        await meetings.hold(f"day {day}", *AGAIN)
    ana = await meetings.speaker("monday", 0)
    assert await meetings.shown(ana) is None
    held = {p["name"]: (p["held"], p["status"]) for p in await meetings.proposals()}
    assert held == {"Dana": ("contradicted", "open"), "Tom": ("contradicted", "open")}
    for day in range(2, 6):
        await meetings.hold(f"day {day}", *AGAIN)
    assert await meetings.shown(ana) == "Dana"
    assert (await meetings.proposal("Tom"))["held"] == "contradicted"


async def test_two_who_would_get_one_name_at_once_both_get_none(meetings: Meetings) -> None:
    both = (("ana", "voice_1", "Hi, I'm Dana."), ("ben", "voice_2", "Hi, I'm Dana."))
    await meetings.hold("monday", *both)
    await meetings.hold("tuesday", *both)
    assert {p["name"] for p in (await meetings.people()).values()} == {None}
    assert {(p["held"], p["status"]) for p in await meetings.proposals()} == {("taken", "open")}


async def test_a_name_that_somebody_has_is_not_given_to_another_without_asking(meetings: Meetings) -> None:
    ana = await meetings.know("ana", "Dana")
    for day in ("monday", "tuesday"):
        await meetings.hold(day, ("cem", "voice_1", "Hi, I'm Dana."), ("ben", "voice_2", "Good morning."))
    other = await meetings.speaker("monday", 0)
    assert other != ana and await meetings.shown(other) is None
    assert (await meetings.proposal("Dana", other))["held"] == "taken"


async def test_being_called_and_answering_adds_to_a_label(meetings: Meetings) -> None:
    await meetings.hold(
        "monday",
        ("ana", "Dana Smith", "So, where were we?"),
        ("ben", "voice_2", "Dana, could you begin?"),
        ("ana", "Dana Smith", "Sure, it is about the roof."),
    )
    ana = await meetings.speaker("monday", 0)
    assert await meetings.shown(ana) == "Dana Smith"
    assert {p["name"]: p["sources"] for p in await meetings.proposals() if p["about"] == ana} == {
        "Dana Smith": ["platform_label"],
        "Dana": ["addressed"],
    }
