"""What does the product find? Its own search with its own rounds, over a real graph, one store for each corpus.

`ours` is the service as it ships; `ours_one_round` the same stopped after the first round. For evaluation only, the first round
ranked by other weights: `ours_loco` by those learned on the other conversations of LoCoMo, `ours_from_locomo` by those learned
on all of LoCoMo and on no meeting. What is answered from the edges alone is ranked by no weights, and is the same in all.
On NEO4J_URI's server, else one of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.progress import track

from service.graph.access import ReadScope
from service.graph.driver import Graph
from service.language.embed import load_text_embedder
from service.pipelines.one_round import Looked, Memory, OneRound
from service.pipelines.search import Search, Searched
from service.retrieval.plan import Plan
from service.retrieval.policy import Rules, RulesConfig
from service.types.audio import TextEmbedder
from service.types.candidates import Place
from service.types.search import Filters
from tests.bench.retrieval.corpus import Stored, store
from tests.bench.retrieval.embedded import Embedded
from tests.bench.retrieval.fit import Fitted, carried, cases, fit, left_out
from tests.bench.retrieval.gold import Corpus, Findings, Found
from tests.bench.retrieval.legs import DEPTH
from tests.bench.retrieval.signals import CACHE, Asked
from tests.bench.search import services

Systems = dict[str, dict[str, Found]]


class Recording(OneRound):
    """A round that keeps what it saw of the question as asked, before any extension."""

    last: Looked | None = None

    async def look(
        self,
        scope: ReadScope,
        planned: Plan,
        filters: Filters,
        before: Sequence[str] = (),
        also: Sequence[Place] = (),
        *,
        again: bool = False,
        memory: Memory | None = None,
    ) -> Looked:
        looked = await super().look(scope, planned, filters, before, also, again=again, memory=memory)
        if self.last is None and not before:
            self.last = looked
        return looked


class Ours:
    """Asks the product; what it learned on LoCoMo it keeps for the meetings that come after."""

    def __init__(self) -> None:
        self._locomo: Fitted | None = None

    def found(self, name: str, corpora: Sequence[Corpus]) -> Mapping[str, Findings]:
        """By system, for every question of `corpora`; `name` is the set's."""
        systems: Systems = {"ours": {}, "ours_one_round": {}}
        every, features = cases(asyncio.run(_all_asked(name, corpora, systems)))
        if name.startswith("locomo"):
            ranked = left_out(every, features, lambda case: case.asked.id.partition("/")[0])
            systems["ours_loco"] = systems["ours"] | _ranked(ranked)
        elif self._locomo:
            systems["ours_from_locomo"] = systems["ours"] | _ranked(carried(self._locomo, every))
        if name == "locomo":
            self._locomo = fit(every, features)
        return systems


def _ranked(ids: Mapping[str, Sequence[str]]) -> dict[str, Found]:
    return {question: Found(tuple(of[:DEPTH])) for question, of in ids.items()}


async def _all_asked(name: str, corpora: Sequence[Corpus], systems: Systems) -> list[Asked]:
    seen: list[Asked] = []
    async with services() as service:
        embedder = load_text_embedder(cache=CACHE)
        kept = Embedded(embedder, CACHE)
        for corpus in track(corpora, f"{name}: ours", console=Console(stderr=True)):
            stored = await store(service.graph, corpus, kept, f"bench-retrieval-{corpus.id}")
            seen += await _asked(service.graph, embedder, stored, systems)
    return seen


async def _asked(graph: Graph, embedder: TextEmbedder, stored: Stored, systems: Systems) -> list[Asked]:
    """Each question by its asker, one after the other, with the time it took; what the first round saw of each."""
    turns = {stored.message(turn.id): turn.id for turn in stored.corpus.turns}
    recording = Recording(graph, embedder)
    search = Search(graph, embedder, one_round=recording)
    once = Search(graph, embedder, policy=Rules(RulesConfig(max_rounds=1)))
    seen = []
    for question in stored.corpus.questions:
        scope = await stored.scope(question.asker)
        recording.last = None
        started = time.perf_counter()
        searched = await search.gather(scope, question.text)
        found = _as_found(searched, turns, time.perf_counter() - started)
        one = found if found.rounds == 1 else _as_found(await once.gather(scope, question.text), turns, None)
        systems["ours"][question.id], systems["ours_one_round"][question.id] = found, one
        if recording.last:
            ids = tuple(turns[read.id] for read in recording.last.signals.read)
            seen.append(
                Asked(
                    question.id,
                    question.category,
                    stored.corpus.id,
                    question.gold,
                    ids,
                    recording.last.signals,
                    found.seconds or 0,
                )
            )
    return seen


def _as_found(searched: Searched, turns: Mapping[str, str], seconds: float | None) -> Found:
    ids = (turns[candidate.id] for candidate in searched.gathered.candidates[:DEPTH])
    return Found(tuple(ids), seconds, len(searched.rounds))
