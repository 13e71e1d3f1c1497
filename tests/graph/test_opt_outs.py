"""Who refuses to be known is not known any more, from then on: in a session that goes on, in the next, after erasure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service.graph.driver import Graph, Tx, rows
from service.graph.opt_outs import AccountOptedOut
from service.graph.spaces import bump_revision, lock_space, save_space
from service.graph.tombstones import leave_tombstone
from service.graph.write_accounts import bind_account
from service.graph.write_people import save_person
from service.identity.opt_outs import Marker
from service.pipelines import gallery
from service.pipelines.accounts import Accounts
from service.pipelines.consents import record_consent, remove_opt_out
from service.pipelines.correct import Correct
from service.pipelines.gallery import GalleryReader
from service.types.erasure import Subject, SubjectKind
from service.types.ids import fresh
from service.types.meeting import AccountKey
from service.types.people import AnonymousVoices, Consent, ConsentPurpose, OptOuts, SpaceSettings
from tests.builders import VOICE, a_session
from tests.graph.erase_builders import a_household
from tests.graph.test_folding import begin, finish, take, talk, write
from tests.warned import warned

MARKER = Marker(bytes(range(32)))
SAID: dict[str, Any] = {"text_version": "1", "channel": "spoken"}

TURNS = """
MATCH (m:Message {space: $space})-[:IN_SESSION]->(s:Session)
OPTIONAL MATCH (p:Person)-[:SPEAKS]->(m)
RETURN s.external_id AS session, m.index AS index, m.decision AS decision, m.reason AS reason, p.id AS person
ORDER BY session, index
"""
KEPT = """
OPTIONAL MATCH (e:Exemplar {space: $space})
WITH count(e) AS exemplars
OPTIONAL MATCH (o:OptOut {space: $space})
RETURN exemplars, count(o) AS marks, collect(properties(o)) AS opt_outs, COUNT { (:Person)-[:REFUSED]->(o) } AS bound
"""
TURN_OF = "MATCH (:Person {space: $space, id: $person})-[:SPEAKS]->(m:Message) RETURN m.id AS id"
CHECKPOINT = "MATCH (s:Session {space: $space, status: 'open'}) RETURN s.checkpoint AS checkpoint"
KEPT_OF = """
MATCH (p:Person {space: $space, id: $person})
RETURN COUNT { (p)-[:HAS_EXEMPLAR]->() } AS exemplars, p.voiceprint__campplus IS NOT NULL AS has_voiceprint
"""
PEOPLE = "MATCH (p:Person {space: $space}) RETURN p.id AS id, properties(p) AS properties ORDER BY id"


def a_gallery(graph: Graph, marker: Marker | None = MARKER) -> GalleryReader:
    return GalleryReader(graph, VOICE, marker=lambda: marker)


async def refuse(graph: Graph, space: str, person: str, state: Consent = Consent.OPTED_OUT, **given: Any) -> str:
    return await record_consent(graph, space=space, person_id=person, state=state, marker=lambda: MARKER, **{**SAID, **given})


async def turns(graph: Graph, space: str) -> list[dict[str, Any]]:
    return await graph.read(rows, TURNS, space=space)


def on_track(track: str, heard: list[Any]) -> list[Any]:
    return [(replace(turn, track=track), voice) for turn, voice in heard]


async def passing(graph: Graph, space: str) -> set[str]:
    """Whose voices the checkpoint of the open session holds."""
    (row,) = await graph.read(rows, CHECKPOINT, space=space)
    return {voice["person_id"] for voice in json.loads(row["checkpoint"])["fold"]["passing"]}


async def test_what_only_the_checkpoint_knows_of_a_voice_goes_in_the_same_moment(graph: Graph, space: str) -> None:
    """And whoever writes the session goes on with it, though theirs is the checkpoint of before."""
    await graph.write(save_space, SpaceSettings(space, anonymous_voices=AnonymousVoices.EPHEMERAL))
    session = a_session(space)
    folding = await begin(graph, session, keep_voices=False, gallery=a_gallery(graph))
    await take(folding, session, talk(("ana", "a"), ("ben", "b")))
    ana, ben = (turn["person"] for turn in await turns(graph, space))
    assert await passing(graph, space) == {ana, ben}
    await refuse(graph, space, ana, Consent.WITHDRAWN)
    assert await passing(graph, space) == {ben}
    await take(folding, session, talk(("ana", "said before, and delivered late"), ("ben", "c"), first=2))
    assert [turn["person"] for turn in await turns(graph, space)] == [ana, ben, ana, ben], "hers within the session"
    assert await passing(graph, space) == {ben} and folding.checkpoint.fold.passing.keys() == {ben}
    await finish(graph, folding, session)


async def test_in_a_session_that_goes_on_nothing_is_learnt_and_nobody_new_is_made(graph: Graph, space: str) -> None:
    session = a_session(space)
    folding = await begin(graph, session, gallery=a_gallery(graph))
    await take(folding, session, talk(("ana", "a"), ("ben", "b")))
    ana, ben = (turn["person"] for turn in await turns(graph, space))
    await refuse(graph, space, ana)
    await take(folding, session, talk(("ana", "c"), ("ben", "d"), first=2))
    await take(folding, session, on_track("another", talk(("ana", "e"), first=4)))
    found = await turns(graph, space)
    assert [turn["person"] for turn in found] == [ana, ben, ana, ben, None]
    assert (found[4]["decision"], found[4]["reason"]) == ("unresolved", "opted_out")
    (row,) = await graph.read(rows, CHECKPOINT, space=space)
    (pending,) = json.loads(row["checkpoint"])["fold"]["pending"]
    assert (pending["reason"], pending["vector"]) == ("opted_out", None), "nothing of the voice waits for the end either"
    await finish(graph, folding, session)
    assert (await turns(graph, space))[4]["person"] is None
    assert {row["id"] for row in await graph.read(rows, PEOPLE, space=space)} == {ana, ben}
    (kept,) = await graph.read(rows, KEPT_OF, space=space, person=ana)
    assert kept == {"exemplars": 0, "has_voiceprint": False}


async def test_who_does_not_want_turns_put_down_to_them_is_a_voice_of_each_session(graph: Graph, space: str) -> None:
    session = a_session(space)
    folding = await begin(graph, session, gallery=a_gallery(graph))
    await take(folding, session, talk(("ana", "a"), ("ben", "b")))
    ana, ben = (turn["person"] for turn in await turns(graph, space))
    await refuse(graph, space, ana, purpose=ConsentPurpose.ATTRIBUTE)
    await take(folding, session, talk(("ana", "c"), ("ben", "d"), first=2))
    await finish(graph, folding, session)
    found = await turns(graph, space)
    assert [(turn["person"], turn["reason"]) for turn in found[2:]] == [(None, "opted_out"), (ben, None)]
    assert (await graph.read(rows, KEPT_OF, space=space, person=ana))[0]["exemplars"] == 0


@pytest.mark.parametrize("erased", [False, True])
async def test_an_opt_out_outlives_erasure(graph: Graph, space: str, erased: bool) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"))])
    ana, ben = (turn["person"] for turn in await turns(graph, space))
    await refuse(graph, space, ana)
    if erased:
        assert await graph.write(erase, space, ana)
    (kept,) = await graph.read(rows, KEPT, space=space)
    assert (kept["marks"], kept["bound"]) == (1, 0 if erased else 1)
    (mark,) = kept["opt_outs"]
    assert not any(isinstance(value, list) for value in mark.values()) and len(mark["mark"]) == 32
    again, gallery = a_session(space, id=fresh(), external_id="wound"), a_gallery(graph)
    folding = await begin(graph, again, gallery=gallery)
    await take(folding, again, talk(("ana", "hello"), ("ben", "hi"), ("cleo", "new here")))
    found = [turn for turn in await turns(graph, space) if turn["session"] == "wound"]
    assert [turn["reason"] for turn in found] == ["opted_out", None, None] and found[1]["person"] == ben
    await remove_opt_out(graph, space, mark["id"])  # by hand: she changed her mind, or it was not her
    await take(folding, again, talk(("ana", "hello again"), first=3))
    assert (await turns(graph, space))[-1]["person"] not in (None, ana)


async def erase(tx: Tx, space: str, person: str) -> bool:
    await lock_space(tx, space)
    await bump_revision(tx, space)
    return await leave_tombstone(tx, space, person)


async def test_a_tombstone_is_an_id_and_proofs_and_who_only_withdrew_leaves_no_mark(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    (ana,) = (turn["person"] for turn in await turns(graph, space))
    await refuse(graph, space, ana, Consent.WITHDRAWN, evidence="letter of Ana Smith", recorded_by="command-line")
    assert not await graph.write(erase, space, ana)
    assert not await graph.write(erase, space, ana), "again, it is the same"
    (person,) = await graph.read(rows, PEOPLE, space=space)
    assert person["properties"].keys() == {"id", "space", "created_at", "tombstone"}
    assert (await graph.read(rows, KEPT, space=space))[0]["marks"] == 0
    (consent,) = await graph.read(rows, "MATCH (c:Consent {space: $space}) RETURN properties(c) AS c", space=space)
    assert consent["c"]["state"] == "withdrawn" and not {"evidence", "recorded_by"} & consent["c"].keys()


async def test_agreeing_takes_the_mark_away_and_a_space_may_want_none(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    (ana,) = (turn["person"] for turn in await turns(graph, space))
    await refuse(graph, space, ana)
    await record_consent(graph, space=space, person_id=ana, state=Consent.GRANTED, **SAID)
    assert (await graph.read(rows, KEPT, space=space))[0]["marks"] == 0
    await graph.write(save_space, SpaceSettings(space, opt_outs=OptOuts.IDS))
    await write(graph, a_session(space, id=fresh(), external_id="b"), [talk(("bo", "b"))])
    await refuse(graph, space, (await turns(graph, space))[-1]["person"])
    assert (await graph.read(rows, KEPT, space=space))[0]["marks"] == 0


EVENTS = "MATCH (e:Event {space: $space, what: 'voices'}) RETURN e.people AS people, e.counts AS counts"


async def voice_of(graph: Graph, space: str, person: str) -> tuple[int, bool]:
    (kept,) = await graph.read(rows, KEPT_OF, space=space, person=person)
    return kept["exemplars"], kept["has_voiceprint"]


@pytest.mark.parametrize("purpose", [ConsentPurpose.REMEMBER_VOICE, ConsentPurpose.ATTRIBUTE])
async def test_whoever_turns_out_to_be_one_who_refused_has_no_voice_kept(
    graph: Graph, space: str, purpose: ConsentPurpose
) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"), ("cleo", "c"))])
    ana, ben, cleo = (turn["person"] for turn in await turns(graph, space))
    await refuse(graph, space, ana, Consent.WITHDRAWN, purpose=purpose)
    (before,) = await graph.read(rows, KEPT, space=space)
    done = await Correct(graph, marker=lambda: MARKER).merge(space, ben, ana, actor="test", why="heard it")
    assert len(done.exemplars_lost) == 1 and await voice_of(graph, space, ben) == (0, False)
    assert await voice_of(graph, space, cleo) == (1, True)
    assert [row["people"] for row in await graph.read(rows, EVENTS, space=space)] == [[ana], [ana]]
    (after,) = await graph.read(rows, KEPT, space=space)
    assert before["opt_outs"] == after["opt_outs"] != [], "the mark of her own voice stays hers"


async def test_who_had_no_voice_when_they_opted_out_is_known_by_the_one_that_turns_out_to_be_theirs(
    graph: Graph, space: str
) -> None:
    ana = fresh()
    await graph.write(save_person, space, ana, "Ana")
    await refuse(graph, space, ana)
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"))])
    stranger, ben = (turn["person"] for turn in await turns(graph, space))
    correct = Correct(graph, marker=lambda: MARKER)
    done = await correct.merge(space, stranger, ana, actor="test", why="heard it")
    again = a_session(space, id=fresh(), external_id="wound")
    folding = await begin(graph, again, gallery=a_gallery(graph))
    await take(folding, again, talk(("ana", "hello"), ("ben", "hi")))
    found = [turn for turn in await turns(graph, space) if turn["session"] == "wound"]
    assert [(turn["reason"], turn["person"]) for turn in found] == [("opted_out", None), (None, ben)]
    (kept,) = await graph.read(rows, KEPT, space=space)
    assert (kept["marks"], kept["bound"]) == (1, 1)
    await correct.undo(space, done.correction_id, actor="test")
    assert (await graph.read(rows, KEPT, space=space))[0]["marks"] == 0, "it was not hers"


async def test_a_merge_that_is_undone_takes_its_own_mark_away_and_not_that_of_another(graph: Graph, space: str) -> None:
    ana = fresh()
    await graph.write(save_person, space, ana, "Ana")
    await refuse(graph, space, ana)
    await write(graph, a_session(space), [talk(("ben", "a"), ("cleo", "b"))])
    correct = Correct(graph, marker=lambda: MARKER)
    heard = [turn["person"] for turn in await turns(graph, space)]
    done = [await correct.merge(space, person, ana, actor="test", why="heard it") for person in heard]
    assert (await graph.read(rows, KEPT, space=space))[0]["marks"] == 2
    await correct.undo(space, done[0].correction_id, actor="test")
    again = a_session(space, id=fresh(), external_id="wound")
    folding = await begin(graph, again, gallery=a_gallery(graph))
    await take(folding, again, talk(("ben", "hi"), ("cleo", "hello")))
    found = [turn["reason"] for turn in await turns(graph, space) if turn["session"] == "wound"]
    assert found == [None, "opted_out"], "cleo's voice is hers, and ben's is not"


async def test_who_agreed_keeps_their_voice_until_somebody_confirms_that_they_are_one_who_refused(
    graph: Graph, space: str
) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"), ("cleo", "c"))])
    ana, ben, cleo = (turn["person"] for turn in await turns(graph, space))
    await refuse(graph, space, ana)
    await record_consent(graph, space=space, person_id=ben, state=Consent.GRANTED, **SAID)
    correct, turn = Correct(graph), (await graph.read(rows, TURN_OF, space=space, person=cleo))[0]["id"]
    await correct.merge(space, ben, ana, actor="test", why="alike", confirmed=False)
    assert await voice_of(graph, space, ben) == (1, True)
    await correct.merge(space, ben, ana, actor="test", why="heard it")
    assert await voice_of(graph, space, ben) == (0, False)
    moved = await correct.reassign(space, [turn], ben, actor="test", why="heard it")
    assert len(moved.exemplars_lost) == 1, "what becomes theirs later goes, too"
    assert await voice_of(graph, space, ben) == (0, False)


async def test_the_login_of_who_opted_out_and_was_erased_is_bound_to_nobody_again(graph: Graph, space: str) -> None:
    ana, other, key = fresh(), fresh(), AccountKey("mailto", "Ana@example.org")
    for person in (ana, other):
        await graph.write(save_person, space, person, "Ana")
    at = (await graph.read(rows, "RETURN datetime() AS now"))[0]["now"]
    await graph.write(bind_account, space, key, ana, actor="test", why="", at=at)
    await refuse(graph, space, ana)
    await graph.write(erase, space, ana)
    await graph.write(rows, "MATCH (a:Account {space: $space}) DETACH DELETE a", space=space)  # as an erasure does
    with pytest.raises(AccountOptedOut):
        await Accounts(graph, marker=lambda: MARKER).bind(space, key, other, actor="test", why="")
    (kept,) = await graph.read(rows, KEPT, space=space)
    assert "ana" not in json.dumps(kept["opt_outs"], default=str)


async def test_without_the_key_a_mark_matches_nobody_and_that_is_said(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    (ana,) = (turn["person"] for turn in await turns(graph, space))
    await refuse(graph, space, ana)
    (kept,) = await graph.read(rows, KEPT, space=space)
    assert kept["marks"] == 1
    with warned(gallery.__name__) as told:
        read = await a_gallery(graph, Marker(bytes(32)))(space, [])
    assert read.refusals.marks.size == 0 and read.refusals.voices == {ana}
    assert len(told) == 1 and told[0].startswith("1 voices of space") and "opt-outs.key" in told[0]


async def test_who_opted_out_and_is_erased_for_real_leaves_a_mark_that_is_nobodys(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    household = await a_household(graph, space, tmp_path)
    await refuse(graph, space, household.dana, evidence="letter of Dana Quill")
    since, other = AccountKey("zoom", "u-17"), fresh()
    await Accounts(graph, marker=lambda: MARKER).bind(space, since, household.dana, actor="test", why="")
    (before,) = await graph.read(rows, KEPT, space=space)
    assert before["bound"] > 0
    subject = Subject(SubjectKind.PERSON, household.dana)
    assert (await household.eraser(marker=lambda: MARKER)(space, subject, asked_by="admin")).complete
    await graph.write(save_person, space, other, "Somebody")
    for login in (since, AccountKey("mailto", "dana@example.org")):
        with pytest.raises(AccountOptedOut):
            await Accounts(graph, marker=lambda: MARKER).bind(space, login, other, actor="test", why="")
    (kept,) = await graph.read(rows, KEPT, space=space)
    assert kept["marks"] > 0 == kept["bound"]
    assert household.dana not in json.dumps(kept["opt_outs"], default=str)
    ids = {one["id"] for one in before["opt_outs"]}
    assert not ids & {one["id"] for one in kept["opt_outs"]}, "what the tombstone's id, which stays, was made into"
    assert {(at.day, at.hour, at.microsecond) for at in (one["created_at"] for one in kept["opt_outs"])} == {(1, 0, 0)}
