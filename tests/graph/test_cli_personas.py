"""The commands about feelings and traits, over a real graph and with the parser that ships."""

from __future__ import annotations

from service.graph.driver import Graph
from tests.graph.cli_builders import Typed
from tests.graph.graph_builders import Said, seed

SAID = [Said("ana", "I really love hiking.", ("ana", "ben"), to=("ben",), session=day) for day in ("monday", "tuesday")]


async def test_what_somebody_is_like_is_shown_once_they_agreed_and_until_they_withdraw(
    graph: Graph, space: str, typed: Typed
) -> None:
    await seed(graph, space, ("ana", "ben"), SAID)
    assert "is read" in await typed("persona", "read")
    assert "Nothing has shown" in await typed("persona", "show", "Ana")
    await typed("persona", "agree", "Ana", "--consent", "2026-11")
    assert [done["num_read"] for done in await typed("persona", "read", "--json")] == [1, 1]
    at = ("--asked-at", "2026-06-01T00:00+00:00")
    (one,) = await typed("persona", "show", "Ana", *at, "--json")
    assert (one["text"], one["support"]) == ("loves hiking", 2)
    assert "loves hiking" in await typed("persona", "show", "Ana", *at)
    assert "Nothing has shown" in await typed("persona", "show", "Ana", *at, "--heard-by", "Ben")
    assert "I really love hiking." in await typed("persona", "felt", "Ana")
    assert "No message" in await typed("persona", "felt", "Ana", "--heard-by", "Ben")
    assert await typed("persona", "shared", "Ben", "--json") == []
    await typed("persona", "share", "Ana", one["id"], "--with", "Ben")
    shared = await typed("persona", "shared", "Ben")
    assert "Ana" in shared and "hiking" in shared
    assert "Nobody lets them know" in await typed("persona", "shared", "Ben", "--heard-by", "Ana")
    assert await typed("persona", "shared", "Ana", "--json") == []
    await typed("persona", "unshare", "Ana", one["id"], "--with", "Ben")
    assert await typed("persona", "shared", "Ben", "--json") == []
    assert "not_found" in await typed("persona", "unshare", "Ana", one["id"], "--with", "Ben", code=1)
    await typed("persona", "withdraw", "Ana", "--consent", "2026-11")
    assert await typed("persona", "show", "Ana", *at, "--json") == []
