"""Two hundred requests of who means harm, and seventy websockets: no fault, nothing of others, and nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.graph.driver import Graph
from service.settings import Settings
from service.types.ids import fresh
from service.wiring import Services
from tests.api.serving import serving
from tests.hostile.siege import Tally, besiege, furnished, remembered
from tests.hostile.sockets import beset, take_deliveries, talks

REQUESTS, TALKS = 190, 70
"""Of nineteen kinds and of seven, ten each; tests/bench/trust_hostile.py sends 5,000."""


async def test_whatever_is_sent_there_is_no_fault_and_nothing_of_others(
    graph: Graph, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    space, elsewhere = f"test-{fresh()}", f"test-{fresh()}"
    settings = Settings(data_dir=tmp_path, development=False, recogniser="none", space=space)
    house = await furnished(graph, space, elsewhere, settings.tokens_file)
    take_deliveries(settings.sources_file, elsewhere)
    tally, over_sockets = Tally(), Tally()
    async with serving(Services(settings, graph), space) as api:
        before = await remembered(graph, space)
        async for _ in besiege(api.http, house, house.hostile(seed=8).requests(REQUESTS), tally):
            pass
        await beset(f"ws://127.0.0.1:{api.port}", house, list(talks(house.hostile(seed=8), TALKS)), over_sockets)
    for one in (tally, over_sockets):
        assert [(sent.kind, fault, sent.content[:400]) for sent, fault in one.faults] == []
        assert [(sent.kind, word, sent.content[:400]) for sent, word in one.leaks] == []
    assert tally.answered > 0.95 * REQUESTS and tally.statuses[200] > REQUESTS / 3
    assert over_sockets.answered == TALKS and {0, 1000, 4400, 403, 404} <= over_sockets.statuses.keys()
    assert [record.getMessage() for record in caplog.records if "incident" in record.getMessage()] == []
    assert await remembered(graph, space) == before
