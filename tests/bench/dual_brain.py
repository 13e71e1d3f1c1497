"""What does the dual brain give? Four parts, `--parts` of them: `engines`, `pools` (tests/bench/pools.py), `emergence`
(tests/bench/emergence.py) and `search_stage` (tests/bench/search_stage.py).

Engines: what the index adds to one. LoCoMo's evidence among the first five, by each engine alone and under the index. Alone:
the engine's own dense search over `[date] speaker: words [photo]` (e5), as who uses it by itself would fill it, in what the
asker may read, with the question as it was asked. Under the index: the product's search, whose dense leg is that engine over
the words, ranked by the weights that ship (learned on no conversation of LoCoMo). One store for each conversation and use, on
NEO4J_URI's server or one of its own; what is written is forgotten at the end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from service.engines.mem_search import ENGINES, EngineConfig, MemSearch, Wanted, open_engine
from service.graph.driver import Graph
from service.language.parser import SpacyParser
from service.pipelines.dense import Dense
from service.pipelines.mirror import Mirror
from service.pipelines.one_round import OneRound
from service.pipelines.search import Search
from service.settings import load_settings
from service.types.audio import TextEmbedder
from tests.bench import emergence, pools, search_stage
from tests.bench.report import SHARED, Report, arguments
from tests.bench.retrieval import peers
from tests.bench.retrieval.__main__ import Means, fewer
from tests.bench.retrieval.corpus import Stored, forget, store
from tests.bench.retrieval.embedded import Embedded
from tests.bench.retrieval.gold import Corpus, pooled
from tests.bench.retrieval.locomo import locomo
from tests.bench.retrieval.metrics import Resamples, recall
from tests.bench.retrieval.views import said
from tests.bench.search import services
from tests.bench.spoken.format import load_all
from tests.bench.spoken.run import Kept

PARTS = ("engines", "pools", "emergence", "search_stage")
K = 5  # [M] reports its accuracy at five memories
QUICK_CORPORA, QUICK_QUESTIONS = 1, 20


@dataclass
class Asked:
    """What one engine gave, question by question."""

    alone: list[Sequence[str]] = field(default_factory=list)
    index: list[Sequence[str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Of the engine's search alone."""
    mirrored: list[float] = field(default_factory=list)
    """Seconds a message; none for the graph itself."""


async def measure(report: Report, names: Sequence[str], corpora: Sequence[Corpus], means: Means) -> None:
    async with services() as service:
        embedder = await service.text_embedder()
        kept = Embedded(embedder, service.settings.cache_dir)
        asked: dict[str, Asked] = {name: Asked() for name in names}
        for corpus in track(corpora, "conversations", console=Console(stderr=True)):
            stored = await store(service.graph, corpus, kept, f"engines-{corpus.id}")
            alone = await store(service.graph, as_said(corpus), kept, f"engines-alone-{corpus.id}")
            for name in names:
                folder = service.settings.data_dir / corpus.id
                engine = await open_engine(
                    name, EngineConfig(service.graph, embedder.embedding_space, folder, python_of(means))
                )
                try:
                    await ask_alone(service.graph, embedder, alone, name, engine, asked[name])
                    await ask_index(service.graph, embedder, stored, name, engine, asked[name])
                finally:
                    await engine.close()
            for written in (stored, alone):
                await forget(service.graph, written.space)
    add_rows(report, corpora, asked, means.tokens(corpora))


def as_said(corpus: Corpus) -> Corpus:
    """With date, speaker and photo in the text of each turn."""
    texts = said(corpus)
    turns = (replace(turn, text=" ".join(text.split()), caption="") for turn, text in zip(corpus.turns, texts, strict=True))
    return replace(corpus, turns=tuple(turns))


async def mirrored(graph: Graph, stored: Stored, name: str, engine: MemSearch, space: str, asked: Asked) -> None:
    """The graph itself needs no mirror."""
    if name == "neo4j":
        return
    started = time.perf_counter()
    done = await Mirror(graph, name, engine, space)(stored.space)
    asked.mirrored.append((time.perf_counter() - started) / max(1, done.messages))


async def ask_alone(graph: Graph, embedder: TextEmbedder, stored: Stored, name: str, engine: MemSearch, asked: Asked) -> None:
    await mirrored(graph, stored, name, engine, embedder.embedding_space.name, asked)
    turns = {stored.message(turn.id): turn.id for turn in stored.corpus.turns}
    for question in stored.corpus.questions:
        scope = await stored.scope(question.asker)
        (vector,) = await asyncio.to_thread(embedder.queries, [question.text])
        started = time.perf_counter()
        found = await engine.nearest(scope, Wanted(question.text, vector, K))
        asked.seconds.append(time.perf_counter() - started)
        asked.alone.append([turns[one.id] for one in found])
    await engine.forget(stored.space)


async def ask_index(graph: Graph, embedder: TextEmbedder, stored: Stored, name: str, engine: MemSearch, asked: Asked) -> None:
    space = embedder.embedding_space.name
    await mirrored(graph, stored, name, engine, space, asked)
    turns = {stored.message(turn.id): turn.id for turn in stored.corpus.turns}
    dense = Dense(graph, space, None if name == "neo4j" else engine, name)
    search = Search(graph, embedder, one_round=OneRound(graph, embedder, dense=dense))
    for question in stored.corpus.questions:
        searched = await search.gather(await stored.scope(question.asker), question.text)
        asked.index.append([turns[one.id] for one in searched.gathered.candidates[:K]])
    await engine.forget(stored.space)


def add_rows(report: Report, corpora: Sequence[Corpus], asked: Mapping[str, Asked], tokens: Mapping[str, int]) -> None:
    gold = [question.gold for corpus in corpora for question in corpus.questions]
    drawn = Resamples(len(gold))
    for name, of in asked.items():
        values = {}
        for condition, rankings in ((f"locomo/engine={name}", of.alone), (f"locomo/engine={name}+index", of.index)):
            values[condition] = np.array([recall(ids, wanted, K) for ids, wanted in zip(rankings, gold, strict=True)])
            spent = np.array([sum(tokens[id] for id in ids) for ids in rankings], dtype=np.float64)
            for metric, unit, of_each in (("recall_at_5", "share", values[condition]), ("memory_tokens", "tokens", spent)):
                report.add(metric, condition, name, of_each.mean(), unit, len(gold), drawn.interval(of_each))
                if name == "neo4j" and condition.endswith("+index"):
                    report.add(metric, "locomo/index", "ours", of_each.mean(), unit, len(gold), drawn.interval(of_each))
        alone, under = values.values()
        report.add(
            "recall_at_5_over_alone", f"locomo/engine={name}+index", name, (under - alone).mean(), "share", len(gold),
            drawn.interval(under - alone),
        )  # fmt: skip
        for percentile in (50, 95):
            taken = 1_000 * np.percentile(of.seconds, percentile)
            report.add(f"search_stage_p{percentile}_ms", f"locomo/engine={name}", name, taken, "ms", len(of.seconds))
        if of.mirrored:
            each = 1_000 * np.array(of.mirrored)
            report.add("mirror_ms_a_message", f"locomo/engine={name}", name, each.mean(), "ms", len(each))


async def measure_pools(report: Report, corpora: Sequence[Corpus], pictures: Path | None, *, together: bool) -> None:
    """Each conversation in a store of its own, then all in one."""
    async with services() as service:
        kept, parser = Embedded(await service.text_embedder(), service.settings.cache_dir), SpacyParser.load()
        await pools.measure(report, service.graph, kept, parser, corpora, "locomo", pools.SHARES, pictures)
        if together:
            every = [pooled(corpora, "locomo_pooled")]
            await pools.measure(report, service.graph, kept, parser, every, "locomo_pooled", pools.POOLED_SHARES, pictures)


async def measure_emergence(report: Report, corpora: Sequence[Corpus], scenarios: Sequence[str], *, quick: bool) -> None:
    every = [s for s in load_all() if s.id in scenarios][: 1 if quick else None]
    if quick:
        every = [replace(s, questions=s.questions[:: len(s.questions) // QUICK_QUESTIONS]) for s in every]
    async with services() as service:
        await emergence.measure(report, service.graph, Kept(await service.text_embedder()), every, corpora)


def python_of(means: Means) -> Path:
    """Mem0's, in the environment that the benchmark of retrieval makes."""
    return means.cache / "bench" / "peers" / "mem0" / "bin" / "python"


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--engines", nargs="+", choices=sorted(ENGINES), default=list(ENGINES))
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N")
    parser.add_argument("--questions", type=int, metavar="N", help="only N of each, of all kinds")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--scenarios", nargs="*", default=["4", "5", "6"], help="of the spoken set, for emergence")
    parser.add_argument("--sizes", nargs="+", type=int, choices=search_stage.SIZES, default=list(search_stage.SIZES))
    parser.add_argument("--pictures", type=Path, help="folder for the plots")
    chosen = parser.parse_args()
    report = Report("dual_brain")
    sizes = list(search_stage.QUICK_SIZES) if chosen.quick else chosen.sizes
    if not SHARED.is_dir():
        report.missing("LoCoMo", "put locomo10.json and locomo_audit_evidence.json into ../shared/data")
        report.finish(chosen.json)
        return
    means = Means(load_settings().cache_dir)
    names = list(chosen.engines)
    if "mem0" in names and not peers.is_here(means.cache, "mem0"):
        report.missing("mem0", peers.MAKE)
        names.remove("mem0")
    corpora: Sequence[Corpus] = locomo(SHARED)[: QUICK_CORPORA if chosen.quick else chosen.conversations]
    questions = QUICK_QUESTIONS if chosen.quick else chosen.questions
    corpora = [fewer(corpus, questions) for corpus in corpora] if questions else corpora
    parts = {
        "engines": lambda: measure(report, names, corpora, means),
        "pools": lambda: measure_pools(report, corpora, chosen.pictures, together=not chosen.quick),
        "emergence": lambda: measure_emergence(report, corpora, chosen.scenarios, quick=chosen.quick),
        "search_stage": lambda: search_stage.measure(report, sizes, quick=chosen.quick),
    }
    for part in chosen.parts:
        asyncio.run(parts[part]())
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
