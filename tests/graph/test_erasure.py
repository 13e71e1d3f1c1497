"""Somebody is erased: hidden at once, gone from every store, the others as they were; however often it is broken off."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.graph.access import read_scope
from service.graph.driver import Graph
from service.graph.messages import list_messages
from service.graph.paging import Page
from service.types.erasure import Subject, SubjectKind
from service.types.people import Assurance, Viewer
from tests.graph.erase_builders import Household, a_household

NODES = "MATCH (n {space: $space}) RETURN n.id AS id, labels(n)[0] AS label"


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


async def test_a_person_is_hidden_at_once_and_leaves_nothing(household: Household) -> None:
    erase, subject = household.eraser(), Subject(SubjectKind.PERSON, household.dana)
    before = {person: await read_by(household, person) for person in (household.ben, household.cleo)}
    assert "Ben, bring the ladder on Friday." in before[household.ben]
    assert await household.left()

    begun = await erase.begin(household.space, subject, asked_by="admin", why="Dana asked for it")
    assert not begun.complete
    hidden = {person: await read_by(household, person) for person in (household.ben, household.cleo, None)}
    hers = {"I hid the sapphire in the teapot.", "Ben, bring the ladder on Friday.", "Zanzibar is where I go in May."}
    for person in (household.ben, household.cleo):
        assert hidden[person] == [text for text in before[person] if text not in hers]
    assert not hers & set(hidden[None])
    assert await read_by(household, household.dana) == []

    done = await erase.finish(household.space, subject)
    assert done.complete and done.receipt
    assert await household.left() == []
    for person in (household.ben, household.cleo):
        assert await read_by(household, person) == hidden[person]
