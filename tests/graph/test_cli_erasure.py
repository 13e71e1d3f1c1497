"""Erasing from the command line, and what proves it without a database."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from service.graph.driver import Graph
from tests.graph.cli_builders import Typed
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
