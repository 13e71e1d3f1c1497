"""What may this viewer know to be spoken of? Entities and themes exist where a visible message or fact mentions them; names,
counts and weights are of these mentions alone. What somebody said to be one is one, with the id, type and theme of the name it
was joined to: where that is not to be seen, of the visible one mentioned most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.entities import EntityType, KnownEntity, NamedEntity, Related, Strength, Theme

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class EntityFilters:
    """Narrows a list of entities; never what makes a read allowed. Each empty one: all."""

    types: tuple[EntityType, ...] = ()
    theme: str | None = None
    name: str | None = None
    """Normalised."""


FIND_ENTITIES = """
UNWIND $ids AS wanted
MATCH (given:Entity {id: wanted, space: $space})
WHERE EXISTS { MATCH (given)-[:MENTIONED_IN]->()-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
MATCH (given) (()-[:ALIAS_OF]->()){0,8} (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
CALL (root) {
  MATCH (root) (()<-[:ALIAS_OF]-()){0,8} (same:Entity)
  MATCH (same)-[:IN_SCHEMA]->(s:Schema)
  MATCH (same)-[in:MENTIONED_IN]->(told)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  WITH same, s.label AS theme, in.surface AS surface, count(told) AS times, min(told.said_at) AS first,
    max(told.said_at) AS last,
    sum(0.5 ^ (($at.epochSeconds - told.said_at.epochSeconds) / ($half_life_days * 86400.0))) AS weight
  RETURN collect({id: same.id, type: same.type, theme: theme, joined: same.id <> root.id, name: same.normal_name,
    surface: surface, times: times, first: first, last: last, weight: weight}) AS said
}
RETURN wanted, said
"""


async def find_entities(
    tx: Tx, scope: ReadScope, ids: Sequence[str], *, at: datetime, half_life_days: float
) -> dict[str, KnownEntity]:
    """Those of `ids` that the scope holds a mention of, by the id asked for; an alias is shown as what it is an alias of. The
    others are missing, whether they exist or not. Weights are those of the time `at`."""
    found = await rows(
        tx, FIND_ENTITIES, space=scope.space, audiences=scope.audiences, ids=list(ids), at=at, half_life_days=half_life_days
    )  # fmt: skip
    return {row["wanted"]: _entity(row["said"]) for row in found}


LIST_ENTITIES = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(told)<-[:MENTIONED_IN]-(named:Entity {space: $space})
WITH named, count(told) AS times, max(told.said_at) AS last
MATCH (named) (()-[:ALIAS_OF]->()){0,8} (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
WITH root, named, times, last ORDER BY named.id = root.id DESC, times DESC, named.id
WITH root, head(collect(named)) AS e, max(last) AS last, collect(named.normal_name) AS names
WHERE ($types IS NULL OR e.type IN $types)
  AND ($theme IS NULL OR EXISTS { (e)-[:IN_SCHEMA]->(s:Schema) WHERE s.label = $theme })
  AND ($name IS NULL OR $name IN names)
WITH [last.epochSeconds * 1000000000 + last.nanosecond, e.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_entities(
    tx: Tx,
    scope: ReadScope,
    *,
    page: Page,
    filters: EntityFilters = EntityFilters(),
    at: datetime,
    half_life_days: float,
) -> Paged[KnownEntity]:
    """Entities, the one spoken of last first."""
    found = await rows(
        tx,
        LIST_ENTITIES,
        space=scope.space,
        audiences=scope.audiences,
        types=[type.value for type in filters.types] or None,
        theme=filters.theme,
        name=filters.name,
        **parameters(page, newest_first=True),
    )
    places = [row["place"] for row in found]
    known = await find_entities(tx, scope, [id for _, id in places], at=at, half_life_days=half_life_days)
    return paged(page, places, known)


LIST_MENTIONS = """
UNWIND $ids AS wanted
MATCH (given:Entity {id: wanted, space: $space})
WHERE EXISTS { MATCH (given)-[:MENTIONED_IN]->()-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
MATCH (given) (()-[:ALIAS_OF]->()){0,8} (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
CALL (root) {
  MATCH (root) (()<-[:ALIAS_OF]-()){0,8} (same:Entity)
  WITH DISTINCT same
  CALL (same) {
    MATCH (same)-[:MENTIONED_IN]->(m:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
    RETURN m
    UNION
    MATCH (same)-[:MENTIONED_IN]->(f:Fact)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
    MATCH (f)-[:EVIDENCED_BY {role: 'source'}]->(m:Message)
    RETURN m
  }
  WITH DISTINCT [m.said_at.epochSeconds * 1000000000 + m.said_at.nanosecond, m.id] AS place
  WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
  WITH place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
  RETURN collect(place) AS places
}
RETURN wanted, places
"""


async def list_mentions(tx: Tx, scope: ReadScope, ids: Sequence[str], *, page: Page) -> dict[str, Paged[str]]:
    """For each of `ids`: ids of the visible messages that speak of it, newest first; also those that only point to it, where a
    fact says so. One that the scope does not hold has none."""
    found = await rows(
        tx, LIST_MENTIONS, space=scope.space, audiences=scope.audiences, ids=list(ids), **parameters(page, newest_first=True)
    )  # fmt: skip
    places = {row["wanted"]: row["places"] for row in found}
    return {wanted: paged(page, places.get(wanted, []), {id: id for _, id in places.get(wanted, [])}) for wanted in ids}


LIST_RELATED = """
UNWIND $ids AS wanted
MATCH (given:Entity {id: wanted, space: $space})
WHERE EXISTS { MATCH (given)-[:MENTIONED_IN]->()-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
MATCH (given) (()-[:ALIAS_OF]->()){0,8} (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
MATCH (root) (()<-[:ALIAS_OF]-()){0,8} (same:Entity)
MATCH (same)-[:MICRO]-(near:Entity)
MATCH (near) (()-[:ALIAS_OF]->()){0,8} (other:Entity) WHERE NOT EXISTS { (other)-[:ALIAS_OF]->() } AND other.id <> root.id
WITH DISTINCT wanted, other, same, near
MATCH (same)-[:MENTIONED_IN]->(m:Message)<-[:MENTIONED_IN]-(near)
WHERE EXISTS { (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH wanted, other, m, min(near.id) AS near
WITH wanted, other, min(near) AS near,
  sum(0.5 ^ (($at.epochSeconds - m.said_at.epochSeconds) / ($half_life_days * 86400.0))) AS weight
ORDER BY weight DESC, near
WITH wanted, collect({id: near, weight: weight})[0..$most] AS related
RETURN wanted, related
"""


async def list_related(
    tx: Tx, scope: ReadScope, ids: Sequence[str], *, at: datetime, half_life_days: float, strong: float, most: int
) -> dict[str, tuple[Related, ...]]:
    """For each of `ids`: what visible turns speak of together with it, the weightiest first, at most `most`."""
    found = await rows(
        tx, LIST_RELATED, space=scope.space, audiences=scope.audiences, ids=list(ids), at=at, half_life_days=half_life_days,
        most=most,
    )  # fmt: skip
    others = sorted({one["id"] for row in found for one in row["related"]})
    known = await find_entities(tx, scope, others, at=at, half_life_days=half_life_days)
    return {row["wanted"]: tuple(_related(row["related"], known, strong)) for row in found}


LIST_THEMES = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(told)<-[:MENTIONED_IN]-(named:Entity {space: $space})
WITH named, count(told) AS times, max(told.said_at) AS last,
  sum(0.5 ^ (($at.epochSeconds - told.said_at.epochSeconds) / ($half_life_days * 86400.0))) AS weight
MATCH (named) (()-[:ALIAS_OF]->()){0,8} (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
WITH root, named, times, last, weight ORDER BY named.id = root.id DESC, times DESC, named.id
WITH root, head(collect(named)) AS e, sum(times) AS times, max(last) AS last, sum(weight) AS weight
MATCH (e)-[:IN_SCHEMA]->(s:Schema)
RETURN s.id AS id, s.label AS label, count(DISTINCT e) AS num_entities, sum(times) AS num_mentions, max(last) AS last_at,
  sum(weight) AS weight
ORDER BY weight DESC, label
"""


async def list_themes(tx: Tx, scope: ReadScope, *, at: datetime, half_life_days: float) -> list[Theme]:
    """Themes that visible messages speak of, the weightiest first. Walks through all that the scope holds."""
    found = await rows(
        tx, LIST_THEMES, space=scope.space, audiences=scope.audiences, at=at, half_life_days=half_life_days
    )  # fmt: skip
    return [Theme(**row) for row in found]


FIND_NAMED_ENTITIES = """
UNWIND $names AS name
UNWIND $types AS type
MATCH (given:Entity {space: $space, type: type, normal_name: name})
CALL (given) {
  MATCH (given)-[in:MENTIONED_IN]->(told)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  RETURN in.surface AS surface, count(told) AS times ORDER BY times DESC, surface LIMIT 1
}
MATCH (given) (()-[:ALIAS_OF]->()){0,8} (root:Entity) WHERE NOT EXISTS { (root)-[:ALIAS_OF]->() }
CALL (root) {
  MATCH (root) (()<-[:ALIAS_OF]-()){0,8} (same:Entity)
  WITH same, COUNT { MATCH (same)-[:MENTIONED_IN]->()-[:FOR]->(a:Audience) WHERE a.id IN $audiences } AS told
  WHERE told > 0
  RETURN same AS e ORDER BY same.id = root.id DESC, told DESC, same.id LIMIT 1
}
WITH e, collect({surface: surface, times: times}) AS said
RETURN e.id AS id, e.type AS type, head(said).surface AS name, reduce(n = 0, one IN said | n + one.times) AS times
ORDER BY times DESC, id LIMIT $most
"""


async def find_named_entities(tx: Tx, scope: ReadScope, names: Sequence[str], most: int) -> tuple[NamedEntity, ...]:
    """Those whose normalised name is among `names` and is mentioned in what the scope holds, the one mentioned most first."""
    found = await rows(
        tx, FIND_NAMED_ENTITIES, space=scope.space, audiences=scope.audiences, names=list(names),
        types=[type.value for type in EntityType], most=most,
    )  # fmt: skip
    return tuple(NamedEntity(row["id"], row["name"], EntityType(row["type"])) for row in found)


def _entity(said: Sequence[Mapping[str, Any]]) -> KnownEntity:
    """Of what was said of it, at least one: by name and surface."""
    shown: dict[str, tuple[int, str]] = {}
    for one in sorted(said, key=lambda one: (-one["times"], one["surface"])):
        shown.setdefault(one["name"], (sum(o["times"] for o in said if o["name"] == one["name"]), one["surface"]))
    name, *aliases = [surface for _, surface in sorted(shown.values(), key=lambda found: (-found[0], found[1]))]
    times = Counter[str]()
    for one in said:
        times[one["id"]] += one["times"]
    first = min(said, key=lambda one: (one["joined"], -times[one["id"]], one["id"]))
    return KnownEntity(
        id=first["id"],
        name=name,
        type=EntityType(first["type"]),
        theme=first["theme"],
        aliases=tuple(aliases),
        num_mentions=times.total(),
        first_at=min(one["first"] for one in said),
        last_at=max(one["last"] for one in said),
        weight=float(sum(one["weight"] for one in said)),
    )


def _related(found: Sequence[Mapping[str, Any]], known: Mapping[str, KnownEntity], strong: float) -> list[Related]:
    return [
        Related(e.id, e.name, e.type, one["weight"], Strength.of(one["weight"], strong))
        for one in found
        if (e := known.get(one["id"])) is not None
    ]
