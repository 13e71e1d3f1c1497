"""How does what is said on a stream become messages? While it lasts, batch by batch; and by a job at its end, which goes on
where that stopped, also for a process that is gone."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from service.api.errors import incident
from service.api.spool import Spool, StreamNote, left_behind
from service.errors import VoicegraphError
from service.graph.jobs import Job, NewJob
from service.pipelines.jobs import Busy, Jobs, body_hash
from service.pipelines.live import Growing, StreamStopped, give_up
from service.pipelines.recording import IngestRequest

if TYPE_CHECKING:
    from service.api.tokens import TokenFile
    from service.api.uploads import Uploads
    from service.graph.driver import Graph
    from service.wiring import Services

LEAVE_ENDED = "leave_ended"
"""`error` of a session whose stream may not be kept any more; what was written before stays its speaker's."""
INGEST = frozenset({"ingest", "admin"})
"""Scopes of a token that may keep what is said; one of them is needed."""


class Following:
    """The streams of this process whose turns are being written."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Growing, asyncio.Task[None]]] = {}

    def begin(self, services: Services, note: StreamNote, sound: Growing) -> None:
        request = IngestRequest(
            sound.path, note.space, title=note.title, started_at=note.began, zone=note.zone, source="stream", stream=note.id
        )
        task = asyncio.create_task(_follow(services, request, sound))
        self._open[note.id] = (sound, task)

    def over(self, stream_id: str) -> None:
        """No more will be said on it."""
        if stream_id in self._open:
            self._open[stream_id][0].end()

    async def written(self, stream_id: str) -> None:
        """Once nobody writes it any more: all of it, if it is over and nothing went wrong."""
        if (found := self._open.get(stream_id)) is not None:
            await asyncio.wait([found[1]])
            self._open.pop(stream_id, None)

    async def stop(self, stream_id: str | None = None) -> None:
        """Of one, or of all: as it is. What is written is whole, and what is kept is gone on with."""
        ids = [stream_id] if stream_id is not None else list(self._open)
        for sound, _ in [self._open[id] for id in ids if id in self._open]:
            sound.stop()
        for id in ids:
            await self.written(id)


async def _follow(services: Services, request: IngestRequest, sound: Growing) -> None:
    try:
        await (await services.ingest()).follow(request, sound)
    except StreamStopped:
        return
    except Exception as error:  # noqa: BLE001 - logged; the job at the stream's end goes on where this stopped
        incident(error)


async def ingest_kept(jobs: Jobs, spool: Spool) -> Job:
    """The job that ingests what was kept of a stream; the same one for the same stream. Raises Busy."""
    upload = await asyncio.to_thread(spool.finish)
    note = spool.note
    body: dict[str, Any] = {
        "upload": upload.id, "title": note.title, "started_at": note.started_at, "zone": note.zone, "external_id": None,
        "transcript": None, "addressed_to": [], "attendance": [], "stream": note.id,
    }  # fmt: skip
    new = NewJob(
        space=note.space, account=note.account, key=f"stream {note.id}", kind="ingest", body_hash=body_hash("ingest", body),
        request=json.dumps(body),
    )  # fmt: skip
    try:
        job = await jobs.submit(new)
    except VoicegraphError:
        spool.close()  # taken up when there is room
        raise
    spool.taken()
    return job


async def take_up(graph: Graph, uploads: Uploads, tokens: TokenFile, jobs: Jobs) -> int:
    """Ingests what streams of processes that are gone left behind, where the token that they were opened with may still; how
    many. What may not be kept is deleted. What finds no room in the queue waits for the next time."""
    taken = 0
    for spool in left_behind(uploads.directory):
        note = spool.note
        if not may_keep(tokens, note.token_id):
            spool.discard()
            await graph.write(give_up, note.space, note.session_id, LEAVE_ENDED)
            continue
        try:
            await ingest_kept(jobs, spool)
        except Busy:
            break
        taken += 1
    return taken


def may_keep(tokens: TokenFile, token_id: str) -> bool:
    now = datetime.now(UTC)
    return any(entry.id == token_id and entry.scopes & INGEST and entry.is_live(now) for entry in tokens.entries())
