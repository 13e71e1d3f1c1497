"""Are fragments joined at a session's end, once, in a way that can be taken back?"""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from service.graph.driver import Graph, rows
from service.graph.dump import dump_space
from service.graph.forget_space import forget_space
from service.graph.spaces import get_space, save_space
from service.graph.voices import list_voices
from service.graph.write_consents import save_consent
from service.graph.write_people import save_person
from service.graph.write_sessions import SessionBusy
from service.pipelines.correct import Correct
from service.types.people import Consent, SpaceSettings, VoiceAccess
from tests.builders import VOICE
from tests.graph.voice_builders import (
    GET_MERGES,
    GET_PROPOSALS,
    Line,
    Session,
    a_voice_of,
    axis,
    between,
    person,
    save,
)

CORRECTIONS = """
MATCH (c:Correction {space: $space}) RETURN c.id AS id, c.kind AS kind, c.actor AS actor, c.people AS people
"""
RECORDS = """
MATCH (c:Correction {space: $space}) RETURN c.id AS id, c.actor AS actor, c.record AS record
"""
AUDITED = """
MATCH (e:AuditEvent {space: $space, target: $target}) RETURN e.actor AS actor, e.action AS action
"""
SPOKE = """
MATCH (p:Person)-[r:SPEAKS]->(m:Message {space: $space, session_id: $session})
RETURN p.id AS person, r.runner_up_id AS runner_up_id, r.channels AS channels ORDER BY m.index
"""

FRAGMENT = [Line("left", between(0.1, 0, 1)), *(Line("left", between(0.75, 0, 1)) for _ in range(3))]
"""Hoarse at first, and so somebody new; then clearly the voice of axis 0 (cosine 0.75), and of the hoarse one (0.73)."""


async def knows_ana(graph: Graph, space: str) -> str:
    await save(graph, space, a_voice_of(space, "ana", [between(0.97, 0, 5), between(0.97, 0, 6), axis(0)], turns=9))
    return person(space, "ana")


async def test_a_fragment_is_joined_by_one_edge_that_grants_nothing(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    bound = await Session(graph, space, "monday").whole(FRAGMENT)
    (merge,) = await graph.read(rows, GET_MERGES, space=space)
    (correction,) = await graph.read(rows, CORRECTIONS, space=space)
    assert (merge["person"], merge["into"], merge["by"], merge["confirmed"]) == (bound["left"], ana, "voicegraph", False)
    assert correction == {
        "id": merge["correction"],
        "kind": "merge",
        "actor": "voicegraph",
        "people": sorted([ana, bound["left"]]),
    }


async def test_the_next_session_meets_one_person_and_names_whose_voice_it_was(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    bound = await Session(graph, space, "monday").whole(FRAGMENT)
    voices = await graph.read(list_voices, space, VOICE)
    assert {p: v.same_as for p, v in voices.items()} == {ana: None, bound["left"]: ana}
    tuesday = Session(graph, space, "tuesday")
    await tuesday.whole([Line("a", axis(0)), Line("a", between(0.6, 0, 1))])
    spoke = await graph.read(rows, SPOKE, space=space, session=tuesday.id)
    assert [row["person"] for row in spoke] == [ana, bound["left"]]
    assert [(row["runner_up_id"], row["channels"]) for row in spoke] == [(None, "wideband")] * 2


async def test_the_runner_up_and_the_channels_stand_beside_the_score(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    await save(graph, space, a_voice_of(space, "ben", [axis(9)]))
    monday = Session(graph, space, "monday")
    await monday.whole([Line("a", axis(0))])
    (spoke,) = await graph.read(rows, SPOKE, space=space, session=monday.id)
    assert spoke == {"person": ana, "runner_up_id": person(space, "ben"), "channels": "wideband"}


@pytest.mark.parametrize("broken_after", ["settle", "merge"])
async def test_broken_off_before_or_after_it_ends_the_same(graph: Graph, space: str, broken_after: str) -> None:
    ana_known = a_voice_of(space, "ana", [between(0.97, 0, 5), axis(0)], turns=9)
    settings = await graph.read(get_space, space)
    await save(graph, space, ana_known)
    await Session(graph, space, "monday").whole(FRAGMENT)
    whole = await graph.read(dump_space, space)
    await forget_space(graph, space)
    await graph.write(save_space, settings)
    await save(graph, space, ana_known)

    folding = await (monday := Session(graph, space, "monday")).fold()
    await monday.say(folding, FRAGMENT)
    await folding.settle()
    if broken_after == "merge":
        await monday.merge(folding)
    resumed = await (again := Session(graph, space, "monday")).fold()
    assert (await again.merge(resumed) is None) is (broken_after == "merge")
    await again.close(resumed)
    assert await graph.read(dump_space, space) == whole


async def test_two_processes_do_not_merge_one_session_twice(graph: Graph, space: str) -> None:
    await knows_ana(graph, space)
    folding = await (monday := Session(graph, space, "monday")).fold()
    await monday.say(folding, FRAGMENT)
    await folding.settle()
    other = await (elsewhere := Session(graph, space, "monday")).fold()
    await monday.merge(folding)
    with pytest.raises(SessionBusy):
        await elsewhere.merge(other)


async def test_a_merge_that_a_human_undid_does_not_come_back(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    bound = await Session(graph, space, "monday").whole(FRAGMENT)
    (merge,) = await graph.read(rows, GET_MERGES, space=space)
    await Correct(graph).undo(space, merge["correction"], actor="somebody", why="two sisters")
    for day in ("tuesday", "wednesday"):
        await Session(graph, space, day).whole([Line("a", between(0.1, 0, 1)), Line("a", between(0.5, 0, 1))])
    assert await graph.read(rows, GET_MERGES, space=space) == []
    pairs = {frozenset((row["subject"], row["person"])) for row in await graph.read(rows, GET_PROPOSALS, space=space)}
    assert frozenset((ana, bound["left"])) not in pairs


async def test_two_tracks_of_one_session_are_proposed_only(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    bound = await Session(graph, space, "monday").whole([Line("right", axis(0)), *FRAGMENT])
    assert bound["right"] == ana != bound["left"]
    assert await graph.read(rows, GET_MERGES, space=space) == []
    assert {(r["subject"], r["person"], r["why"]) for r in await graph.read(rows, GET_PROPOSALS, space=space)} == {
        (bound["left"], ana, "alike")
    }
    await Session(graph, space, "tuesday").whole([Line("a", between(0.1, 0, 1))])  # remembered in the next session too
    assert await graph.read(rows, GET_MERGES, space=space) == []


async def test_a_track_that_sounds_like_another_ones_person_is_proposed_as_its_voice(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    monday = Session(graph, space, "monday")
    await monday.whole([Line("right", axis(0)), Line("left", between(0.99, 0, 3))])
    (proposal,) = await graph.read(rows, GET_PROPOSALS, space=space)
    assert proposal == {"label": "LocalSpeaker", "subject": monday.track("left"), "person": ana, "why": "exclusive"}


@pytest.mark.parametrize("overlapping", [False, True])
async def test_who_spoke_at_the_same_time_is_proposed_only(graph: Graph, space: str, overlapping: bool) -> None:
    ana = await knows_ana(graph, space)
    monday = Session(graph, space, "monday")
    folding = await monday.fold()
    start = 100.0 if overlapping else 90.0
    await monday.say(folding, [Line("", axis(0), start=start), Line("", between(0.1, 0, 1), start=101.0)])
    await monday.say(folding, [Line("", between(0.68, 0, 1), start=110.0 + 5 * i) for i in range(3)])
    await folding.settle()
    await monday.merge(folding)
    await monday.close(folding)
    spoke = [row["person"] for row in await graph.read(rows, SPOKE, space=space, session=monday.id)]
    assert spoke[0] == ana != spoke[1] == spoke[2]
    joined = [(row["person"], row["into"]) for row in await graph.read(rows, GET_MERGES, space=space)]
    assert joined == ([] if overlapping else [(spoke[1], ana)])


async def test_two_people_with_names_are_proposed_only(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    fragment = a_voice_of(space, "fragment", [between(0.8, 0, 1)])
    await save(graph, space, fragment)
    for name in ("ana", "fragment"):
        await graph.write(save_person, space, person(space, name), name.title())
    await Session(graph, space, "monday").whole([Line("a", between(0.7, 0, 1))])
    assert await graph.read(rows, GET_MERGES, space=space) == []
    assert {(r["subject"], r["person"]) for r in await graph.read(rows, GET_PROPOSALS, space=space)} == {
        (fragment.person_id, ana)
    }


async def test_a_name_without_a_voice_counts_for_whom_a_human_joined_it_with(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    await save(graph, space, a_voice_of(space, "fragment", [between(0.8, 0, 1)]))
    fragment, frances = person(space, "fragment"), person(space, "frances")
    for id, name in ((ana, "Ana"), (frances, "Frances")):
        await graph.write(save_person, space, id, name)
    await Correct(graph).merge(space, frances, fragment, actor="admin", why="her phone")
    await Session(graph, space, "monday").whole([Line("a", between(0.7, 0, 1))])
    assert {(row["person"], row["into"]) for row in await graph.read(rows, GET_MERGES, space=space)} == {(frances, fragment)}


async def test_what_was_proposed_of_people_heard_again_is_replaced(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    ben = a_voice_of(space, "ben", [between(0.5, 0, 1), between(0.5, 0, 1)])
    await save(graph, space, ben)
    await Session(graph, space, "monday").whole([Line("a", between(0.5, 0, 1))])
    before = {(r["subject"], r["person"]) for r in await graph.read(rows, GET_PROPOSALS, space=space)}
    assert before == {(ben.person_id, ana)}
    await save(graph, space, a_voice_of(space, "ben", [axis(1)] * 2))
    await Session(graph, space, "tuesday").whole([Line("a", axis(1))])
    assert await graph.read(rows, GET_PROPOSALS, space=space) == []


async def test_a_voice_nobody_may_use_takes_its_whole_set_along(graph: Graph, space: str) -> None:
    ana = await knows_ana(graph, space)
    bound = await Session(graph, space, "monday").whole(FRAGMENT)
    gallery = Session(graph, space, "tuesday").gallery
    assert (await gallery(space, [])).voices[bound["left"]].consent is Consent.UNKNOWN
    await graph.write(save_consent, space, ana, Consent.WITHDRAWN, text_version="1", channel="form", at=datetime.now(UTC))
    now = await gallery(space, [])
    assert now.voices == {}, "what else was kept of the voice goes, too, where nobody agreed to that"
    assert now.refusals.voices == {ana, bound["left"]}


async def test_who_agreed_keeps_their_voice_when_a_merge_that_nobody_confirmed_says_they_are_one(
    graph: Graph, space: str
) -> None:
    ana = await knows_ana(graph, space)
    left = (await Session(graph, space, "monday").whole(FRAGMENT))["left"]
    at = datetime.now(UTC)
    await graph.write(save_consent, space, left, Consent.GRANTED, text_version="1", channel="form", at=at)
    await graph.write(save_consent, space, ana, Consent.WITHDRAWN, text_version="1", channel="form", at=at)
    now = await Session(graph, space, "tuesday").gallery(space, [])
    assert {p: v.consent for p, v in now.voices.items()} == {left: Consent.WITHDRAWN}, (
        "kept, and not used until they are told apart"
    )


DAYS = ("tuesday", "wednesday", "thursday")


async def knows_ana_where_a_voice_opens(graph: Graph, space: str) -> dict[str, str]:
    """Whom monday's voices were bound to: a fragment of ana's, joined to her."""
    await graph.write(save_space, SpaceSettings(space, voice_access=VoiceAccess.OPEN))
    await knows_ana(graph, space)
    return dict(await Session(graph, space, "monday").whole(FRAGMENT))


async def is_confirmed(graph: Graph, space: str) -> bool:
    (merge,) = await graph.read(rows, GET_MERGES, space=space)
    return bool(merge["confirmed"])


async def test_repeated_voice_confirms_a_merge_that_was_made_on_less(graph: Graph, space: str) -> None:
    bound = await knows_ana_where_a_voice_opens(graph, space)
    assert not await is_confirmed(graph, space)  # of one session only
    await Session(graph, space, "tuesday").whole([Line("a", between(0.75, 0, 1)), Line("a", between(0.75, 0, 1))])
    assert await is_confirmed(graph, space)
    made, confirmed = sorted(await graph.read(rows, RECORDS, space=space), key=lambda c: '"confirmed":' in c["record"])
    assert made["actor"] == confirmed["actor"] == "voicegraph"
    assert json.loads(confirmed["record"])["confirmed"] == [bound["left"], person(space, "ana")]


async def test_the_same_voice_confirms_nothing_where_a_voice_does_not_open(graph: Graph, space: str) -> None:
    await knows_ana(graph, space)
    await Session(graph, space, "monday").whole(FRAGMENT)
    for day in DAYS:
        await Session(graph, space, day).whole([Line("a", between(0.75, 0, 1)), Line("a", between(0.75, 0, 1))])
    assert not await is_confirmed(graph, space)


async def test_a_confirmation_that_a_human_took_back_does_not_come_back(graph: Graph, space: str) -> None:
    await knows_ana_where_a_voice_opens(graph, space)
    before = None
    for day in DAYS:
        await Session(graph, space, day).whole([Line("a", between(0.75, 0, 1)), Line("a", between(0.75, 0, 1))])
        if before is None:
            (confirmed,) = [c for c in await graph.read(rows, RECORDS, space=space) if '"confirmed":' in c["record"]]
            await Correct(graph).undo(space, confirmed["id"], actor="somebody")
            before = confirmed["id"]
        assert not await is_confirmed(graph, space)
    events = await graph.read(rows, AUDITED, space=space, target=before)
    assert {(e["actor"], e["action"]) for e in events} == {("voicegraph", "merge"), ("somebody", "undo")}
