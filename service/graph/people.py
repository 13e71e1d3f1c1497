"""Which people may this viewer know of? The asker, and who speaks or is addressed in a visible message.

People are shown as merges say, confirmed or not: a merged person is part of the one they were merged into, and is found
under that one's id. Numbers count what the viewer may read, nothing else. A name that nobody gave, but that was said or read
somewhere (Person.named_by is a NameProposal), is known to whoever may read a turn that it rests on, and to its bearer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from service.errors import NotFound
from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.people import Heard, Person

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

FIND_PEOPLE = """
UNWIND $ids AS wanted
MATCH (shown:Person {id: wanted, space: $space})
WHERE coalesce(shown.tombstone, false) = false AND NOT EXISTS { (shown)-[:MERGED_INTO]->() }
WITH shown, COLLECT { MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person) RETURN DISTINCT p.id } AS same
WHERE $reads_all OR any(id IN same WHERE id IN $themselves) OR EXISTS {
  MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person)
  WITH p MATCH (p)-[:SPEAKS|ADDRESSES]-(m:Message)
  WITH m MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  RETURN a
}
WITH shown, head(COLLECT {
  MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person) WHERE p.display_name IS NOT NULL
  OPTIONAL MATCH (n:NameProposal {id: p.named_by})
  WITH p, n WHERE n IS NULL OR $reads_all OR any(id IN same WHERE id IN $themselves) OR EXISTS {
    MATCH (n)-[:EVIDENCED_BY]->(:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  }
  RETURN p.display_name ORDER BY p.id <> shown.id, n IS NOT NULL, p.id LIMIT 1
}) AS name
RETURN shown {.id, .created_at, display_name: name, aliases: coalesce(shown.aliases, []),
  kind: CASE WHEN shown.kind = 'bot' THEN 'bot' WHEN name IS NULL THEN 'anonymous' ELSE 'named' END,
  encoders: [key IN keys(shown) WHERE key STARTS WITH 'voiceprint__' | substring(key, 12)]} AS person
"""


async def find_people(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, Person]:
    """Those of `ids` that the scope holds, by id; the others are missing, whether they exist or not."""
    found = await rows(tx, FIND_PEOPLE, **scope.gate, ids=list(ids))
    return {row["person"]["id"]: _person(row["person"]) for row in found}


HEARD = """
UNWIND $ids AS wanted
MATCH (shown:Person {id: wanted, space: $space})
MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person)
MATCH (p)-[:SPEAKS]->(m:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
WITH DISTINCT wanted, m
RETURN wanted, count(m) AS num_turns, toFloat(sum(m.net_speech)) AS net_speech
"""


async def heard_of(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, Heard]:
    """How much each of `ids` said, of what the scope holds; nobody is among them who said nothing there. Apart from who they
    are, since it reads all that somebody ever said."""
    found = await rows(tx, HEARD, space=scope.space, audiences=scope.audiences, ids=list(ids))
    return {row["wanted"]: Heard(row["num_turns"], row["net_speech"]) for row in found}


async def find_person(tx: Tx, scope: ReadScope, person_id: str) -> Person | None:
    return (await find_people(tx, scope, [person_id])).get(person_id)


async def get_person(tx: Tx, scope: ReadScope, person_id: str) -> Person:
    """Raises NotFound, the same for what does not exist and for what lies outside the scope."""
    person = await find_person(tx, scope, person_id)
    if person is None:
        raise NotFound(kind="person", id=person_id)
    return person


LIST_PEOPLE = """
CALL () {
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(:Message)<-[:SPEAKS]-(p:Person)
  RETURN p
  UNION
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(:Message)-[:ADDRESSES]->(p:Person)
  RETURN p
  UNION
  MATCH (p:Person {space: $space}) WHERE p.id IN $themselves
  RETURN p
  UNION
  WITH $reads_all AS reads_all WHERE reads_all
  MATCH (p:Person {space: $space})
  RETURN p
}
MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person)
WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() } AND coalesce(shown.tombstone, false) = false
WITH DISTINCT [shown.created_at.epochSeconds * 1000000000 + shown.created_at.nanosecond, shown.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_people(tx: Tx, scope: ReadScope, *, page: Page) -> Paged[Person]:
    """Visible people in the order in which they were met."""
    found = await rows(tx, LIST_PEOPLE, **scope.gate, **parameters(page))
    places = [row["place"] for row in found]
    return paged(page, places, await find_people(tx, scope, [id for _, id in places]))


async def count_people(tx: Tx, scope: ReadScope) -> int:
    found = await rows(tx, COUNT_PEOPLE, **scope.gate)
    return int(found[0]["n"])


COUNT_PEOPLE = """
CALL () {
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(:Message)<-[:SPEAKS]-(p:Person)
  RETURN p
  UNION
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(:Message)-[:ADDRESSES]->(p:Person)
  RETURN p
  UNION
  MATCH (p:Person {space: $space}) WHERE p.id IN $themselves
  RETURN p
  UNION
  WITH $reads_all AS reads_all WHERE reads_all
  MATCH (p:Person {space: $space})
  RETURN p
}
MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person)
WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() } AND coalesce(shown.tombstone, false) = false
RETURN count(DISTINCT shown) AS n
"""

LIST_NAMED_PEOPLE = """
CALL db.index.fulltext.queryNodes('person_name', $names) YIELD node AS named, score
WITH named, score WHERE named.space = $space AND score > 0
MATCH (named) (()-[:MERGED_INTO]->()){0,12} (shown:Person)
WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() } AND coalesce(shown.tombstone, false) = false
WITH DISTINCT shown
WHERE $reads_all OR EXISTS {
  MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person) WHERE p.id IN $themselves
  RETURN p
} OR EXISTS {
  MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person)
  WITH p MATCH (p)-[:SPEAKS|ADDRESSES]-(m:Message)
  WITH m MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  RETURN a
}
RETURN shown.id AS id, coalesce(shown.aliases, []) AS aliases, head(COLLECT {
  MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person) WHERE p.display_name IS NOT NULL
  OPTIONAL MATCH (n:NameProposal {id: p.named_by})
  WITH p, n WHERE n IS NULL OR $reads_all OR p.id IN $themselves OR EXISTS {
    MATCH (n)-[:EVIDENCED_BY]->(:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  }
  RETURN p.display_name ORDER BY p.id <> shown.id, n IS NOT NULL, p.id LIMIT 1
}) AS display_name
LIMIT 50
"""


async def list_named_people(tx: Tx, scope: ReadScope, names: str) -> dict[str, tuple[str, ...]]:
    """Names (the shown one first) of visible people of whom a name shares a word with `names`, by id; at most 50.

    `names` is escaped by service.retrieval.lucene.escaped, and not empty."""
    found = await rows(tx, LIST_NAMED_PEOPLE, **scope.gate, names=names)
    return {row["id"]: tuple(name for name in (row["display_name"], *row["aliases"]) if name) for row in found}


LIST_SAME_PEOPLE = """
UNWIND $ids AS wanted
MATCH (:Person {id: wanted, space: $space}) (()-[:MERGED_INTO]-()){0,12} (p:Person {space: $space})
RETURN DISTINCT p.id AS id
"""


async def list_same_people(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> tuple[str, ...]:
    """`ids` and whoever is merged with one of them, confirmed or not: what a filter by person means. Grants nothing."""
    found = await rows(tx, LIST_SAME_PEOPLE, space=scope.space, ids=list(ids))
    return tuple(sorted({*ids, *(row["id"] for row in found)}))


LIST_SHOWN = """
UNWIND $ids AS wanted
MATCH (:Person {id: wanted, space: $space}) (()-[:MERGED_INTO]->()){0,12} (shown:Person {space: $space})
WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
RETURN wanted, shown.id AS shown
"""


async def list_known(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> frozenset[str]:
    """Those of `ids` that name somebody whom the viewer knows of, under an id of before a merge, too."""
    shown = {row["wanted"]: row["shown"] for row in await rows(tx, LIST_SHOWN, space=scope.space, ids=list(ids))}
    known = await find_people(tx, scope, list(shown.values()))
    return frozenset(id for id in ids if shown.get(id) in known)


def _person(record: Mapping[str, Any]) -> Person:
    aliases, encoders = tuple(record["aliases"]), tuple(sorted(record["encoders"]))
    return Person(**{**record, "aliases": aliases, "encoders": encoders})
