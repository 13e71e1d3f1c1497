"""What does one look into the graph find? Searches at once, one read of what is worth reading, and one ranking of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from service.graph import search as legs
from service.graph.candidates import read_around, read_candidates
from service.graph.fact_search import FactLeg, count_facts, facts_full_text, facts_nearest
from service.graph.messages import count_messages, find_messages
from service.graph.people import list_same_people
from service.pipelines.dense import Dense
from service.pipelines.found_before import FoundBefore
from service.retrieval.lucene import lucene_query
from service.retrieval.plan import Plan
from service.retrieval.ranking import Candidate, Pool, Ranker
from service.retrieval.signals import Hits, Signals, SignalsConfig, beside, term_queries, worth_reading
from service.types.audio import Samples, TextEmbedder
from service.types.candidates import Around, Earlier, Place, Read
from service.types.search import Filters, Found, Tool

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph, Tx


_NOWHERE: Mapping[Place, Tool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class OneRoundConfig:
    terms: int = 300  # hits of each word; what is said around hits counts too, and a common word has many
    near: int = 200  # hits of each view
    legs: legs.SearchConfig = field(default_factory=legs.SearchConfig)
    signals: SignalsConfig = field(default_factory=SignalsConfig)


@dataclass(frozen=True, slots=True)
class Looked:
    """One look before it is ranked."""

    signals: Signals
    visible: int
    legs: tuple[str, ...]
    earlier: tuple[Earlier, ...] = ()
    apart: tuple[Read, ...] = ()
    """Candidates for what was found earlier alone; `signals` are as they are without them."""


class OneRound:
    """One per process; every call reads with the scope it is given and nothing else."""

    def __init__(
        self,
        graph: Graph,
        embedder: TextEmbedder,
        config: OneRoundConfig | None = None,
        *,
        dense: Dense | None = None,
        found_before: FoundBefore | None = None,
    ) -> None:
        self._graph = graph
        self._embedder = embedder
        self._dense = dense or Dense(graph, embedder.embedding_space.name)
        self._found_before = found_before
        self._ranker = Ranker()
        self.config = config or OneRoundConfig()

    async def __call__(
        self,
        scope: ReadScope,
        planned: Plan,
        filters: Filters,
        before: Sequence[str] = (),
        also: Mapping[Place, Tool] = _NOWHERE,
        *,
        again: bool = False,
    ) -> Pool:
        """Candidates in the scope, best first. `before`: ids of what a round before found, whose words extend the query;
        `also`: further places to rank, with what found them. `again`: what the asker's own earlier questions found joins; what
        is there without it scores as it does without it."""
        looked = await self.look(scope, planned, filters, before, tuple(also), again=again)
        by = {read.id: (Found(also[read.place], 1, 1.0),) for read in looked.signals.read if read.place in also}
        ranked = (replace(one, found=(*one.found, *by.get(one.id, ()))) for one in self._ranked(looked))
        return Pool(tuple(ranked), looked.visible, looked.legs, looked.earlier)

    def _ranked(self, looked: Looked) -> Sequence[Candidate]:
        """Many features are heights over the others: so what joins is ranked among all, and all the rest without it."""
        ranked = self._ranker(looked.signals)
        if not looked.apart:
            return ranked
        joining = {read.id for read in looked.apart}
        among = self._ranker(replace(looked.signals, read=(*looked.signals.read, *looked.apart)))
        joined = (*ranked, *(one for one in among if one.id in joining))
        return sorted(joined, key=lambda one: (-one.score, one.id))

    async def look(
        self,
        scope: ReadScope,
        planned: Plan,
        filters: Filters,
        before: Sequence[str] = (),
        also: Sequence[Place] = (),
        *,
        again: bool = False,
    ) -> Looked:
        """All that the ranking is made of."""
        config = self.config
        queries = term_queries(planned.words, config.signals)
        names = term_queries(planned.names, config.signals)
        extended = [planned.meaning, *await self._with(scope, planned, before)]
        vectors, said, told, (visible, candidates, num_facts) = await asyncio.gather(
            asyncio.to_thread(self._embedder.queries, extended),
            self._graph.read(legs.full_text, scope, [*queries, *names], filters, config.terms),
            self._graph.read(facts_full_text, scope, lucene_query(planned.words), filters, config.near),
            self._graph.read(_sizes, scope, filters),
        )
        space = self._embedder.embedding_space.name
        asked = zip(extended, vectors, strict=True)
        near, context, earlier, (turn, *further) = await asyncio.gather(
            self._graph.read(facts_nearest, scope, space, vectors[0], filters, config.near, config.legs, candidates=num_facts),
            self._context(scope, vectors[0], filters, candidates),
            self._earlier(scope, vectors[0], planned, again),
            asyncio.gather(
                *(self._dense(scope, *one, filters, config.near, config.legs, candidates=candidates) for one in asked)
            ),
        )
        hits = Hits(said[: len(queries)], said[len(queries) :], turn.found, context.found, _by_source(told), _by_source(near))
        worth = worth_reading(hits, config.signals, *(leg.found for leg in further))
        ranked = dict.fromkeys((*worth, *also))
        places = tuple(dict.fromkeys((*ranked, *(one.place for one in earlier))))
        read, around = await self._graph.read(self._read, scope, places, vectors, planned.people, filters)
        ran = (
            f"bm25:{'index' if queries or names else 'skipped(empty)'}", f"dense:{turn.how}", f"dense_context:{context.how}",
            f"fact_bm25:{told.how}", f"fact_dense:{near.how}", *(f"further:{leg.how}" for leg in further),
        )  # fmt: skip
        plain = tuple(one for one in read if one.place in ranked)
        signals = Signals(planned.meaning, hits, plain, around, planned.windows, bool(planned.people))
        ran = (*ran, f"found_before:{len(earlier)}") if earlier else ran
        return Looked(signals, visible, ran, earlier, tuple(one for one in read if one.place not in ranked))

    async def _earlier(self, scope: ReadScope, vector: Samples, planned: Plan, again: bool) -> tuple[Earlier, ...]:
        return await self._found_before.found(scope, vector, planned.people) if self._found_before and again else ()

    async def _with(self, scope: ReadScope, planned: Plan, before: Sequence[str]) -> tuple[str, ...]:
        """The question with the words of what was found before, where there is any and the scope holds it."""
        if not before:
            return ()
        found = await self._graph.read(find_messages, scope, before)
        said = [found[id].text or "" for id in before if id in found]
        return (" ".join([planned.meaning, *said]),) if any(said) else ()

    async def _context(self, scope: ReadScope, vector: Samples, filters: Filters, candidates: int) -> legs.Leg:
        return await self._graph.read(
            legs.nearest_messages, scope, self._embedder.embedding_space.name, "context", vector, filters,
            self.config.near, self.config.legs,
            candidates=candidates,
        )  # fmt: skip

    async def _read(
        self, tx: Tx, scope: ReadScope, places: Sequence[Place], vectors: Samples, people: Sequence[str], filters: Filters
    ) -> tuple[tuple[Read, ...], dict[Place, Around]]:
        meant = await list_same_people(tx, scope, people) if people else ()
        space = self._embedder.embedding_space.name
        read = await read_candidates(tx, scope, space, places, list(vectors), meant, filters)
        return read, dict(await read_around(tx, scope, beside([one.place for one in read], self.config.signals)))


async def _sizes(tx: Tx, scope: ReadScope, filters: Filters) -> tuple[int, int, int]:
    """How many messages the scope holds, how many of them the filters let through, and how many facts it holds."""
    visible = await count_messages(tx, scope)
    candidates = visible if filters.empty else await legs.count_candidates(tx, scope, filters)
    return visible, candidates, await count_facts(tx, scope)


def _by_source(leg: FactLeg) -> dict[str, float]:
    """The best score of a fact by the message it was said in."""
    best: dict[str, float] = {}
    for fact in leg.found:
        best.setdefault(fact.evidence[0], fact.score)
    return best
