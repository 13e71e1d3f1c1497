"""Erasing from the command line, and what proves it without a database."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from service.graph.driver import Graph
from tests.graph.cli_builders import Typed
from tests.graph.fact_builders import Told, tell
from tests.graph.graph_builders import Said, seed


async def test_what_is_erased_has_a_receipt_that_anybody_can_verify(
    typed: Typed, graph: Graph, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    world = await seed(graph, space, ["ana", "ben"], [Said("ana", "I keep bees.", ["ana", "ben"])])
    message = world.message(0)
    assert "Erase it?" in await typed("erase", "message", message, code=130), "it asks first"
    done = await typed("erase", "message", message, "--yes", "--why", "a mistake", "--json")
    assert done["complete"] and done["receipt"]["counts"]["messages"] == 1

    (listed,) = await typed("receipts", "list", "--json")
    assert listed["subject"] == {"kind": "message", "id": message}
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(await typed("receipts", "show", listed["id"], "--json")))
    assert "Genuine" in await typed("receipts", "verify", str(file))
    file.write_text(file.read_text().replace(message, world.session("monday")))
    assert "receipt_not_genuine" in await typed("receipts", "verify", str(file), code=1)
    (line,) = (await typed("erasures", "export")).splitlines()
    assert json.loads(line)["subject"] == message


async def test_a_name_in_many_places_elsewhere_waits_until_an_administrator_says_so(
    typed: Typed, graph: Graph, space: str
) -> None:
    said = [Said("glockenspiel", "I keep bees.", ["*"]), Said("ben", "We ate there.", ["*"], session="tuesday")]
    world = await seed(graph, space, ["glockenspiel", "ben"], said)
    await tell(world, [Told(f"The Glockenspiel has {n} bells", [1]) for n in range(101)] + [Told("A glockenspiel rings", [1])])
    person = world.person("glockenspiel")
    waits = await typed("erase", "person", "Glockenspiel", "--yes", "--json")
    assert not waits["complete"] and waits["named_elsewhere"] == 101 and waits["receipt"] is None
    assert "--although-named-elsewhere" in await typed("erase", "person", person, "--yes"), "hidden, it is known by its id"
    done = await typed("erase", "person", person, "--although-named-elsewhere", "--yes", "--json")
    assert done["complete"] and done["receipt"]["counts"]["facts"] == 101
