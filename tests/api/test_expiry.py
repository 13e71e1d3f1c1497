"""The service itself lets voices and questions go whose time has come, whether or not anything is ingested or asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

from service.app import create_app
from service.graph.driver import Graph, changes, rows
from service.graph.spaces import ensure_space
from service.pipelines.expire import expire_questions
from service.settings import Settings
from service.types.ids import fresh
from service.types.people import SpaceSettings
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


QUESTION = """
CREATE (:Query {id: $id, space: $space, text: 'What?', asked_by: 'p', created_at: datetime() - duration({days: $asked}),
  expires_at: datetime() + duration({days: $left})})
"""
QUESTIONS = "MATCH (q:Query {space: $space}) RETURN q.id AS id"


async def test_questions_go_when_they_are_kept_no_more_or_shorter(graph: Graph, space: str, tmp_path: Path) -> None:
    """Whatever was to be when they were asked; and those that nobody asks after again."""
    await graph.write(ensure_space, SpaceSettings(space))
    new, old, expired, now = (f"{space}-{name}" for name in ("new", "old", "expired", "now"))
    for id, asked, left in ((new, 1, 9), (old, 5, 5), (expired, 1, -1)):
        await graph.write(changes, QUESTION, space=space, id=id, asked=asked, left=left)
    await expire_questions(graph, [space], 3)
    assert [row["id"] for row in await graph.read(rows, QUESTIONS, space=space)] == [new]
    await graph.write(changes, QUESTION, space=space, id=now, asked=0, left=9)
    app = create_app(Services(Settings(data_dir=tmp_path, recogniser="none", question_days=0), graph))
    async with app.router.lifespan_context(app), asyncio.timeout(60):  # all spaces of the server are swept
        while [row["id"] for row in await graph.read(rows, QUESTIONS, space=space)] != [now]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
