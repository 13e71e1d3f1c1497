"""Two hundred requests of who means harm: no fault of the service, nothing of others, and nothing changed."""

from __future__ import annotations

from pathlib import Path

from service.graph.driver import Graph
from service.settings import Settings
from service.types.ids import fresh
from service.wiring import Services
from tests.api.serving import serving
from tests.hostile.siege import Tally, besiege, furnished, remembered

REQUESTS = 190
"""Of nineteen kinds, ten each; tests/bench/trust_hostile.py sends 5,000."""


async def test_whatever_is_sent_there_is_no_fault_and_nothing_of_others(graph: Graph, tmp_path: Path) -> None:
    space = f"test-{fresh()}"
    settings = Settings(data_dir=tmp_path, development=False, recogniser="none", space=space)
    house = await furnished(graph, space, f"test-{fresh()}", settings.tokens_file)
    tally = Tally()
    async with serving(Services(settings, graph), space) as api:
        before = await remembered(graph, space)
        async for _ in besiege(api.http, house, house.hostile(seed=8).requests(REQUESTS), tally):
            pass
    assert [(sent.kind, fault, sent.content[:400]) for sent, fault in tally.faults] == []
    assert [(sent.kind, word, sent.content[:400]) for sent, word in tally.leaks] == []
    assert tally.answered > 0.95 * REQUESTS and tally.statuses[200] > REQUESTS / 3
    assert await remembered(graph, space) == before
