"""A login that was bound opens nothing to who has the same id elsewhere, nor to who only claims it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from service.graph.deliveries import NewDelivery, save_deliveries
from service.graph.driver import Graph, rows
from service.types.meeting import AccountKey, MeetingEvent
from tests.graph.meeting_builders import BEGAN, BO, SOURCE, a_worker, began, deliver, ended, joined, said, turns, with_login
from tests.graph.test_meetings_logins import PATIENCE, a_person, at_once, readers

ISSUERS = "MATCH (a:Account {space: $space}) RETURN a.issuer AS issuer ORDER BY issuer"


def at(seconds: float) -> float:
    return (BEGAN.timestamp() + seconds) * 1000


def jitsi(space: str, seconds: float, event: str, **given: Any) -> NewDelivery:
    body = json.dumps({"event": event, "room_name": "partner", "timestamp": at(seconds), **given}).encode()
    key = hashlib.sha256(body).hexdigest()
    when = BEGAN.fromtimestamp(at(seconds) / 1000, BEGAN.tzinfo)
    return NewDelivery(
        space=space, source=SOURCE, provider="jitsi", meeting="partner", key=key, body=body, received_at=when, headers={}
    )


async def test_user_1_of_one_jitsi_is_not_user_1_of_another(graph: Graph, space: str, tmp_path: Path) -> None:
    """`jitsi:ours` is another server's than the source delivers of."""
    theirs = await a_person(graph, space, "Pat", AccountKey("jitsi:ours", "1"), AccountKey("jitsi", "1"))
    own = await a_person(graph, space, "Kim", AccountKey(f"jitsi:{SOURCE}", "1"))
    first, other = {"id": "e1", "name": "Kim", "identity_id": "1"}, {"id": "e2", "name": "Zoe"}

    def line(seconds: float, who: dict[str, str], text: str) -> NewDelivery:
        return jitsi(space, seconds, "SPEECH", message_id=text, transcript=[{"text": text}], participant=who)

    told = [
        jitsi(space, 0, "START"),
        jitsi(space, 1, "JOIN", participant=first),
        line(20, other, "A secret."),
        line(40, first, "Indeed."),
        jitsi(space, 60, "END"),
    ]
    await graph.write(save_deliveries, told)
    async with a_worker(graph, space, tmp_path, using=at_once(graph), provider="jitsi") as worker:
        await worker.settle(PATIENCE)
    assert [turn["person"] for turn in await turns(graph, space)] == [None, own]
    assert [theirs in who for who in await readers(graph, space)] == [False, False]


@pytest.mark.parametrize(("listed", "is_hers"), [([], False), (["zoom"], True)])
async def test_a_bots_secret_speaks_in_nobodys_name_unless_the_table_says_so(
    graph: Graph, space: str, tmp_path: Path, listed: list[str], is_hers: bool
) -> None:
    ana = await a_person(graph, space, "Ana", AccountKey("zoom", "u-ana"))
    who = with_login(BO, "u-ana")
    told: list[MeetingEvent] = [began(), joined(who), said(who, "I resign.", 1.0), ended()]
    await deliver(graph, space, *told, at=70.0)
    async with a_worker(graph, space, tmp_path, using=at_once(graph), issuers=listed, verified_email=False) as worker:
        await worker.settle(PATIENCE)
    assert [turn["person"] == ana for turn in await turns(graph, space)] == [is_hers]
    assert [ana in who for who in await readers(graph, space)] == [is_hers]
    issuers = {row["issuer"] for row in await graph.read(rows, ISSUERS, space=space)}
    assert issuers == ({"zoom"} if is_hers else {"zoom", f"generic:{SOURCE}:zoom"})
