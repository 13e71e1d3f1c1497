"""What does a person find of what was said around them? Each question of the spoken set asked by its asker, of a graph with
gold labels and of one that was heard; beside plain searches, and with parts of ours taken away.

`python -m tests.bench.spoken --measure [--quick] [--json PATH]`, also part of NAME=interaction. For `spoken_audio` the sound
must have been rendered: what was not is named."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from service.graph import migrate
from service.graph.access import ReadScope, read_scope
from service.graph.driver import Graph
from service.graph.forget_space import forget_space
from service.language.parser import SpacyParser
from service.memory.facts.rules import RuleExtractor
from service.pipelines.facts import RememberFacts
from service.pipelines.search import Search, SearchPipelineConfig
from service.retrieval.attribution import attributed
from service.retrieval.policy import Rules
from service.types.audio import EmbeddingSpace, Samples, TextEmbedder
from service.types.ids import fresh
from service.types.people import Assurance, Viewer
from service.types.search import Asked, Done, Enough, SearchResult, Step, Wants
from tests.bench.ingest import database
from tests.bench.report import Report
from tests.bench.retrieval.embedded import Embedded
from tests.bench.retrieval.gold import Corpus, Turn
from tests.bench.retrieval.gold import Question as CorpusQuestion
from tests.bench.retrieval.legs import DEFAULT_BM25, Legs, Scores, rrf
from tests.bench.spoken import audio, gold, interactions
from tests.bench.spoken.format import Question, Scenario, load_all
from tests.bench.spoken.measure import Outcome, add, add_gain, turns_of
from tests.bench.spoken.render import Studio
from tests.models import CACHE, e5

OURS = "ours"
SHOWN = 15


@dataclass(frozen=True, slots=True)
class System:
    """Ours, or ours without something."""

    name: str
    edges: bool = True
    facts: bool = True
    rounds: int = 3
    rewriting: bool = True


SYSTEMS = (
    System(OURS),
    System("ours_no_edges", edges=False),
    System("ours_no_facts", facts=False),
    System("ours_one_round", rounds=1),
    System("ours_no_rewriting", rewriting=False),
)


class AsAsked:
    """The rules, with the question left in its own words in every round."""

    name = "rules, nothing rewritten"

    def __init__(self) -> None:
        self._rules = Rules()

    async def __call__(self, asked: Asked, done: tuple[Done, ...]) -> Step | Enough:
        step = await self._rules(asked, done)
        return step if isinstance(step, Enough) else Step(asked.question, step.why, (), step.expand, step.narrow)


class Kept:
    """Passages embedded once and kept in the cache; questions anew, as the service does, so that times are its own."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self._embedder, self._kept = embedder, Embedded(embedder, CACHE)

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._embedder.embedding_space

    def passages(self, texts: Sequence[str]) -> Samples:
        return self._kept.passages(texts)

    def queries(self, texts: Sequence[str]) -> Samples:
        return self._embedder.queries(texts)


QUICK = 4
"""With --quick one in so many questions of the first scenario is asked, of ours and of ours without edges, without sound."""


def run(report: Report, quick: bool) -> None:
    scenarios = load_all()
    if quick:
        scenarios = [replace(scenarios[0], questions=scenarios[0].questions[::QUICK])]
    asyncio.run(measure(report, scenarios, SYSTEMS[:2] if quick else SYSTEMS, sound=not quick))


async def measure(report: Report, scenarios: Sequence[Scenario], systems: Sequence[System], *, sound: bool) -> None:
    """Who is spoken to, what is found by whom, and the same from sound."""
    interactions.run(report, scenarios)
    embedder = Kept(e5())
    for name, outcomes in baselines(scenarios, embedder).items():
        add(report, outcomes, "spoken", name)
    async with database() as (graph, _):
        await migrate.apply(graph)
        measured = await with_gold(graph, scenarios, embedder, systems)
        for name, outcomes in measured.items():
            add(report, outcomes, "spoken", name)
            if name != OURS:
                add_gain(report, measured[OURS], outcomes, "spoken", name)
        if sound:
            await with_sound(graph, report, scenarios, embedder)


async def with_gold(
    graph: Graph, scenarios: Sequence[Scenario], embedder: TextEmbedder, systems: Sequence[System]
) -> dict[str, list[Outcome]]:
    """By system. What differs only in how it searches is asked of the same graph."""
    found: dict[str, list[Outcome]] = {system.name: [] for system in systems}
    graphs = list(dict.fromkeys((system.edges, system.facts) for system in systems))
    for scenario, (edges, facts) in track(list(product(scenarios, graphs)), "spoken", console=Console(stderr=True)):
        async with a_space(graph, scenario) as space:
            remember = facts_of(graph, embedder) if facts else None
            written = await gold.write(graph, scenario, space, embedder, edges=edges, remember=remember)
            for system in systems:
                if (system.edges, system.facts) == (edges, facts):
                    found[system.name] += await ask_all(graph, scenario, written, embedder, system)
    return found


async def with_sound(graph: Graph, report: Report, scenarios: Sequence[Scenario], embedder: TextEmbedder) -> None:
    """Of the scenarios that are rendered whole; the same of them with gold labels beside."""
    studio = Studio(CACHE)
    missing = {s.id: lacks for s in scenarios if (lacks := studio.missing(s, s.sessions))}
    rendered = [s for s in scenarios if s.id not in missing]
    if missing:
        report.missing(f"the sound of scenarios {', '.join(missing)}", "python -m tests.bench.spoken --render")
    outcomes: list[Outcome] = []
    rightly: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="voicegraph-bench-") as folder:
        for scenario in track(rendered, "spoken_audio", console=Console(stderr=True)):
            async with a_space(graph, scenario) as space:
                remember = facts_of(graph, embedder)
                written, heard = await audio.write(graph, scenario, space, embedder, studio, Path(folder), remember=remember)
                outcomes += await ask_all(graph, scenario, written, embedder, System(OURS))
                rightly += heard
    if rendered:
        add(report, outcomes, "spoken_audio", OURS)
        report.add("speaker_accuracy", "spoken_audio/all", OURS, float(np.mean(rightly)), "share", len(rightly))
        beside = (await with_gold(graph, rendered, embedder, [System(OURS)]))[OURS]
        add(report, beside, "spoken_rendered", OURS)


async def ask_all(
    graph: Graph, scenario: Scenario, written: gold.Written, embedder: TextEmbedder, system: System
) -> list[Outcome]:
    """Each question as its asker, at the scenario's end."""
    policy = Rules() if system.rewriting else AsAsked()
    search = Search(graph, embedder, SearchPipelineConfig(max_rounds=system.rounds), policy=policy)
    scopes = {name: await graph.read(read_scope, _viewer(written.space, id)) for name, id in written.people.items()}
    return [await _ask(search, scenario, question, scopes[question.asker], written) for question in scenario.questions]


async def _ask(search: Search, scenario: Scenario, question: Question, scope: ReadScope, written: gold.Written) -> Outcome:
    result = await search(scope, question.text, first=SHOWN, asked_at=scenario.asked_at, zone=scenario.zone)
    turns = turns_of([written.messages[hit.message.id] for hit in result.hits])
    people = {id: name for name, id in written.people.items()}
    rounds = max(1, len(result.rounds))
    return Outcome(question, turns, _named(result, question, people), _named_first(result, question, people), rounds)


def _named(result: SearchResult, question: Question, people: Mapping[str, str]) -> frozenset[str] | None:
    """Whom the edges of what was found name first; of addressees, all that it was said to alike. `people`: id → name."""
    meant = result.meant
    if question.who is None or meant is None:
        return None
    found = attributed(
        result.hits,
        meant.subject,
        meant.wants or Wants(question.who.role),
        speakers=meant.speakers,
        addressees=meant.addressees,
        verbs=meant.verbs,
        named=meant.people,
    )
    alike = [one for one in found if one.score >= found[0].score - 1e-9] if found else []
    return frozenset(people.get(one.person_id or "", "nobody known") for one in alike)


def _named_first(result: SearchResult, question: Question, people: Mapping[str, str]) -> frozenset[str] | None:
    """Whom the edges of the first hit alone name."""
    if question.who is None:
        return None
    if not result.hits:
        return frozenset()
    message = result.hits[0].message
    ids = [message.speaker_id] if question.who.role == "speaker" else [to.person_id for to in message.addressees]
    return frozenset(people.get(id or "", "nobody known") for id in ids)


def baselines(scenarios: Sequence[Scenario], embedder: TextEmbedder) -> dict[str, list[Outcome]]:
    """Plain searches over all turns, and of these what the asker may read. They name nobody."""
    found: dict[str, list[Outcome]] = {}
    for scenario in scenarios:
        corpus = corpus_of(scenario)
        legs = Legs(corpus, {"e5": embedder})
        bm25, e5_said = legs.bm25("raw", DEFAULT_BM25), legs.dense("e5", "said", names=True)
        fused = rrf(
            legs.bm25("said", DEFAULT_BM25),
            legs.bm25("after3", DEFAULT_BM25),
            e5_said,
            legs.dense("e5", "after3", names=True),
        )
        for name, scores in (("bm25", bm25), ("e5", e5_said), ("rrf4", fused)):
            found.setdefault(name, []).extend(_ranked(scenario, corpus, scores))
    return found


def _ranked(scenario: Scenario, corpus: Corpus, scores: Scores) -> list[Outcome]:
    visible = {person.name: scenario.visible(person.name) for person in scenario.people}
    outcomes = []
    for question, row in zip(scenario.questions, scores, strict=True):
        best = (corpus.turns[i].id for i in np.argsort(-row, kind="stable").tolist())
        outcomes.append(Outcome(question, tuple([id for id in best if id in visible[question.asker]][:SHOWN])))
    return outcomes


def corpus_of(scenario: Scenario) -> Corpus:
    """As the benchmark of retrieval reads it. Ids of turns are those of the scenario."""
    turns = tuple(
        Turn(turn.id, session.id, i, turn.speaker, turn.text, at=session.started_at.replace(tzinfo=None))
        for session in scenario.sessions
        for i, turn in enumerate(session.turns)
    )
    questions = tuple(CorpusQuestion(q.id, q.text, q.kind.value, q.evidence, asker=q.asker) for q in scenario.questions)
    return Corpus(f"spoken-{scenario.id}", turns, questions, scenario.theme)


def facts_of(graph: Graph, embedder: TextEmbedder) -> RememberFacts:
    """With the extractor that works offline."""
    return RememberFacts(graph, RuleExtractor(parser()), embedder)


@cache
def parser() -> SpacyParser:
    return SpacyParser.load()


@asynccontextmanager
async def a_space(graph: Graph, scenario: Scenario) -> AsyncIterator[str]:
    """Name of a space that is gone afterwards."""
    space = f"bench-spoken-{scenario.id}-{fresh()}"
    try:
        yield space
    finally:
        await forget_space(graph, space)


def _viewer(space: str, person: str) -> Viewer:
    return Viewer(space, None, person, (person,), False, Assurance.TOKEN)
