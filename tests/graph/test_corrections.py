"""What each correction does, what it refuses, and that nobody sees or keeps what is not theirs by it."""

from __future__ import annotations

import asyncio
import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from service.errors import InvalidInput, NotFound
from service.graph.access import read_scope
from service.graph.corrections import list_corrections
from service.graph.driver import Graph, changes, rows
from service.graph.messages import find_messages
from service.graph.paging import Page
from service.graph.spaces import get_space, save_space
from service.graph.voices import list_voices
from service.graph.write_consents import save_consent
from service.graph.write_corrections import VOICEGRAPH, Corrected, merge_people
from service.graph.write_sessions import SessionBusy, open_session
from service.pipelines.correct import Correct, CorrectionConflict, EmbedderDiffers
from service.pipelines.expire import expire_voices
from service.pipelines.gallery import GalleryReader
from service.types.ids import fresh
from service.types.people import AnonymousVoices, Assurance, Consent, SpaceSettings, Viewer
from tests.builders import VOICE, a_session, a_voice
from tests.graph.correction_builders import (
    correct,
    edges,
    ingest,
    message,
    nodes,
    session_id,
    speakers,
    state,
    track,
)

BY_ADMIN = {"actor": "admin", "why": "heard it"}
TALK = [("ana", "Shall we go?"), ("ben", "Not yet."), ("ana", "When?"), ("ben", "At nine."), ("ben", "Or ten.")]

RECORDS = "MATCH (c:Correction {space: $space}) RETURN c.record AS record"
AUDIT = "MATCH (e:AuditEvent {space: $space}) RETURN e.actor AS actor, e.action AS action, e.target AS target"
REOPEN = "MATCH (s:Session {space: $space, id: $session_id}) SET s.status = $status"
FORGET_PERSON = "MATCH (p:Person {space: $space, id: $person}) SET p.tombstone = true"
EXEMPLARS = """
MATCH (owner)-[:HAS_EXEMPLAR]->(e:Exemplar {space: $space, message_id: $message_id})
RETURN owner.id AS owner, e.consent AS consent, e.expires_at AS expires_at
"""


async def two_people(graph: Graph, space: str) -> tuple[str, str]:
    found = await ingest(graph, space, "monday", TALK)
    assert found[0] and found[1]
    return found[0], found[1]


async def four_people(graph: Graph, space: str) -> list[str]:
    found = await ingest(graph, space, "monday", [(name, "Hello.") for name in ("ana", "ben", "cleo", "dora")])
    return [person for person in found if person]


async def automatic(graph: Graph, space: str, person: str, into: str) -> Corrected:
    return await graph.write(merge_people, space, person, into, actor=VOICEGRAPH, why="alike", confirmed=False, cosine=0.7)


async def visible(graph: Graph, space: str, person: str, session: str = "monday") -> set[int]:
    """Positions of the session's turns that the person may read."""
    scope = await graph.read(read_scope, Viewer(space, None, person, (person,), False, Assurance.TOKEN))
    found = await graph.read(find_messages, scope, [message(space, session, i) for i in range(len(TALK))])
    return {m.index for m in found.values()}


async def give_consent(graph: Graph, space: str, person: str, state: Consent) -> None:
    await graph.write(save_consent, space, person, state, text_version="1", channel="form", at=datetime.now(UTC))


async def test_what_was_done_under_an_id_is_not_done_again(graph: Graph, space: str) -> None:
    _, ben = await two_people(graph, space)
    both = [message(space, "monday", i) for i in (1, 3)]
    for ask in (
        lambda id: correct(graph).reassign(space, both[:1], None, **BY_ADMIN, name="Eva", correction_id=id),
        lambda id: correct(graph).split(space, ben, messages=both[1:], **BY_ADMIN, name="Ina", correction_id=id),
    ):
        id = fresh()
        first, before = await ask(id), await state(graph, space)
        assert await ask(id) == first
        assert await state(graph, space) == before


# ---- merges and verdicts


async def test_a_confirmed_merge_widens_what_both_may_read_and_an_automatic_one_does_not(graph: Graph, space: str) -> None:
    ana, ben, cleo, dora = await four_people(graph, space)
    await automatic(graph, space, ana, ben)
    assert await visible(graph, space, ana) == {0}
    await correct(graph).merge(space, cleo, dora, **BY_ADMIN)
    assert await visible(graph, space, cleo) == await visible(graph, space, dora) == {2, 3}


async def test_confirming_an_automatic_merge_is_a_correction_of_its_own_that_can_be_undone(graph: Graph, space: str) -> None:
    ana, ben, *_ = await four_people(graph, space)
    merged = await automatic(graph, space, ana, ben)
    unconfirmed = await state(graph, space)
    done = await correct(graph).merge(space, ben, ana, **BY_ADMIN)
    assert await visible(graph, space, ana) == {0, 1}
    with pytest.raises(CorrectionConflict) as refused:  # a human holds it to be right
        await correct(graph).undo(space, merged.correction_id, actor="admin")
    assert refused.value.facts["correction"] == done.correction_id
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == unconfirmed


async def test_an_automatic_merge_undone_by_a_human_never_comes_back(graph: Graph, space: str) -> None:
    ana, ben, cleo, _ = await four_people(graph, space)
    merged = await automatic(graph, space, ana, ben)
    undone = await correct(graph).undo(space, merged.correction_id, actor="admin")
    with pytest.raises(CorrectionConflict):
        await automatic(graph, space, ben, ana)
    await automatic(graph, space, cleo, ben)
    for again in (automatic(graph, space, ana, cleo), correct(graph).merge(space, ana, cleo, **BY_ADMIN)):
        with pytest.raises(CorrectionConflict) as refused:  # nor by way of somebody else
            await again
        assert refused.value.facts["correction"] == undone.verdict_id
    await correct(graph).undo(space, str(undone.verdict_id), actor="admin")
    await correct(graph).merge(space, ana, ben, **BY_ADMIN)


async def test_a_confirmed_merge_confirms_nothing_that_nobody_confirmed(graph: Graph, space: str) -> None:
    """ana is taken for ben; a human says ana is cleo. cleo reads ana's turns and not ben's."""
    ana, ben, cleo, dora = await four_people(graph, space)
    await automatic(graph, space, ana, ben)
    await correct(graph).merge(space, ana, cleo, **BY_ADMIN)
    assert await visible(graph, space, cleo) == {0, 2}
    assert await visible(graph, space, ben) == {1}
    voices = await graph.read(list_voices, space, VOICE)
    assert {voices[p].same_as or p for p in (ana, ben, cleo)} == {ben}
    assert voices[dora].same_as is None


async def test_of_two_chains_that_nobody_confirmed_a_human_has_to_settle_one_first(graph: Graph, space: str) -> None:
    ana, ben, cleo, dora = await four_people(graph, space)
    await automatic(graph, space, ana, ben)
    await automatic(graph, space, cleo, dora)
    with pytest.raises(CorrectionConflict):
        await correct(graph).merge(space, ana, cleo, **BY_ADMIN)
    await correct(graph).merge(space, ana, ben, **BY_ADMIN)
    await correct(graph).merge(space, ana, cleo, **BY_ADMIN)
    assert await visible(graph, space, ana) == {0, 1, 2}


async def test_a_merge_that_another_rests_on_is_undone_after_it(graph: Graph, space: str) -> None:
    """ana became ben, and so ben was joined to cleo: without the first merge it would be ben who is cleo."""
    ana, ben, cleo, _ = await four_people(graph, space)
    first = await correct(graph).merge(space, ana, ben, **BY_ADMIN)
    second = await correct(graph).merge(space, ana, cleo, **BY_ADMIN)
    with pytest.raises(CorrectionConflict) as refused:
        await correct(graph).undo(space, first.correction_id, actor="admin")
    assert refused.value.facts["correction"] == second.correction_id
    await correct(graph).undo(space, second.correction_id, actor="admin")
    await correct(graph).undo(space, first.correction_id, actor="admin")


async def test_merges_that_rest_on_nothing_are_undone_in_any_order(graph: Graph, space: str) -> None:
    ana, ben, cleo, dora = await four_people(graph, space)
    first = await correct(graph).merge(space, ana, ben, **BY_ADMIN)
    await correct(graph).merge(space, ben, cleo, **BY_ADMIN)
    third = await correct(graph).merge(space, dora, ana, **BY_ADMIN)
    await correct(graph).undo(space, first.correction_id, actor="admin")
    assert edges(await state(graph, space), "MERGED_INTO") == {(ben, cleo), (dora, ana)}
    await correct(graph).undo(space, third.correction_id, actor="admin")
    assert edges(await state(graph, space), "MERGED_INTO") == {(ben, cleo)}


@pytest.mark.parametrize("twice", ["merge", "not_same", "reassign", "undo", "crosswise"])
async def test_the_same_thing_twice_is_a_conflict_and_changes_nothing(graph: Graph, space: str, twice: str) -> None:
    ana, ben = await two_people(graph, space)
    fix = correct(graph)

    async def do(again: bool) -> Any:
        match twice:
            case "merge":
                return await fix.merge(space, ana, ben, **BY_ADMIN)
            case "crosswise":
                return await fix.merge(space, *((ben, ana) if again else (ana, ben)), **BY_ADMIN)
            case "not_same":
                return await fix.not_same(space, *((ben, ana) if again else (ana, ben)), **BY_ADMIN)
            case "reassign":
                return await fix.reassign(space, [message(space, "monday", 1)], ana, **BY_ADMIN)
            case _:
                return await fix.undo(space, first.correction_id, actor="admin")

    first = await fix.merge(space, ana, ben, **BY_ADMIN) if twice == "undo" else None
    await do(False)
    once = await state(graph, space)
    with pytest.raises(CorrectionConflict):
        await do(True)
    assert await state(graph, space) == once


async def test_of_two_at_once_one_is_done_and_the_other_told(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    turn = [message(space, "monday", 1)]
    both = await asyncio.gather(
        correct(graph).reassign(space, turn, ana, **BY_ADMIN),
        correct(graph).reassign(space, turn, ana, **BY_ADMIN),
        return_exceptions=True,
    )
    assert sorted(type(outcome).__name__ for outcome in both) == ["Corrected", "CorrectionConflict"]
    both = await asyncio.gather(
        correct(graph).merge(space, ana, ben, **BY_ADMIN),
        correct(graph).not_same(space, ana, ben, **BY_ADMIN),
        return_exceptions=True,
    )
    assert sorted(type(outcome).__name__ for outcome in both) == ["Corrected", "CorrectionConflict"]


async def test_a_chain_never_becomes_longer_than_reads_look(graph: Graph, space: str) -> None:
    found = await ingest(graph, space, "monday", [(f"person {i}", "Hello.") for i in range(14)])
    people = [person for person in found if person]
    for one, other in itertools.pairwise(people[:13]):
        await correct(graph).merge(space, one, other, **BY_ADMIN)
    assert await visible(graph, space, people[0]) == await visible(graph, space, people[12])
    with pytest.raises(CorrectionConflict):
        await correct(graph).merge(space, people[12], people[13], **BY_ADMIN)
    await correct(graph).merge(space, people[13], people[6], **BY_ADMIN)


# ---- turns


async def test_what_somebody_did_not_say_they_read_no_more_and_who_did_reads_it(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    assert 4 in await visible(graph, space, ben) and 4 not in await visible(graph, space, ana)
    await correct(graph).reassign(space, [message(space, "monday", 4)], ana, **BY_ADMIN)
    assert await visible(graph, space, ben) == {1, 2, 3}  # he was there from 1 to 3
    assert await visible(graph, space, ana) == {0, 1, 2, 3, 4}


async def test_a_corrected_turn_says_so_and_its_speaker_learns_its_voice(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    before = await graph.read(list_voices, space, VOICE)
    await correct(graph).reassign(space, [message(space, "monday", 1)], ana, **BY_ADMIN)
    now = nodes(await state(graph, space), "Message")[message(space, "monday", 1)]
    assert (now["decision"], now["speaker_id"]) == ("corrected", ana)
    after = await graph.read(list_voices, space, VOICE)
    moved = before[ben].exemplars[0].message_id, message(space, "monday", 1)
    assert moved[1] in {e.message_id for e in after[ana].exemplars}
    assert moved[1] not in {e.message_id for e in after[ben].exemplars}
    assert (after[ana].num_turns, after[ben].num_turns) == (before[ana].num_turns + 1, before[ben].num_turns - 1)
    odd = a_voice("ben", mood="monday/1").vector
    assert after[ana].centroid @ odd > before[ana].centroid @ odd
    assert after[ben].centroid @ odd < before[ben].centroid @ odd


async def test_a_track_is_whose_it_was_until_its_last_turn_has_gone(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    bens = track(space, "monday", "ben")
    await correct(graph).reassign(space, [message(space, "monday", 1)], ana, **BY_ADMIN)
    assert (bens, ben) in edges(await state(graph, space), "IS")
    await correct(graph).reassign(space, [message(space, "monday", 3)], None, **BY_ADMIN)
    await correct(graph).reassign(space, [message(space, "monday", 4)], ana, **BY_ADMIN)
    assert not [to for track_, to in edges(await state(graph, space), "IS") if track_ == bens]
    await correct(graph).reassign(space, [message(space, "monday", 3)], ana, **BY_ADMIN)
    assert (bens, ana) in edges(await state(graph, space), "IS")


async def test_who_was_split_off_is_met_again_as_the_one_they_are(graph: Graph, space: str) -> None:
    """Two voices taken for one person: afterwards each finds their own."""
    ana, ben = await two_people(graph, space)
    bens = [message(space, "monday", i) for i in (1, 3, 4)]
    await correct(graph).reassign(space, bens, ana, **BY_ADMIN)  # somebody's mistake
    done = await correct(graph).split(space, ana, messages=bens, name="Ben", **BY_ADMIN)
    found = await ingest(graph, space, "tuesday", [("ana", "Me."), ("ben", "And me.")])
    assert found == [ana, done.person_id]
    assert await correct(graph).undo(space, done.correction_id, actor="admin")
    assert (await speakers(graph, space, "tuesday"))[1] == done.person_id  # it heard him after all
    assert ben not in found


async def test_holders_of_voices_notice_that_a_person_split_off_is_gone(graph: Graph, space: str) -> None:
    _, ben = await two_people(graph, space)
    gallery = GalleryReader(graph, VOICE)
    done = await correct(graph).split(space, ben, messages=[message(space, "monday", 1)], **BY_ADMIN)
    assert done.person_id in (await gallery(space, [])).voices
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert done.person_id not in (await gallery(space, [])).voices
    (later,) = await ingest(graph, space, "tuesday", [("ben", "Me again.")], gallery=gallery)
    assert later == ben


async def test_turns_that_changed_hands_again_are_given_back_in_reverse_only(graph: Graph, space: str) -> None:
    ana, _ = await two_people(graph, space)
    turn = [message(space, "monday", 3)]
    first = await correct(graph).reassign(space, turn, ana, **BY_ADMIN)
    second = await correct(graph).reassign(space, turn, None, **BY_ADMIN)
    with pytest.raises(CorrectionConflict) as refused:
        await correct(graph).undo(space, first.correction_id, actor="admin")
    assert refused.value.facts["correction"] == second.correction_id


async def test_undoing_one_of_two_corrections_of_a_session_leaves_the_other(graph: Graph, space: str) -> None:
    """Out of order: the session is settled again as if only the other had been made."""
    ana, ben = await two_people(graph, space)
    only = await correct(graph).reassign(space, [message(space, "monday", 4)], ana, **BY_ADMIN)
    wanted = await state(graph, space)
    await correct(graph).undo(space, only.correction_id, actor="admin")
    first = await correct(graph).reassign(space, [message(space, "monday", 0)], ben, **BY_ADMIN)
    await correct(graph).reassign(space, [message(space, "monday", 4)], ana, **BY_ADMIN)
    await correct(graph).undo(space, first.correction_id, actor="admin")
    assert await state(graph, space) == wanted


# ---- consent


@pytest.mark.parametrize("refusal", [Consent.WITHDRAWN, Consent.OPTED_OUT])
async def test_a_voice_given_to_somebody_who_refuses_is_not_kept_and_the_undo_says_what_is_lost(
    graph: Graph, space: str, refusal: Consent
) -> None:
    ana, ben = await two_people(graph, space)
    await give_consent(graph, space, ana, refusal)
    before = await state(graph, space)
    turn = message(space, "monday", 1)
    done = await correct(graph).reassign(space, [turn], ana, **BY_ADMIN)
    assert len(done.exemplars_lost) == 1
    assert await graph.read(rows, EXEMPLARS, space=space, message_id=turn) == []
    undone = await correct(graph).undo(space, done.correction_id, actor="admin")
    assert undone.exemplars_lost == done.exemplars_lost
    after = await state(graph, space)
    lost = set(done.exemplars_lost)
    assert [e for e in before["edges"] if e["to"][-1] not in lost] == after["edges"]
    voiceless = {node["id"] for node in after["nodes"]} ^ {node["id"] for node in before["nodes"]}
    assert voiceless == lost
    assert nodes(after, "Person")[ben]["num_turns"] == nodes(before, "Person")[ben]["num_turns"]


async def test_a_voice_whose_owner_refused_meanwhile_does_not_come_back(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    turn = message(space, "monday", 1)
    done = await correct(graph).reassign(space, [turn], ana, **BY_ADMIN)
    await give_consent(graph, space, ben, Consent.WITHDRAWN)
    undone = await correct(graph).undo(space, done.correction_id, actor="admin")
    assert len(undone.exemplars_lost) == 1
    assert await graph.read(rows, EXEMPLARS, space=space, message_id=turn) == []


async def test_a_voice_goes_over_to_the_terms_of_whom_it_is_given_to_and_back(graph: Graph, space: str) -> None:
    ana, _ = await two_people(graph, space)
    turn = message(space, "monday", 1)
    await give_consent(graph, space, ana, Consent.GRANTED)
    (before,) = await graph.read(rows, EXEMPLARS, space=space, message_id=turn)
    assert before["consent"] == "unknown" and before["expires_at"]
    done = await correct(graph).reassign(space, [turn], ana, **BY_ADMIN)
    assert await graph.read(rows, EXEMPLARS, space=space, message_id=turn) == [
        {"owner": ana, "consent": "granted", "expires_at": None}
    ]
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await graph.read(rows, EXEMPLARS, space=space, message_id=turn) == [before]


async def test_a_granted_voice_that_is_nobodys_is_kept_as_one_never_asked_and_expires(graph: Graph, space: str) -> None:
    _, ben = await two_people(graph, space)
    await give_consent(graph, space, ben, Consent.GRANTED)
    turn = message(space, "monday", 1)
    await correct(graph).reassign(space, [turn], None, **BY_ADMIN)
    (kept,) = await graph.read(rows, EXEMPLARS, space=space, message_id=turn)
    assert (kept["owner"], kept["consent"]) == (track(space, "monday", "ben"), "unknown")
    assert timedelta(days=29) < kept["expires_at"] - datetime.now(UTC) <= timedelta(days=30)
    settings = await graph.read(get_space, space)
    await expire_voices(graph, settings, datetime.now(UTC) + timedelta(days=31))
    assert await graph.read(rows, EXEMPLARS, space=space, message_id=turn) == []


async def test_in_an_ephemeral_space_a_voice_that_is_nobodys_is_not_kept(graph: Graph, space: str) -> None:
    _, ben = await two_people(graph, space)
    await give_consent(graph, space, ben, Consent.GRANTED)
    await graph.write(save_space, SpaceSettings(space, anonymous_voices=AnonymousVoices.EPHEMERAL))
    done = await correct(graph).reassign(space, [message(space, "monday", 1)], None, **BY_ADMIN)
    assert len(done.exemplars_lost) == 1


async def test_a_voice_whose_time_came_meanwhile_does_not_come_back(graph: Graph, space: str) -> None:
    """Given to somebody who agreed it would stay; what it was before had ended by now."""
    ana, _ = await two_people(graph, space)
    turn = message(space, "monday", 1)
    await graph.write(
        changes,
        "MATCH (e:Exemplar {message_id: $turn}) SET e.expires_at = datetime() + duration({milliseconds: 300})",
        turn=turn,
    )
    await give_consent(graph, space, ana, Consent.GRANTED)
    done = await correct(graph).reassign(space, [turn], ana, **BY_ADMIN)
    await asyncio.sleep(0.4)
    undone = await correct(graph).undo(space, done.correction_id, actor="admin")
    assert len(undone.exemplars_lost) == 1
    assert await graph.read(rows, EXEMPLARS, space=space, message_id=turn) == []


# ---- what is refused


async def test_nobody_and_nothing_unknown_is_not_found(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    fix, turn = correct(graph), [message(space, "monday", 1)]
    await graph.write(changes, FORGET_PERSON, space=space, person=ben)
    for refused in (
        fix.merge(space, ana, "nobody", **BY_ADMIN),
        fix.merge(space, ana, ben, **BY_ADMIN),
        fix.not_same(space, "nobody", ana, **BY_ADMIN),
        fix.reassign(space, ["nothing"], ana, **BY_ADMIN),
        fix.reassign(space, turn, "nobody", **BY_ADMIN),
        fix.split(space, "nobody", messages=turn, **BY_ADMIN),
        fix.undo(space, "nothing", actor="admin"),
        fix.merge(f"{space}-other", ana, ben, **BY_ADMIN),
    ):
        with pytest.raises(NotFound):
            await refused


async def test_what_makes_no_sense_is_refused_and_changes_nothing(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    before = await state(graph, space)
    fix, turn = correct(graph), message(space, "monday", 1)
    for refused in (
        fix.merge(space, ana, ana, **BY_ADMIN),
        fix.not_same(space, ana, ana, **BY_ADMIN),
        fix.reassign(space, [], ana, **BY_ADMIN),
        fix.split(space, ben, **BY_ADMIN),
        fix.split(space, ben, messages=[turn], local_speakers=[track(space, "monday", "ben")], **BY_ADMIN),
        fix.split(space, ben, messages=[turn], name="  ", **BY_ADMIN),
    ):
        with pytest.raises(InvalidInput):
            await refused
    for refused in (
        fix.split(space, ana, messages=[turn], **BY_ADMIN),
        fix.split(space, ana, local_speakers=[track(space, "monday", "ben")], **BY_ADMIN),
        fix.split(space, ben, messages=[message(space, "monday", i) for i in (1, 3, 4)], **BY_ADMIN),
    ):
        with pytest.raises(CorrectionConflict):
            await refused
    assert await state(graph, space) == before


async def test_turns_of_a_session_that_is_still_written_are_busy(graph: Graph, space: str) -> None:
    ana, _ = await two_people(graph, space)
    turn = [message(space, "monday", 1)]
    monday = session_id(space, "monday")
    await graph.write(changes, REOPEN, space=space, session_id=monday, status="open")
    with pytest.raises(SessionBusy):
        await correct(graph).reassign(space, turn, ana, **BY_ADMIN)
    await graph.write(changes, REOPEN, space=space, session_id=monday, status="failed")
    with pytest.raises(CorrectionConflict):
        await correct(graph).reassign(space, turn, ana, **BY_ADMIN)


async def test_without_the_sessions_embedder_a_view_that_would_change_is_refused(graph: Graph, space: str) -> None:
    _, ben = await two_people(graph, space)
    before = await state(graph, space)
    with pytest.raises(EmbedderDiffers):
        await Correct(graph).reassign(space, [message(space, "monday", 0)], ben, **BY_ADMIN)
    assert await state(graph, space) == before


async def test_an_open_session_goes_on_after_a_correction_elsewhere(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    await graph.write(open_session, a_session(space, id=session_id(space, "open"), external_id="open"))
    await correct(graph).merge(space, ana, ben, **BY_ADMIN)
    assert await ingest(graph, space, "tuesday", [("ana", "Still me.")]) == [ana]


# ---- what is told of it


async def test_each_correction_and_undo_is_audited_once(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    done = await correct(graph).reassign(space, [message(space, "monday", 1)], ana, **BY_ADMIN)
    await correct(graph).undo(space, done.correction_id, actor="boss")
    said = await correct(graph).not_same(space, ana, ben, **BY_ADMIN)
    found = {(row["actor"], row["action"], row["target"]) for row in await graph.read(rows, AUDIT, space=space)}
    assert found == {
        ("admin", "reassign", done.correction_id),
        ("boss", "undo", done.correction_id),
        ("admin", "not_same", said.correction_id),
    }


async def test_a_record_holds_no_word_and_no_vector(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    await correct(graph).reassign(space, [message(space, "monday", 1)], ana, **BY_ADMIN)
    await correct(graph).split(space, ben, messages=[message(space, "monday", 3)], **BY_ADMIN)
    records = await graph.read(rows, RECORDS, space=space)
    assert len(records) == 2
    for row in records:
        assert not any(text in row["record"] for _, text in TALK)
        assert _longest_row_of_numbers(json.loads(row["record"])) < 5


def _longest_row_of_numbers(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return 0
    return max([sum(isinstance(item, float) for item in value), *(_longest_row_of_numbers(item) for item in value)])


async def test_who_reads_all_sees_all_corrections_and_others_their_own_newest_first(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    mine = await correct(graph).reassign(space, [message(space, "monday", 1)], None, actor="ben's phone", why="not me")
    theirs = await correct(graph).merge(space, ana, ben, **BY_ADMIN)
    await correct(graph).undo(space, theirs.correction_id, actor="boss")
    everything = await graph.read(read_scope, Viewer(space, None, None, (), False, Assurance.TOKEN, reads_all=True))
    found = (await graph.read(list_corrections, everything, page=Page(first=10))).items
    assert [(c.id, c.undone_by) for c in found] == [(theirs.correction_id, "boss"), (mine.correction_id, None)]
    assert (await graph.read(list_corrections, everything, page=Page(first=10), standing=True)).items == found[1:]
    bens = await graph.read(read_scope, Viewer(space, None, ben, (ben,), False, Assurance.TOKEN))
    own = (await graph.read(list_corrections, bens, page=Page(first=10), actors=["ben's phone"])).items
    assert [(c.id, c.num_turns, c.why) for c in own] == [(mine.correction_id, 1, "not me")]
    assert (await graph.read(list_corrections, bens, page=Page(first=10))).items == ()


async def test_the_preview_of_a_split_names_the_voice_that_is_least_alike(graph: Graph, space: str) -> None:
    ana, ben = await two_people(graph, space)
    await ingest(graph, space, "tuesday", [("ana", "Me."), ("ana", "Me again.")])
    odd = message(space, "monday", 1)
    await correct(graph).reassign(space, [odd], ana, **BY_ADMIN)
    everything = await graph.read(read_scope, Viewer(space, None, None, (), False, Assurance.TOKEN, reads_all=True))
    parts = await correct(graph).preview_split(everything, ana)
    assert (parts[0].session_id, parts[0].message_ids) == (session_id(space, "monday"), (odd,))
    assert parts[0].cosine is not None and parts[0].cosine < 0.3 < min(p.cosine or 0.0 for p in parts[1:])
    assert len(parts) == 3 and {len(p.message_ids) for p in parts} == {1, 2}
    done = await correct(graph).split(space, ana, messages=parts[0].message_ids, **BY_ADMIN)
    assert done.num_turns == 1
    anas = await graph.read(read_scope, Viewer(space, None, ana, (ana,), False, Assurance.TOKEN))
    assert {m for part in await correct(graph).preview_split(anas, ana) for m in part.message_ids} == {
        *(message(space, "monday", i) for i in (0, 2)),
        *(message(space, "tuesday", i) for i in (0, 1)),
    }
    bens = await graph.read(read_scope, Viewer(space, None, ben, (ben,), False, Assurance.TOKEN))
    with pytest.raises(NotFound):  # he came when she had gone
        await correct(graph).preview_split(bens, ana)
