"""Whose a login is, as it is typed."""

from __future__ import annotations

from service.graph.driver import Graph
from service.graph.write_people import save_person
from service.types.ids import fresh
from service.types.meeting import AccountKey
from tests.graph.cli_builders import Typed
from tests.graph.correction_builders import speakers
from tests.graph.login_builders import a_meeting, signed_in

MAIL = AccountKey("mailto", "ana@example.org")


async def test_a_login_is_listed_bound_by_name_and_taken_back(graph: Graph, space: str, typed: Typed) -> None:
    ana = fresh()
    await graph.write(save_person, space, ana, "Ana")
    await a_meeting(graph, space, "monday", [("ana", "Hello."), ("ben", "Hi.")], [signed_in(space, "monday", "ana", MAIL)])
    (listed,) = await typed("people", "account", "list", "--unbound", "--json")
    assert listed["num_several"] == 0
    assert (listed["subject"], listed["person_id"], listed["num_sessions"]) == ("ana@example.org", None, 1)
    assert (listed["name"], listed["suggested"]) == ("Ana", [ana])
    bound = await typed("people", "account", "bind", "mailto", " Ana@Example.org", "Ana", "--why", "her address")
    assert "is Ana's; 1 message of 1 meeting changed hands." in bound
    assert await speakers(graph, space, "monday") == [ana, None]
    shown = await typed("people", "account", "list")
    assert "her address" in shown and "Ana" in shown
    assert await typed("people", "account", "list", "--unbound", "--json") == []
    taken = await typed("people", "account", "unbind", "mailto", "ana@example.org", "--json")
    assert (taken["person_id"], taken["num_turns"]) == (None, 1)
    assert "used by several people" in await typed("people", "account", "shared", "mailto", "ana@example.org")
    refused = await typed("people", "account", "bind", "mailto", "ana@example.org", "Ana", code=1)
    assert refused.startswith("account_shared")
    assert "one person's" in await typed("people", "account", "shared", "mailto", "ana@example.org", "--not")
    assert (await typed("people", "account", "unbind", "zoom", "nobody", code=1)).startswith("not_found")
