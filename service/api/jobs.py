"""What became of the recording I sent? Jobs: asked for once per key, followed by polling or subscription."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.connections import Connection, Node, connection
from service.api.context import Context, global_id, local_id
from service.api.loaders import Reading
from service.api.memory import SessionType
from service.api.outcomes import Busy, Conflict, InvalidInput, NotAllowed, NotFound, expected
from service.api.stream_following import Following
from service.api.uploads import Uploads
from service.errors import InvalidInput as BadInput
from service.errors import NotFound as Missing
from service.graph.jobs import Job, JobStatus, NewJob, find_jobs, list_jobs
from service.graph.paging import Page
from service.pipelines.ingest import IngestRequest
from service.pipelines.jobs import Done, Run, body_hash, once
from service.types.audio import Progress, Segment
from service.types.ids import derived
from service.types.memory import Attendance
from service.types.people import Principal
from service.types.plain import MAX_TEXT, short
from service.wiring import Services

POLL_SECONDS = 0.5
"""How often a subscription looks at its job; progress is written once a second."""
MAX_INTERVALS = 1_000
"""Comings and goings of one session that a caller may know of."""

strawberry.enum(JobStatus, name="JobStatus", description="How far a job is.")


@strawberry.type(name="FactsDropped", description="Why what might have been a fact is none.")
class FactsDroppedType:
    reason: str = strawberry.field(description="In words: turns in a language not read, words that nobody said.")
    count: int = strawberry.field(description="How often.")


@strawberry.type(name="IngestResult", description="What an ingest found, in numbers.")
class IngestResultType:
    num_messages: int = strawberry.field(description="Turns written.")
    people_created: int = strawberry.field(description="Voices not met before.")
    people_linked: int = strawberry.field(description="Known people recognised.")
    words_left_out: int = strawberry.field(description="Words heard or written that are in no message: nobody spoke there.")
    captions_mended: int = strawberry.field(description="Places where the transcript broke its format and was read anyway.")
    seconds: float = strawberry.field(description="Time it took.")
    num_facts: int | None = strawberry.field(default=None, description="Facts understood of it; null where none were read.")
    facts_dropped: list[FactsDroppedType] = strawberry.field(
        default_factory=list, description="What might have been a fact and is none, by reason."
    )

    @classmethod
    def from_json(cls, text: str) -> IngestResultType:
        numbers = json.loads(text)
        dropped = [FactsDroppedType(reason=why, count=count) for why, count in numbers.pop("facts_dropped", {}).items()]
        return cls(**numbers, facts_dropped=dropped)


@strawberry.type(name="Job", description="Something asked for that takes longer than a request. Seen by who asked for it.")
class JobType(Node):
    kind: str = strawberry.field(description="ingest, or the name of another mutation: enrol, name_person, merge_people, …")
    status: JobStatus = strawberry.field(description="interrupted: ask again with the same key and it goes on.")
    stage: str = strawberry.field(description="What it is doing.")
    progress: float = strawberry.field(description="Share done, in [0, 1].")
    error: str | None = strawberry.field(description="Code and message of what broke it off.")
    idempotency_key: str = strawberry.field(description="The key it was asked for with.")
    created_at: datetime = strawberry.field(description="When it was asked for, UTC.")
    record: strawberry.Private[Job]
    context: strawberry.Private[Context]

    @strawberry.field(description="Global id of the session it made; who may read it is another matter.")
    def session_id(self) -> strawberry.ID | None:
        made = self.record.session_id
        return strawberry.ID(global_id("Session", made)) if made else None

    @strawberry.field(description="The session it made, if the viewer may see it.")
    async def session(self) -> SessionType | None:
        """With the eyes of the context that the job was read with: each result of a subscription has one of its own, so
        that what a correction took away meanwhile is not shown again."""
        if not self.record.session_id:
            return None
        reading: Reading = await self.context.reading()
        session = await reading.sessions.load(self.record.session_id)
        return SessionType.from_record(session, reading) if session else None

    @strawberry.field(description="Of a completed ingest.")
    def result(self) -> IngestResultType | None:
        if self.record.kind != "ingest" or not self.record.result:
            return None
        return IngestResultType.from_json(self.record.result)

    @classmethod
    def from_record(cls, job: Job, context: Context) -> JobType:
        return cls(
            id=strawberry.ID(global_id("Job", job.id)),
            kind=job.kind,
            status=job.status,
            stage=job.stage,
            progress=job.progress,
            error=job.error,
            idempotency_key=job.key,
            created_at=job.created_at,
            record=job,
            context=context,
        )


@strawberry.input(description="Somebody was there for a while.")
class AttendanceInput:
    person_id: strawberry.ID = strawberry.field(description="Who.")
    start: float = strawberry.field(description="From, in seconds from the start of the recording.")
    end: float = strawberry.field(description="To, in seconds from the start of the recording.")


@strawberry.input(description="A recording to be remembered.")
class IngestInput:
    upload_id: strawberry.ID = strawberry.field(
        description="The recording, as POST /v1/uploads named it; or a transcript by itself, whose turns are nobody's then."
    )
    title: str | None = strawberry.field(default=None, description="Title of the session, for people.")
    started_at: datetime | None = strawberry.field(
        default=None, description="When it began, with its zone; without, the time of the ingest."
    )
    zone: str | None = strawberry.field(default=None, description="Where it was recorded, e.g. Europe/Vienna.")
    external_id: str | None = strawberry.field(
        default=None, description="Your own id for the session; without, it follows from the sound."
    )
    transcript_upload_id: strawberry.ID | None = strawberry.field(
        default=None, description="Its transcript; without, speech is recognised."
    )
    transcript_format: str | None = strawberry.field(
        default=None, description="Of the transcript: vtt, srt, deepgram, … (`voicegraph formats`); without, by its content."
    )
    addressed_to: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="People to whom everything in it is said."
    )
    attendance: list[AttendanceInput] = strawberry.field(
        default_factory=list, description="Who was there and when, where it is known: they may read what was said then."
    )
    again: bool = strawberry.field(
        default=False,
        description="Where the recording is there with another transcript or date, or of other models: take the place of that, "
        "as a new revision; that is erased for good. Needs the scope `admin`. Without, it is refused.",
    )


JobOutcome: TypeAlias = Annotated[
    JobType | NotFound | NotAllowed | InvalidInput,
    strawberry.union("JobOutcome", description="The job, or why there is none to follow."),
]
IngestOutcome: TypeAlias = Annotated[
    JobType | NotFound | NotAllowed | InvalidInput | Conflict | Busy,
    strawberry.union("IngestOutcome", description="The job that ingests it, or why there is none."),
]


async def job(context: Context, id: str) -> JobType | None:
    scope = context.job_scope
    found = (await context.services.graph.read(find_jobs, scope, [local_id(id, "Job")])).values()
    return next((JobType.from_record(j, context) for j in found), None)


async def jobs(context: Context, page: Page) -> Connection[JobType]:
    found = await context.services.graph.read(list_jobs, context.job_scope, page=page)
    return connection(found, lambda j: JobType.from_record(j, context))


async def follow(context: Context, id: str) -> AsyncGenerator[Any, None]:
    """The job now and after each change, until it is over. Token and scope are looked at anew each time: a token that was
    revoked ends it."""
    last: JobType | None = None
    while last is None or not last.record.is_over:
        now = await expected(_get(context.renewed(), id))
        if not isinstance(now, JobType):
            yield now
            return
        if last is None or _shown(now) != _shown(last):
            yield now
        last = now
        if not now.record.is_over:
            await asyncio.sleep(POLL_SECONDS)


async def ingest(context: Context, wanted: IngestInput, key: str) -> JobType:
    """Raises NotAllowed, NotFound for uploads, InvalidInput, KeyConflict, Busy."""
    principal = context.allowed("ingest", "ingest a recording")
    if wanted.again:  # what others said is erased with it
        context.allowed("admin", "put a new revision of a recording in place of what is there")
    if wanted.started_at is not None and wanted.started_at.tzinfo is None:
        raise BadInput(what="startedAt", given=f"{wanted.started_at.isoformat()} without a zone", needed="a time with its zone")
    for upload in filter(None, (wanted.upload_id, wanted.transcript_upload_id)):
        context.upload(upload)
    body = {
        "upload": wanted.upload_id,
        "title": wanted.title and short("title", wanted.title),
        "started_at": wanted.started_at and wanted.started_at.isoformat(),
        "zone": wanted.zone and short("zone", wanted.zone),
        "external_id": wanted.external_id and short("externalId", wanted.external_id),
        "transcript": wanted.transcript_upload_id,
        "addressed_to": [local_id(id) for id in wanted.addressed_to],
        "attendance": _attendance(wanted.attendance),
        **({"format": short("transcriptFormat", wanted.transcript_format)} if wanted.transcript_format else {}),
        **({"again": True} if wanted.again else {}),
    }
    new = NewJob(
        space=context.space,
        account=principal.account_id,
        key=short("idempotencyKey", key),
        kind="ingest",
        body_hash=body_hash("ingest", body),
        request=json.dumps(body),
    )
    return JobType.from_record(await context.runtime.jobs.submit(new), context)


async def once_per_key(
    context: Context,
    principal: Principal,
    kind: str,
    key: str,
    body: Mapping[str, Any],
    do: Callable[[], Awaitable[Mapping[str, Any]]],
) -> dict[str, Any]:
    """What `do` gives (ids and counts), done once per key and account. Raises InvalidInput, KeyConflict, StillRunning."""
    new = NewJob(context.space, principal.account_id, short("idempotencyKey", key), kind, body_hash(kind, body))
    return await once(context.services.graph, new, do)


def runner(services: Services, uploads: Uploads, following: Following) -> Run:
    """What the queue does with an ingest job: also with one that another process left behind."""

    async def run(job: Job, progress: Progress) -> Done:
        body = json.loads(job.request)
        if not (stream := body.get("stream")):
            return await ingested(job, body, progress)
        progress(0.0, "listen")
        async with following.until_over(services.graph, job.space, stream):
            await following.written(stream)
            return await ingested(job, body, progress)

    async def ingested(job: Job, body: Mapping[str, Any], progress: Progress) -> Done:
        stream = body.get("stream")
        request = IngestRequest(
            path=uploads.path(job.account, body["upload"]),
            space=job.space,
            session_id=body["external_id"] and derived("session", job.space, body["external_id"]),
            title=body["title"] or "Recording",
            zone=body["zone"],
            started_at=body["started_at"] and datetime.fromisoformat(body["started_at"]),
            transcript=uploads.path(job.account, body["transcript"]) if body["transcript"] else None,
            format=body.get("format"),
            addressed_to=tuple(body["addressed_to"]),
            attendance=tuple(Attendance(a["person"], _segments(a["intervals"]), "caller") for a in body["attendance"]),
            sha256=body["upload"],
            source="stream" if stream else "upload",
            stream=stream,
            again=body.get("again", False),
        )
        report = await (await services.ingest())(request, progress)
        numbers = {
            "num_messages": report.num_messages,
            "people_created": report.people_created,
            "people_linked": report.people_linked,
            "words_left_out": report.words_left_out,
            "captions_mended": report.captions_mended,
            "num_facts": report.num_facts,
            "facts_dropped": dict(report.facts_dropped),
            "seconds": report.seconds,
        }
        return Done(report.session_id, numbers)

    return run


def _attendance(given: list[AttendanceInput]) -> list[dict[str, Any]]:
    """One row a person; raises InvalidInput for too many, and for an interval that ends before it starts."""
    if len(given) > MAX_INTERVALS:
        raise BadInput(what="attendance", given=f"{len(given)} intervals", needed=f"at most {MAX_INTERVALS}")
    people: dict[str, list[list[float]]] = defaultdict(list)
    for interval in given:
        if not 0 <= interval.start <= interval.end:
            raise BadInput(what="attendance", given=f"{interval.start:g} to {interval.end:g}", needed="0 ≤ start ≤ end")
        people[local_id(interval.person_id)].append([interval.start, interval.end])
    return [{"person": person, "intervals": sorted(intervals)} for person, intervals in sorted(people.items())]


def _segments(intervals: list[list[float]]) -> tuple[Segment, ...]:
    return tuple(Segment(start, end) for start, end in intervals)


async def _get(context: Context, id: str) -> JobType:
    found = await job(context, id)
    if found is None:
        raise Missing(kind="job", id=id[:MAX_TEXT])
    return found


def _shown(job: JobType) -> tuple[Any, ...]:
    return job.status, job.stage, job.progress
