"""The commands about backends that deliver meetings, over a real graph."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.graph.deliveries import Dead, DeliveryStatus, list_deliveries, meeting_id, save_dead, save_deliveries
from service.graph.driver import Graph
from service.graph.meetings import lease_meetings
from service.graph.paging import Page
from service.graph.taking_in import mark_failed
from tests.graph.cli_builders import Typed
from tests.graph.test_deliveries import LATER, NOW, a_delivery

SOURCES = """
[sources.crm]
provider = "generic"
space = "{space}"
secrets = ["env:VOICEGRAPH_TEST_HOOK_SECRET"]
listen = true

[sources.bare]
provider = "generic"
space = "{space}"
"""


async def test_sources_are_listed_and_checked_without_their_secrets(
    space: str, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No sources" in await typed("hooks", "list") and str(tmp_path) in await typed("hooks", "check")
    (tmp_path / "hooks.toml").write_text(SOURCES.format(space=space))
    listed = await typed("hooks", "list", "--json")
    assert [(one["name"], one["path"], one["num_secrets"]) for one in listed] == [
        ("crm", "/v1/hooks/crm", 0),
        ("bare", "/v1/hooks/bare", 0),
    ]
    assert "secret_missing" in listed[0]["problem"] and "no secret" in listed[1]["problem"]
    await typed("hooks", "check", code=1)
    monkeypatch.setenv("VOICEGRAPH_TEST_HOOK_SECRET", "whsec_bm90IHNob3du")
    (tmp_path / "hooks.toml").write_text(SOURCES.format(space=space).partition("[sources.bare]")[0])
    shown = await typed("hooks", "check")
    assert "heard" in shown and "whsec_" not in shown and "bm90" not in shown
    (tmp_path / "hooks.toml").write_text(
        SOURCES.format(space=space).replace("generic", "fireflies").partition("[sources.bare]")[0]
    )
    assert "no api_key" in (await typed("hooks", "list", "--json"))[0]["problem"]
    (tmp_path / "hooks.toml").write_text(
        f"[sources.bare]{SOURCES.format(space=space).partition('[sources.bare]')[2]}tokens = ['t1']\n"
    )
    assert (await typed("hooks", "check", "--json"))[0]["problem"] is None
    (tmp_path / "hooks.toml").write_text("[sources.CRM]\n")
    assert "sources_unreadable" in await typed("hooks", "list", code=1)


async def test_dead_letters_are_shown_tried_again_and_deleted(graph: Graph, space: str, typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "hooks.toml").write_text(SOURCES.format(space=space))
    (tmp_path / "secret").write_text("whsec_bm90IHNob3du")
    assert "Nothing was delivered" in await typed("hooks", "deliveries")
    await graph.write(save_deliveries, [a_delivery(space, "a", body=b'{"secret": "words"}'), a_delivery(space, "b")])
    meeting = meeting_id(space, "crm", "m1")
    await graph.write(lease_meetings, [meeting], worker="w", now=NOW, until=LATER)
    failed = a_delivery(space, "a").id
    await graph.write(mark_failed, meeting, failed, "broken: of ours", worker="w", next_at=None, expires_at=LATER)
    unreadable = a_delivery(space, "x", meeting=None, body=b"{")
    await graph.write(save_dead, [Dead(unreadable, "event_unreadable: no JSON", datetime.now(UTC) + timedelta(days=1))])
    shown = await typed("hooks", "deliveries", "--dead")
    assert "broken: of ours" in shown and "event_unreadable" in shown and "words" not in shown
    assert len(await typed("hooks", "deliveries", "--json")) == 3
    assert "invalid_input" in await typed("hooks", "retry", code=1)
    done = await typed("hooks", "retry", "--all", "--json")
    assert done["waiting"] == [failed] and [id for id, _ in done["still_dead"]] == [unreadable.id]
    assert "1 dead letters are deleted" in await typed("hooks", "forget", unreadable.id)
    left = await graph.read(list_deliveries, space, page=Page(first=10))
    assert {one.status for one in left.items} == {DeliveryStatus.WAITING} and len(left.items) == 2
