"""The commands about what people agree to, over a real graph."""

from __future__ import annotations

import json
import stat
from pathlib import Path

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
    given_now = await typed("consent", "give", "Ana", *given, "--json")
    assert given_now["state"] == "granted"
    earlier = ("--said-at", "2026-02-01T09:00+00:00")
    assert "which holds: granted" in await typed("consent", "withdraw", "Ana", *given, *earlier)
    assert (await typed("consent", "withdraw", "Ana", *given, *earlier, "--json"))["state"] == "granted"
    assert await typed("consent", "opt-outs", "--json") == [], "no voice of hers was kept, so none is marked"
    assert "not_found" in await typed("consent", "opt-outs", "--remove", "nothing", code=1)


async def test_somebodys_own_is_written_to_a_file_for_its_owner_alone_and_the_schedule_is_shown(
    graph: Graph, space: str, typed: Typed, tmp_path: Path
) -> None:
    said = [Said("ana", "I moved to Cork.", ("ana", "ben")), Said("ben", "Between us.", ("ben",), to=("ana",))]
    await seed(graph, space, ("ana", "ben"), said)
    file = tmp_path / "ana.json"
    assert str(file) in await typed("export", "person", "Ana", "-o", str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = json.loads(file.read_text())
    assert [one["text"] for one in found["messages"]] == ["I moved to Cork."] and found["said_to_them"] == []
    assert not found["vectors"] and "there already" in await typed("export", "person", "Ana", "-o", str(file), code=1)

    assert "365 days" in await typed("retention", "set", "--session-days", "365")
    (sessions,) = [row for row in await typed("retention", "show", "--json") if row["store"] == "sessions"]
    assert sessions["until"].startswith("365 days")
    assert "1095 days after" in await typed("retention", "set", "--voice-days", "1095"), "and sessions as before"
    page = await typed("retention", "show", "--html")
    assert page.startswith("<!doctype html>") and "365 days" in page
    assert "1095 days after they were last heard" in page
    unset = await typed("retention", "set", "--session-days", "0", "--voice-days", "0", "--json")
    assert unset == {"session_days": None, "voice_days": None}
    assert "--voice-days" in await typed("retention", "set", code=2)


async def test_people_are_listed_with_how_much_they_said(graph: Graph, space: str, typed: Typed) -> None:
    await seed(graph, space, ("ana", "ben"), [Said("ana", "Hello.", ("ana",)), Said("ana", "Hello again.", ("ana",))])
    assert {one["display_name"]: one["num_turns"] for one in await typed("people", "--json")} == {"Ana": 2, "Ben": 0}
    assert "Ana" in await typed("people")
