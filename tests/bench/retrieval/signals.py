"""What does the product see of each question? Its signals, through the real graph, kept in the cache to fit on.

`python -m tests.bench.retrieval.signals spoken qmsum_train qmsum_testval locomo locomo_pooled` fills the spaces that are not
there yet and asks every question; NEO4J_URI says where.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pickle
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from pathlib import Path

import platformdirs
from rich.console import Console
from rich.progress import track

from service.graph import migrate
from service.graph.access import read_scope
from service.graph.driver import Graph, GraphConfig
from service.language.embed import load_text_embedder
from service.pipelines.named import people_named_in
from service.pipelines.one_round import OneRound, OneRoundConfig
from service.retrieval.plan import plan
from service.retrieval.signals import Signals
from service.types.audio import TextEmbedder
from service.types.people import Assurance, Viewer
from service.types.search import Filters
from tests.bench.report import SHARED
from tests.bench.retrieval.corpus import UNDATED, Stored, store
from tests.bench.retrieval.embedded import Embedded
from tests.bench.retrieval.gold import Corpus, pooled
from tests.bench.retrieval.locomo import locomo
from tests.bench.retrieval.qmsum import qmsum
from tests.bench.spoken import gold
from tests.bench.spoken.format import Scenario, load_all
from tests.bench.spoken.run import a_space, facts_of

CACHE = Path(platformdirs.user_cache_dir("voicegraph"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what the product saw."""

    id: str
    category: str
    corpus: str
    gold: tuple[str, ...]
    """Turn ids."""
    ids: tuple[str, ...]
    """Turn ids of `signals.read`."""
    signals: Signals
    seconds: float


def corpora(name: str) -> tuple[Corpus, ...]:
    match name:
        case "locomo":
            return locomo(SHARED)
        case "locomo_pooled":
            return (pooled(locomo(SHARED), "locomo_pooled"),)
        case "spoken":
            return ()
        case _:
            return qmsum(SHARED, name.removeprefix("qmsum_"))


def path(name: str) -> Path:
    return CACHE / "bench" / "retrieval" / f"signals-{name}.pickle"


def kept(name: str) -> tuple[Asked, ...]:
    with path(name).open("rb") as file:
        return tuple(pickle.load(file))


async def asked(round: OneRound, stored: Stored) -> list[Asked]:
    """Each question of the corpus, as its asker."""
    turns = {stored.message(turn.id): turn.id for turn in stored.corpus.turns}
    made = []
    scope = await stored.scope()
    times = [turn.at for turn in stored.corpus.turns if turn.at is not None]
    afterwards = (max(times) if times else UNDATED).replace(tzinfo=UTC) + timedelta(days=1)
    for question in stored.corpus.questions:
        known = await stored.graph.read(people_named_in, scope, question.text)
        planned = plan(question.text, known, scope.asker, asked_at=afterwards)
        started = time.perf_counter()
        looked = await round.look(scope, planned, Filters())
        seconds = time.perf_counter() - started
        ids = tuple(turns[one.id] for one in looked.signals.read)
        made.append(Asked(question.id, question.category, stored.corpus.id, question.gold, ids, looked.signals, seconds))
    return made


async def asked_of_spoken(graph: Graph, round: OneRound, embedder: TextEmbedder, scenario: Scenario) -> list[Asked]:
    """Each question of a scenario of the project's own set, as its asker, of gold labels, with facts."""
    async with a_space(graph, scenario) as space:
        written = await gold.write(graph, scenario, space, embedder, remember=facts_of(graph, embedder))
        made = []
        for question in (question for question in scenario.questions if question.evidence):
            person = written.people[question.asker]
            viewer = Viewer(space, None, person, (person,), False, Assurance.TOKEN, False)
            scope = await graph.read(read_scope, viewer)
            known = await graph.read(people_named_in, scope, question.text)
            planned = plan(question.text, known, scope.asker, asked_at=scenario.asked_at, zone=scenario.zone)
            started = time.perf_counter()
            looked = await round.look(scope, planned, Filters())
            ids = tuple(written.messages[one.id][0] for one in looked.signals.read)
            seconds = time.perf_counter() - started
            id = f"{scenario.id}/{question.id}"
            made.append(Asked(id, question.kind.value, scenario.id, question.evidence, ids, looked.signals, seconds))
        return made


def some(name: str, limit: int | None, only: Collection[str]) -> Sequence[Corpus]:
    return [corpus for corpus in corpora(name) if not only or corpus.id in only][:limit]


async def main(names: Sequence[str], limit: int | None, only: Collection[str] = ()) -> None:
    graph = await Graph.open(
        GraphConfig(os.environ["NEO4J_URI"], os.environ.get("NEO4J_USER", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))
    )
    await migrate.apply(graph)
    embedder = Embedded(load_text_embedder(cache=CACHE), CACHE)
    round = OneRound(graph, embedder, OneRoundConfig())
    for name in names:
        found: list[Asked] = []
        if name == "spoken":
            for scenario in track(load_all()[:limit], name, console=Console(stderr=True)):
                found += await asked_of_spoken(graph, round, embedder, scenario)
        for corpus in track(some(name, limit, only), name, console=Console(stderr=True)):
            stored = await store(graph, corpus, embedder, f"bench-retrieval-{corpus.id}")
            found += await asked(round, stored)
        with path(name).open("wb") as file:
            pickle.dump(found, file)
        print(name, len(found), "questions", sum(one.seconds for one in found) / len(found), "s each")
    await graph.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--limit", type=int, help="corpora")
    parser.add_argument("--only", nargs="*", default=(), help="corpora by id")
    chosen = parser.parse_args()
    from tests.bench.retrieval import signals  # by its name: what is kept names its classes

    asyncio.run(signals.main(chosen.names, chosen.limit, chosen.only))
