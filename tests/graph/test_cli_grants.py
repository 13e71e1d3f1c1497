"""Who may ask for whom, as it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.api.tokens import TokenFile
from service.graph.driver import Graph
from service.graph.write_people import save_person
from service.settings import load_settings
from service.types.ids import fresh
from tests.graph.cli_builders import Typed


async def test_leave_is_given_by_name_listed_and_taken_back_and_a_token_never_holds_it(
    graph: Graph, space: str, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEGRAPH_DATA_DIR", str(tmp_path))
    ana, ben = fresh(), fresh()
    await graph.write(save_person, space, ana, "Ana")
    await graph.write(save_person, space, ben, "Ben")
    made = await typed("token", "create", "kitchen speaker", "--act-for", "Ana", "--json")
    (entry,) = TokenFile(load_settings().tokens_file).entries()
    assert made["id"] == entry.id and not {"sha256", "before", "may_act_for"} & set(made) and not entry.may_act_for
    said = await typed("grants", "add", "kitchen speaker", "Ben", "--days", "3", "--why", "he asked for it")
    assert said.startswith("kitchen speaker may ask for Ben until ")
    listed = {one["person_id"]: one for one in await typed("grants", "list", "--json")}
    assert set(listed) == {ana, ben} and all(one["holds"] and one["by"] == "command-line" for one in listed.values())
    shown = await typed("grants", "list")
    assert "Ana" in shown and "he asked for it" in shown
    assert "is revoked" in await typed("grants", "revoke", listed[ana]["id"], "--why", "sold")
    assert "was revoked before" in await typed("grants", "revoke", listed[ana]["id"])
    assert {one["person_id"]: one["holds"] for one in await typed("grants", "list", "--all", "--json")} == {
        ana: False,
        ben: True,
    }
    rotated = await typed("token", "rotate", entry.id, "--hours", "0", "--json")
    tokens = TokenFile(load_settings().tokens_file)
    assert tokens.find(made["token"]) is None and tokens.find(rotated["token"]) is not None
    (one,) = await typed("token", "list", "--json")
    assert one["id"] == entry.id and one["rotated_at"] and one["used_at"] is None and "sha256" not in one
