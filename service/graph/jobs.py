"""What was asked for over HTTP, and how far is it? Job nodes: idempotency keys that outlive the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.errors import VoicegraphError
from service.graph.driver import Tx, rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.ids import derived


class JobStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """Its process ended before it did; asking again with the same key goes on with it."""


LIVE = (JobStatus.QUEUED, JobStatus.RUNNING)


class KeyConflict(VoicegraphError):
    code = "key_conflict"
    says = "The idempotency key {key} was first used for something else. Use a new key for a new request."
    http_status = 409


OWN = ("share_persona", "unshare_persona")
"""Kinds of jobs that nobody but who asked sees: that somebody tells others what they are like is theirs alone."""


@dataclass(frozen=True, slots=True)
class JobScope:
    """Whose jobs may be seen: one account's, or with None everybody's of the space (scope `admin`)."""

    space: str
    account: str | None
    asker: str | None = None
    """With `account` None: whose jobs of the kinds OWN are seen; None: nobody's."""

    @property
    def gate(self) -> dict[str, Any]:
        """What the queries ask of it, by the names of their parameters."""
        return {"space": self.space, "account": self.account, "asker": self.account or self.asker, "own": list(OWN)}


@dataclass(frozen=True, slots=True)
class Job:
    id: str
    space: str
    account: str
    key: str
    kind: str
    status: JobStatus
    stage: str
    progress: float
    """Share done, [0, 1]."""
    request: str
    """JSON; empty unless it can be resumed."""
    body_hash: str
    session_id: str | None
    result: str | None
    """JSON"""
    error: str | None
    created_at: datetime
    heartbeat_at: datetime

    @property
    def is_over(self) -> bool:
        return self.status not in LIVE


@dataclass(frozen=True, slots=True)
class NewJob:
    space: str
    account: str
    key: str
    kind: str
    body_hash: str
    request: str = ""

    @property
    def id(self) -> str:
        return derived("job", self.space, self.account, self.key)


ENSURE_JOB = """
MERGE (j:Job {space: $space, account: $account, key: $key})
ON CREATE SET j.id = $id, j.created_at = datetime(), j.heartbeat_at = datetime(), j.kind = $kind, j.body_hash = $body_hash,
  j.request = $request, j.status = 'new', j.stage = '', j.progress = 0.0
SET j.key = $key
"""

CLAIM_JOB = """
MATCH (j:Job {id: $id})
WITH j, j.status AS before, j.body_hash = $body_hash AND j.status IN $claimed AS ours
SET j.status = CASE WHEN ours THEN $status ELSE before END,
  j.error = CASE WHEN ours THEN null ELSE j.error END,
  j.heartbeat_at = CASE WHEN ours THEN datetime() ELSE j.heartbeat_at END
RETURN ours, j {.*} AS job
"""


async def save_job(tx: Tx, new: NewJob, status: JobStatus, *, again: Sequence[JobStatus]) -> tuple[Job, bool]:
    """The job of this key and whether it is the caller's to run: it is new, or its status was one of `again`.

    Of two requests at once only one runs it: the first statement locks the node, the second reads what it is then (what
    one statement read before it waited for the lock may be out of date). Raises KeyConflict for another body."""
    await rows(
        tx,
        ENSURE_JOB,
        id=new.id,
        space=new.space,
        account=new.account,
        key=new.key,
        kind=new.kind,
        body_hash=new.body_hash,
        request=new.request,
    )
    (row,) = await rows(tx, CLAIM_JOB, id=new.id, body_hash=new.body_hash, status=status, claimed=["new", *again])
    job = _job(row["job"])
    if job.body_hash != new.body_hash:
        raise KeyConflict(key=new.key)
    return job, row["ours"]


FIND_JOBS = """
UNWIND $ids AS id
MATCH (j:Job {id: id})
WHERE j.space = $space AND ($account IS NULL OR j.account = $account) AND (NOT j.kind IN $own OR j.account = $asker)
RETURN j {.*} AS job
"""


async def find_jobs(tx: Tx, scope: JobScope, ids: Sequence[str]) -> dict[str, Job]:
    """The jobs among `ids` that lie in `scope`, by id."""
    found = await rows(tx, FIND_JOBS, ids=list(ids), **scope.gate)
    return {job.id: job for row in found for job in (_job(row["job"]),)}


FIND_JOB_BY_KEY = """
MATCH (j:Job {space: $space, account: $account, key: $key})
RETURN j {.*} AS job
"""


async def find_job_by_key(tx: Tx, scope: JobScope, key: str) -> Job | None:
    """The job an account already asked for under `key`."""
    found = await rows(tx, FIND_JOB_BY_KEY, space=scope.space, account=scope.account, key=key)
    return _job(found[0]["job"]) if found else None


LIST_JOBS = """
MATCH (j:Job {space: $space})
WHERE ($account IS NULL OR j.account = $account) AND (NOT j.kind IN $own OR j.account = $asker)
WITH j, [j.created_at.epochSeconds * 1000000000 + j.created_at.nanosecond, j.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place, j {.*} AS job
ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_jobs(tx: Tx, scope: JobScope, *, page: Page) -> Paged[Job]:
    """Newest first."""
    found = await rows(tx, LIST_JOBS, **scope.gate, **parameters(page, newest_first=True))
    return paged(page, [row["place"] for row in found], {row["job"]["id"]: _job(row["job"]) for row in found})


LOCK_JOBS = """
UNWIND $ids AS id
MATCH (j:Job {id: id})
SET j.created_at = j.created_at
"""

SAVE_PROGRESS = """
UNWIND $jobs AS row
MATCH (j:Job {id: row.id})
WHERE j.status IN ['queued', 'running']
SET j.heartbeat_at = datetime(), j.status = row.status, j.stage = row.stage, j.progress = row.progress
"""


async def save_progress(tx: Tx, jobs: Sequence[Mapping[str, Any]]) -> None:
    """Heartbeat, status, stage and progress of every live job of this process (rows of id, status, stage, progress). One
    that was finished meanwhile stays finished."""
    await rows(tx, LOCK_JOBS, ids=sorted(job["id"] for job in jobs))
    await rows(tx, SAVE_PROGRESS, jobs=[dict(job) for job in jobs])


FINISH_JOB = """
MATCH (j:Job {id: $id})
SET j.status = $status, j.session_id = $session_id, j.result = $result, j.error = $error, j.heartbeat_at = datetime(),
  j.progress = CASE WHEN $status = 'complete' THEN 1.0 ELSE j.progress END
RETURN j {.*} AS job
"""


async def finish_job(
    tx: Tx, id: str, status: JobStatus, *, session_id: str | None = None, result: str | None = None, error: str | None = None
) -> Job:
    found = await rows(tx, FINISH_JOB, id=id, status=status, session_id=session_id, result=result, error=error)
    return _job(found[0]["job"])


LIST_SILENT_JOBS = """
MATCH (j:Job)
WHERE j.status IN ['queued', 'running'] AND j.heartbeat_at < datetime() - duration({seconds: $silent_seconds})
RETURN j.id AS id ORDER BY id
"""

SAVE_INTERRUPTED = """
UNWIND $ids AS id
MATCH (j:Job {id: id})
WHERE j.status IN ['queued', 'running'] AND j.heartbeat_at < datetime() - duration({seconds: $silent_seconds})
SET j.status = 'interrupted', j.error = 'interrupted: the service ended before the job did; ask again with the same key'
RETURN j.id AS id
"""


async def save_interrupted(tx: Tx, *, silent_seconds: float) -> tuple[str, ...]:
    """Marks live jobs without a heartbeat for so long, of every space: their process is gone. Their ids."""
    silent = [row["id"] for row in await rows(tx, LIST_SILENT_JOBS, silent_seconds=silent_seconds)]
    if not silent:
        return ()
    await rows(tx, LOCK_JOBS, ids=silent)
    marked = await rows(tx, SAVE_INTERRUPTED, ids=silent, silent_seconds=silent_seconds)
    return tuple(row["id"] for row in marked)


def _job(properties: Mapping[str, Any]) -> Job:
    record: dict[str, Any] = {name: properties.get(name) for name in Job.__slots__}
    return Job(**{**record, "status": JobStatus(properties["status"])})
