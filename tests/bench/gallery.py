"""Does the vector index name the right candidates in a large space, and how long does reading them take?

`python -m tests.bench.gallery [--quick] [--json PATH]`; on the Neo4j of NEO4J_URI, else on an embedded one of its own.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import platformdirs

from service.graph import migrate
from service.graph.driver import Graph, GraphConfig, Tx, changes
from service.graph.forget_space import forget_space
from service.graph.server import EmbeddedServer, ServerConfig
from service.graph.spaces import bump_revision, ensure_space, lock_space
from service.graph.voices import nearest_voices
from service.graph.write_people import PersonWrite, VoiceWrite, save_people, save_voices
from service.identity.metrics import share_interval
from service.pipelines.gallery import GalleryConfig, GalleryReader
from service.types.audio import EmbeddingSpace, Samples
from service.types.ids import derived, fresh
from service.types.people import AnonymousVoices, Exemplar, PersonVoice, SpaceSettings
from tests.bench.report import Report, arguments

VOICES = EmbeddingSpace("campplus", "bench", 192)
KEPT = Path(__file__).resolve().parents[3] / "shared" / "data" / "embeddings" / "core_conditions.npz"
"""embeddings of 262 speakers: made voices have their mean and covariance, as voices fill few of the 192 dimensions"""
OWN = 0.65
"""cosine of a probe with its person's center, as of a turn under noise (speech.md 3.5)"""
EXEMPLARS = 3
BATCH = 500
AWAIT_INDEXES = "CALL db.awaitIndexes(300)"


def run(report: Report, quick: bool) -> None:
    if not KEPT.is_file():
        report.missing("candidates of a large space", "put the kept embeddings into ../shared/data")
        return
    asyncio.run(_run(report, 1_000 if quick else 10_000, 100 if quick else 1_000))


async def _run(report: Report, people: int, probes: int) -> None:
    with _neo4j() as config:
        graph = await Graph.open(config)
        space = f"bench-gallery-{fresh()}"
        try:
            await migrate.apply(graph)
            await graph.write(ensure_space, SpaceSettings(space, anonymous_voices=AnonymousVoices.KEEP))
            centers = await _populate(graph, space, people)
            await _measure(report, graph, space, centers, probes)
        finally:
            await forget_space(graph, space)
            await graph.close()


async def _measure(report: Report, graph: Graph, space: str, centers: Samples, probes: int) -> None:
    rng = np.random.default_rng(1)
    whose = rng.choice(len(centers), probes)
    noise = _unit(rng.standard_normal((probes, centers.shape[1])))
    turns = _unit(OWN * centers[whose] + np.sqrt(1 - OWN**2) * noise)
    ids = [_id(space, i) for i in range(len(centers))]
    exact = np.argmax(turns @ centers.T, axis=1)
    await graph.read(nearest_voices, space, VOICES, [turns[0]])  # opens the connection and plans the query
    found_best, found_own, seconds = 0, 0, []
    for turn, best, own in zip(turns, exact, whose, strict=True):
        began = time.perf_counter()
        found = await graph.read(nearest_voices, space, VOICES, [turn])
        seconds.append(time.perf_counter() - began)
        found_best += ids[int(best)] in found
        found_own += ids[int(own)] in found
    condition = f"people={len(centers)}"
    report.add(
        "candidate_recall_at_100", condition, "ours", found_best / probes, "share", probes, share_interval(found_best, probes)
    )
    report.add("own_person_among_candidates", condition, "ours", found_own / probes, "share", probes)
    _times(report, "index_read", condition, seconds)
    await _whole_reads(report, graph, space, turns[: min(probes, 100)], condition)


async def _whole_reads(report: Report, graph: Graph, space: str, turns: Samples, condition: str) -> None:
    """What a batch of one turn reads: candidates with all their exemplars; or, where all are held, what changed."""
    listed = GalleryReader(graph, VOICES, GalleryConfig(max_exact=1, recent=0))
    held = GalleryReader(graph.patient(900), VOICES, GalleryConfig(max_exact=1_000_000))
    began = time.perf_counter()
    await held(space, [])
    report.add("gallery_load", condition, "ours", time.perf_counter() - began, "s", 1)
    for name, reader in (("candidates_read", listed), ("held_gallery_read", held)):
        seconds = []
        for turn in turns:
            began = time.perf_counter()
            await reader(space, [turn])
            seconds.append(time.perf_counter() - began)
        _times(report, name, condition, seconds)


def _times(report: Report, metric: str, condition: str, seconds: list[float]) -> None:
    report.add(metric, condition, "ours", float(np.median(seconds)) * 1e3, "ms", len(seconds))
    report.add(f"{metric}_p95", condition, "ours", float(np.percentile(seconds, 95)) * 1e3, "ms", len(seconds))


async def _populate(graph: Graph, space: str, people: int) -> Samples:
    """Made people in batches as the fold writes them; their centers, shape (people, dimension)."""
    rng = np.random.default_rng(0)
    mean, covariance = _of_real_voices()
    centers = _unit(rng.multivariate_normal(mean, covariance, people))
    for start in range(0, people, BATCH):
        voices = [_voice(space, i, centers[i], rng) for i in range(start, min(people, start + BATCH))]
        await graph.write(_save, space, voices)
    await graph.patient(300).read(changes, AWAIT_INDEXES)
    return centers


def _of_real_voices() -> tuple[np.ndarray, np.ndarray]:
    """Mean, shape (dimension,), and covariance of one clean center a speaker."""
    data = np.load(KEPT)
    speakers = data["speaker"]
    clean = _unit(data["clean"].astype(np.float64))
    centers = _unit(np.stack([clean[speakers == s].mean(axis=0) for s in np.unique(speakers)])).astype(np.float64)
    return centers.mean(axis=0), np.cov(centers, rowvar=False)


async def _save(tx: Tx, space: str, voices: list[PersonVoice]) -> None:
    await lock_space(tx, space)
    counted = [PersonWrite(v.person_id, v.num_turns, v.net_speech) for v in voices]
    await save_people(tx, space, counted, await bump_revision(tx, space))
    await save_voices(tx, space, VOICES, [VoiceWrite(v, v.exemplars) for v in voices])


def _voice(space: str, number: int, center: Samples, rng: np.random.Generator) -> PersonVoice:
    id = _id(space, number)
    vectors = _unit(0.8 * center + 0.6 * _unit(rng.standard_normal((EXEMPLARS, len(center)))))
    exemplars = tuple(
        Exemplar(derived("exemplar", id, str(i)), vector, 4.0, 20.0, "wideband", derived("message", id, str(i)))
        for i, vector in enumerate(vectors)
    )
    return PersonVoice(id, VOICES, center, exemplars, EXEMPLARS, 4.0 * EXEMPLARS)


def _id(space: str, number: int) -> str:
    return derived("person", space, str(number))


def _unit(vectors: Samples) -> Samples:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@contextmanager
def _neo4j() -> Iterator[GraphConfig]:
    uri = os.environ.get("NEO4J_URI")
    if uri:
        yield GraphConfig(uri, os.environ.get("NEO4J_USER", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))
        return
    with tempfile.TemporaryDirectory(prefix="voicegraph-bench-") as directory:
        cache = Path(platformdirs.user_cache_dir("voicegraph")) / "maven"
        server = EmbeddedServer(Path(directory), ServerConfig(cache=cache, heap="1g", short_lived=True))
        address = server.start()
        try:
            yield GraphConfig(address.uri, address.user, address.password)
        finally:
            server.stop(fast=True)


def main() -> None:
    chosen = arguments(__doc__ or "").parse_args()
    report = Report("gallery")
    run(report, chosen.quick)
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
