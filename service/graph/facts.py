"""Which facts may this viewer read, and what was said of the same before? Every read is gated by its scope, in the query.

Who said a fact and to whom is read from its source message, as merges say, confirmed or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from service.errors import NotFound
from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.graph.people import list_same_people
from service.types.facts import FactKind, KnownFact, Precision, TimeSpan
from service.types.memory import Addressee, How

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

MAX_HISTORY = 50
"""Facts that say the same thing of one person, the newest: more is nobody's profile."""


@dataclass(frozen=True, slots=True)
class FactFilters:
    """Narrows a list of facts; never what makes a read allowed. Each empty one: all."""

    speakers: tuple[str, ...] = ()
    addressees: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    kinds: tuple[FactKind, ...] = ()
    telling: bool = False
    """Only what has an attribute, preferences, plans and commitments: what a profile is made of."""


FIND_FACTS = """
UNWIND $ids AS wanted
MATCH (f:Fact {id: wanted, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
RETURN f {.id, .session_id, .statement, .kind, .said_at, .attribute, .value, .confidence, .extractor} AS fact,
  f {.about_from, .about_to, .about_precision, .about_words} AS about, m.id AS source,
  COLLECT { MATCH (f)-[:EVIDENCED_BY {role: 'context'}]->(c:Message) RETURN c.id ORDER BY c.index } AS context,
  head(COLLECT {
    MATCH (p:Person)-[:SPEAKS]->(m)
    MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
    RETURN shown.id
  }) AS speaker,
  COLLECT {
    MATCH (m)-[to:ADDRESSES]->(p:Person)
    MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
    RETURN to {.confidence, .how, person: shown.id} ORDER BY to.confidence DESC, shown.id
  } AS addressees
"""


async def find_facts(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, KnownFact]:
    """Those of `ids` that the scope holds, by id; the others are missing, whether they exist or not."""
    found = await rows(tx, FIND_FACTS, space=scope.space, audiences=scope.audiences, ids=list(ids))
    return {row["fact"]["id"]: _fact(row) for row in found}


async def get_fact(tx: Tx, scope: ReadScope, fact_id: str) -> KnownFact:
    """Raises NotFound, the same for what does not exist and for what lies outside the scope."""
    found = await find_facts(tx, scope, [fact_id])
    if fact_id not in found:
        raise NotFound(kind="fact", id=fact_id)
    return found[fact_id]


LIST_FACTS = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(f:Fact {space: $space})
WHERE ($kinds IS NULL OR f.kind IN $kinds) AND ($sessions IS NULL OR f.session_id IN $sessions)
  AND (NOT $telling OR f.attribute IS NOT NULL OR f.kind IN ['preference', 'plan', 'commitment'])
MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
WHERE ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
WITH [f.said_at.epochSeconds * 1000000000 + f.said_at.nanosecond, f.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""

LIST_FACTS_OF_SPEAKERS = """
MATCH (p:Person {space: $space}) WHERE p.id IN $speakers
MATCH (p)-[:SPEAKS]->(m:Message)<-[:EVIDENCED_BY {role: 'source'}]-(f:Fact)
WHERE ($kinds IS NULL OR f.kind IN $kinds) AND ($sessions IS NULL OR f.session_id IN $sessions)
  AND (NOT $telling OR f.attribute IS NOT NULL OR f.kind IN ['preference', 'plan', 'commitment'])
  AND EXISTS { MATCH (f)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(q:Person) WHERE q.id IN $addressees })
WITH [f.said_at.epochSeconds * 1000000000 + f.said_at.nanosecond, f.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_facts(tx: Tx, scope: ReadScope, *, page: Page, filters: FactFilters = FactFilters()) -> Paged[KnownFact]:
    """Facts, newest said first. A filter by person means everybody merged with them."""
    speakers = await list_same_people(tx, scope, filters.speakers) if filters.speakers else None
    addressees = await list_same_people(tx, scope, filters.addressees) if filters.addressees else None
    found = await rows(
        tx,
        LIST_FACTS if speakers is None else LIST_FACTS_OF_SPEAKERS,
        space=scope.space,
        audiences=scope.audiences,
        speakers=speakers,
        addressees=addressees,
        sessions=filters.sessions or None,
        kinds=[kind.value for kind in filters.kinds] or None,
        telling=filters.telling,
        **parameters(page, newest_first=True),
    )
    places = [row["place"] for row in found]
    return paged(page, places, await find_facts(tx, scope, [id for _, id in places]))


LIST_HISTORIES = """
UNWIND $ids AS wanted
MATCH (f:Fact {id: wanted, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND f.attribute IS NOT NULL
MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(:Message)<-[:SPEAKS]-(speaker:Person)
RETURN wanted, COLLECT {
  MATCH (speaker) (()-[:MERGED_INTO]-()){0,12} (p:Person)
  WITH DISTINCT p
  MATCH (p)-[:SPEAKS]->(:Message)<-[:EVIDENCED_BY {role: 'source'}]-(g:Fact {attribute: f.attribute})-[:FOR]->(b:Audience)
  WHERE b.id IN $audiences
  RETURN g.id ORDER BY g.said_at DESC, g.id LIMIT $limit
} AS ids
"""


async def list_histories(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, tuple[KnownFact, ...]]:
    """For each of `ids` that the scope holds: it, and whatever else in the scope the same person said of the same attribute,
    newest first, at most MAX_HISTORY. One that supersedes nothing, or whose voice is unresolved, is alone."""
    found = await rows(
        tx, LIST_HISTORIES, space=scope.space, audiences=scope.audiences, ids=list(ids), limit=MAX_HISTORY
    )  # fmt: skip
    related = {row["wanted"]: row["ids"] for row in found}
    facts = await find_facts(tx, scope, sorted({*ids, *(id for some in related.values() for id in some)}))
    return {id: tuple(facts[other] for other in related.get(id, [id]) if other in facts) for id in ids if id in facts}


def _fact(row: Mapping[str, Any]) -> KnownFact:
    fact, about = dict(row["fact"]), row["about"]
    kind = FactKind(fact.pop("kind"))
    span = about["about_from"] and TimeSpan(
        about["about_from"], about["about_to"], Precision(about["about_precision"]), about["about_words"]
    )
    return KnownFact(
        **fact,
        kind=kind,
        about=span or None,
        evidence=(row["source"], *row["context"]),
        speaker_id=row["speaker"],
        addressees=tuple(Addressee(to["person"], to["confidence"], How(to["how"])) for to in row["addressees"]),
    )
