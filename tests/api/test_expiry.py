"""The service itself lets voices go whose time has come, whether or not anything is ingested."""

from __future__ import annotations

import asyncio
from pathlib import Path

from service.app import create_app
from service.graph.driver import Graph, changes, rows
from service.settings import Settings
from service.types.ids import fresh
from service.wiring import Services

SEED = """
CREATE (p:Person {id: $person, space: $space, created_at: datetime(), kind: 'anonymous', revision: 0,
                  voiceprint__campplus: [x IN range(1, 192) | 0.07]})
CREATE (p)-[:HAS_EXEMPLAR]->(:Exemplar {id: $exemplar, space: $space, created_at: datetime(), encoder: 'campplus',
  encoder_version: 'test', consent: 'unknown', vector__campplus: [x IN range(1, 192) | 0.07],
  net_speech: 3.0, snr_db: 20.0, channel: 'wideband', message_id: 'm', expires_at: datetime() - duration({days: 1})})
"""
LEFT = """
MATCH (p:Person {id: $person})
RETURN p.voiceprint__campplus IS NULL AS forgotten, COUNT { (p)-[:HAS_EXEMPLAR]->() } AS exemplars
"""


async def test_a_voice_past_its_time_goes_when_the_service_starts(graph: Graph, space: str, tmp_path: Path) -> None:
    person = fresh()
    await graph.write(changes, SEED, space=space, person=person, exemplar=fresh())
    app = create_app(Services(Settings(data_dir=tmp_path, recogniser="none"), graph))
    async with app.router.lifespan_context(app), asyncio.timeout(60):  # all spaces of the server are swept
        while not (left := (await graph.read(rows, LEFT, person=person))[0])["forgotten"]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert left == {"forgotten": True, "exemplars": 0}
