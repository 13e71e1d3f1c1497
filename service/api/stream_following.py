"""How does what is said on a stream become messages? While it lasts, batch by batch; and by a job at its end, which goes on
where that stopped, also for a process that is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from service.api.bearers import is_issuers
from service.api.errors import incident
from service.api.spool import Spool, left_behind, without_sound
from service.errors import VoicegraphError
from service.graph.jobs import Job, JobStatus, NewJob
from service.pipelines.ingest import CONFLICT
from service.pipelines.jobs import Busy, Jobs, body_hash
from service.pipelines.live import Growing, StreamStopped, give_up
from service.pipelines.recording import IngestRequest
from service.pipelines.stream_notes import StreamNote

if TYPE_CHECKING:
    from service.api.issuers import Issuers
    from service.api.tokens import TokenFile
    from service.api.uploads import Uploads
    from service.graph.driver import Graph
    from service.wiring import Services

LEAVE_ENDED = "leave_ended"
"""`error` of a session whose stream may not be kept any more; what was written before stays its speaker's."""
SOUND_GONE = "sound_gone"
"""`error` of a session whose stream waited for its job until its sound was swept."""
INGEST = frozenset({"ingest", "admin"})
"""Scopes of a token that may keep what is said; one of them is needed."""


class Following:
    """The streams of this process whose turns are being written, and those that wait for their job or are worked on by it."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Growing, asyncio.Task[None]]] = {}
        self._kept: dict[str, Spool] = {}

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

    def keep(self, spool: Spool) -> None:
        """Its note stays until its job is over, and its lock: should this process end before, another goes on with it."""
        self._kept[spool.note.id] = spool

    def let_go(self, stream_id: str | None = None) -> Spool | None:
        """Of one that is not worked on here, what was kept of it; of all, which are closed, as the service stops."""
        if stream_id is not None:
            return self._kept.pop(stream_id, None)
        while self._kept:
            self._kept.popitem()[1].close()
        return None

    @asynccontextmanager
    async def until_over(self, graph: Graph, space: str, stream_id: str) -> AsyncIterator[None]:
        """In it the job of a stream does its work. Done, its note goes; so it does where it can never be done, and the session
        is given up; after any other end the job is taken up again."""
        spool = self._kept.get(stream_id)
        done = False
        try:
            yield
            done = True
        except VoicegraphError as error:
            if spool is not None and error.http_status < 500 and error.http_status != CONFLICT:
                await graph.write(give_up, space, spool.note.session_id, error.code)
                done = True
            raise
        finally:
            if (spool := self.let_go(stream_id)) is not None:
                spool.taken() if done else spool.close()


async def _follow(services: Services, request: IngestRequest, sound: Growing) -> None:
    try:
        await (await services.ingest()).follow(request, sound)
    except StreamStopped:
        return
    except Exception as error:  # noqa: BLE001 - logged; the job at the stream's end goes on where this stopped
        incident(error)


async def ingest_kept(following: Following, jobs: Jobs, spool: Spool) -> Job:
    """The job that ingests what was kept of a stream; the same one for the same stream, also where it broke off or failed.
    Raises Busy, StreamForgotten."""
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
    following.keep(spool)
    try:
        job = await jobs.submit(new, again=(JobStatus.INTERRUPTED, JobStatus.FAILED))
    except VoicegraphError:
        following.let_go(note.id)
        spool.close()  # taken up when there is room
        raise
    if not jobs.works_on(job.id) and (left := following.let_go(note.id)) is not None:  # another process's, or over
        left.taken() if job.status is JobStatus.COMPLETE else left.close()
    return job


async def take_up(graph: Graph, uploads: Uploads, tokens: TokenFile, issuers: Issuers, jobs: Jobs, following: Following) -> int:
    """Ingests what streams of processes that are gone left behind, where the token that they were opened with may still; how
    many. What may not be kept is deleted, and what has no sound any more given up. What finds no room in the queue waits for
    the next time."""
    for gone in without_sound(uploads.directory):
        await graph.write(give_up, gone.space, gone.session_id, SOUND_GONE)
    taken = 0
    for spool in left_behind(uploads.directory):
        note = spool.note
        if not may_keep(tokens, issuers, note.token_id):
            spool.discard()
            await graph.write(give_up, note.space, note.session_id, LEAVE_ENDED)
            continue
        try:
            await ingest_kept(following, jobs, spool)
        except Busy:
            break
        taken += 1
    return taken


def may_keep(tokens: TokenFile, issuers: Issuers, token_id: str) -> bool:
    """Whether leave still holds. That of an issuer's token does while the issuer is configured: such tokens end by themselves
    after minutes, and nobody takes leave back by that."""
    if is_issuers(token_id):
        issuer, _, _ = token_id.partition(":")
        return any(one.name == issuer for one in issuers.all())
    now = datetime.now(UTC)
    return any(entry.id == token_id and entry.scopes & INGEST and entry.is_live(now) for entry in tokens.entries())
