"""Which visible messages match best? Each leg looks inside the scope: a short list is never filtered afterwards.

`k` is how many are wanted; what is returned is shorter only when the scope and the filters hold fewer (or, for the
full text, fewer match). Every candidate passes the gate on its FOR edge, whatever found it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from service.errors import VoicegraphError
from service.graph.cypher import for_space
from service.graph.driver import only, rows
from service.graph.people import list_same_people
from service.types.candidates import Words
from service.types.search import Filters

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx
    from service.types.audio import Samples


class UnescapedQuery(VoicegraphError):
    code = "unescaped_query"
    says = "A full-text query held Lucene operators. Make it with service.retrieval.lucene.lucene_query."
    http_status = 500


@dataclass(frozen=True, slots=True)
class SearchConfig:
    exact_limit: int = 1_000  # messages; up to here reading every visible vector is quicker than the index, and exact
    beam: int = 100  # the index's LIMIT is its beam: below 100 it misses the best
    first_fetch: int = 400  # candidates asked of the index first; fills k = 60 for who sees a fifth of the space
    widest_fetch: int = 6_400  # more than this has not been tried
    exact_cost: float = 1.75  # of reading a visible vector (35 µs), in candidates of the index (20 µs; 100,000 messages)
    few_audiences: int = 4  # up to here one search inside each audience is quicker than over-fetching
    shrink: float = 0.97  # of a fetch that filled k, the next time, but never below the first: one in thirty then widens
    remembered: int = 10_000  # fetches of viewers; some 2 MB


DEFAULTS = SearchConfig()


class _Fetches:
    """How many candidates filled a viewer's k the last time: as many are asked for at once. A number each, and nothing that was
    found; of those used last."""

    def __init__(self) -> None:
        self._filled: OrderedDict[int, int] = OrderedDict()

    def first(self, key: int, least: int, config: SearchConfig) -> int:
        return max(self._filled.get(key, 0), config.first_fetch, config.beam, least)

    def note(self, key: int, fetch: int, config: SearchConfig) -> None:
        self._filled[key] = fetch
        self._filled.move_to_end(key)
        if len(self._filled) > config.remembered:
            self._filled.popitem(last=False)


_FETCHES = _Fetches()


@dataclass(frozen=True, slots=True)
class Leg:
    """One search that ran: what it found, and how it went about it, e.g. `exact`, `index+widen(2)`."""

    found: Words
    how: str


_ESCAPED = re.compile(r"""(?:[^+\-&|!(){}\[\]^"~*?:\\/]|\\.|\^0\.\d+(?=\s|$))*""", re.DOTALL)

FULL_TEXT = """
UNWIND range(0, size($lucene) - 1) AS i
CALL (i) {
  CALL db.index.fulltext.queryNodes('message_text', $lucene[i]) YIELD node AS m, score
  WITH m, score
  WHERE score > 0 AND m.space = $space
    AND EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
    AND ($speakers IS NULL OR m.speaker_id IN $speakers)
    AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
    AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
         OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
    AND ($sessions IS NULL OR m.session_id IN $sessions)
    AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
  WITH m, score LIMIT $k
  WITH m.session_id AS session, collect([m.index, score]) AS found
  RETURN collect([session, found]) AS sessions
}
WITH i, sessions ORDER BY i
RETURN collect(sessions) AS each
"""


async def full_text(tx: Tx, scope: ReadScope, queries: Sequence[str], filters: Filters, k: int) -> tuple[Words, ...]:
    """BM25 over words and captions of visible messages: for each of `queries` (from service.retrieval.lucene; an empty one
    finds nothing) the `k` best, by place.

    The gate stands in the Lucene query, so the index returns what the viewer may read; the edges decide all the same."""
    asked = [i for i, query in enumerate(queries) if query]
    found: list[Words] = [{} for _ in queries]
    if not asked or not scope.audiences:
        return tuple(found)
    gate = readers_clause(scope)
    lucene = [f"{gate} +(text:({checked(queries[i])}) captions:({queries[i]}))" for i in asked]
    (each,) = await only(tx, FULL_TEXT, lucene=lucene, k=k, **await narrowed(tx, scope, filters))
    for i, sessions in zip(asked, each, strict=True):
        found[i] = {(session, index): score for session, hits in sessions for index, score in hits}
    return tuple(found)


def checked(query: str) -> str:
    """`query` as given. Raises UnescapedQuery."""
    if not _ESCAPED.fullmatch(query):
        raise UnescapedQuery()
    return query


def readers_clause(scope: ReadScope) -> str:
    """The gate as a Lucene clause: public, or one id of each hearer among the readers; it adds nothing to the score."""
    if scope.reads_all:
        return ""
    public = "readers:public"
    if scope.public_only:
        return f"+{public}^0"
    hearers = " ".join("+readers:({})".format(" ".join(_token(id) for id in ids)) for ids in scope.hearers)
    return f"+({public} ({hearers}))^0"


def _token(person_id: str) -> str:
    """As the readers property has it. A caller's own id may hold anything; a phrase keeps it from being syntax."""
    token = re.sub(r'(["\\])', r"\\\1", person_id.replace("-", ""))
    return f'"{token}"'


COUNT_CANDIDATES = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(m:Message {space: $space})
WHERE ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
RETURN count(m) AS n
"""


async def count_candidates(tx: Tx, scope: ReadScope, filters: Filters) -> int:
    """How many messages of the scope the filters let through."""
    found = await rows(tx, COUNT_CANDIDATES, **await narrowed(tx, scope, filters))
    return int(found[0]["n"])


NEAREST_EXACT = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(m:Message {space: $space})
WHERE m.embedding__<space>__<view> IS NOT NULL
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
WITH m, vector.similarity.cosine(m.embedding__<space>__<view>, $vector) AS score
ORDER BY score DESC, m.id LIMIT $k
RETURN collect([m.id, score, m.session_id, m.index]) AS ranked
"""

NEAREST_IN_SPACE = """
CYPHER 25
MATCH (m:Message)
  SEARCH m IN (VECTOR INDEX message_embedding__<space>__<view> FOR $vector WHERE m.space = $space LIMIT $fetch)
  SCORE AS score
WHERE EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
WITH m, score ORDER BY score DESC, m.id LIMIT $k
RETURN collect([m.id, score, m.session_id, m.index]) AS ranked
"""

NEAREST_IN_AUDIENCE = """
CYPHER 25
MATCH (m:Message)
  SEARCH m IN (VECTOR INDEX message_embedding__<space>__<view> FOR $vector
               WHERE m.space = $space AND m.audience = $audience LIMIT $fetch)
  SCORE AS score
WHERE EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH m, score ORDER BY score DESC, m.id LIMIT $k
RETURN collect([m.id, score, m.session_id, m.index]) AS ranked
"""


async def nearest_messages(
    tx: Tx,
    scope: ReadScope,
    space_name: str,
    view: str,
    vector: Samples,
    filters: Filters,
    k: int,
    config: SearchConfig = DEFAULTS,
    *,
    candidates: int | None = None,
) -> Leg:
    """The `k` visible messages whose `view` is nearest to `vector` (L2-normalised): raw cosines by place.

    Exact over what is visible where that is little; else from the index: inside each audience when there are few, or
    by over-fetching, wider until `k` are found, and exact once that costs less than a wider fetch. `candidates`: what
    count_candidates says, where that is known already."""
    if not scope.audiences:
        return Leg({}, "skipped(nothing visible)")
    if candidates is None:
        candidates = await count_candidates(tx, scope, filters)
    ways = Ways(*(for_space(query, space_name, view) for query in (NEAREST_EXACT, NEAREST_IN_SPACE, NEAREST_IN_AUDIENCE)))
    found, how = await nearest(tx, scope, ways, vector, filters, k, config, candidates=candidates)
    return Leg({(session, index): cosine for _, cosine, session, index in found}, how)


@dataclass(frozen=True, slots=True)
class Ways:
    """Three queries for the same: each gives one row, `ranked`, a list of [id, score, …]."""

    exact: str
    in_space: str
    in_audience: str


async def nearest(
    tx: Tx,
    scope: ReadScope,
    ways: Ways,
    vector: Samples,
    filters: Filters,
    k: int,
    config: SearchConfig,
    *,
    candidates: int,
) -> tuple[list[list[Any]], str]:
    """The `k` nearest, best first, as [id, raw cosine, …], and how they were looked for."""
    asked = {"vector": vector.tolist(), "k": k, **await narrowed(tx, scope, filters)}
    if candidates <= config.exact_limit:
        return await _nearest(tx, ways.exact, **asked), "exact"
    if filters.empty and len(scope.audiences) <= config.few_audiences:
        found: list[list[Any]] = []
        for audience in scope.audiences:
            found += await _nearest(
                tx, ways.in_audience, vector=asked["vector"], space=scope.space, audience=audience,
                audiences=scope.audiences, fetch=max(k, config.beam), k=k,
            )  # fmt: skip
        found.sort(key=lambda ranked: (-ranked[1], ranked[0]))
        return found[:k], f"index:audiences({len(scope.audiences)})"
    key, widened = hash((scope.space, scope.audiences, ways.in_space, k, filters)), 0
    fetch = _FETCHES.first(key, k, config)
    while fetch <= min(config.widest_fetch, config.exact_cost * candidates):
        near = await _nearest(tx, ways.in_space, fetch=fetch, **asked)
        if len(near) >= k:
            _FETCHES.note(key, fetch if widened else int(config.shrink * fetch), config)
            return near, f"index+widen({widened})" if widened else "index"
        share = len(near) / fetch
        fetch, widened = max(2 * fetch, min(config.widest_fetch, int(1.5 * k / share) if share else fetch * 8)), widened + 1
    return await _nearest(tx, ways.exact, **asked), f"index+widen({widened})+exact" if widened else "exact"


async def narrowed(tx: Tx, scope: ReadScope, filters: Filters) -> dict[str, Any]:
    """Parameters of gate and filters; a filter by person means everybody merged with them."""

    async def people(ids: Sequence[str]) -> tuple[str, ...] | None:
        return await list_same_people(tx, scope, ids) if ids else None

    return {
        "space": scope.space,
        "audiences": scope.audiences,
        "speakers": await people(filters.speakers),
        "addressees": await people(filters.addressees),
        "by_or_to": await people(filters.by_or_to),
        "sessions": filters.sessions or None,
        "since": filters.since,
        "until": filters.until,
        "telling": filters.telling,
    }


async def _nearest(tx: Tx, query: str, **parameters: Any) -> list[list[Any]]:
    """Neo4j's scores (1 + cosine) / 2, of the index and of vector.similarity.cosine alike, become raw cosines here.

    All in one row: the driver takes longer over sixty rows than the index over its search."""
    (ranked,) = await only(tx, query, **parameters)
    return [[id, 2.0 * score - 1.0, *more] for id, score, *more in ranked]
