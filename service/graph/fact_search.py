"""Which visible facts match best? As service.graph.search does for messages: each leg looks inside the scope.

A fact stands for the messages that it was made from: each is found with the ids of these, its source first. Filters are
asked of the source: who said it, to whom, in which session, when. What a profile tells are facts with an attribute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.graph.cypher import for_space
from service.graph.driver import rows
from service.graph.search import DEFAULTS, SearchConfig, Ways, checked, narrowed, nearest, readers_clause

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx
    from service.types.audio import Samples
    from service.types.search import Filters


@dataclass(frozen=True, slots=True)
class FoundFact:
    id: str
    score: float
    """Lucene score, or raw cosine."""
    evidence: tuple[str, ...]
    """Ids of messages, all in the scope; the one it was said in first."""


@dataclass(frozen=True, slots=True)
class FactLeg:
    """One search that ran: what it found, best first, and how it went about it, as Leg."""

    found: tuple[FoundFact, ...]
    how: str


FACTS_FULL_TEXT = """
CALL db.index.fulltext.queryNodes('fact_text', $lucene) YIELD node AS f, score
WITH f, score
WHERE score > 0 AND f.space = $space
  AND EXISTS { MATCH (f)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
  AND (NOT $telling OR f.attribute IS NOT NULL) AND ($sessions IS NULL OR f.session_id IN $sessions)
  AND ($since IS NULL OR f.said_at >= $since) AND ($until IS NULL OR f.said_at < $until)
MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WHERE ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
WITH f, score, m LIMIT $k
RETURN collect([f.id, score, m.id, COLLECT {
  MATCH (f)-[:EVIDENCED_BY {role: 'context'}]->(c:Message) RETURN c.id ORDER BY c.index
}]) AS ranked
"""


async def facts_full_text(tx: Tx, scope: ReadScope, query: str, filters: Filters, k: int) -> FactLeg:
    """BM25 over the statements of visible facts; `query` from service.retrieval.lucene, empty: the leg is skipped.

    The slots {speaker} and {addressee} are words to the index, in nearly every statement: they weigh next to nothing."""
    if not query:
        return FactLeg((), "skipped(empty)")
    if not scope.audiences:
        return FactLeg((), "skipped(nothing visible)")
    lucene = f"{readers_clause(scope)} +statement:({checked(query)})"
    found = await rows(tx, FACTS_FULL_TEXT, lucene=lucene, k=k, **await narrowed(tx, scope, filters))
    return FactLeg(tuple(FoundFact(id, score, (source, *more)) for id, score, source, more in found[0]["ranked"]), "index")


COUNT_FACTS = """
MATCH (f:Fact) WHERE f.audience IN $audiences
RETURN count(f) AS n
"""


async def count_facts(tx: Tx, scope: ReadScope) -> int:
    """How many facts the scope holds; by the index on what mirrors FOR."""
    found = await rows(tx, COUNT_FACTS, audiences=scope.audiences)
    return int(found[0]["n"])


FACTS_NEAREST_EXACT = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(f:Fact {space: $space})-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WHERE f.embedding__<space>__<view> IS NOT NULL AND (NOT $telling OR f.attribute IS NOT NULL)
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
  AND ($sessions IS NULL OR f.session_id IN $sessions)
  AND ($since IS NULL OR f.said_at >= $since) AND ($until IS NULL OR f.said_at < $until)
WITH f, m, vector.similarity.cosine(f.embedding__<space>__<view>, $vector) AS score
ORDER BY score DESC, f.id LIMIT $k
RETURN collect([f.id, score, m.id, COLLECT {
  MATCH (f)-[:EVIDENCED_BY {role: 'context'}]->(c:Message) RETURN c.id ORDER BY c.index
}]) AS ranked
"""

FACTS_NEAREST_IN_SPACE = """
CYPHER 25
MATCH (f:Fact)
  SEARCH f IN (VECTOR INDEX fact_embedding__<space>__<view> FOR $vector WHERE f.space = $space LIMIT $fetch)
  SCORE AS score
WHERE EXISTS { MATCH (f)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
  AND (NOT $telling OR f.attribute IS NOT NULL) AND ($sessions IS NULL OR f.session_id IN $sessions)
  AND ($since IS NULL OR f.said_at >= $since) AND ($until IS NULL OR f.said_at < $until)
MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WHERE ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
WITH f, m, score ORDER BY score DESC, f.id LIMIT $k
RETURN collect([f.id, score, m.id, COLLECT {
  MATCH (f)-[:EVIDENCED_BY {role: 'context'}]->(c:Message) RETURN c.id ORDER BY c.index
}]) AS ranked
"""

FACTS_NEAREST_IN_AUDIENCE = """
CYPHER 25
MATCH (f:Fact)
  SEARCH f IN (VECTOR INDEX fact_embedding__<space>__<view> FOR $vector
               WHERE f.space = $space AND f.audience = $audience LIMIT $fetch)
  SCORE AS score
WHERE EXISTS { MATCH (f)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WITH f, m, score ORDER BY score DESC, f.id LIMIT $k
RETURN collect([f.id, score, m.id, COLLECT {
  MATCH (f)-[:EVIDENCED_BY {role: 'context'}]->(c:Message) RETURN c.id ORDER BY c.index
}]) AS ranked
"""


async def facts_nearest(
    tx: Tx,
    scope: ReadScope,
    space_name: str,
    vector: Samples,
    filters: Filters,
    k: int,
    config: SearchConfig = DEFAULTS,
    *,
    view: str = "turn",
    candidates: int | None = None,
) -> FactLeg:
    """The `k` visible facts nearest to `vector` (L2-normalised), with raw cosines; ways of looking as nearest_messages.

    `candidates`: what count_facts says, where that is known already."""
    if not scope.audiences:
        return FactLeg((), "skipped(nothing visible)")
    if candidates is None:
        candidates = await count_facts(tx, scope)
    if not candidates:
        return FactLeg((), "exact")
    exact, in_space, in_audience = (
        for_space(query, space_name, view) for query in (FACTS_NEAREST_EXACT, FACTS_NEAREST_IN_SPACE, FACTS_NEAREST_IN_AUDIENCE)
    )
    ways = Ways(exact, in_space, in_audience)
    found, how = await nearest(tx, scope, ways, vector, filters, k, config, candidates=candidates)
    return FactLeg(tuple(FoundFact(id, cosine, (source, *more)) for id, cosine, source, more in found), how)
