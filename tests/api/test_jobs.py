"""Jobs outlive the process that runs them, run once per key, and never take the worker down."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from service.api.errors import incident
from service.errors import InvalidInput
from service.graph.driver import Graph, changes
from service.graph.jobs import (
    Job,
    JobScope,
    JobStatus,
    KeyConflict,
    NewJob,
    find_jobs,
    list_jobs,
    save_interrupted,
    save_job,
    save_progress,
)
from service.graph.paging import Page
from service.pipelines.jobs import Busy, Done, Jobs, JobsConfig, StillRunning, body_hash, once
from service.types.audio import Progress
from service.types.ids import fresh

QUICK = JobsConfig(concurrent=1, waiting=2, heartbeat_seconds=0.05, silent_seconds=30.0)
Work = Callable[[Job, Progress], Awaitable[Done]]


def a_job(space: str, key: str = "", body: str = "body", account: str = "account") -> NewJob:
    return NewJob(space, account, key or fresh(), "ingest", body_hash("ingest", {"x": body}), "{}")


async def read(graph: Graph, job: Job) -> Job:
    return (await graph.read(find_jobs, JobScope(job.space, None), [job.id]))[job.id]


async def until(graph: Graph, job: Job, *statuses: JobStatus, stage: str = "") -> Job:
    """The job once it has one of `statuses`, or reached `stage`."""
    async with asyncio.timeout(20):
        while (now := await read(graph, job)).status not in statuses and (not stage or now.stage != stage):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return now


async def age(graph: Graph, job: Job, seconds: int) -> None:
    query = "MATCH (j:Job {id: $id}) SET j.heartbeat_at = datetime() - duration({seconds: $seconds})"
    await graph.write(changes, query, id=job.id, seconds=seconds)


class Working:
    """A queue with this work, running for the length of the block."""

    def __init__(self, graph: Graph, work: Work) -> None:
        self.jobs = Jobs(graph, work, incident, QUICK)

    async def __aenter__(self) -> Jobs:
        await self.jobs.start()
        return self.jobs

    async def __aexit__(self, *_: object) -> None:
        await self.jobs.stop()


async def at_once(job: Job, progress: Progress) -> Done:
    progress(0.5, "half")
    return Done("session", {"num_messages": 3})


async def for_ever(job: Job, progress: Progress) -> Done:
    progress(0.25, "diarise")
    await asyncio.sleep(3600)
    raise AssertionError


async def test_a_job_runs_and_keeps_what_came_of_it(graph: Graph, space: str) -> None:
    async with Working(graph, at_once) as jobs:
        job = await until(graph, await jobs.submit(a_job(space)), JobStatus.COMPLETE)
    assert (job.session_id, job.result, job.progress, job.error) == ("session", '{"num_messages": 3}', 1.0, None)


async def test_the_same_key_gives_the_same_job_and_another_body_is_a_conflict(graph: Graph, space: str) -> None:
    ran = []

    async def counting(job: Job, progress: Progress) -> Done:
        ran.append(job.id)
        return Done(None, {})

    async with Working(graph, counting) as jobs:
        first = await jobs.submit(a_job(space, "key"))
        await until(graph, first, JobStatus.COMPLETE)
        assert (await jobs.submit(a_job(space, "key"))).id == first.id
        with pytest.raises(KeyConflict):
            await jobs.submit(a_job(space, "key", "other"))
        other = await jobs.submit(a_job(space, "key", account="somebody else"))
        assert other.id != first.id
        await until(graph, other, JobStatus.COMPLETE)
    assert ran == [first.id, other.id]


async def test_of_two_requests_at_once_with_one_key_one_runs(graph: Graph, space: str) -> None:
    ran = []

    async def counting(job: Job, progress: Progress) -> Done:
        ran.append(job.id)
        return Done(None, {})

    async with Working(graph, counting) as one, Working(graph, counting) as two:
        submitted = await asyncio.gather(*(jobs.submit(a_job(space, "key")) for jobs in (one, two)))
        await until(graph, submitted[0], JobStatus.COMPLETE)
        await asyncio.sleep(0.1)
    assert len(ran) == 1 and len({job.id for job in submitted}) == 1


async def test_a_heartbeat_never_revives_a_finished_job(graph: Graph, space: str) -> None:
    """The beat of a busy queue and the end of a job meet in the database; fifty times each."""
    async with Working(graph, at_once) as jobs:
        for _ in range(50):
            job = await jobs.submit(a_job(space))
            async with asyncio.TaskGroup() as both:
                for _ in range(4):
                    row = {"id": job.id, "status": JobStatus.RUNNING, "stage": "x", "progress": 0.1}
                    both.create_task(graph.write(save_progress, [row]))
            assert (await until(graph, job, JobStatus.COMPLETE)).progress == 1.0


async def test_progress_and_heartbeat_show_in_the_graph(graph: Graph, space: str) -> None:
    async with Working(graph, for_ever) as jobs:
        job = await jobs.submit(a_job(space))
        now = await until(graph, job, stage="diarise")
        assert (now.status, now.progress) == (JobStatus.RUNNING, 0.25) and now.heartbeat_at > job.heartbeat_at


async def test_a_full_queue_is_busy_and_keeps_nothing(graph: Graph, space: str) -> None:
    async with Working(graph, for_ever) as jobs:
        kept = [await jobs.submit(a_job(space)) for _ in range(3)]
        with pytest.raises(Busy):
            await jobs.submit(a_job(space))
        page = await graph.read(list_jobs, JobScope(space, "account"), page=Page(first=10))
        assert {j.id for j in page.items} == {j.id for j in kept}
        assert (await jobs.submit(a_job(space, kept[0].key))).id == kept[0].id


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (InvalidInput(what="the file", given="text", needed="sound"), "invalid_input: the file was text; needed: sound."),
        (RuntimeError("secret words"), "unexpected: The log has more under incident"),
    ],
)
async def test_a_job_that_fails_says_why_and_the_next_one_runs(graph: Graph, space: str, error: Exception, says: str) -> None:
    async def failing(job: Job, progress: Progress) -> Done:
        if job.key == "bad":
            raise error
        return Done(None, {})

    async with Working(graph, failing) as jobs:
        bad = await until(graph, await jobs.submit(a_job(space, "bad")), JobStatus.FAILED)
        await until(graph, await jobs.submit(a_job(space)), JobStatus.COMPLETE)
    assert bad.error is not None and bad.error.startswith(says) and "secret" not in bad.error


async def test_a_job_left_by_a_dead_process_is_interrupted_and_goes_on_with_its_key(graph: Graph, space: str) -> None:
    new = a_job(space, "key")
    left, _ = await graph.write(save_job, new, JobStatus.RUNNING, again=())
    assert left.id not in await graph.write(save_interrupted, silent_seconds=30.0)
    await age(graph, left, 60)
    async with Working(graph, at_once) as jobs:
        assert "interrupted" in ((await until(graph, left, JobStatus.INTERRUPTED)).error or "")
        assert (await jobs.submit(new)).id == left.id
        assert (await until(graph, left, JobStatus.COMPLETE)).error is None


async def test_a_service_that_is_stopped_leaves_its_jobs_interrupted(graph: Graph, space: str) -> None:
    async with Working(graph, for_ever) as jobs:
        kept = [await jobs.submit(a_job(space)) for _ in range(2)]
        await until(graph, kept[0], JobStatus.RUNNING)
    assert {(await read(graph, j)).status for j in kept} == {JobStatus.INTERRUPTED}


async def test_an_account_sees_its_own_jobs_newest_first(graph: Graph, space: str) -> None:
    mine = [(await graph.write(save_job, a_job(space), JobStatus.QUEUED, again=()))[0].id for _ in range(5)]
    (other, _) = await graph.write(save_job, a_job(space, account="other"), JobStatus.QUEUED, again=())
    first = await graph.read(list_jobs, JobScope(space, "account"), page=Page(first=3))
    rest = await graph.read(list_jobs, JobScope(space, "account"), page=Page(first=3, after=first.cursors[-1]))
    assert [j.id for j in (*first.items, *rest.items)] == mine[::-1] and first.has_next and not rest.has_next
    assert await graph.read(find_jobs, JobScope(space, "account"), [other.id]) == {}
    assert len((await graph.read(list_jobs, JobScope(space, None), page=Page(first=10))).items) == 6
    assert (await graph.read(list_jobs, JobScope("elsewhere", None), page=Page(first=10))).items == ()


async def test_an_action_is_done_once_per_key_and_its_result_kept(graph: Graph, space: str) -> None:
    done = []

    async def action() -> dict[str, str]:
        done.append(1)
        return {"person_id": f"p{len(done)}"}

    assert (
        await once(graph, a_job(space, "key"), action) == {"person_id": "p1"} == await once(graph, a_job(space, "key"), action)
    )
    with pytest.raises(KeyConflict):
        await once(graph, a_job(space, "key", "other"), action)


async def test_an_action_that_failed_is_done_anew_and_two_at_once_are_told(graph: Graph, space: str) -> None:
    going, go = asyncio.Event(), asyncio.Event()

    async def failing() -> dict[str, str]:
        raise InvalidInput(what="x", given="y", needed="z")

    async def slow() -> dict[str, str]:
        going.set()
        await go.wait()
        return {"ok": "yes"}

    with pytest.raises(InvalidInput):
        await once(graph, a_job(space, "key"), failing)
    first = asyncio.create_task(once(graph, a_job(space, "key"), slow))
    await going.wait()
    with pytest.raises(StillRunning):
        await once(graph, a_job(space, "key"), slow)
    go.set()
    assert await first == {"ok": "yes"}
