"""A small space whose words the full text finds already, and what asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.graph.driver import Graph
from service.pipelines.search import Search
from service.types.ids import fresh
from service.types.search import SearchResult, Tool
from tests.graph.graph_builders import HashedWords, Said, World, seed
from tests.graph.test_search import until_found

NEAR = 0.05
"""Of a score: how rare a word is, is counted over the whole index, and the other process of the run writes to that meanwhile.
What a test looks for (another wording, a sound counted twice, what somebody else found) moves a score by much more."""


def differing(one: SearchResult, other: SearchResult) -> set[str]:
    """Ids of messages that the two score differently, by more than NEAR; one that only one of them shows counts as if it were
    the other's last."""
    scores, others = ({hit.message.id: hit.score for hit in found.hits} for found in (one, other))
    least = [min(some.values(), default=0.0) for some in (scores, others)]
    both = {id: (scores.get(id, least[0]), others.get(id, least[1])) for id in scores | others}
    return {id for id, (score, again) in both.items() if abs(score - again) > NEAR * max(score, again)}


async def searchable(
    graph: Graph, people: Sequence[str], said: Sequence[Said], word: str, times: int, search: Search | None = None
) -> World:
    """What was `said` in a space of its own, once `word` is found `times` times by its letters."""
    vectors = HashedWords().passages([s.text for s in said])
    embedded = [replace(s, vector=vector) for s, vector in zip(said, vectors, strict=True)]
    world = await seed(graph, f"test-{fresh()}", people, embedded)
    everything, look = await world.scope(reads_all=True), search or Search(graph, HashedWords())

    async def found() -> list[str]:
        hits = (await look(everything, word)).hits
        return [hit.message.id for hit in hits if Tool.BM25 in {one.tool for one in hit.found}]

    await until_found(found, times)
    return world
