"""Somebody is erased: hidden at once, gone from every store, the others as they were; however often it is broken off."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from service.errors import NotFound
from service.graph.access import read_scope
from service.graph.accounts import account_id
from service.graph.driver import Graph, GraphConfig, changes, rows
from service.graph.erase_own import Own, count_own_vectors, count_own_words, list_own
from service.graph.erase_probe import AWAIT_FULL_TEXT
from service.graph.forget_space import forget_space
from service.graph.messages import list_messages
from service.graph.paging import Page
from service.graph.receipts import SessionErased
from service.graph.write_facts import fact_id, save_facts
from service.graph.write_meetings import Changes, save_changes
from service.graph.write_sessions import SessionBusy
from service.pipelines.erasure_ledger import Entry, Ledger
from service.pipelines.facts import RememberFacts
from service.pipelines.receipts import WITH_ITS_OWN, portable, verified
from service.types.erasure import Erasing, Erasure, Subject, SubjectKind
from service.types.facts import Fact, FactKind, FactTurn
from service.types.ids import fresh
from service.types.meeting import AccountKey
from service.types.people import Assurance, Viewer
from tests.conftest import CREATE_SPACE
from tests.graph.correction_builders import correct, ingest, message, session_id, speakers
from tests.graph.erase_builders import MONDAY, WORDS, Breaking, Broken, Household, a_household, told

NODES = "MATCH (n {space: $space}) RETURN n.id AS id, labels(n)[0] AS label"
CONTEXTS = """
MATCH (m:Message {space: $space}) WHERE m.text IS NOT NULL
RETURN m.id AS id, m.embedding__e5_small_v2_q__context IS NOT NULL AS has
"""
MERGED = """
MATCH (p:Person {id: $person, space: $space}), (into:Person {id: $into, space: $space})
MERGE (p)-[:MERGED_INTO {confirmed: false, correction: 'x'}]->(into)
"""
OPEN = "MATCH (s:Session {space: $space}) SET s.status = 'open'"
COMPLETE = "MATCH (s:Session {space: $space}) SET s.status = 'complete'"
MADE_BEFORE = "MATCH (s:Space {id: $space}) SET s.created_at = datetime() - duration('P1D')"
"""As a backup from then has it."""
WORKED_ON = """
UNWIND [['queued', 'queued', 0], ['silent', 'running', 3600]] AS row
CREATE (:Job {id: $space + '/' + row[0], space: $space, created_at: datetime(), kind: 'ingest', key: row[0], account: $account,
  status: row[1], request: '{"title": "Dana Quill"}', heartbeat_at: datetime() - duration({seconds: row[2]})})
"""
WORKED = "MATCH (j:Job {id: $space + '/queued'}) SET j.status = 'complete'"
TOMBSTONES = "MATCH (p:Person {space: $space, tombstone: true}) RETURN p.id AS id"
HERS = {"I hid the sapphire in the teapot.", "Ben, bring the ladder on Friday.", "Zanzibar is where I go in May."}


@pytest.fixture
async def household(graph: Graph, space: str, tmp_path: Path) -> Household:
    return await a_household(graph, space, tmp_path)


async def read_by(household: Household, person: str | None) -> list[str]:
    """Texts of all that this person, or (None) who reads all, may read."""
    ids = (person,) if person else ()
    viewer = Viewer(household.space, None, person, ids, False, Assurance.TOKEN, person is None)
    scope = await household.graph.read(read_scope, viewer)
    page = await household.graph.read(list_messages, scope, page=Page(first=50))
    return [m.text or "" for m in page.items]


async def nodes(household: Household) -> dict[str, str]:
    return {row["id"]: row["label"] for row in await told(household, NODES)}


LINK = """
MATCH (gem:Entity {id: $space + '/gem'})-[in:IN_SCHEMA]->(theme:Schema)
MATCH (melon:Message {id: $melon})
CREATE (gem)-[:MENTIONED_IN {surface: 'it', kind: 'noun'}]->(melon)
CREATE (gem)-[:IN_SCHEMA]->(other:Schema {id: theme.id + '2', space: $space, created_at: datetime(), label: 'tools'})
CREATE (theme)-[:MACRO {weight: 1.0, at: datetime()}]->(other)
DELETE in
"""
LINKED = "MATCH (s:Schema {space: $space})-[:MACRO]->(other:Schema) RETURN other.id AS id"
TURNS = "MATCH (p:Person {space: $space})-[:SPEAKS]->(m:Message) RETURN m.id AS id, p.id AS of"
OF_A_TURN = "MATCH (f:Fact {space: $space})-[:EVIDENCED_BY]->(:Message {id: $melon}) RETURN f.statement AS statement"
SAID_IN = """
MATCH (f:Fact {space: $space})-[:EVIDENCED_BY {role: 'source'}]->(:Message {id: $message}) RETURN f.statement AS statement
"""
SENT = """
CREATE (:Job {id: $space + '/sent', space: $space, created_at: datetime(), kind: 'ingest', key: 'h', account: $account,
              status: 'complete', result: '{}'})
"""


async def with_a_token(household: Household) -> Path:
    """Dana has one of her own, which no login in the graph says; what it sent."""
    tokens = [{"space": household.space, "issuer": "local", "subject": "her-phone", "person_id": household.dana}]
    (household.folder / "tokens.json").write_text(json.dumps({"tokens": tokens}))
    account = account_id(household.space, AccountKey("local", "her-phone"))
    await household.graph.write(changes, SENT, space=household.space, account=account)
    sent = household.folder / "uploads" / account / ("1" * 64)
    sent.parent.mkdir()
    sent.write_text("sound")
    return sent


async def own_of(household: Household, turns: list[str]) -> Own:
    facts = (f"{household.space}/own", f"{household.space}/about")
    of = Erasure(id="", space=household.space, subject=dana(household), asked_by="", why="", at=datetime.now(UTC),
                 people=(household.dana,), facts=facts)  # fmt: skip
    return await household.graph.read(list_own, of, turns, 3)


async def asks_with(household: Household, own: Own) -> tuple[int, int]:
    """How many nodes the indexes give out for their vectors, and for their words."""
    await household.graph.read(rows, AWAIT_FULL_TEXT)
    looks = (count_own_vectors, count_own_words)
    vectors, words = [await household.graph.read(look, household.space, own) for look in looks]
    return vectors, words


def dana(household: Household) -> Subject:
    return Subject(SubjectKind.PERSON, household.dana)


async def test_a_person_is_hidden_at_once_and_leaves_nothing_but_what_is_of_others(household: Household) -> None:
    erase, space = household.eraser(), household.space
    everybody = (household.ben, household.cleo, None)
    sent = await with_a_token(household)
    before, stood = {person: await read_by(household, person) for person in everybody}, await nodes(household)
    turns = [(row["id"], row["of"]) for row in await told(household, TURNS)]
    held = await own_of(household, [message(space, "monday", n) for n in (0, 2)])
    assert await asks_with(household, held) == (len(held.vectors), len(held.phrases)), "each of them is found while it is there"
    assert HERS & set(before[household.ben]) and await household.left()
    moved = await correct(household.graph).reassign(space, [message(space, "monday", 4)], household.ben, actor="a", why="x")

    begun = await erase.begin(space, dana(household), asked_by="admin", why="Dana asked for it")
    assert not begun.complete
    hidden = {person: await read_by(household, person) for person in everybody}
    assert not any(HERS & set(texts) for texts in hidden.values())
    assert await read_by(household, household.dana) == []
    done = await erase.finish(space, dana(household))

    assert done.complete and done.receipt and await household.left() == []
    assert {person: await read_by(household, person) for person in everybody} == hidden
    assert set(hidden[household.ben]) >= set(before[household.ben]) - HERS
    after = await nodes(household)
    own = {
        f"{space}/{name}"
        for name in ("own", "owes", "about", "gem", "named", "trait", "toward", "laugh", "image", "hook", "let", "lets")
    }
    others = {f"{space}/{name}" for name in ("kept", "plain", "ladder", "of-melons", "bens", "bens-job", "audit", "bens-let")}
    assert own <= set(stood) and not own & set(after) and others <= set(after)
    assert {id for id, label in stood.items() if label in ("Message", "Person")} <= set(after), "time, length, a tombstone"
    assert set(household.forgotten) == {hers for hers, of in turns if of == household.dana}, "marked as mirrored or not"
    assert not sent.exists() and f"{space}/sent" in stood and f"{space}/sent" not in after
    assert not list((household.folder / "uploads").glob("*/*")) and not list((household.folder / "chat").glob("*/*"))
    assert all(row["has"] for row in await told(household, CONTEXTS))

    document = verified(portable(done.receipt))
    assert set(document["probe"]["found"].values()) == {0} and document["counts"]["messages"] == 3
    assert document["counts"]["facts"] == 3 and document["probe"]["with"] == WITH_ITS_OWN
    assert {index.split("_")[0] for index, _, _ in held.vectors} >= {"person", "exemplar", "message"}
    assert {index for index, _, _ in held.phrases} == {"message_text", "fact_text"}
    assert await asks_with(household, held) == (0, 0)
    undone = await correct(household.graph).undo(space, moved.correction_id, actor="a")
    assert undone.num_turns == 1 and await household.left() == [], "what is of others is restored, and nothing else"
    assert await erase(space, dana(household), asked_by="somebody") == done


async def test_a_sweep_killed_or_broken_off_after_any_transaction_ends_the_same(
    graph: Graph, graph_config: GraphConfig, space: str, tmp_path: Path
) -> None:
    """A process that sweeps is killed; the next ends after one transaction, then after some more, …: each goes on, and nothing
    is counted twice."""
    other = f"test-{fresh()}"
    await graph.write(changes, CREATE_SPACE, space=other)
    whole = await a_household(graph, other, tmp_path / "whole")
    straight = await whole.eraser()(other, dana(whole), asked_by="admin")

    household = await a_household(graph, space, tmp_path / "broken")
    await household.eraser().begin(space, dana(household), asked_by="admin")
    await kill_a_sweep(household, graph_config, after=5)
    done, broken = None, 0
    while done is None:
        try:
            done = await household.eraser(batch=2, graph=Breaking(graph, 1 + 2 * broken)).finish(space, dana(household))
        except Broken:
            broken += 1
    assert broken > 3 and await household.left() == []
    done = done if done.receipt else await household.eraser()(space, dana(household), asked_by="admin")
    assert straight.receipt and done.receipt and done.receipt.counts == straight.receipt.counts
    labels = [sorted((await nodes(each)).values()) for each in (whole, household)]
    assert labels[0] == labels[1]


async def kill_a_sweep(household: Household, config: GraphConfig, *, after: int) -> None:
    """With SIGKILL, once so many of its transactions are committed."""
    env = {**os.environ, "NEO4J_URI": config.uri, "NEO4J_USER": config.user, "NEO4J_PASSWORD": config.password}
    arguments = ("-m", "tests.graph.erase_process", household.space, str(household.folder), household.dana)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=env, cwd=Path(__file__).parents[2], stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    for _ in range(after):
        assert await asyncio.wait_for(process.stdout.readline(), 120), "it ended before it was killed"
    process.kill()
    assert await process.wait() == -signal.SIGKILL


async def read_again(household: Household) -> set[str]:
    """Statements of the facts that rest on Cleo's turn on Monday, once others have read it, in other words and kinds, and with
    Ben's."""
    space, melon = household.space, message(household.space, "monday", 4)
    worded = [
        Fact("{speaker} had a melon, a sweet one, with them", FactKind.STATEMENT, melon),
        Fact("{speaker} likes sweet melons", FactKind.PREFERENCE, melon, attribute="feeling about melons", value="likes"),
        Fact("the sweet melon was {speaker}'s", FactKind.STATEMENT, message(space, "monday", 3), context=(melon,)),
    ]
    await household.graph.write(save_facts, space, session_id(space, "monday"), worded, extractor="model:x")
    return {row["statement"] for row in await told(household, OF_A_TURN, melon=melon)}


async def test_a_session_a_message_and_a_fact_go_with_what_was_made_of_them(household: Household) -> None:
    space, erase, graph = household.space, household.eraser(), household.graph

    async def gone(kind: SubjectKind, id: str) -> Erasing:
        return await erase(space, Subject(kind, id), asked_by="admin")

    fact = Fact("{speaker} brought a sweet melon", FactKind.STATEMENT, message(space, "monday", 4))
    await graph.write(save_facts, space, session_id(space, "monday"), [fact], extractor="test")
    assert fact_id(fact) in await nodes(household)
    both = Subject(SubjectKind.FACT, fact_id(fact))
    await erase.begin(space, both, asked_by="admin")
    first, second = await asyncio.gather(*(each.finish(space, both) for each in (erase, household.eraser())))
    assert first.receipt and first.receipt == second.receipt, "two processes sweep it: there is one receipt"
    await graph.write(save_facts, space, session_id(space, "monday"), [fact], extractor="test")
    assert fact_id(fact) not in await nodes(household), "read again, it is made no more"
    there = {"{speaker} brought a melon", "the sweet melon was {speaker}'s"}
    assert await read_again(household) == there, "nor in other words of its turn, and what was read beside it stays"

    hers = message(space, "monday", 0)
    await graph.write(changes, LINK, space=space, melon=message(space, "monday", 4))
    done = await gone(SubjectKind.MESSAGE, hers)
    assert done.receipt and done.receipt.counts["facts"] == 2, "its own, and the one that owes a word to it"
    assert not {"I hid the sapphire in the teapot."} & set(await read_by(household, None))
    assert await told(household, LINKED) == [], "no other turn speaks of both"
    assert "Zanzibar is where I go in May." in await read_by(household, None)
    with pytest.raises(NotFound):
        await gone(SubjectKind.MESSAGE, message(space, "monday", 99))

    assert f"{space}/delivery" not in await nodes(household), "nor does the inbox keep its words"
    done = await gone(SubjectKind.SESSION, session_id(space, "monday"))
    after = await nodes(household)
    assert done.receipt and done.receipt.counts["messages"] == 5
    assert session_id(space, "monday") not in after and household.dana in after
    assert await read_by(household, None) == ["The melon was sweet.", "Zanzibar is where I go in May.", "Send us a card."]
    assert all(row["has"] for row in await told(household, CONTEXTS))
    with pytest.raises(SessionErased, match=done.receipt.id):
        await ingest(graph, space, "monday", MONDAY)


@dataclass
class InWords:
    """Two facts of every turn in these words, with the turn before as their context."""

    name: str

    async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        return tuple(
            Fact(f"{{speaker}} {self.name} {which}", FactKind.STATEMENT, turn.message_id, before)
            for n, turn in enumerate(turns)
            for before in [tuple(one.message_id for one in turns[max(0, n - 1) : n])]
            for which in ("one", "two")
        )


async def test_what_was_read_beside_an_erased_fact_stays_when_others_read_it_and_goes_with_its_words(
    household: Household,
) -> None:
    space, graph, monday = household.space, household.graph, session_id(household.space, "monday")
    of, following = message(space, "monday", 3), message(space, "monday", 4)

    async def read_by_words(words: str) -> tuple[set[str], set[str]]:
        await RememberFacts(graph, InWords(words), None)(space, monday, again=True)
        found = [await told(household, SAID_IN, message=id) for id in (of, following)]
        return {row["statement"] for row in found[0]}, {row["statement"] for row in found[1]}

    def both(words: str) -> set[str]:
        return {f"{{speaker}} {words} one", f"{{speaker}} {words} two"}

    assert await read_by_words("says") == (both("says"), both("says"))
    erased = fact_id(Fact("{speaker} says one", FactKind.STATEMENT, of))
    assert (await household.eraser()(space, Subject(SubjectKind.FACT, erased), asked_by="admin")).receipt
    assert await read_by_words("states") == ({"{speaker} says two"}, both("states"))
    assert await read_by_words("says") == ({"{speaker} says two"}, both("says"))
    await graph.write(changes, "MATCH (m:Message {id: $id}) SET m.text = 'Ben is fond of ladders.'", id=of)
    await graph.write(save_changes, space, monday, Changes(worded=[of]), half_life_days=30.0)
    assert await read_by_words("says") == (set(), both("says")), "what another turn says with it as context comes back"


async def test_what_a_backup_brings_back_is_hidden_before_anybody_reads(household: Household) -> None:
    erase, space = household.eraser(), household.space
    await erase(space, dana(household), asked_by="admin")
    Ledger(household.folder / "erasures.jsonl").space_forgotten(space, datetime.now(UTC))
    await forget_space(household.graph, space)
    await household.graph.write(changes, CREATE_SPACE, space=space)
    restored = await a_household(household.graph, space, household.folder)
    assert restored.dana == household.dana and HERS & set(await read_by(restored, None))
    assert await erase.replay() == [], "it is another space of that name"

    await household.graph.write(changes, MADE_BEFORE, space=space)
    assert await erase.replay() == [(space, dana(household))]
    assert not HERS & set(await read_by(restored, None))
    assert await erase.replay() == []
    assert await erase.take_up(lambda error: pytest.fail(str(error))) >= 1
    assert await restored.left() == []


async def test_a_backup_gets_back_exactly_what_was_erased_whatever_stands_in_it(household: Household) -> None:
    """It has two people of one entry, somebody merged with them by nobody's word, and a session that was still written."""
    erase, space, graph = household.eraser(), household.space, household.graph
    now, tuesday, monday = datetime.now(UTC), session_id(space, "tuesday"), message(space, "monday", 1)
    entries = [
        Entry("1", space, Subject(SubjectKind.PERSON, "nobody"), now, ("nobody", household.dana, household.cleo)),
        Entry("2", space, Subject(SubjectKind.SESSION, tuesday), now),
        Entry("3", space, Subject(SubjectKind.MESSAGE, monday), now),
    ]
    await graph.write(changes, MERGED, space=space, person=household.ben, into=household.dana)
    await graph.write(changes, OPEN, space=space)
    subjects = {subject.id for _, subject in await erase.replay(entries)}
    assert subjects == {household.dana}, "what is still written waits in a service that runs"
    assert {subject.id for _, subject in await erase.replay(entries, although_open=True)} == {tuesday, monday}
    assert await erase.replay(entries, although_open=True) == []
    assert await read_by(household, None) == ["Dana is fond of ladders."], "of who was merged with her later, nothing else went"
    tombstones = {row["id"] for row in await told(household, TOMBSTONES)}
    assert tombstones == {household.dana, household.cleo}


async def test_a_receipt_waits_for_what_somebody_erased_asked_for_and_is_still_worked_on(household: Household) -> None:
    erase, space, graph = household.eraser(), household.space, household.graph
    await with_a_token(household)
    await graph.write(changes, WORKED_ON, space=space, account=household.account)
    done = await erase(space, dana(household), asked_by="admin")
    assert done.receipt is None and done.waits_for == (f"{space}/queued",), "not for one whose process ended"
    assert f"{space}/silent" not in await nodes(household)
    await graph.write(changes, WORKED, space=space)
    done = await erase(space, dana(household), asked_by="admin")
    assert done.receipt and await household.left() == [] and not {f"{space}/queued"} & set(await nodes(household))
    assert "her-phone" not in (household.folder / "tokens.json").read_text()
    assert done.receipt.counts["names of tokens"] == 1


class Meanwhile(Graph):
    """The same database, in which something is `done` right before each write."""

    def __init__(self, graph: Graph, space: str, done: str) -> None:
        super().__init__(graph._driver, graph.config, graph.version)
        self.space, self.done = space, done

    async def write(self, work: Any, *args: Any, **kwargs: Any) -> Any:
        await super().write(changes, self.done, space=self.space)
        return await super().write(work, *args, **kwargs)


async def test_what_is_refused_as_it_is_hidden_is_not_erased_by_the_ledger_later(household: Household) -> None:
    space, graph = household.space, household.graph
    monday = Subject(SubjectKind.SESSION, session_id(space, "monday"))
    ledger = Ledger(household.folder / "erasures.jsonl")

    with pytest.raises(SessionBusy):
        await household.eraser(graph=Meanwhile(graph, space, OPEN)).begin(space, monday, asked_by="admin")
    assert ledger.path.exists() and ledger.entries() == []
    await graph.write(changes, COMPLETE, space=space)
    assert await household.eraser().replay() == [] and await read_by(household, None)

    gone = Meanwhile(graph, space, "MATCH (f:Fact {space: $space}) DETACH DELETE f")
    with pytest.raises(NotFound):
        await household.eraser(graph=gone).begin(space, Subject(SubjectKind.FACT, f"{space}/plain"), asked_by="admin")
    assert ledger.entries() == []

    with pytest.raises(Broken):
        await household.eraser(graph=Breaking(graph, 1)).begin(space, monday, asked_by="admin")
    assert [entry.subject for entry in ledger.entries()] == [monday], "it is hidden, whatever its caller was told"


async def test_who_is_erased_while_a_session_is_written_is_hidden_in_it_and_gone_once_it_is_complete(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    household = Household(graph, space, tmp_path, dana="", ben="", cleo="")
    erase, open_session = household.eraser(), session_id(space, "monday")

    async def erased() -> None:
        household.dana = (await speakers(graph, space, "monday"))[0] or ""
        begun = await erase(space, dana(household), asked_by="admin")
        assert not begun.complete and begun.waits_for == (open_session,)
        with pytest.raises(SessionBusy):
            await erase(space, Subject(SubjectKind.SESSION, open_session), asked_by="admin")

    await ingest(graph, space, "monday", MONDAY, before_close=erased)
    assert set(await read_by(household, None)) == {text for _, text in MONDAY} - HERS
    done = await erase(space, dana(household), asked_by="admin")
    assert done.receipt and done.receipt.counts["messages"] == 2
    assert not [text for text in await household.left() if any(word in text for word in WORDS)]
