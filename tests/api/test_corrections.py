"""Who is who is put right over HTTP: by whom, once per key, undone exactly, and at once for who listens."""

from __future__ import annotations

from typing import Any

import pytest

from service.graph.driver import Graph, changes
from service.graph.jobs import JobStatus, NewJob, finish_job, save_job, save_progress
from service.types.ids import derived, fresh
from tests.api.serving import Api
from tests.graph.correction_builders import ingest, message, session_id, speakers, state, track

PROBLEM = "... on Problem { code message }"
DONE = f"""{{ __typename ... on Corrected {{ correctionId kind personId numTurns numSessions numExemplarsLost verdictId }}
  ... on Conflict {{ undoFirst }} {PROBLEM} }}"""
MERGE = f"""mutation($a: ID!, $b: ID!, $key: String!, $confirmed: Boolean! = true) {{
  mergePeople(personId: $a, intoId: $b, confirmed: $confirmed, why: "heard it", idempotencyKey: $key) {DONE} }}"""
NOT_SAME = (
    f"mutation($a: ID!, $b: ID!, $key: String!) {{ markNotSame(personId: $a, otherId: $b, idempotencyKey: $key) {DONE} }}"
)
BOT = f"mutation($a: ID!, $key: String!) {{ markBot(personId: $a, idempotencyKey: $key) {DONE} }}"
SPLIT = f"""mutation($a: ID!, $messages: [ID!]! = [], $voices: [ID!]! = [], $key: String!) {{
  splitPerson(personId: $a, messageIds: $messages, localSpeakers: $voices, name: "Cora", idempotencyKey: $key) {DONE} }}"""
REASSIGN = f"""mutation($messages: [ID!]!, $to: ID, $new: String, $key: String!) {{
  reassignMessages(messageIds: $messages, toId: $to, newPerson: $new, why: "not me", idempotencyKey: $key) {DONE} }}"""
UNDO = f"mutation($id: ID!, $key: String!) {{ undoCorrection(correctionId: $id, idempotencyKey: $key) {DONE} }}"
TEXTS = "{ messages(first: 50) { edges { node { text speaker { id } } } } }"
CORRECTIONS = """query($undone: Boolean! = false) { corrections(first: 9, undoneToo: $undone) { edges { node {
  id kind actor why numTurns undoneAt personIds people { id } } } } }"""


class House:
    """Ana and Ben on Monday; Ben and Cleo on Tuesday. People have tokens of their own; the admin sees all."""

    def __init__(self, api: Api, people: dict[str, str]) -> None:
        self.api, self.people, self.space = api, people, api.space
        self.admin = api.token("admin", scopes=["ask", "admin", "read_all"])
        self.tokens = {name: api.token(name, person_id=id) for name, id in people.items()}

    def person(self, name: str) -> str:
        return f"Person:{self.people[name]}"

    def message(self, session: str, index: int) -> str:
        return f"Message:{message(self.space, session, index)}"

    async def do(self, query: str, token: str | None = None, **variables: Any) -> Any:
        """The one field of the answer; as the admin unless told."""
        variables = {"key": fresh(), **variables}
        return next(iter((await self.api.data(query, token or self.admin, **variables)).values()))

    async def reads(self, name: str) -> set[str]:
        found = await self.api.data(TEXTS, self.tokens[name])
        return {edge["node"]["text"] for edge in found["messages"]["edges"]}


@pytest.fixture
async def house(api: Api, graph: Graph, space: str) -> House:
    monday = await ingest(graph, space, "monday", [("ana", "the piano"), ("ben", "the ladder"), ("ana", "the cellar")])
    tuesday = await ingest(graph, space, "tuesday", [("ben", "the garden"), ("cleo", "the attic"), ("ben", "the roof")])
    ana, ben, cleo = monday[0], monday[1], tuesday[1]
    assert ana and ben and cleo and tuesday == [ben, cleo, ben]
    return House(api, {"ana": ana, "ben": ben, "cleo": cleo})


async def test_a_confirmed_merge_lets_each_read_what_the_other_may_until_it_is_undone(house: House) -> None:
    before = {name: await house.reads(name) for name in ("ana", "cleo")}
    assert "the attic" not in before["ana"] and "the piano" not in before["cleo"]
    done = await house.do(MERGE, a=house.person("cleo"), b=house.person("ana"))
    assert (done["kind"], done["personId"], done["numTurns"]) == ("merge", house.person("ana"), 0)
    assert before["ana"] | before["cleo"] == await house.reads("ana") == await house.reads("cleo")
    undone = await house.do(UNDO, id=done["correctionId"])
    assert (undone["__typename"], undone["correctionId"]) == ("Corrected", done["correctionId"])
    assert {name: await house.reads(name) for name in before} == before


async def test_a_merge_that_nobody_confirmed_names_and_grants_nothing(house: House) -> None:
    before = await house.reads("ana")
    await house.do(MERGE, a=house.person("cleo"), b=house.person("ana"), confirmed=False)
    assert await house.reads("ana") == before
    found = await house.api.data(TEXTS, house.tokens["cleo"])
    named = {edge["node"]["text"]: edge["node"]["speaker"] for edge in found["messages"]["edges"]}
    assert named["the attic"] == {"id": house.person("ana")}


async def test_a_rejected_pair_is_not_merged_and_the_verdict_to_undo_is_told(house: House) -> None:
    verdict = await house.do(NOT_SAME, a=house.person("ana"), b=house.person("ben"))
    refused = await house.do(MERGE, a=house.person("ben"), b=house.person("ana"))
    assert refused["__typename"] == "Conflict" and refused["code"] == "correction_conflict"
    assert refused["undoFirst"] == verdict["correctionId"]
    await house.do(UNDO, id=refused["undoFirst"])
    assert (await house.do(MERGE, a=house.person("ben"), b=house.person("ana")))["__typename"] == "Corrected"


async def test_who_is_said_to_be_a_bot_reads_nothing_until_that_is_undone(house: House, graph: Graph, space: str) -> None:
    everything = {name: await house.reads(name) for name in ("ana", "ben", "cleo")}
    kind = "query($id: ID!) { person(id: $id) { kind } }"
    before = await house.do(kind, id=house.person("ben"))
    sessions = "{ sessions(first: 9) { edges { node { id } } } }"
    done = await house.do(BOT, a=house.person("ben"))
    assert (done["kind"], done["personId"], done["numTurns"]) == ("bot", house.person("ben"), 0), done
    assert await house.reads("ben") == set() and not (await house.api.data(sessions, house.tokens["ben"]))["sessions"]["edges"]
    assert {name: await house.reads(name) for name in ("ana", "cleo")} == {n: everything[n] for n in ("ana", "cleo")}
    heard = await house.api.data(TEXTS, house.tokens["ana"], headers={"x-voicegraph-heard-by": house.people["ben"]})
    assert not heard["messages"]["edges"], "what a program hears may go anywhere"
    assert (await house.do(kind, id=house.person("ben"))) == {"kind": "bot"}
    again = await house.do(BOT, a=house.person("ben"))
    assert (again["__typename"], again["undoFirst"]) == ("Conflict", done["correctionId"])
    await ingest(graph, space, "friday", [("ana", "the well"), ("ben", "the fence"), ("ana", "the bench")])
    assert await house.reads("ben") == set() and "the fence" in await house.reads("ana")
    undone = await house.do(UNDO, id=done["correctionId"])
    assert (undone["__typename"], undone["kind"]) == ("Corrected", "bot")
    assert await house.reads("ben") == everything["ben"] | {"the fence"}, "also of what was said meanwhile"
    assert before == await house.do(kind, id=house.person("ben")) != {"kind": "bot"}


async def test_messages_given_to_somebody_are_theirs_to_read_and_undoing_restores_the_graph(
    house: House, graph: Graph, space: str
) -> None:
    before = await state(graph, space)
    assert "the ladder" not in await house.reads("cleo")
    done = await house.do(REASSIGN, messages=[house.message("monday", 1)], to=house.person("cleo"))
    assert (done["kind"], done["numTurns"], done["numSessions"]) == ("reassign", 1, 1), done
    assert done["personId"] == house.person("cleo")
    assert "the ladder" in await house.reads("cleo") and "the ladder" not in await house.reads("ben")
    assert (await speakers(graph, space, "monday"))[1] == house.people["cleo"]
    await house.do(UNDO, id=done["correctionId"])
    assert await state(graph, space) == before


async def test_some_voices_of_a_person_become_somebody_new(house: House, graph: Graph, space: str) -> None:
    done = await house.do(SPLIT, a=house.person("ben"), voices=[track(space, "tuesday", "ben")])
    new = done["personId"].removeprefix("Person:")
    assert (done["kind"], done["numTurns"]) == ("split", 2), done
    assert await speakers(graph, space, "tuesday") == [new, house.people["cleo"], new]
    name = await house.do("query($id: ID!) { person(id: $id) { displayName numTurns } }", id=done["personId"])
    assert name == {"displayName": "Cora", "numTurns": 2}
    left = await house.reads("ben")
    assert "the ladder" in left and not left & {"the garden", "the roof"}
    assert (await house.do(SPLIT, a=house.person("ben")))["__typename"] == "InvalidInput"
    absent = await house.do(SPLIT, a=fresh(), messages=[house.message("monday", 1)])
    assert absent["__typename"] == "NotFound"


async def test_what_may_be_split_off_is_shown_before(house: House, graph: Graph, space: str) -> None:
    query = """query($id: ID!) { splitPreview(personId: $id) { numParts parts {
      localSpeaker label numTurns start end netSpeech cosine numExemplars session { title } messageIds turns { text } } } }"""
    preview = await house.do(query, id=house.person("ben"))
    parts = {part["localSpeaker"]: part for part in preview["parts"]}
    assert preview["numParts"] == 2 and set(parts) == {track(space, day, "ben") for day in ("monday", "tuesday")}
    tuesday = parts[track(space, "tuesday", "ben")]
    assert (tuesday["label"], tuesday["numTurns"], tuesday["start"], tuesday["end"]) == ("track ben", 2, 0.0, 14.0)
    assert tuesday["cosine"] > 0.4 and [turn["text"] for turn in tuesday["turns"]] == ["the garden", "the roof"]
    done = await house.do(SPLIT, a=house.person("ben"), messages=tuesday["messageIds"])
    assert (done["kind"], done["numTurns"]) == ("split", 2), done
    assert await house.do(query, id=fresh()) is None
    blind = house.api.token("blind admin", scopes=["admin"])
    assert await house.do(query, blind, id=house.person("ana")) is None, "what it may not read it does not split by"
    assert await house.api.code(query, house.tokens["ana"], id=house.person("ana")) == "not_allowed"


async def test_a_voice_that_was_nobodys_becomes_somebody_not_known_before(house: House, graph: Graph, space: str) -> None:
    """From the inbox to a person with a name, and back."""
    await house.do(REASSIGN, messages=[house.message("tuesday", 1)])
    before = await state(graph, space)
    inbox = "{ whoIsThis { edges { node { kind localSpeaker unresolvedIds } } } }"
    waiting = [edge["node"] for edge in (await house.do(inbox))["edges"]]
    (voice,) = (node for node in waiting if node["kind"] == "LOCAL_SPEAKER")
    assert voice["unresolvedIds"] == [house.message("tuesday", 1)]
    assert voice["localSpeaker"] == track(space, "tuesday", "cleo")
    ben = house.tokens["ben"]
    assert (await house.do(REASSIGN, ben, messages=voice["unresolvedIds"], new="Dora"))["__typename"] == "NotAllowed"
    both = await house.do(REASSIGN, messages=voice["unresolvedIds"], new="Dora", to=house.person("ana"))
    assert both["__typename"] == "InvalidInput"
    done = await house.do(REASSIGN, messages=voice["unresolvedIds"], new="Dora")
    assert (done["kind"], done["numTurns"]) == ("reassign", 1), done
    new = await house.do("query($id: ID!) { person(id: $id) { displayName kind numTurns } }", id=done["personId"])
    assert new == {"displayName": "Dora", "kind": "named", "numTurns": 1}
    assert not any(e["node"]["kind"] == "LOCAL_SPEAKER" for e in (await house.do(inbox))["edges"])
    await house.do(UNDO, id=done["correctionId"])
    assert await state(graph, space) == before, "and nobody is left behind"


async def test_a_person_says_not_me_and_takes_it_back(house: House, graph: Graph, space: str) -> None:
    before, ben, key = await state(graph, space), house.tokens["ben"], fresh()
    turn = [house.message("monday", 1)]
    done = await house.do(REASSIGN, ben, messages=turn, key=key)
    assert (done["kind"], done["personId"], done["numTurns"]) == ("reassign", None, 1), done
    assert (await speakers(graph, space, "monday"))[1] is None and "the ladder" not in await house.reads("ben")
    assert await house.do(REASSIGN, ben, messages=turn, key=key) == done, "the same key, though it is theirs no longer"
    (mine,) = (await house.api.data(CORRECTIONS, ben))["corrections"]["edges"]
    assert (mine["node"]["id"], mine["node"]["why"], mine["node"]["personIds"]) == (done["correctionId"], "not me", [])
    assert (await house.do(UNDO, ben, id=done["correctionId"]))["__typename"] == "Corrected"
    assert await state(graph, space) == before
    assert (await house.api.data(CORRECTIONS, ben))["corrections"]["edges"] == []
    (undone,) = (await house.api.data(CORRECTIONS, ben, undone=True))["corrections"]["edges"]
    assert undone["node"]["undoneAt"] is not None


async def test_a_person_says_nothing_of_turns_that_are_others(house: House) -> None:
    ana = house.tokens["ana"]
    for turn in (house.message("monday", 1), house.message("tuesday", 1), f"Message:{fresh()}"):
        refused = await house.do(REASSIGN, ana, messages=[house.message("monday", 0), turn])
        assert refused["__typename"] == "NotFound" and refused["code"] == "not_found", "seen or not, there or not"
    given = await house.do(REASSIGN, ana, messages=[house.message("monday", 0)], to=house.person("ben"))
    assert given["__typename"] == "NotAllowed"
    speaker = house.api.token("kitchen speaker", may_act_for=[house.people["ana"]])
    headers = {"x-voicegraph-acting-for": house.people["ana"]}
    answer = await house.api.data(REASSIGN, speaker, headers, messages=[house.message("monday", 0)], key=fresh())
    assert answer["reassignMessages"]["__typename"] == "NotAllowed", "leave to ask for somebody is not leave to deny for them"


async def test_what_others_corrected_is_not_a_persons_to_undo(house: House) -> None:
    done = await house.do(REASSIGN, messages=[house.message("monday", 1)], to=house.person("ana"))
    for token in (house.tokens["ben"], house.tokens["ana"]):
        for id in (done["correctionId"], f"Correction:{fresh()}"):
            assert (await house.do(UNDO, token, id=id))["code"] == "not_found"
        assert (await house.api.data(CORRECTIONS, token))["corrections"]["edges"] == []
    assert (await house.do(UNDO, house.api.token("nobody"), id=done["correctionId"]))["__typename"] == "NotAllowed"
    assert (await house.do(UNDO, id=done["correctionId"]))["__typename"] == "Corrected"
    again = await house.do(UNDO, id=done["correctionId"])
    assert (again["__typename"], again["code"]) == ("Conflict", "correction_conflict")


async def test_who_is_no_administrator_any_more_undoes_nothing_of_that_time(house: House) -> None:
    """Ben took turns and a whole voice from himself; taken back, he would read them again."""
    admin = house.api.token("ben", person_id=house.people["ben"], scopes=["ask", "admin"])
    given = await house.do(REASSIGN, admin, messages=[house.message("monday", 1)], to=house.person("ana"))
    split = await house.do(SPLIT, admin, a=house.person("ben"), messages=[house.message("tuesday", 0)])
    before = await house.reads("ben")
    for done in (given, split):
        assert (await house.do(UNDO, house.tokens["ben"], id=done["correctionId"]))["code"] == "not_found"
    assert await house.reads("ben") == before and "the ladder" not in before
    assert (await house.do(UNDO, admin, id=given["correctionId"]))["__typename"] == "Corrected"


async def test_a_person_whose_correction_was_corrected_learns_no_more_than_that(house: House) -> None:
    ben = house.tokens["ben"]
    mine = await house.do(REASSIGN, ben, messages=[house.message("monday", 1)])
    theirs = await house.do(REASSIGN, messages=[house.message("monday", 1)], to=house.person("cleo"))
    refused = await house.do(UNDO, ben, id=mine["correctionId"])
    assert (refused["code"], refused["undoFirst"]) == ("corrected_since", None)
    told = await house.do(UNDO, id=mine["correctionId"])
    assert told["undoFirst"] == theirs["correctionId"]
    assert house.people["cleo"] not in refused["message"]


@pytest.mark.parametrize("scopes", [["ask"], ["ask", "read_all"], ["ingest"]])
async def test_only_an_admin_merges_splits_and_keeps_apart(house: House, scopes: list[str]) -> None:
    token = house.api.token("ben", person_id=house.people["ben"], scopes=scopes)
    for query, variables in (
        (MERGE, {"a": house.person("ben"), "b": house.person("ana")}),
        (NOT_SAME, {"a": house.person("ben"), "b": house.person("ana")}),
        (SPLIT, {"a": house.person("ben"), "messages": [house.message("monday", 1)]}),
        (BOT, {"a": house.person("ana")}),
    ):
        assert (await house.do(query, token, **variables))["__typename"] == "NotAllowed"
        assert (await house.api.data(query, None, key=fresh(), **variables)).popitem()[1]["__typename"] == "NotAllowed"


async def test_a_key_makes_a_correction_once(house: House) -> None:
    key, pair = fresh(), {"a": house.person("cleo"), "b": house.person("ana")}
    done = await house.do(MERGE, key=key, **pair)
    assert await house.do(MERGE, key=key, **pair) == done
    other = await house.do(MERGE, key=key, a=house.person("ben"), b=house.person("ana"))
    assert (other["__typename"], other["code"]) == ("Conflict", "key_conflict")
    edges = (await house.api.data(CORRECTIONS, house.admin))["corrections"]["edges"]
    assert [edge["node"]["id"] for edge in edges] == [done["correctionId"]]
    assert {person["id"] for person in edges[0]["node"]["people"]} == {house.person("ana")}, "Cleo is shown as Ana"
    assert set(edges[0]["node"]["personIds"]) == {house.person("ana"), house.person("cleo")}


async def test_too_many_or_no_messages_are_refused(house: House) -> None:
    many = [f"m{i}" for i in range(1_001)]
    for messages in ([], many):
        assert (await house.do(REASSIGN, messages=messages, to=house.person("ana")))["__typename"] == "InvalidInput"


async def test_a_reason_is_one_line_of_some_length(house: House) -> None:
    merge = f"""mutation($why: String!, $key: String!) {{ mergePeople(personId: "{house.person("cleo")}",
      intoId: "{house.person("ana")}", why: $why, idempotencyKey: $key) {DONE} }}"""
    for why in ("x" * 201, "a\x00b", "\x1b[2J"):
        assert (await house.do(merge, why=why))["__typename"] == "InvalidInput"
    await house.do(merge, why=" heard it\n\ttwice \ud800")
    (kept,) = (await house.api.data(CORRECTIONS, house.admin))["corrections"]["edges"]
    assert kept["node"]["why"] == "heard it twice \ufffd"


async def test_who_took_a_persons_correction_back_is_for_who_reads_everything(house: House) -> None:
    query = "{ corrections(first: 9, undoneToo: true) { edges { node { actor undoneBy } } } }"
    account = {name: derived("account", house.space, "local", name) for name in ("ben", "admin")}
    for undoer, told in ((house.tokens["ben"], account["ben"]), (house.admin, "somebody")):
        done = await house.do(REASSIGN, house.tokens["ben"], messages=[house.message("monday", 1)])
        await house.do(UNDO, undoer, id=done["correctionId"])
        (seen, *_) = (await house.api.data(query, house.tokens["ben"]))["corrections"]["edges"]
        assert seen["node"] == {"actor": account["ben"], "undoneBy": told}
    (seen, *_) = (await house.api.data(query, house.admin))["corrections"]["edges"]
    assert seen["node"]["undoneBy"] == account["admin"]


async def test_what_a_correction_takes_away_is_gone_from_an_open_subscription(house: House, graph: Graph) -> None:
    """Cleo follows a job whose session she heard; a correction says that she was not there."""
    new = NewJob(house.space, derived("account", house.space, "local", "cleo"), fresh(), "ingest", "hash", "{}")
    job, _ = await graph.write(save_job, new, JobStatus.RUNNING, again=())
    tuesday = session_id(house.space, "tuesday")
    await graph.write(changes, "MATCH (j:Job {id: $id}) SET j.session_id = $session", id=job.id, session=tuesday)
    query = """subscription($id: ID!) { jobProgress(id: $id) { ... on Job { stage
      session { title messages(first: 9) { edges { node { text } } } } } } }"""
    async with house.api.socket({"authorization": f"Bearer {house.tokens['cleo']}"}) as socket:
        await socket.receive()
        await socket.subscribe("1", query, id=job.id)
        seen = (await socket.receive())["payload"]["data"]["jobProgress"]["session"]
        assert "the attic" in str(seen)
        await house.do(REASSIGN, messages=[house.message("tuesday", 1)], to=house.person("ben"))
        assert await house.reads("cleo") == set()
        await graph.write(save_progress, [{"id": job.id, "status": "running", "stage": "closing", "progress": 0.9}])
        assert (await socket.receive())["payload"]["data"]["jobProgress"] == {"stage": "closing", "session": None}
        await graph.write(finish_job, job.id, JobStatus.COMPLETE, session_id=tuesday, result="{}")
        assert (await socket.receive())["payload"]["data"]["jobProgress"]["session"] is None
