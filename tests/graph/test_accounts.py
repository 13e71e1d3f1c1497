"""Whose login is whose, and what never makes it somebody's."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.errors import NotFound
from service.graph.accounts import resolve_accounts
from service.graph.driver import Graph
from service.graph.write_accounts import AccountBound, bind_account, unbind_account
from service.graph.write_corrections import VOICEGRAPH, merge_people
from service.graph.write_people import save_person
from service.types.ids import fresh
from service.types.meeting import AccountKey

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
ZOOM, MAIL = AccountKey("zoom", "u-1"), AccountKey("mailto", "Ana@Example.org ")
BY = {"actor": "admin", "why": "she said so", "at": NOW}


async def a_person(graph: Graph, space: str, name: str, kind: str = "named") -> str:
    person = fresh()
    await graph.write(save_person, space, person, name, kind=kind)
    return person


async def test_an_account_is_nobodys_until_somebody_says_whose(graph: Graph, space: str) -> None:
    ana = await a_person(graph, space, "Ana")
    assert await graph.read(resolve_accounts, space, [ZOOM, MAIL]) == {}
    await graph.write(bind_account, space, MAIL, ana, **BY)
    same = AccountKey("MailTo", "ana@example.ORG")
    assert await graph.read(resolve_accounts, space, [ZOOM, MAIL, same]) == {MAIL: ana, same: ana}
    assert await graph.read(resolve_accounts, "another space", [MAIL]) == {}


async def test_an_account_is_of_one_person_at_most(graph: Graph, space: str) -> None:
    ana, ben = await a_person(graph, space, "Ana"), await a_person(graph, space, "Ben")
    account = await graph.write(bind_account, space, ZOOM, ana, **BY)
    assert await graph.write(bind_account, space, ZOOM, ana, **BY) == account
    with pytest.raises(AccountBound):
        await graph.write(bind_account, space, ZOOM, ben, **BY)
    assert await graph.write(unbind_account, space, account, **BY) == ana
    assert await graph.write(unbind_account, space, account, **BY) is None
    await graph.write(bind_account, space, ZOOM, ben, **BY)
    assert await graph.read(resolve_accounts, space, [ZOOM]) == {ZOOM: ben}
    for wrong in (graph.write(bind_account, space, MAIL, fresh(), **BY), graph.write(unbind_account, space, fresh(), **BY)):
        with pytest.raises(NotFound):
            await wrong


@pytest.mark.parametrize("confirmed", [False, True])
async def test_no_merge_moves_a_binding(graph: Graph, space: str, confirmed: bool) -> None:
    ana, ben = await a_person(graph, space, "Ana"), await a_person(graph, space, "Ben")
    await graph.write(bind_account, space, ZOOM, ana, **BY)
    actor = "admin" if confirmed else VOICEGRAPH
    await graph.write(merge_people, space, ana, ben, actor=actor, why="alike", confirmed=confirmed)
    assert await graph.read(resolve_accounts, space, [ZOOM]) == {ZOOM: ana}
