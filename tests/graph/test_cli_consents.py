"""The commands about what people agree to, over a real graph."""

from __future__ import annotations

from service.graph.driver import Graph
from tests.graph.cli_builders import Typed
from tests.graph.graph_builders import Said, seed


async def test_what_somebody_said_is_recorded_obeyed_and_shown(graph: Graph, space: str, typed: Typed) -> None:
    await seed(graph, space, ("ana",), [Said("ana", "Hello.", ("ana",))])
    assert "never asked" in await typed("consent", "history", "Ana")
    given = ("--consent", "2026-11", "--channel", "paper")
    await typed("consent", "give", "Ana", *given, "--evidence", "form 17", "--said-at", "2026-03-01T09:00+00:00")
    await typed("consent", "withdraw", "Ana", "--purpose", "attribute", *given)
    await typed("consent", "opt-out", "Ana", *given)
    history = await typed("consent", "history", "Ana", "--json")
    assert [(one["said"]["purpose"], one["said"]["state"]) for one in history] == [
        ("remember_voice", "opted_out"),
        ("attribute", "withdrawn"),
        ("remember_voice", "granted"),
    ]
    assert (history[2]["said"]["evidence"], history[2]["said"]["recorded_by"]) == ("form 17", "command-line")
    assert "form 17" in await typed("consent", "history", "Ana")
    late = "2199-01-01T00:00+00:00"
    assert "time that has come" in await typed("consent", "give", "Ana", *given, "--said-at", late, code=1)
    assert await typed("consent", "opt-outs", "--json") == [], "no voice of hers was kept, so none is marked"
    assert "not_found" in await typed("consent", "opt-outs", "--remove", "nothing", code=1)
