from __future__ import annotations

import pytest

from service.errors import NotFound
from service.graph.driver import Graph, changes
from service.graph.explain import Explanation, get_explanation
from tests.graph.graph_builders import Said, World, seed
from tests.graph.identity_builders import bound, decided, exemplar, may_be, unname, voice_of


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    return await seed(
        graph,
        space,
        ("ana", "ben", "cleo", "ana2", "dan"),
        [
            Said("ana", "one", ("ana", "ben"), to=("ben",)),
            Said("ana", "two", ("ana", "ben")),
            Said("ana", "mine alone", ("ana",), session="tuesday"),
            Said("ana2", "as somebody else", ("ana", "ben"), session="wednesday"),
            Said(None, "unresolved", ("ana", "ben"), session="thursday"),
            Said("cleo", "elsewhere", ("cleo",), session="attic"),
        ],
    )


async def explained(graph: Graph, world: World, index: int, *names: str, reads_all: bool = False) -> Explanation:
    return await graph.read(get_explanation, await world.scope(*names, reads_all=reads_all), world.message(index))


async def test_a_decision_is_told_with_everything_it_was_based_on(graph: Graph, world: World) -> None:
    await decided(world, 1, runner_up_id=world.person("ben"))
    why = await explained(graph, world, 1, "ben")
    turn = why.turn
    assert (turn.decision, turn.cosine, turn.runner_up, turn.margin, turn.threshold) == ("link", 0.61, 0.4, 0.21, 0.52)
    assert (turn.channels, turn.policy, turn.encoder, turn.by) == ("wideband", "bounded", "campplus", "router")
    assert turn.person is not None and turn.person.display_name == "Ana"
    assert turn.runner_up_person is not None and turn.runner_up_person.display_name == "Ben"
    assert why.local_speaker == voice_of(world, "monday") and why.net_speech == 2.5 and why.merges == ()


async def test_what_lies_outside_is_told_like_what_does_not_exist(graph: Graph, world: World) -> None:
    scope, errors = await world.scope("ben"), []
    for id in (world.message(2), world.message(5), "no such message"):
        with pytest.raises(NotFound) as caught:
            await graph.read(get_explanation, scope, id)
        errors.append(str(caught.value).replace(id, "…"))
    assert len(set(errors)) == 1


async def test_a_runner_up_the_viewer_does_not_know_is_a_number_only(graph: Graph, world: World) -> None:
    await decided(world, 0, runner_up_id=world.person("cleo"))
    turn = (await explained(graph, world, 0, "ana")).turn
    assert turn.runner_up == 0.4 and turn.runner_up_person is None
    everything = (await explained(graph, world, 0, reads_all=True)).turn
    assert everything.runner_up_person is not None and everything.runner_up_person.display_name == "Cleo"


async def test_a_runner_up_merged_since_is_named_as_merges_say(graph: Graph, world: World) -> None:
    await decided(world, 0, runner_up_id=world.person("cleo"))
    await world.merge("cleo", into="ben", confirmed=False)
    turn = (await explained(graph, world, 0, "ana")).turn
    assert turn.runner_up_person is not None and turn.runner_up_person.display_name == "Ben"


async def test_the_evidence_is_what_the_voice_is_known_by_as_far_as_the_viewer_may_read_it(graph: Graph, world: World) -> None:
    await decided(world, 1)
    for message in (0, 1, 2):
        await exemplar(world, "ana", message)
    await exemplar(world, "ana", 0, twin=True)
    await exemplar(world, "ana", 0, encoder="ecapa")
    await exemplar(world, "ana", "a clip of Ana")
    for asker, seen in {"ana": [0, 2], "ben": [0]}.items():
        why = await explained(graph, world, 1, asker)
        assert [e.message_id for e in why.evidence] == [world.message(i) for i in seen]
        assert why.learned and why.from_enrolment == 1
    first = why.evidence[0]
    assert (first.net_speech, first.snr_db, first.channel) == (2.5, 20.0, "wideband")


async def test_a_merge_between_the_voice_and_the_person_shown_is_told(graph: Graph, world: World) -> None:
    await decided(world, 3)
    await exemplar(world, "ana", 0)
    await world.merge("ana2", into="ana", confirmed=False)
    why = await explained(graph, world, 3, "ben")
    assert why.turn.person is not None and why.turn.person.display_name == "Ana"
    assert why.evidence == (), "the turn was decided for the voice merged, which is not known by Ana's turns"
    (merge,) = why.merges
    assert (merge.by, merge.why, merge.confirmed, merge.correction_id) == ("somebody", None, False, None)
    (merge,) = (await explained(graph, world, 3, reads_all=True)).merges
    assert (merge.by, merge.why) == ("test", "test"), "who did it and why is for who reads all"


async def test_an_unresolved_turn_is_told_with_what_was_found_and_whom_it_may_be(graph: Graph, world: World) -> None:
    await decided(world, 4, decision="unresolved", reason="ambiguous", by="settlement", runner_up_id=world.person("ben"))
    await may_be(world, "thursday", "ben")
    await may_be(world, "thursday", "cleo")
    why = await explained(graph, world, 4, "ana")
    assert (why.turn.decision, why.turn.reason, why.turn.cosine, why.turn.person) == ("unresolved", "ambiguous", 0.61, None)
    assert [s.person.display_name for s in why.suggestions] == ["Ben"] and why.voice is None and why.evidence == ()


async def test_the_decision_about_the_whole_voice_is_told_beside_that_of_the_turn(graph: Graph, world: World) -> None:
    await decided(world, 1, decision="assigned", cosine=None, runner_up=None, margin=None, reason="too_short", by="settlement")
    await bound(world, "monday", "ana", cosine=0.66)
    why = await explained(graph, world, 1, "ben")
    assert (why.turn.decision, why.turn.reason) == ("assigned", "too_short")
    assert why.voice is not None and why.voice.cosine == 0.66 and why.voice.person is not None
    assert why.suggestions == ()


async def test_what_a_human_wrote_as_reason_is_for_who_reads_all(graph: Graph, world: World) -> None:
    await decided(world, 1, decision="corrected", by="account-7", reason="Cleo told me in private")
    seen = (await explained(graph, world, 1, "ben")).turn
    assert (seen.decision, seen.by, seen.reason) == ("corrected", "somebody", None)
    everything = (await explained(graph, world, 1, reads_all=True)).turn
    assert (everything.by, everything.reason) == ("account-7", "Cleo told me in private")


async def test_a_decision_of_before_these_numbers_were_kept_is_told_as_far_as_it_goes(graph: Graph, world: World) -> None:
    await graph.write(changes, "MATCH (l:LocalSpeaker {id: $id}) SET l.label = null", id=voice_of(world, "monday"))
    await unname(world, "ana")
    why = await explained(graph, world, 0, "ana")
    assert (why.turn.cosine, why.turn.channels, why.turn.encoder, why.turn.by, why.label) == (0.7, None, None, None, None)
    assert why.evidence == () and why.from_enrolment == 0
