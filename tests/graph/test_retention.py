"""A session goes when its space has kept it as long as it keeps any, with all that was made of it; nothing else does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from service.graph.driver import Graph, changes, rows
from service.graph.retention import list_expired_sessions
from service.graph.spaces import get_space, save_space
from service.pipelines.erase import Erase
from service.pipelines.retention import RETENTION, expire_sessions
from tests.graph.correction_builders import session_id
from tests.graph.erase_builders import a_household

AGE = """
MATCH (s:Session {space: $space, id: $id})
SET s.started_at = datetime() - duration({days: $held}), s.created_at = datetime() - duration({days: $written}),
    s.status = coalesce($status, s.status)
"""
LEFT = "MATCH (s:Session {space: $space}) RETURN s.id AS id ORDER BY id"
MESSAGES = "MATCH (m:Message {space: $space}) RETURN DISTINCT m.session_id AS id ORDER BY id"
RECEIPTS = "MATCH (r:Receipt {space: $space}) RETURN r.kind AS kind, r.subject AS subject, r.asked_by AS asked_by"


async def test_a_session_is_erased_when_its_time_has_come(graph: Graph, space: str, tmp_path: Path) -> None:
    household = await a_household(graph, space, tmp_path)
    monday, tuesday = session_id(space, "monday"), session_id(space, "tuesday")
    now, failed = datetime.now(UTC), list[Exception]()

    async def age(session: str, *, held: int, written: int, status: str | None = None) -> list[str]:
        await graph.write(changes, AGE, space=space, id=session, held=held, written=written, status=status)
        return [id for of, id in await graph.read(list_expired_sessions, now, 10_000) if of == space]

    assert await age(monday, held=40, written=40) == [], "a space that says nothing keeps them"
    await graph.write(save_space, replace(await graph.read(get_space, space), session_days=30))
    assert await age(monday, held=40, written=40) == [monday]
    assert await age(monday, held=40, written=20) == [], "written later: an old recording is not gone as it comes"
    assert await age(monday, held=20, written=40) == []
    assert await age(monday, held=40, written=40, status="open") == [], "who writes it is not cut short"
    assert await age(monday, held=40, written=40, status="complete") == [monday]

    eraser = household.eraser()

    async def erase() -> Erase:
        return eraser

    while await expire_sessions(graph, erase, failed.append, now + timedelta(seconds=1)):
        pass
    assert failed == [] and [row["id"] for row in await graph.read(rows, LEFT, space=space)] == [tuesday]
    assert [row["id"] for row in await graph.read(rows, MESSAGES, space=space)] == [tuesday]
    (receipt,) = await graph.read(rows, RECEIPTS, space=space)
    assert (receipt["kind"], receipt["asked_by"]) == ("session", RETENTION)
