"""Meetings as a backend delivers them, in our own protocol, into the inbox; and a worker that takes them in."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from service.connectors.live import Delivery, Fetch
from service.connectors.live.generic_schema import message
from service.connectors.live.sources import Sources
from service.graph.deliveries import NewDelivery, save_deliveries
from service.graph.driver import Graph, rows
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.pipelines.afterwards import Afterwards
from service.pipelines.gallery import GalleryReader
from service.pipelines.meeting import Fetched, MeetingWorkConfig
from service.pipelines.meeting_session import WritesWith
from service.pipelines.meetings import Meetings, MeetingsConfig
from service.types.audio import TextEmbedder
from service.types.facts import SPEAKER, Fact, FactKind, FactTurn
from service.types.ids import fresh
from service.types.meeting import AccountKey, Base, Began, Ended, Joined, MeetingEvent, Speaker, Uttered
from tests.builders import VOICE

SOURCE = "crm"
BEGAN = datetime.now(UTC) - timedelta(hours=2)
"""Long enough ago that all of a meeting is over when it is delivered."""

ANA, BO = Speaker("a", name="Ana Ruiz"), Speaker("b", name="Bo")

TURNS = """
MATCH (s:Session {space: $space})<-[:IN_SESSION]-(m:Message)<-[:UTTERED]-(l:LocalSpeaker)
RETURN s.id AS session, m.id AS id, m.index AS index, m.text AS text, m.start AS start, m.end AS end, l.label AS label,
  l.id AS track, m.speaker_id AS person, m.reason AS reason, m.provenance AS provenance, m.doubts AS doubts,
  m.embedding__e5_small_v2_q__turn AS vector
ORDER BY s.started_at, s.id, m.index
"""
SESSIONS = """
MATCH (s:Session {space: $space})
RETURN s {.*} AS session ORDER BY s.started_at, s.id
"""
DELIVERIES = """
MATCH (d:Delivery {space: $space})
RETURN d.status AS status, count(*) AS n
"""
MEETINGS = """
MATCH (f:Meeting {space: $space}) OPTIONAL MATCH (w:MeetingWork {id: f.id})
RETURN f {.*, leased_by: w.leased_by} AS meeting ORDER BY f.external_id
"""


def said(who: Speaker, text: str, start: float, end: float | None = None, **given: Any) -> Uttered:
    """A final, unless said otherwise."""
    values = {"id": f"u{start:g}", **given}
    end = start + 1.0 if end is None else end
    key = hashlib.sha256(repr((who, text, start, end, values)).encode()).hexdigest()[:24]
    return Uttered(key=key, speaker=who, text=text, start=start, end=end, base=Base.MEETING, **values)


def began(**given: Any) -> Began:
    return Began(key="began", at=BEGAN, **given)


def ended(at: float = 60.0) -> Ended:
    return Ended(key="ended", at=BEGAN + timedelta(seconds=at))


def joined(who: Speaker, at: float = 0.0) -> Joined:
    return Joined(key=f"joined {who.handle} {at}", at=BEGAN + timedelta(seconds=at), speaker=who)


def with_login(who: Speaker, subject: str) -> Speaker:
    return replace(who, account=AccountKey("zoom", subject))


def delivery(space: str, *events: MeetingEvent, at: float = 0.0, meeting: str = "m1", key: str | None = None) -> NewDelivery:
    """Of one POST, received `at` seconds after the meeting began."""
    body = json.dumps(message(meeting, events)).encode()
    return NewDelivery(
        space=space,
        source=SOURCE,
        provider="generic",
        meeting=meeting,
        key=key or hashlib.sha256(body).hexdigest(),
        body=body,
        received_at=BEGAN + timedelta(seconds=at),
        headers={"content-type": "application/json"},
    )


async def deliver(graph: Graph, space: str, *events: MeetingEvent, at: float = 0.0, meeting: str = "m1") -> None:
    await graph.write(save_deliveries, [delivery(space, *events, at=at, meeting=meeting)])


def sources_file(path: Path, space: str, **given: Any) -> Path:
    """With the one source that all of these deliver to."""
    values = {"provider": "generic", "space": space, "secrets": ["env:CRM_SECRET"], **given}
    if values["provider"] == "generic":  # what these vouch for is the platform's, as if it were Zoom's own
        values = {"issuers": ["zoom"], "verified_email": True, **values}
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    path.write_text("\n".join((f"[sources.{SOURCE}]", *lines)) + "\n")
    return path


def writes_with(graph: Graph, *, embedder: TextEmbedder | None = None, afterwards: Afterwards | None = None) -> WritesWith:
    router = RouterConfig(thresholds=thresholds_for("campplus"))

    async def follows() -> Afterwards:
        return afterwards or Afterwards(graph)

    return WritesWith(graph, GalleryReader(graph, VOICE), router, VOICE, embedder, follows)


async def nothing_fetched(fetch: Fetch, *, api_key: str | None) -> Delivery:
    raise AssertionError("nothing points to anything here")


@asynccontextmanager
async def a_worker(
    graph: Graph,
    space: str,
    folder: Path,
    *,
    using: WritesWith | None = None,
    fetched: Fetched = nothing_fetched,
    work: MeetingWorkConfig | None = None,
    config: MeetingsConfig | None = None,
    incidents: Incidents | None = None,
    **source: Any,
) -> AsyncIterator[Meetings]:
    """Of this space's source alone. It looks when it is told to (`settle`); incidents are raised."""
    sources = Sources(sources_file(folder / f"{fresh()}.toml", space, **source), lambda name: "whsec_c2VjcmV0")
    using = using or writes_with(graph)

    async def models() -> WritesWith:
        return using

    config = replace(config or MeetingsConfig(), work=work or MeetingWorkConfig(margin=0.0))
    worker = Meetings(graph, models, sources, fetched, Incidents() if incidents is None else incidents, config=config)
    yield worker
    await worker.stop()


class EveryTurn:
    """A FactExtractor that takes every turn for a statement: what it is given is what stands there."""

    name = "every-turn-1"

    async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        return tuple(Fact(f"{SPEAKER} said {turn.text}", FactKind.STATEMENT, turn.message_id) for turn in turns)


class Incidents(list[BaseException]):
    """What went wrong."""

    def __call__(self, error: BaseException) -> str:
        self.append(error)
        return f"incident {len(self)}"


async def turns(graph: Graph, space: str) -> list[dict[str, Any]]:
    return await graph.read(rows, TURNS, space=space)


async def sessions(graph: Graph, space: str) -> list[dict[str, Any]]:
    return [row["session"] for row in await graph.read(rows, SESSIONS, space=space)]


async def inbox(graph: Graph, space: str) -> dict[str, int]:
    """Status → how many."""
    return {row["status"]: row["n"] for row in await graph.read(rows, DELIVERIES, space=space)}


async def meetings(graph: Graph, space: str) -> list[dict[str, Any]]:
    return [row["meeting"] for row in await graph.read(rows, MEETINGS, space=space)]
