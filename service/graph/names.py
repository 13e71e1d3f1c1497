"""Which names are proposed for whom, as far as this viewer may know?

A proposal is derived from turns, so it is seen by who may read every turn that it rests on, and only while whom
it is about is somebody, or a voice, that they may know of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.graph.people import find_people
from service.types.people import Person

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

MAX_EVIDENCE = 20
"""Turns told of one proposal, the first ones; `num_evidence` counts them all."""
MAX_NAMES = 10
"""Proposals told beside one person or voice; `list_names` tells all."""


@dataclass(frozen=True, slots=True)
class ProposedName:
    """A name that somebody may have. Exactly one of `person` and `local_speaker` says who: a person as merges show them,
    or a voice of one session whose person is not known."""

    id: str
    name: str
    sources: tuple[str, ...]
    """Kinds of evidence: those of EVIDENCED_BY."""
    confidence: float
    """[0, 1]"""
    status: str
    """open | applied | rejected"""
    held: str | None
    """Why it is not applied by itself, sure as it may be: contradicted | taken | unsure. Only for who reads all: that a name
    is taken tells that somebody has it."""
    created_at: datetime
    person: Person | None
    local_speaker: str | None
    about: str | None
    """Id of the person before merges: whose name it is to decide about."""
    evidence: tuple[str, ...]
    """Ids of the turns it rests on, in spoken order, at most MAX_EVIDENCE."""
    num_evidence: int


FIND_NAMES = """
UNWIND $ids AS wanted
MATCH (n:NameProposal {id: wanted, space: $space})-[:ABOUT]->(subject:Person|LocalSpeaker)
WITH n, subject,
  COUNT { (n)-[:EVIDENCED_BY]->(:Message) } AS num_evidence,
  COLLECT {
    MATCH (n)-[:EVIDENCED_BY]->(m:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
    RETURN m.id ORDER BY m.said_at, m.id
  } AS evidence,
  head(COLLECT {
    MATCH (subject)-[:IS]->{0,1}(p:Person)
    MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
    RETURN {about: p.id, shown: shown.id} ORDER BY p.id
  }) AS person,
  EXISTS { MATCH (subject)-[:UTTERED]->(:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences } AS heard
WHERE ($reads_all OR (num_evidence > 0 AND num_evidence = size(evidence))) AND (person IS NOT NULL OR heard)
RETURN n {.id, .name, .confidence, .status, .created_at, sources: coalesce(n.sources, []),
  held: CASE WHEN $reads_all THEN n.held END} AS proposal, num_evidence, person,
  evidence[..$max_evidence] AS evidence, CASE WHEN person IS NULL THEN subject.id END AS local_speaker
"""


async def find_names(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, ProposedName]:
    """Those of `ids` that the scope holds, by id; the others are missing, whether they exist or not."""
    found = await rows(tx, FIND_NAMES, **scope.gate, ids=list(ids), max_evidence=MAX_EVIDENCE)
    people = await find_people(tx, scope, sorted({row["person"]["shown"] for row in found if row["person"]}))
    known = [row for row in found if row["person"] is None or row["person"]["shown"] in people]
    return {row["proposal"]["id"]: _proposed(row, people) for row in known}


LIST_NAMES = """
MATCH (n:NameProposal {space: $space, status: $status})-[:ABOUT]->(:Person|LocalSpeaker)
WHERE $reads_all OR (EXISTS { (n)-[:EVIDENCED_BY]->(:Message) } AND NOT EXISTS {
  MATCH (n)-[:EVIDENCED_BY]->(m:Message)
  WHERE NOT EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
  RETURN m
})
WITH [n.created_at.epochSeconds * 1000000000 + n.created_at.nanosecond, n.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_names(tx: Tx, scope: ReadScope, *, status: str, page: Page) -> Paged[ProposedName]:
    """Visible proposals of one status (open | applied | rejected), newest first."""
    found = await rows(tx, LIST_NAMES, **scope.gate, status=status, **parameters(page, newest_first=True))
    places = [row["place"] for row in found]
    return paged(page, places, await find_names(tx, scope, [id for _, id in places]))


LIST_NAMES_OF = """
UNWIND $ids AS wanted
CALL (wanted) {
  MATCH (l:LocalSpeaker {id: wanted, space: $space})
  RETURN l AS subject
  UNION
  MATCH (:Person {id: wanted, space: $space}) (()<-[:MERGED_INTO]-()){0,12} (p:Person)
  RETURN p AS subject
  UNION
  MATCH (:Person {id: wanted, space: $space}) (()<-[:MERGED_INTO]-()){0,12} (p:Person)<-[:IS]-(l:LocalSpeaker)
  RETURN l AS subject
}
MATCH (n:NameProposal {status: 'open'})-[:ABOUT]->(subject)
RETURN wanted, collect(DISTINCT n.id) AS names
"""


async def list_names_of(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, tuple[ProposedName, ...]]:
    """Open visible proposals for each of `ids` (people as merges show them, and local speakers), the surest first, MAX_NAMES
    at most."""
    found = await rows(tx, LIST_NAMES_OF, space=scope.space, ids=list(ids))
    names = await find_names(tx, scope, sorted({id for row in found for id in row["names"]}))
    of: dict[str, list[ProposedName]] = defaultdict(list)
    for row in found:
        of[row["wanted"]] += (names[id] for id in row["names"] if id in names)
    return {id: tuple(sorted(proposed, key=_surest)[:MAX_NAMES]) for id, proposed in of.items()}


def _surest(name: ProposedName) -> tuple[float, str, str]:
    """Sort key: the surest first."""
    return -name.confidence, name.name, name.id


def _proposed(row: Mapping[str, Any], people: Mapping[str, Person]) -> ProposedName:
    record, person = dict(row["proposal"]), row["person"]
    return ProposedName(
        **{**record, "sources": tuple(record["sources"])},
        person=people[person["shown"]] if person else None,
        local_speaker=row["local_speaker"],
        about=person["about"] if person else None,
        evidence=tuple(row["evidence"]),
        num_evidence=row["num_evidence"],
    )
