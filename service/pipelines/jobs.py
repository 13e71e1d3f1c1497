"""How is long work done for a caller who does not wait? One bounded queue, a heartbeat, and keys that make it once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from service.errors import VoicegraphError
from service.graph.driver import Graph
from service.graph.jobs import (
    Job,
    JobScope,
    JobStatus,
    KeyConflict,
    NewJob,
    find_job_by_key,
    find_jobs,
    finish_job,
    save_interrupted,
    save_job,
    save_progress,
)
from service.types.audio import Progress


class Busy(VoicegraphError):
    code = "busy"
    says = "{waiting} jobs wait already. Ask again in a while with the same key."
    http_status = 429


class StillRunning(VoicegraphError):
    code = "still_running"
    says = "The request with the key {key} is still being worked on. Ask again in a moment with the same key."
    http_status = 409


@dataclass(frozen=True, slots=True)
class JobsConfig:
    concurrent: int = 1
    """An ingest uses every core it finds; two at once are no faster, and need twice the memory."""
    waiting: int = 16
    """About as many recordings as two cores get through in ten minutes."""
    heartbeat_seconds: float = 1.0
    """Also how often progress is written; a follower sees a step a second."""
    silent_seconds: float = 30.0
    """A process that missed so many heartbeats is gone, not slow."""
    looks_seconds: float = 5.0
    """How often it is looked for such: they have been silent for six times as long."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a job came to: the session it made, and ids and counts for its result."""

    session_id: str | None
    result: Mapping[str, Any]


Run = Callable[[Job, Progress], Awaitable[Done]]
Incident = Callable[[BaseException], str]
"""Logs an unexpected error without its words; the number it is filed under."""


class Jobs:
    """The queue of this process; `start` and `stop` frame its life. Other processes' jobs are seen through the graph."""

    def __init__(self, graph: Graph, run: Run, incident: Incident, config: JobsConfig | None = None) -> None:
        self._graph, self._run, self._incident = graph, run, incident
        self._config = config or JobsConfig()
        self._queue: asyncio.Queue[Job] = asyncio.Queue()
        self._live: dict[str, Job] = {}
        self._entering = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._config.concurrent)]
        self._tasks.append(asyncio.create_task(self._beat()))

    async def stop(self) -> None:
        """What is still running is marked interrupted; the same key goes on with it in the next process."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for id in list(self._live):
            await self._graph.write(finish_job, id, JobStatus.INTERRUPTED, error="interrupted: the service was stopped")
        self._live.clear()

    def works_on(self, job_id: str) -> bool:
        """Whether it waits in this process's queue, or is done by it just now."""
        return job_id in self._live

    async def submit(self, new: NewJob, *, again: tuple[JobStatus, ...] = (JobStatus.INTERRUPTED,)) -> Job:
        """Queued, once per key: again gives the same job; one that ended in a state of `again` goes on. Raises KeyConflict,
        Busy."""
        known = await self._graph.read(find_job_by_key, JobScope(new.space, new.account), new.key)
        if known is not None and (known.body_hash != new.body_hash or known.status not in again):
            return _same(known, new)
        if known is not None and known.id in self._live:  # silent for long, and alive all the same
            return known
        if len(self._live) + self._entering >= self._config.concurrent + self._config.waiting:
            raise Busy(waiting=self._queue.qsize())
        self._entering += 1
        try:
            job, ours = await self._graph.write(save_job, new, JobStatus.QUEUED, again=again)
        finally:
            self._entering -= 1
        if ours:
            self._live[job.id] = job
            self._queue.put_nowait(job)
        return job

    async def _work(self) -> None:
        while True:
            job = await self._queue.get()
            try:
                await self._do(job)
            finally:
                self._queue.task_done()

    async def _do(self, job: Job) -> None:
        """One job, whatever becomes of it: the worker itself must not die of it."""

        def progress(share: float, stage: str) -> None:
            if job.id in self._live:
                self._live[job.id] = replace(self._live[job.id], progress=share, stage=stage)

        self._live[job.id] = replace(job, status=JobStatus.RUNNING, stage="starting")
        try:
            if not await self._graph.read(find_jobs, JobScope(job.space, job.account), [job.id]):
                self._live.pop(job.id)  # its space was forgotten, and is not to come back
                return
            done = await self._run(job, progress)
            result = json.dumps(done.result, sort_keys=True)
            finish = partial(finish_job, id=job.id, status=JobStatus.COMPLETE, session_id=done.session_id, result=result)
        except Exception as error:  # noqa: BLE001 - kept on the job and in the log; the next job must still run
            finish = partial(finish_job, id=job.id, status=JobStatus.FAILED, error=self._told(error))
        try:
            await self._graph.write(finish)
        except Exception as error:  # noqa: BLE001 - logged; without a heartbeat the job becomes `interrupted` and can be resumed
            self._incident(error)
        self._live.pop(job.id, None)

    async def _beat(self) -> None:
        looked = float("-inf")
        while True:
            try:
                if time.monotonic() - looked >= self._config.looks_seconds:
                    await self._graph.write(save_interrupted, silent_seconds=self._config.silent_seconds)
                    looked = time.monotonic()
                rows = [{"id": j.id, "status": j.status, "stage": j.stage, "progress": j.progress} for j in self._live.values()]
                if rows:
                    await self._graph.write(save_progress, rows)
            except Exception as error:  # noqa: BLE001 - logged; Neo4j may be back at the next beat
                self._incident(error)
            await asyncio.sleep(self._config.heartbeat_seconds)

    def _told(self, error: Exception) -> str:
        if isinstance(error, VoicegraphError) and error.http_status < 500:
            return str(error)
        code = error.code if isinstance(error, VoicegraphError) else "unexpected"
        return f"{code}: The log has more under incident {self._incident(error)}."


async def once(graph: Graph, new: NewJob, action: Callable[[], Awaitable[Mapping[str, Any]]]) -> dict[str, Any]:
    """Does `action` once per key and keeps what it gave (ids and counts); the same key again gives that without doing it.

    A failed or interrupted action is done anew. Raises KeyConflict for another body, StillRunning for two at once."""
    job, ours = await graph.write(save_job, new, JobStatus.RUNNING, again=(JobStatus.FAILED, JobStatus.INTERRUPTED))
    if not ours:
        if job.result is None:
            raise StillRunning(key=new.key)
        return dict(json.loads(job.result))
    try:
        result = dict(await action())
    except BaseException as error:
        code = error.code if isinstance(error, VoicegraphError) else "unexpected"
        await graph.write(finish_job, job.id, JobStatus.FAILED, error=code)
        raise
    await graph.write(finish_job, job.id, JobStatus.COMPLETE, result=json.dumps(result, sort_keys=True))
    return result


def body_hash(kind: str, body: Mapping[str, Any]) -> str:
    """Two requests with the same hash ask for the same thing."""
    return hashlib.sha256(json.dumps([kind, body], sort_keys=True, default=str).encode()).hexdigest()


def _same(known: Job, new: NewJob) -> Job:
    if known.body_hash != new.body_hash:
        raise KeyConflict(key=new.key)
    return known
