"""How long does the dense search alone take, as the store grows and as more is wanted? From a question's vector to places.

What VoiceMem hides in the pause once the question is embedded: the gate, and the nearest messages by the turn view, for one who
may read little (exact) and one who may read much (the index). One question after the other, no other client; a row for each
size, viewer and K, and `messages=N` for the worst of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from service.graph.access import ReadScope
from service.graph.forget_space import forget_space
from service.graph.messages import count_messages
from service.pipelines.dense import Dense
from service.types.audio import Samples
from service.types.search import Filters
from service.wiring import Services
from tests.bench.report import Report
from tests.bench.retrieval.embedded import Embedded
from tests.bench.search import a_corpus, fill, services
from tests.graph.graph_builders import TEXT_SPACE

SIZES = {1_000: (200, 800), 10_000: (200, 5_000), 100_000: (200, 20_000)}  # messages → what each of the two viewers may read
QUICK_SIZES = {1_000: (200, 800)}
WANTED = (5, 50)  # K, as the paper's
WARM = 40  # questions before any is counted


async def measure(report: Report, sizes: Sequence[int], *, quick: bool) -> None:
    """`sizes`: of SIZES. 100,000 messages take about ten minutes to write on a quiet machine."""
    async with services() as service:
        embedder = Embedded(await service.text_embedder(), service.settings.cache_dir)
        corpus = a_corpus(embedder, report, quick=quick)
        vectors = embedder.queries(corpus.questions)
        for size in sizes:
            filled = await fill(service.graph, corpus, size, (QUICK_SIZES if quick else SIZES)[size])
            try:
                scopes = [await filled.world.scope(name) for name in ("xanthe", "zebedee")]
                await measure_size(report, service, scopes, vectors, size)
            finally:
                await forget_space(service.graph, filled.world.space)


async def measure_size(report: Report, service: Services, scopes: Sequence[ReadScope], vectors: Samples, size: int) -> None:
    worst = 0.0
    for scope in scopes:
        visible = await service.graph.read(count_messages, scope)
        for wanted in WANTED:
            taken = await _times(service, scope, vectors, wanted, visible)
            condition = f"messages={size}/viewer={visible}/k={wanted}"
            for percentile in (50, 95):
                value = float(np.percentile(taken, percentile))
                report.add(f"search_stage_p{percentile}_ms", condition, "ours", value, "ms", len(taken))
            worst = max(worst, float(np.percentile(taken, 95)))
    report.add("search_stage_p95_ms", f"messages={size}", "ours", worst, "ms", len(vectors))


async def _times(service: Services, scope: ReadScope, vectors: Samples, wanted: int, visible: int) -> list[float]:
    """Milliseconds of each question."""
    dense, taken = Dense(service.graph, TEXT_SPACE), []
    for number, vector in enumerate([*vectors[:WARM], *vectors]):
        started = time.perf_counter()
        found = await dense(scope, "", vector, Filters(), wanted, candidates=visible)
        if number >= WARM:
            taken.append(1_000 * (time.perf_counter() - started))
        assert len(found.found) == wanted, (found.how, len(found.found))
    return taken
