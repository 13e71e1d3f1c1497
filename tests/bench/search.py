"""How fast and how complete is the search, over HTTP GraphQL, for one who may read little and one who may read much?

A throwaway space (on NEO4J_URI, else on an embedded server of its own) is filled with messages of many audiences; two
people ask it real questions through the API. `recall_at_15` compares what one round gives them with the same round whose
dense legs are exact; `dense_recall_at_15` the turn view alone with numpy, over what each may read.

Questions are LoCoMo's, texts LoCoMo's and QMSum's (test and validation) where ../shared is, embedded once with the service's
own model (46,723 turns in two views: half an hour of one core). Further messages repeat a turn, each with noise of its own on
the vectors (cosine 0.96 to the original): at 100,000 each is there about twice. Thirty copies of few turns are no store of
anybody's, and an index of neighbours finds next to nothing among them once its parts are merged.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from service.graph import migrate
from service.graph.access import ReadScope
from service.graph.driver import Graph, GraphConfig, changes, rows
from service.graph.forget_space import forget_space
from service.graph.search import SearchConfig, nearest_messages
from service.graph.server import EmbeddedServer, ServerConfig
from service.pipelines.one_round import OneRound, OneRoundConfig
from service.retrieval.plan import plan
from service.settings import Settings
from service.types.audio import Samples, TextEmbedder
from service.types.ids import fresh
from service.types.search import Filters
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.bench.report import Report, arguments
from tests.bench.retrieval.embedded import Embedded
from tests.conftest import CREATE_SPACE, SHARED
from tests.graph.graph_builders import TEXT_SPACE, Said, World, seed

SIZES = {1_000: (200, 800), 100_000: (200, 20_000)}  # messages → what each of the two viewers may read
QUICK_SIZES = {1_000: (200, 800), 5_000: (200, 2_500)}
MAX_DISTINCT, QUICK_DISTINCT = 50_000, 400  # turns embedded with the real model; 20 ms of CPU each view
NUM_QUESTIONS, QUICK_QUESTIONS = 200, 40
NUM_PEOPLE = 300
SETTLING = 30.0  # seconds in which the index merges what it was filled with in parts; it looks at that after the next message
SMALL_AUDIENCES = 20  # the viewer of 200 reads ten messages in each
LARGE_AUDIENCES = 200  # at least, of the other viewer
NOISE = 0.3  # length of the noise added to a unit vector
KEPT = 15
NUM_COMPARED = 40  # questions of which the exact ranking is asked too: 1.4 s each for who reads 20,000 messages
EXACT = SearchConfig(exact_limit=10**9)
Item = TypeVar("Item")

SEARCH = """
query ($question: String!) {
  search(query: $question, first: 15, explain: true) {
    __typename
    ... on SearchResult {
      hits { score visibleBecause message { id text saidAt speaker { id displayName } } }
      explanation { visible legs }
    }
  }
}
"""

AWAIT_INDEXES = "CALL db.awaitIndexes(600)"


@dataclass(frozen=True, slots=True)
class Corpus:
    texts: tuple[str, ...]
    turn: Samples
    """Shape (texts, dimension), L2-normalised: of the words alone."""
    context: Samples
    """Of the words with up to three turns before them."""
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """A space and the vectors in it, message by message."""

    world: World
    turn: Samples
    context: Samples
    readers: tuple[tuple[str, ...], ...]

    def readable_by(self, name: str) -> np.ndarray[Any, Any]:
        return np.flatnonzero([name in readers for readers in self.readers])


async def main() -> None:
    asked = arguments(__doc__ or "").parse_args()
    report = Report("search")
    async with services() as service:
        embedder = await service.text_embedder()
        corpus = a_corpus(Embedded(embedder, service.settings.cache_dir), report, quick=asked.quick)
        for size, visible in (QUICK_SIZES if asked.quick else SIZES).items():
            await measure(service, embedder, corpus, size, visible, report)
    report.finish(asked.json)


@asynccontextmanager
async def services() -> AsyncIterator[Services]:
    """The service over NEO4J_URI, or over an embedded server that is gone afterwards."""
    settings = Settings(development=False, recogniser="none")
    with tempfile.TemporaryDirectory(prefix="voicegraph-bench-") as directory:
        server = None
        if uri := os.environ.get("NEO4J_URI"):
            config = GraphConfig(uri, os.environ.get("NEO4J_USER", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))
        else:
            heap = ServerConfig(cache=settings.cache_dir / "maven", heap="1g", page_cache="1g")
            server = EmbeddedServer(Path(directory) / "neo4j", heap)
            address = server.start()
            config = GraphConfig(address.uri, address.user, address.password)
        graph = await Graph.open(config)
        await migrate.apply(graph)
        yield Services(settings.model_copy(update={"data_dir": Path(directory)}), graph)
        await graph.close()
        if server is not None:
            server.stop(fast=True)


# ---- what is asked of what


def a_corpus(embedder: TextEmbedder, report: Report, *, quick: bool) -> Corpus:
    num_texts, num_questions = (QUICK_DISTINCT, QUICK_QUESTIONS) if quick else (MAX_DISTINCT, NUM_QUESTIONS)
    locomo = SHARED / "data" / "locomo10.json"
    if locomo.exists():
        sessions, questions = _locomo(json.loads(locomo.read_text()))
        meetings = json.loads((SHARED / "data" / "qmsum_evidence_testval.json").read_text())
        sessions += [[text for _, text in meeting["turns"]] for meeting in meetings]
    else:
        report.missing("LoCoMo's conversations (made-up sentences instead)", "put locomo10.json into ../shared/data")
        sessions, questions = _made_up()
    texts, contexts = [], []
    for session in sessions:
        for i, text in enumerate(session):
            texts.append(text)
            contexts.append("\n".join(session[max(0, i - 3) : i + 1]))
    step = max(1, len(questions) // num_questions)
    texts, contexts = texts[:num_texts], contexts[:num_texts]
    return Corpus(tuple(texts), embedder.passages(texts), embedder.passages(contexts), tuple(questions[::step][:num_questions]))


def _locomo(conversations: list[dict[str, Any]]) -> tuple[list[list[str]], list[str]]:
    """Turns by session, and questions without the speakers' names (who have others here)."""
    sessions, questions = [], []
    for entry in conversations:
        talk = entry["conversation"]
        names = "|".join(re.escape(talk[who]) for who in ("speaker_a", "speaker_b"))
        number = 1
        while isinstance(talk.get(f"session_{number}"), list):
            sessions.append([turn["text"] for turn in talk[f"session_{number}"]])
            number += 1
        questions += [" ".join(re.sub(rf"\b(?:{names})(?:'s)?\b", "", qa["question"]).split()) for qa in entry["qa"]]
    return sessions, questions


def _made_up() -> tuple[list[list[str]], list[str]]:
    rng = np.random.default_rng(0)
    people, deeds = ("my sister", "the neighbour", "our teacher", "a friend"), ("painted", "sold", "lost", "repaired", "found")
    things = ("bicycle", "garden gate", "violin", "rowing boat", "camera", "kitchen table", "tent", "kite", "radio", "ladder")
    places = ("in Lisbon", "by the river", "at the market", "behind the school", "on the island", "near the station")
    picked = [tuple(str(rng.choice(words)) for words in (people, deeds, things, places)) for _ in range(MAX_DISTINCT)]
    sentences = [f"{who.capitalize()} {did} the {what} {where}." for who, did, what, where in picked]
    questions = [f"Who {did} the {what} {where}?" for _, did, what, where in picked]
    return [sentences[i : i + 20] for i in range(0, len(sentences), 20)], questions


async def fill(graph: Graph, corpus: Corpus, size: int, visible: tuple[int, int]) -> Filled:
    """`size` messages: "xanthe" reads visible[0] of them, "zebedee" visible[1], over at least LARGE_AUDIENCES audiences."""
    rng = np.random.default_rng(size)
    per_audience = min(100, visible[1] // LARGE_AUDIENCES or 1)
    people = [f"p{i}" for i in range(NUM_PEOPLE)]
    which = np.arange(size) % len(corpus.texts)
    turn, context = (_noisy(vectors[which], which, rng) for vectors in (corpus.turn, corpus.context))
    said, readers = [], []
    for i in range(size):
        small = i < visible[0]
        group = i * SMALL_AUDIENCES // visible[0] if small else SMALL_AUDIENCES + (i - visible[0]) // per_audience
        asker = "xanthe" if small else "zebedee" if i < visible[0] + visible[1] else f"p{group % NUM_PEOPLE}"
        others = (f"p{(7 * group) % NUM_PEOPLE}", f"p{(7 * group + group // NUM_PEOPLE + 1) % NUM_PEOPLE}")
        readers.append(tuple(dict.fromkeys((asker, *others))))
        said.append(
            Said(others[i % 2], corpus.texts[which[i]], readers[-1], (others[1 - i % 2],), f"s{group}", turn[i], context[i])
        )
    space = f"bench-{fresh()}"
    await graph.write(changes, CREATE_SPACE, space=space)
    world = await seed(graph, space, ["xanthe", "zebedee", *people], said)
    await graph.read(rows, AWAIT_INDEXES)
    await asyncio.sleep(SETTLING)
    await seed(graph, space, [], [Said(people[0], "Good night.", people[:1], (people[1],), "afterwards", turn[0], context[0])])
    return Filled(world, turn, context, tuple(readers))


def _noisy(vectors: Samples, which: np.ndarray[Any, Any], rng: np.random.Generator) -> Samples:
    """Repetitions (not the first of each) with noise of length NOISE, L2-normalised again."""
    noise = rng.standard_normal(vectors.shape).astype(np.float32)
    noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
    noise[: len(set(which.tolist()))] = 0.0
    mixed = vectors + noise
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), dtype=np.float32)


# ---- the measurement


async def measure(
    service: Services, embedder: TextEmbedder, corpus: Corpus, size: int, visible: tuple[int, int], report: Report
) -> None:
    started = time.perf_counter()
    filled = await fill(service.graph, corpus, size, visible)
    print(f"{size} messages written in {time.perf_counter() - started:.0f} s")
    try:
        async with serving(service, filled.world.space) as api:
            for name in ("xanthe", "zebedee"):
                await ask(service, embedder, corpus, filled, api, name, size, report)
    finally:
        if "NEO4J_URI" in os.environ:  # a server of its own is gone with all it holds
            await forget_space(service.graph, filled.world.space)


async def ask(
    service: Services,
    embedder: TextEmbedder,
    corpus: Corpus,
    filled: Filled,
    api: Api,
    name: str,
    size: int,
    report: Report,
) -> None:
    token = api.token(f"{name}@bench", person_id=filled.world.person(name))
    scope = await filled.world.scope(name)
    readable = filled.readable_by(name)
    for question in corpus.questions[:40]:  # connections, plans and pages are warm afterwards
        await api.data(SEARCH, token, question=question)
    milliseconds, results = [], []
    for question in corpus.questions:
        started = time.perf_counter()
        results.append((await api.data(SEARCH, token, question=question))["search"])
        milliseconds.append(1_000 * (time.perf_counter() - started))
    legs, recalls, dense_recalls = set(), [], []
    for result in results:
        legs.update(result["explanation"]["legs"])
        assert result["explanation"]["visible"] == len(readable), (result["explanation"], len(readable))
    for question in corpus.questions[:: max(1, len(corpus.questions) // NUM_COMPARED)]:
        found, exact = await asyncio.gather(
            *(first(service, embedder, scope, question, how) for how in (SearchConfig(), EXACT))
        )
        recalls.append(_recall(set(found), exact))
        vector = embedder.queries([plan(question, {}).meaning])[0]
        near = await service.graph.read(nearest_messages, scope, TEXT_SPACE, "turn", vector, Filters(), KEPT)
        order = np.argsort(-(filled.turn[readable] @ vector), kind="stable")[:KEPT]
        dense_recalls.append(_recall({index for _, index in near.found}, [int(readable[i]) for i in order]))
    condition, n = f"messages={size}/viewer={len(readable)}", len(milliseconds)
    report.add("p50_ms", condition, "ours", float(np.percentile(milliseconds, 50)), "ms", n)
    report.add("p95_ms", condition, "ours", float(np.percentile(milliseconds, 95)), "ms", n)
    for metric, values in (("recall_at_15", recalls), ("dense_recall_at_15", dense_recalls)):
        report.add(metric, condition, "ours", float(np.mean(values)), "share", len(values), _interval(values))
    print(condition, "audiences:", len(scope.audiences), "legs:", ", ".join(sorted(legs)))


async def first(service: Services, embedder: TextEmbedder, scope: ReadScope, question: str, how: SearchConfig) -> list[str]:
    """Ids of the first KEPT of one round."""
    look = OneRound(service.graph, embedder, OneRoundConfig(legs=how))
    pool = await look(scope, plan(question, {}), Filters())
    return [candidate.id for candidate in pool.candidates[:KEPT]]


def _recall(found: Collection[Item], expected: Sequence[Item]) -> float:
    return len(set(found) & set(expected)) / len(expected) if expected else 1.0


def _interval(values: list[float]) -> tuple[float, float]:
    """95 % of the mean, by bootstrap over the questions."""
    rng = np.random.default_rng(0)
    means = rng.choice(np.asarray(values), (2_000, len(values))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    asyncio.run(main())
