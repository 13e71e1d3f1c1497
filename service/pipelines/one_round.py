"""What does one look into the graph find? Searches at once, one read of what is worth reading, and one ranking of it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from service.graph import search as legs
from service.graph.candidates import read_around, read_candidates
from service.graph.fact_search import FactLeg, facts_full_text, facts_nearest
from service.graph.messages import count_held, find_messages
from service.graph.people import list_same_people
from service.pipelines.dense import Dense
from service.pipelines.found_before import FoundBefore
from service.retrieval.features import Kept
from service.retrieval.lucene import lucene_query
from service.retrieval.plan import Plan
from service.retrieval.ranking import Candidate, Pool, Ranker
from service.retrieval.signals import Hits, Signals, SignalsConfig, beside, term_queries, worth_reading
from service.types.audio import Samples, TextEmbedder
from service.types.candidates import Around, Compared, Earlier, Place, Read, Unread, Words
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


@dataclass(slots=True)
class _Asked:
    """What the searches of a question found, whatever was found before, and what was read of it by now."""

    vector: Samples
    hits: Hits
    how: tuple[str, ...]
    visible: int
    candidates: int
    read: dict[Place, Read] = field(default_factory=dict)


@dataclass(slots=True)
class Memory:
    """What the rounds of one search, in one scope, have from the graph by now: a further one asks for what is new."""

    asked: dict[Hashable, _Asked] = field(default_factory=dict)
    around: dict[Place, Around | None] = field(default_factory=dict)
    """None where nothing stands, or nothing that the scope holds."""
    said: dict[str, str] = field(default_factory=dict)
    """Text of every candidate by id."""
    further: dict[Hashable, tuple[Samples, legs.Leg]] = field(default_factory=dict)
    """Vector and nearest of the question with words of what was found, by the question's key and that text."""
    kept: Kept = field(default_factory=Kept)


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
        memory: Memory | None = None,
    ) -> Pool:
        """Candidates in the scope, best first. `before`: ids of what a round before found, whose words extend the query;
        `also`: further places to rank, with what found them. `again`: what the asker's own earlier questions found joins; what
        is there without it scores as it does without it. `memory`: of the rounds of one search."""
        memory = memory or Memory()
        looked = await self.look(scope, planned, filters, before, tuple(also), again=again, memory=memory)
        by = {read.id: Found(also[read.place], 1, 1.0) for read in looked.signals.read if read.place in also}
        ranked = self._ranked(looked, memory.kept)
        ranked = [replace(one, found=(*one.found, by[one.id])) if one.id in by else one for one in ranked]
        return Pool(tuple(ranked), looked.visible, looked.legs, looked.earlier)

    def _ranked(self, looked: Looked, kept: Kept) -> Sequence[Candidate]:
        """Many features are heights over the others: so what joins is ranked among all, and all the rest without it."""
        ranked = self._ranker(looked.signals, kept)
        if not looked.apart:
            return ranked
        joining = {read.id for read in looked.apart}
        among = self._ranker(replace(looked.signals, read=(*looked.signals.read, *looked.apart)), kept)
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
        memory: Memory | None = None,
    ) -> Looked:
        """All that the ranking is made of."""
        memory = memory or Memory()
        key = _key(planned, filters)
        asked = memory.asked.get(key)
        if asked is None:
            asked = memory.asked[key] = await self._asked(scope, planned, filters)
        earlier, looked_further = await asyncio.gather(
            self._earlier(scope, asked.vector, planned, again), self.ahead(scope, planned, filters, before, memory)
        )
        further_vectors, further = [vector for vector, _ in looked_further], [leg for _, leg in looked_further]
        worth = worth_reading(asked.hits, self.config.signals, *(leg.found for leg in further))
        ranked = dict.fromkeys((*worth, *also))
        places = tuple(dict.fromkeys((*ranked, *(one.place for one in earlier))))
        vectors = [asked.vector, *further_vectors]
        found = [leg.found for leg in further]
        reading = self._graph.read(self._read, scope, asked, places, vectors, found, planned.people, filters)
        if filters.empty:
            read, around = await asyncio.gather(reading, self._around(scope, places, memory))
        else:  # what they leave out of the candidates may stand beside one
            read = await reading
            around = await self._around(scope, [one.place for one in read], memory)
        around |= {one.place: Around(one.text, one.speaker_id) for one in read}
        memory.said |= {one.id: one.text for one in read}
        ran = (*asked.how, *(f"further:{leg.how}" for leg in further))
        plain = tuple(one for one in read if one.place in ranked)
        signals = Signals(planned.meaning, asked.hits, plain, around, planned.windows, bool(planned.people))
        ran = (*ran, f"found_before:{len(earlier)}") if earlier else ran
        return Looked(signals, asked.visible, ran, earlier, tuple(one for one in read if one.place not in ranked))

    async def ahead(
        self, scope: ReadScope, planned: Plan, filters: Filters, before: Sequence[str], memory: Memory
    ) -> tuple[tuple[Samples, legs.Leg], ...]:
        """What is nearest to the question with the words of `before`, where there are any: for a look of the same question
        later on, which does not ask again. Nothing before the question itself was looked for."""
        key = _key(planned, filters)
        if key not in memory.asked or (text := await self._with(scope, planned, before, memory)) is None:
            return ()
        if (key, text) not in memory.further:
            (vector,) = await asyncio.to_thread(self._embedder.queries, [text])
            leg = await self._dense(
                scope, text, vector, filters, self.config.near, self.config.legs, candidates=memory.asked[key].candidates
            )
            memory.further[key, text] = vector, leg
        return (memory.further[key, text],)

    async def _asked(self, scope: ReadScope, planned: Plan, filters: Filters) -> _Asked:
        config = self.config
        queries = term_queries(planned.words, config.signals)
        names = term_queries(planned.names, config.signals)
        vectors, said, told, (visible, candidates, num_facts) = await asyncio.gather(
            asyncio.to_thread(self._embedder.queries, [planned.meaning]),
            self._graph.read(legs.full_text, scope, [*queries, *names], filters, config.terms),
            self._graph.read(facts_full_text, scope, lucene_query(planned.words), filters, config.near),
            self._graph.read(_sizes, scope, filters),
        )
        vector, space = vectors[0], self._embedder.embedding_space.name
        near, context, turn = await asyncio.gather(
            self._graph.read(facts_nearest, scope, space, vector, filters, config.near, config.legs, candidates=num_facts),
            self._context(scope, vector, filters, candidates),
            self._dense(scope, planned.meaning, vector, filters, config.near, config.legs, candidates=candidates),
        )
        how = (
            f"bm25:{'index' if queries or names else 'skipped(empty)'}", f"dense:{turn.how}", f"dense_context:{context.how}",
            f"fact_bm25:{told.how}", f"fact_dense:{near.how}",
        )  # fmt: skip
        said_words, said_names = said[: len(queries)], said[len(queries) :]
        hits = Hits(said_words, said_names, turn.found, context.found, _by_source(told), _by_source(near))
        return _Asked(vector, hits, how, visible, candidates)

    async def _earlier(self, scope: ReadScope, vector: Samples, planned: Plan, again: bool) -> tuple[Earlier, ...]:
        return await self._found_before.found(scope, vector, planned.people) if self._found_before and again else ()

    async def _with(self, scope: ReadScope, planned: Plan, before: Sequence[str], memory: Memory) -> str | None:
        """The question with the words of what was found before, where there is any and the scope holds it."""
        said = await said_in(self._graph, scope, before, memory)
        return " ".join([planned.meaning, *said]) if any(said) else None

    async def _context(self, scope: ReadScope, vector: Samples, filters: Filters, candidates: int) -> legs.Leg:
        return await self._graph.read(
            legs.nearest_messages, scope, self._embedder.embedding_space.name, "context", vector, filters,
            self.config.near, self.config.legs,
            candidates=candidates,
        )  # fmt: skip

    async def _read(
        self,
        tx: Tx,
        scope: ReadScope,
        asked: _Asked,
        places: Sequence[Place],
        vectors: Sequence[Samples],
        further: Sequence[Words],
        people: Sequence[str],
        filters: Filters,
    ) -> tuple[Read, ...]:
        """What stands at `places`. Cosines that a search gave with its hits, and what an earlier round read, are not asked for
        again; that it is there and in the scope, is."""
        meant = await list_same_people(tx, scope, people) if people else ()
        near = (asked.hits.turn, *further)
        unread = {place: _unread(place, asked, near) for place in places}
        space, read = self._embedder.embedding_space.name, []
        for one in await read_candidates(tx, scope, space, list(unread.values()), vectors, meant, filters):
            known = _known(one, unread[one.place], asked, near)
            asked.read[one.place] = known
            read.append(known)
        return tuple(read)

    async def _around(self, scope: ReadScope, places: Sequence[Place], memory: Memory) -> dict[Place, Around]:
        """What was said around `places`, themselves left out."""
        own = set(places)
        beside_them = [place for place in beside(places, self.config.signals) if place not in own]
        if new := [place for place in beside_them if place not in memory.around]:
            found = await self._graph.read(read_around, scope, new)
            memory.around |= {place: found.get(place) for place in new}
        known = {place: memory.around[place] for place in beside_them}
        return {place: around for place, around in known.items() if around is not None}


async def said_in(graph: Graph, scope: ReadScope, ids: Sequence[str], memory: Memory) -> list[str]:
    """Texts of those of `ids` that the scope holds; of what a round of this search read, from memory."""
    if unread := [id for id in ids if id not in memory.said]:
        found = await graph.read(find_messages, scope, unread)
        memory.said |= {id: message.text or "" for id, message in found.items()}
    return [memory.said[id] for id in ids if id in memory.said]


def _key(planned: Plan, filters: Filters) -> Hashable:
    return planned.words, planned.names, planned.meaning, planned.people, filters


def _unread(place: Place, asked: _Asked, near: Sequence[Words]) -> Unread:
    """What is not known of a place: the first of `near` is of the question itself, and was settled if it was read."""
    before = asked.read.get(place)
    vectors = tuple(i for i, found in enumerate(near) if place not in found and (i > 0 or before is None))
    return Unread(place, vectors, before is None and place not in asked.hits.context, before is None)


def _known(one: Compared, unread: Unread, asked: _Asked, near: Sequence[Words]) -> Read:
    before = asked.read.get(one.place)
    compared = dict(zip(unread.vectors, one.turn, strict=True))
    if before is not None:
        compared.setdefault(0, before.turn[0])
    turn = tuple(compared[i] if i in compared else found[one.place] for i, found in enumerate(near))
    context = one.context if unread.context else before.context if before else asked.hits.context[one.place]
    read = one.read or before
    assert read is not None, "it was asked for unless it was read before"
    return replace(read, turn=turn, context=context)


async def _sizes(tx: Tx, scope: ReadScope, filters: Filters) -> tuple[int, int, int]:
    """How many messages the scope holds, how many of them the filters let through, and how many facts it holds."""
    visible, facts = await count_held(tx, scope)
    return visible, visible if filters.empty else await legs.count_candidates(tx, scope, filters), facts


def _by_source(leg: FactLeg) -> dict[str, float]:
    """The best score of a fact by the message it was said in."""
    best: dict[str, float] = {}
    for fact in leg.found:
        best.setdefault(fact.evidence[0], fact.score)
    return best
