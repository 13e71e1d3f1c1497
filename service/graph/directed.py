"""What did one say to another, or anybody while somebody was away? By edges and time alone, whatever the words were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from service.graph.driver import only, rows
from service.graph.facts import find_facts
from service.graph.messages import find_messages
from service.graph.paging import Page, Paged, paged, parameters
from service.graph.people import list_same_people
from service.graph.search import narrowed
from service.types.facts import FactKind, KnownFact
from service.types.memory import Message
from service.types.search import Filters, Ranked, Ranking

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class DirectedConfig:
    least_text: int = 12  # characters; "mm", "yeah, right": nobody asks what was said to hear of these


DEFAULTS = DirectedConfig()

SAID_TO = """
MATCH (p:Person {space: $space})<-[to:ADDRESSES]-(m:Message {space: $space})-[:FOR]->(a:Audience)
WHERE p.id IN $addressees AND a.id IN $audiences
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
  AND size(m.text) >= $least_text
  AND ($away IS NULL OR NOT (coalesce(m.speaker_id, '') IN $away OR EXISTS {
    MATCH (q:Person)-[at:ATTENDED]->(:Session)<-[:IN_SESSION]-(m)
    WHERE q.id IN $away AND any(i IN range(0, size(at.starts) - 1) WHERE at.starts[i] <= m.end AND m.start <= at.ends[i]
      AND CASE WHEN at.ends[i] < m.end THEN at.ends[i] ELSE m.end END
        - CASE WHEN at.starts[i] > m.start THEN at.starts[i] ELSE m.start END >= (m.end - m.start) / 2) }))
WITH m, max(to.confidence) AS confidence
ORDER BY confidence >= $direct DESC, m.said_at DESC, m.id LIMIT $k
RETURN collect([m.id, confidence]) AS ranked
"""

SAID_BY = """
MATCH (p:Person {space: $space})-[:SPEAKS]->(m:Message {space: $space})-[:FOR]->(a:Audience)
WHERE p.id IN $speakers AND a.id IN $audiences
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
  AND size(m.text) >= $least_text
  AND ($away IS NULL OR NOT EXISTS {
    MATCH (q:Person)-[at:ATTENDED]->(:Session)<-[:IN_SESSION]-(m)
    WHERE q.id IN $away AND any(i IN range(0, size(at.starts) - 1) WHERE at.starts[i] <= m.end AND m.start <= at.ends[i]
      AND CASE WHEN at.ends[i] < m.end THEN at.ends[i] ELSE m.end END
        - CASE WHEN at.starts[i] > m.start THEN at.starts[i] ELSE m.start END >= (m.end - m.start) / 2) })
WITH DISTINCT m ORDER BY m.said_at DESC, m.id LIMIT $k
RETURN collect([m.id, 1.0]) AS ranked
"""

SAID_AT_ALL = """
MATCH (m:Message {space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
  AND size(m.text) >= $least_text
  AND ($away IS NULL OR NOT (coalesce(m.speaker_id, '') IN $away OR EXISTS {
    MATCH (q:Person)-[at:ATTENDED]->(:Session)<-[:IN_SESSION]-(m)
    WHERE q.id IN $away AND any(i IN range(0, size(at.starts) - 1) WHERE at.starts[i] <= m.end AND m.start <= at.ends[i]
      AND CASE WHEN at.ends[i] < m.end THEN at.ends[i] ELSE m.end END
        - CASE WHEN at.starts[i] > m.start THEN at.starts[i] ELSE m.start END >= (m.end - m.start) / 2) }))
WITH m ORDER BY m.said_at DESC, m.id LIMIT $k
RETURN collect([m.id, 1.0]) AS ranked
"""

DIRECT = 0.5
"""Confidence from which something was said to somebody in particular: below lies what was said to all."""


async def list_directed(
    tx: Tx, scope: ReadScope, filters: Filters, k: int, *, away: bool = False, config: DirectedConfig = DEFAULTS
) -> Ranking:
    """The `k` newest visible messages that `filters` let through, those said to somebody in particular first; scores are the
    confidence that they were said to one of the addressees (1 without). `away`: only what was said while the asker did not
    attend, as attendance counts (half of the turn), and not by them; of that, as of everything, only what the scope holds."""
    asked: dict[str, Any] = {
        "space": scope.space,
        "audiences": scope.audiences,
        "sessions": filters.sessions or None,
        "since": filters.since,
        "until": filters.until,
        "away": list(scope.asker) if away else None,
        "least_text": config.least_text,
        "k": k,
    }
    speakers = await list_same_people(tx, scope, filters.speakers) if filters.speakers else None
    if filters.addressees:
        people = await list_same_people(tx, scope, filters.addressees)
        found = await rows(tx, SAID_TO, addressees=people, speakers=speakers, direct=DIRECT, **asked)
    elif speakers is not None:
        found = await rows(tx, SAID_BY, speakers=speakers, **asked)
    else:
        by_or_to = await list_same_people(tx, scope, filters.by_or_to) if filters.by_or_to else None
        found = await rows(tx, SAID_AT_ALL, by_or_to=by_or_to, **asked)
    return tuple(Ranked(id, float(score)) for id, score in found[0]["ranked"])


OF_KIND = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(f:Fact {space: $space})-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WHERE f.kind IN $kinds
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
WITH DISTINCT m ORDER BY m.said_at DESC, m.id LIMIT $k
RETURN collect(m.id) AS ids
"""

OF_KIND_BY_SPEAKER = """
MATCH (p:Person {space: $space})-[:SPEAKS]->(m:Message)<-[:EVIDENCED_BY {role: 'source'}]-(f:Fact)-[:FOR]->(a:Audience)
WHERE p.id IN $speakers AND f.kind IN $kinds AND a.id IN $audiences
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(q:Person) WHERE q.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(q:Person) WHERE q.id IN $by_or_to })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
WITH DISTINCT m ORDER BY m.said_at DESC, m.id LIMIT $k
RETURN collect(m.id) AS ids
"""


async def list_of_kind(tx: Tx, scope: ReadScope, filters: Filters, kinds: Sequence[FactKind], k: int) -> tuple[str, ...]:
    """Ids of the `k` newest messages that `filters` let through and that visible facts of one of `kinds` were said in."""
    asked = await narrowed(tx, scope, filters)
    query = OF_KIND if asked["speakers"] is None else OF_KIND_BY_SPEAKER
    (ids,) = await only(tx, query, kinds=[kind.value for kind in kinds], k=k, **asked)
    return tuple(ids)


BESIDE_BY_REPLY = """
UNWIND $ids AS wanted
MATCH (m:Message {id: wanted, space: $space})-[:FOR]->(a:Audience) WHERE a.id IN $audiences
MATCH (m)-[:REPLIES_TO]-(other:Message)-[:FOR]->(b:Audience) WHERE b.id IN $audiences
RETURN collect(DISTINCT [other.session_id, other.index]) AS places
"""


async def list_replies(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Session and index of the visible messages that one of `ids` answers, or that answer it."""
    found = await rows(tx, BESIDE_BY_REPLY, space=scope.space, audiences=scope.audiences, ids=list(ids))
    return tuple((session, index) for session, index in found[0]["places"])


LIST_TIMELINE = """
MATCH (:Person {id: $person_id, space: $space}) (()-[:MERGED_INTO]-()){0,12} (p:Person)
WITH collect(DISTINCT p) AS people
CALL (people) {
  UNWIND people AS p
  MATCH (p)-[:SPEAKS|ADDRESSES]-(m:Message {space: $space})-[:FOR]->(a:Audience)
  WHERE a.id IN $audiences
  RETURN m.said_at AS at, m.id AS id
UNION
  UNWIND people AS p
  MATCH (p)-[:SPEAKS|ADDRESSES]-(:Message {space: $space})<-[:EVIDENCED_BY {role: 'source'}]-(f:Fact)-[:FOR]->(a:Audience)
  WHERE a.id IN $audiences AND f.about_from IS NOT NULL AND f.kind <> 'question'
  RETURN f.about_from AS at, f.id AS id
}
WITH at, [at.epochSeconds * 1000000000 + at.nanosecond, id] AS place
WHERE ($since IS NULL OR at >= $since) AND ($until IS NULL OR at < $until)
  AND ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_timeline(
    tx: Tx, scope: ReadScope, person_id: str, since: datetime | None, until: datetime | None, *, page: Page
) -> Paged[Message | KnownFact]:
    """What the person said and what was said to them in [`since`, `until`), when it was said; and facts of it, no questions,
    at the beginning of the time that they speak of. In the order of these; empty for somebody whom the scope does not hold."""
    found = await rows(
        tx, LIST_TIMELINE, space=scope.space, audiences=scope.audiences, person_id=person_id, since=since, until=until,
        **parameters(page),
    )  # fmt: skip
    places = [row["place"] for row in found]
    ids = [id for _, id in places]
    return paged(page, places, {**await find_messages(tx, scope, ids), **await find_facts(tx, scope, ids)})
