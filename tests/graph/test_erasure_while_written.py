"""Who is erased while something of theirs is still written, or broke off, or is delivered again: it goes on, and ends without
them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.graph.driver import Graph, changes, rows
from service.graph.receipts import SessionErased
from service.graph.write_facts import fact_id, save_facts
from service.graph.write_people import name_person
from service.graph.write_sessions import SessionBusy, fail_session, open_session
from service.identity.router import RouterConfig
from service.pipelines.closing import CallerKnows, close
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryReader
from service.types.erasure import Subject, SubjectKind
from service.types.facts import Fact, FactKind
from tests.builders import VOICE, a_session, evidence_of
from tests.graph.correction_builders import EMBEDDER, _heard, _message, message, session_id, speakers
from tests.graph.erase_builders import Household, a_household
from tests.graph.graph_builders import TEXT_SPACE

SAID = [
    ("dana", "I hid the sapphire in the teapot.", "Dana Quill"),
    ("ben", "Then it is safe there.", "Ben"),
    ("dana", "Zanzibar is where I go in May.", "Dana Quill"),
    ("ben", "Send us a card.", "Ben"),
]
CHECKPOINT = "MATCH (s:Session {space: $space, id: $id}) RETURN s.status AS status, s.checkpoint AS checkpoint"
EPHEMERAL = "MATCH (s:Space {id: $space}) SET s.anonymous_voices = 'ephemeral'"
EIGHT_DAYS_LATER = "MATCH (n {space: $space}) WHERE n:Session OR n:Message SET n.created_at = n.created_at - duration('P8D')"
FACT = "MATCH (f:Fact {space: $space, id: $id}) RETURN f.id AS id"
BARE_FACT = """
CREATE (:Fact {id: $space + '/bare', space: $space, created_at: datetime(), session_id: $session, kind: 'statement',
               statement: 'It rests on nothing'})
"""
NO_PEOPLE = "MATCH (p:Person {id: 'erased'}) RETURN p.space AS space"
TEXTS = "MATCH (m:Message {space: $space, session_id: $id}) RETURN m.text AS text ORDER BY m.index"


async def folding(graph: Graph, space: str, name: str) -> Folding:
    """Begun, or taken up where it was left."""
    session = a_session(space, id=session_id(space, name), external_id=name, embedder=TEXT_SPACE)
    opened = await graph.write(open_session, session)
    gallery, router = GalleryReader(graph, VOICE), RouterConfig(policy="bounded", keep_voices=False)
    return Folding(
        graph, gallery, router, space=space, session_id=session.id, encoder=VOICE, embedder=TEXT_SPACE,
        checkpoint=opened.checkpoint,
    )  # fmt: skip


async def take(fold: Folding, name: str, first: int, last: int) -> None:
    heard = [_heard(i, *SAID[i], session=name) for i in range(first, last)]
    messages = [_message(turn, fold.session_id) for turn, _ in heard]
    await fold.take(messages, [evidence_of(turn, fold.session_id, voice) for turn, voice in heard])


async def kept(household: Household, name: str) -> tuple[str, dict[str, Any] | None]:
    asked = {"space": household.space, "id": session_id(household.space, name)}
    (row,) = await household.graph.read(rows, CHECKPOINT, **asked)
    return row["status"], json.loads(row["checkpoint"])["fold"] if row["checkpoint"] else None


async def test_a_session_that_nobody_goes_on_with_keeps_no_erasure_open(graph: Graph, space: str, tmp_path: Path) -> None:
    for name in ("monday", "tuesday"):
        await take(await folding(graph, space, name), name, 0, 4)
    dana = (await speakers(graph, space, "tuesday"))[0] or ""
    household = Household(graph, space, tmp_path, dana=dana, ben="", cleo="")
    erase, monday = household.eraser(), Subject(SubjectKind.SESSION, session_id(space, "monday"))
    person = Subject(SubjectKind.PERSON, dana)
    with pytest.raises(SessionBusy):
        await erase(space, monday, asked_by="admin")
    assert (await erase(space, person, asked_by="admin")).waits_for
    await graph.write(changes, EIGHT_DAYS_LATER, space=space)
    assert (await erase(space, monday, asked_by="admin")).complete
    assert (await erase(space, person, asked_by="admin")).complete and await household.left() == []
    assert await kept(household, "tuesday") == ("failed", None)
    with pytest.raises(SessionErased):
        await folding(graph, space, "monday")


async def test_no_fact_is_written_of_what_is_hidden_and_none_keeps_an_erasure_open(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    household = await a_household(graph, space, tmp_path)
    erase, monday = household.eraser(), session_id(space, "monday")

    async def saved(session: str, index: int, statement: str) -> bool:
        """Whether it is written, by who read the session before."""
        fact = Fact(statement, FactKind.STATEMENT, message(space, session, index))
        await graph.write(save_facts, space, session_id(space, session), [fact], extractor="test")
        return bool(await graph.read(rows, FACT, space=space, id=fact_id(fact)))

    hidden = [(Subject(SubjectKind.PERSON, household.dana), ("tuesday", 1)),
              (Subject(SubjectKind.MESSAGE, message(space, "monday", 4)), ("monday", 4)),
              (Subject(SubjectKind.SESSION, monday), ("monday", 1))]  # fmt: skip
    for subject, (session, index) in hidden:
        assert await saved(session, index, "{speaker} said before"), "read before it is hidden"
        await erase.begin(space, subject, asked_by="admin")
        assert not await saved(session, index, "{speaker} said since"), subject
    await graph.write(changes, BARE_FACT, space=space, session=monday)
    for subject, _ in hidden:
        assert (await erase(space, subject, asked_by="admin")).complete, subject


async def test_a_session_goes_on_in_which_somebody_was_erased_and_one_that_broke_off_keeps_no_voice(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    await graph.write(changes, EPHEMERAL, space=space)
    broken, goes_on = await folding(graph, space, "monday"), await folding(graph, space, "tuesday")
    await take(broken, "monday", 0, 4)
    await graph.write(fail_session, space, session_id(space, "monday"), "test")
    await take(goes_on, "tuesday", 0, 2)
    dana = (await speakers(graph, space, "tuesday"))[0] or ""
    everywhere = {dana, (await speakers(graph, space, "monday"))[0] or ""}
    household = Household(graph, space, tmp_path, dana=dana, ben="", cleo="")
    for name in ("monday", "tuesday"):
        _, fold = await kept(household, name)
        assert fold and everywhere & {voice["person_id"] for voice in fold["passing"]}
    erase = household.eraser()
    for person in sorted(everywhere):
        await graph.write(name_person, space, person, "Dana Quill", by="admin")
        begun = await erase.begin(space, Subject(SubjectKind.PERSON, person), asked_by="admin")
        assert not begun.complete
    for name in ("monday", "tuesday"):
        _, fold = await kept(household, name)
        assert fold and not everywhere & {voice["person_id"] for voice in fold["passing"]}, name
    for person in sorted(everywhere):
        waits = await erase.finish(space, Subject(SubjectKind.PERSON, person))
        assert waits.complete or waits.waits_for == (session_id(space, "tuesday"),)
    assert (await kept(household, "monday"))[1] is None, "what broke off is heard anew"
    _, fold = await kept(household, "tuesday")
    assert fold and dana in fold["bound"].values(), "how far an open session is written is its writer's"

    await take(goes_on, "tuesday", 2, 3)
    again = await folding(graph, space, "tuesday")
    await take(again, "tuesday", 3, 4)
    await again.settle()
    caller = CallerKnows()
    await close(graph, space, again.session_id, checkpoint=again.stored, caller=caller, embedder=EMBEDDER)
    for person in sorted(everywhere):
        done = await erase(space, Subject(SubjectKind.PERSON, person), asked_by="admin")
        assert done.complete and done.receipt
    found = await graph.read(rows, TEXTS, space=space, id=session_id(space, "tuesday"))
    assert [row["text"] for row in found] == [None, SAID[1][1], None, SAID[3][1]]
    assert await graph.read(rows, NO_PEOPLE) == [] and await household.left() == []
